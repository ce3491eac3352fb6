"""A Python interpreter for code that nobody vouches for: a child process behind kernel limits, spoken to over two pipes.

The child has processor time, memory and its two pipes, and nothing else: no files, no network, no processes, no modules
but those loaded before the filter (`sandbox_filter`, `sandbox_child`). What it should not know stays in this process, which
answers its API calls. Each block has a time limit kept here. A child that dies of its own code is replaced by a fresh one,
and the code's author is told; a child that dies of anything else is `SandboxLost`.
"""

from __future__ import annotations

import base64
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from ace_bench.benchmarks import sandbox_filter

_SCRIPT = Path(__file__).with_name("sandbox_child.py")
_START_S = 60  # until the child says ready; generous, for a machine under load
_LINE = 4_000_000  # bytes of one line from the child
_FOREIGN = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}  # the code cannot send signals: not its doing
OnCall = Callable[[str, str, dict[str, Any]], Any]


class SandboxUnavailable(Exception):
    """There can be no sandbox on this machine. The message says why and what to do."""


class SandboxLost(Exception):
    """The child died, or never came up, through no fault of the code: an infrastructure error."""


class CallFailed(Exception):
    """An API call that failed; the code sees the message as the text of an exception."""


class _Ended(Exception):
    """The child is of no more use, by the doing of its code; the message says why."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Wall seconds and API calls of a block; processor seconds and megabytes of an interpreter; characters printed."""

    wall_s: float = 60.0
    cpu_s: int = 10
    memory_mb: int = 256
    calls: int = 1000
    output_chars: int = 200_000


class Sandbox:
    """An interpreter whose variables live from block to block. One thread at a time. Use as a context manager."""

    def __init__(self, on_call: OnCall, limits: Limits | None = None) -> None:
        if (why := sandbox_filter.unsupported()) is not None:
            raise SandboxUnavailable(why)
        self.on_call, self.limits = on_call, limits or Limits()
        self.restarts = 0  # interpreters lost to their own code
        self._child: _Child | None = None

    def execute(self, code: str) -> str:
        """Run one block and give what it printed, or how it failed. Raises `SandboxLost`."""
        if self._child is None:
            self._child = _Child(self.limits)
        try:
            return self._converse(self._child, code)
        except _Ended as end:
            self.close()
            self.restarts += 1
            return (
                f"Execution failed. Traceback:\nException: {end} The interpreter was restarted; its variables are gone."
            )

    def close(self) -> None:
        """End the child. May be called twice."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _converse(self, child: _Child, code: str) -> str:
        """Send the block and answer its calls until it is done."""
        deadline, calls = time.monotonic() + self.limits.wall_s, 0
        child.send({"code": code}, deadline)
        while True:
            message = child.receive(deadline)
            if isinstance(done := message.get("done"), str):
                return done
            calls += 1
            child.send(self._answer(message.get("call"), calls), deadline)

    def _answer(self, call: Any, number: int) -> dict[str, Any]:
        match call:
            case [str(app), str(api), dict(arguments)] if number <= self.limits.calls:
                try:
                    return {"value": self.on_call(app, api, arguments)}
                except CallFailed as e:
                    return {"error": str(e)}
            case [str(), str(), dict()]:
                return {
                    "error": f"Number of requests exceeded the limit of {self.limits.calls}. Is there a loop without end?"
                }
        raise _Ended("The interpreter sent something that is no message.")


class _Child:
    """One child process and its two pipes."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.buffer = limits, b""
        # Not -I: it would ignore PYTHONHASHSEED, and the order of a set would differ from run to run. The environment is
        # ours alone, so -s (no user folder), -S (no site packages) and -P (no script folder) isolate as well.
        command = [sys.executable, "-s", "-S", "-P", "-B", str(_SCRIPT)]
        env = {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/", env=env,
                start_new_session=True,
            )  # fmt: skip
        except OSError as e:
            raise SandboxLost(f"The sandboxed interpreter could not be started: {e.strerror}.") from e
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.into, self.out = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self.into, False)
        os.set_blocking(self.out, False)
        try:
            self._start()
        except BaseException:
            self.kill()
            raise

    def _start(self) -> None:
        deadline = time.monotonic() + _START_S
        memory, output = self.limits.memory_mb * 2**20, self.limits.output_chars
        program = base64.b64encode(sandbox_filter.program()).decode()
        try:
            self.send({"cpu_s": self.limits.cpu_s, "memory": memory, "output": output, "filter": program}, deadline)
            said = self.receive(deadline)
        except _Ended as e:
            raise SandboxLost(f"The sandboxed interpreter did not start. {e}") from e
        if "failed" in said:
            raise SandboxUnavailable(f"Code of a model is run only behind a kernel filter, and {said['failed']}.")

    def send(self, message: Mapping[str, Any], deadline: float) -> None:
        """Write one line; a child that does not read it in time is ended."""
        data = json.dumps(message).encode("ascii") + b"\n"
        while data:
            self._wait(self.into, selectors.EVENT_WRITE, deadline)
            try:
                data = data[os.write(self.into, data) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._death() from None

    def receive(self, deadline: float) -> dict[str, Any]:
        """Read one line. Whatever comes is distrusted."""
        while b"\n" not in self.buffer:
            if len(self.buffer) > _LINE:
                raise _Ended("The interpreter sent a message without end.")
            self._wait(self.out, selectors.EVENT_READ, deadline)
            try:
                data = os.read(self.out, 2**16)
            except BlockingIOError:
                continue
            if not data:
                raise self._death()
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise _Ended("The interpreter sent something that is no message.")
        return message

    def _wait(self, pipe: int, event: int, deadline: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, event)
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise _Ended(f"Execution timed out after {self.limits.wall_s:g} seconds.")

    def _death(self) -> Exception:
        """Why the pipe closed: the code's own doing, or somebody else's."""
        try:
            code = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return _Ended("The interpreter closed its pipe.")
        if -code == signal.SIGXCPU:
            return _Ended(f"Execution used up its {self.limits.cpu_s} seconds of processor time.")
        if -code in _FOREIGN:
            return SandboxLost(f"The sandboxed interpreter was killed from outside (signal {-code}).")
        return _Ended(f"The interpreter ended ({f'signal {-code}' if code < 0 else f'exit code {code}'}).")

    def kill(self) -> None:
        """End the process and close the pipes."""
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()
