"""The child's side of the sandbox: a Python interpreter that runs one block of code after another.

Run as a script by `sandbox.Sandbox`, never imported by it, and it imports nothing of ace_bench. It first takes its limits
and the kernel filter, and only then reads code. One JSON object a line goes each way:

    in   {"cpu_s", "memory", "output", "filter"} once, then {"code"} for each block, and the answer to each call
    out  {"ready"} once, then for each block any number of {"call": [app, api, arguments]}, then {"done": text}

Nothing the parent believes depends on the honesty of this process: code that writes to the pipe itself can do no more than
code that calls the APIs.
"""

from __future__ import annotations

import ast
import base64
import builtins
import importlib
import json
import os
import sys
import traceback
from collections.abc import Mapping
from typing import Any

# Loaded before the filter falls; nothing can be loaded from disk afterwards.
MODULES = (
    "bisect", "calendar", "collections", "copy", "dataclasses", "datetime", "decimal", "fractions", "functools", "heapq",
    "itertools", "json", "math", "operator", "random", "re", "statistics", "string", "textwrap", "time", "typing",
)  # fmt: skip
REFUSED = frozenset({"open", "exit", "quit", "breakpoint", "time.sleep"})
NAME = "<python-input>"
FAILED = "Execution failed. Traceback:"


class Output:
    """Where `print` goes. Keeps the first `limit` characters and counts the others."""

    def __init__(self, limit: int) -> None:
        self.limit, self.kept, self.lost = limit, 0, 0
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        """Take a piece of text."""
        part = text[: self.limit - self.kept]
        self.parts.append(part)
        self.kept += len(part)
        self.lost += len(text) - len(part)
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    def text(self) -> str:
        """What was kept, and a note when there was more."""
        note = f"\n[{self.lost} more characters were printed and dropped]" if self.lost else ""
        return "".join(self.parts) + note


class Api:
    """`apis.notes` and `apis.notes.show_note`: calls go to the parent, which holds the world."""

    def __init__(self, *path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Api:
        if name.startswith("__") or len(self._path) == 2:
            raise AttributeError(name)
        return Api(*self._path, name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Make the call; an error of the API is an exception with its text."""
        if len(self._path) != 2:
            raise TypeError("Only an API can be called: apis.<app>.<api>(name=value, ...)")
        if arguments:
            raise TypeError("APIs take keyword arguments only: name=value")
        send({"call": [*self._path, named]})
        answer = receive()
        if "error" in answer:
            raise Exception(answer["error"])
        return answer["value"]


def send(message: Mapping[str, Any]) -> None:
    """One line to the parent."""
    data = json.dumps(message, allow_nan=True).encode("ascii") + b"\n"
    while data:
        data = data[os.write(1, data) :]


def receive() -> Any:
    """One line from the parent; its end is ours."""
    line = sys.stdin.buffer.readline()
    if not line:
        os._exit(0)
    return json.loads(line)


def run(code: str, scope: dict[str, Any], limit: int) -> str:
    """Run one block; what it printed, and how it failed if it did."""
    if not code.strip():
        return "No code available to execute."
    try:
        tree = ast.parse(code, NAME)
        compiled = compile(tree, NAME, "exec")
    except SyntaxError as e:
        return f"{FAILED}\nSyntax error in line:\n{(e.text or '').rstrip()}\nMessage: {e.msg}"
    except (ValueError, RecursionError, MemoryError, OverflowError) as e:
        return f"{FAILED}\nSyntax error in line:\n\nMessage: {type(e).__name__}: {e}"
    if (said := refused(tree)) is not None:
        return f"{FAILED}\n{said}"
    sys.stdout = output = Output(limit)
    sys.stderr = output
    try:
        exec(compiled, scope)  # noqa: S102  (what this process is for)
    except BaseException as e:
        output.write(failure(e, code))
    text = output.text()
    return (text or "Execution successful.").encode("utf-8", "backslashreplace").decode()


def refused(tree: ast.AST) -> str | None:
    """The first thing in the code that is refused by name: a clear word early. The filter is what really holds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            named = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or "."]
            for name in named:
                if name.split(".")[0] not in MODULES:
                    return (
                        f"Usage of the following module is not allowed: {name}.\n"
                        f"These can be imported: {', '.join(MODULES)}."
                    )
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func)[:40]) in REFUSED:
            return f"Usage of the following function is not allowed: {name}."
    return None


def failure(error: BaseException, code: str) -> str:
    """The traceback as the code's author should see it: only frames of the code."""
    lines, source = [FAILED], code.splitlines()
    for frame in traceback.extract_tb(error.__traceback__, limit=20):
        if frame.filename == NAME:
            lines.append(f'  File "{NAME}", line {frame.lineno}, in {frame.name}')
            if frame.name == "<module>" and frame.lineno and frame.lineno <= len(source):
                lines.append(f"    {source[frame.lineno - 1].strip()}")
    try:
        said = str(error)
    except BaseException:
        said = "(its text cannot be shown)"
    return "\n".join([*lines, f"{type(error).__name__}: {said}"])


def shaped(*values: Any, **options: Any) -> None:
    """`print`, with one list or dict shown as JSON: over several lines when it has 100 characters or more."""
    if len(values) == 1 and isinstance(values[0], list | dict):
        try:
            text = json.dumps(values[0])
            values = (text if len(text) < 100 else json.dumps(values[0], indent=1),)
        except (TypeError, ValueError):
            pass
    plain_print(*values, **options)


def no_input(*_: Any) -> str:
    """`input` has nobody to ask."""
    raise Exception("input(..) is not allowed. Use the APIs.")


def confine(cpu_s: int, memory: int, program: bytes) -> None:
    """Limits, then the filter. Both hold until the process ends. An OSError names what the kernel refused."""
    import ctypes
    import resource

    for what, soft, hard in (
        (resource.RLIMIT_CPU, cpu_s, cpu_s + 5), (resource.RLIMIT_AS, memory, memory), (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0), (resource.RLIMIT_NOFILE, 3, 3), (resource.RLIMIT_NPROC, 0, 0),
    ):  # fmt: skip
        resource.setrlimit(what, (soft, hard))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_char_p))

    kernel = ctypes.CDLL(None, use_errno=True)
    filled = Program(len(program) // 8, program)
    # 38: PR_SET_NO_NEW_PRIVS, which lets any user install a filter. 22: PR_SET_SECCOMP, mode 2: a filter.
    if kernel.prctl(38, 1, 0, 0, 0) or kernel.prctl(22, 2, ctypes.byref(filled), 0, 0):
        raise OSError(ctypes.get_errno(), f"the kernel refused the filter: {os.strerror(ctypes.get_errno())}")


def main() -> None:
    """Take the limits, then run blocks until the parent closes the pipe."""
    settings = receive()
    for name in MODULES:
        importlib.import_module(name)
    builtins.print, builtins.input = shaped, no_input
    sys.modules["random"].seed(0)
    try:
        confine(settings["cpu_s"], settings["memory"], base64.b64decode(settings["filter"]))
    except (OSError, ValueError) as e:
        send({"failed": str(e)})
        return
    sys.path.clear()
    send({"ready": True})
    scope: dict[str, Any] = {"__name__": "__main__", "apis": Api()}
    while True:
        send({"done": run(receive()["code"], scope, settings["output"])})


plain_print = print
if __name__ == "__main__":
    main()
