"""The servers of this process: one for each model and shape, started when first needed, closed at exit."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ace_bench.llm.local.serve import KEY_VARIABLE
from ace_bench.llm.types import Message

INSTALL = 'pip install "ace-bench[local]"'
_MARK = "\u241f"  # stands for the user's text when the template is asked what comes before it
_lock = threading.Lock()
_running: dict[Shape, Server] = {}


class ServerError(Exception):
    """The server could not be started or does not answer; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What tells servers apart: the file, tokens of context a slot, slots, threads, MiB of prompts kept aside."""

    file: Path
    context: int
    slots: int
    threads: int
    cache_mib: int


class Server:
    """A running child process. `turn` admits as many callers as it has slots, so that waiting is not its latency."""

    def __init__(self, shape: Shape) -> None:
        if importlib.util.find_spec("xllamacpp") is None:
            raise ServerError(f"A local model needs xllamacpp, which is not installed. Run: {INSTALL}")
        self.shape, self.key = shape, secrets.token_hex(16)
        self.turn = threading.BoundedSemaphore(shape.slots)
        self._anchored: str | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        numbers = (shape.context, shape.slots, shape.threads, shape.cache_mib)
        self._child = subprocess.Popen(
            [sys.executable, "-m", "ace_bench.llm.local.serve", str(shape.file), *map(str, numbers)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env={**os.environ, KEY_VARIABLE: self.key},
            start_new_session=True,  # Ctrl-C is for the run, which ends at a step boundary and still needs the server
        )  # fmt: skip
        self.url, self.build = self._ready()

    def alive(self) -> bool:
        """Whether the child still runs."""
        return self._child.poll() is None

    def close(self) -> None:
        """Close the child's standard input, which ends it; wait, and kill it if it does not go."""
        with contextlib.suppress(OSError):
            self._child.stdin.close()  # type: ignore[union-attr]
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child.stdout.close()  # type: ignore[union-attr]
        self._log.close()

    def anchor(self, messages: Sequence[Message]) -> None:
        """Bring the one slot into the state that follows from the system message alone, whatever came before.

        Another system message than last time is read from nothing; after that, and every time it comes again, only its
        last token is read anew. So what the slot holds when the request arrives does not depend on earlier requests.
        """
        prefix = self._prefix(messages)
        if prefix != self._anchored:
            self._anchored = None
            self._post("/completion", {"prompt": prefix, "n_predict": 0, "cache_prompt": False})
        self._post("/completion", {"prompt": prefix, "n_predict": 0, "cache_prompt": True})
        self._anchored = prefix

    def _prefix(self, messages: Sequence[Message]) -> str:
        """What the model's chat template puts before the user's text."""
        system = [dict(m) for m in messages if m["role"] == "system"][:1]
        shown = self._post("/apply-template", {"messages": [*system, {"role": "user", "content": _MARK}]})
        return str(shown["prompt"]).partition(_MARK)[0]

    def _post(self, path: str, body: dict[str, Any], timeout: float = 600.0) -> Any:
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), head)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=timeout) as reply:
                return json.loads(reply.read())
        except (OSError, ValueError) as error:
            said = error.read().decode("utf-8", "replace")[:300] if isinstance(error, urllib.error.HTTPError) else ""
            raise ServerError(f"The local server did not answer {path}: {error} {said}".rstrip()) from error

    def _ready(self) -> tuple[str, str]:
        """Wait for the child's line; it comes when the model is loaded."""
        for line in self._child.stdout:  # type: ignore[union-attr]
            if line.startswith(b"{"):
                told = json.loads(line)
                return told["url"], told["build"]
        self._child.wait()
        self._log.seek(0)
        last = self._log.read().decode("utf-8", "replace").strip().splitlines()[-3:]
        raise ServerError(
            f"The local server did not start with {self.shape.file} (exit code {self._child.returncode}). Is it a whole "
            f"GGUF file, and is there memory for it? Its last words: {' | '.join(last) or 'none'}"
        )


def running(shape: Shape) -> Server:
    """The server of `shape`, started now if there is none or the last one died. Raises ServerError."""
    with _lock:
        server = _running.get(shape)
        if server is None or not server.alive():
            _reach_loopback_directly()
            server = _running[shape] = Server(shape)
        return server


def close_all() -> None:
    """End every server of this process."""
    with _lock:
        for server in _running.values():
            server.close()
        _running.clear()


def _reach_loopback_directly() -> None:
    """A proxy named in the environment must not be asked for 127.0.0.1."""
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [host for host in os.environ.get(name, "").split(",") if host]
        if "127.0.0.1" not in hosts:
            os.environ[name] = ",".join([*hosts, "127.0.0.1"])


atexit.register(close_all)
