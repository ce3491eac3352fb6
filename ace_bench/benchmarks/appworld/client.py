"""Our end of one engine process: start it, ask it, and name what goes wrong."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ace_bench.data.appworld_setup import Engine, environment

_SCRIPT = Path(__file__).with_name("server.py")
_START_S = 300  # importing all apps takes 5 to 15 s; generous, for a machine under load


class WorldLost(Exception):
    """The engine died, hung or failed: an infrastructure error, whatever the agent did. The message is a sentence."""


class TimedOut(WorldLost):
    """No answer in time; the process was ended."""


class Worker:
    """One engine process on the data root `root`. One thread at a time."""

    def __init__(self, engine: Engine, root: Path, log: Path) -> None:
        self.log, self.buffer, self.served = log, b"", 0
        with log.open("wb") as errors:
            try:
                self.process = subprocess.Popen(
                    [str(engine.python), str(_SCRIPT)], cwd=root, env=environment(engine, root), start_new_session=True,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                )  # fmt: skip
            except OSError as error:
                raise WorldLost(f"The engine {engine.python} cannot be started: {error.strerror}.") from None
        try:
            self.version = str(self._receive(_START_S))
        except BaseException:
            self.kill()
            raise

    def ask(self, op: str, wait_s: float, /, **arguments: Any) -> Any:
        """The answer to one operation of `server.Handler`. Raises `WorldLost`; after that only `kill` is of use."""
        assert self.process.stdin is not None
        line = json.dumps({"op": op, **arguments}).encode("ascii") + b"\n"
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except (OSError, ValueError):  # ValueError: the pipe was closed by `kill`
            raise self._death() from None
        return self._receive(wait_s)

    def kill(self) -> None:
        """End the process. May be called twice."""
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was left to send has no reader any more
                    pipe.close()
        self.process.wait()

    def _receive(self, seconds: float) -> Any:
        try:
            answer = json.loads(self._line(time.monotonic() + seconds))
        except ValueError:
            raise WorldLost("The engine sent something that is no message.") from None
        if "error" in answer:
            raise WorldLost(f"The engine failed: {answer['error']}")
        return answer["ok"]

    def _line(self, deadline: float) -> bytes:
        assert self.process.stdout is not None
        pieces = [self.buffer]
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in pieces[-1]:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self.kill()
                    raise TimedOut("The engine gave no answer in time and was ended.")
                piece = os.read(self.process.stdout.fileno(), 1 << 16)
                if not piece:
                    raise self._death()
                pieces.append(piece)
        line, self.buffer = b"".join(pieces).split(b"\n", 1)
        return line

    def _death(self) -> WorldLost:
        self.kill()
        code = self.process.returncode
        said = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return WorldLost(f"The engine ended ({how}){': ' + said[0][:300] if said else ''}.")
