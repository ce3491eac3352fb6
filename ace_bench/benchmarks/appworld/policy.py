"""Which blocks are not run: those that reach past the apps, for files, for the engine, or for the interpreter itself.

The engine allows `os`, `pathlib` and its own package, and with them an agent could read its own evaluation. Refusing is our
rule, so each refusal is counted with the score. It is the second line: the first is that a player holds no ground truth.
"""

from __future__ import annotations

import ast

_WORDS = frozenset({
    "appworld", "os", "posix", "pathlib", "sys", "io", "importlib", "inspect", "gc", "ctypes", "shutil", "subprocess", "socket",
    "IPython", "get_ipython", "ApiCollection", "Requester", "attrgetter", "methodcaller",
})  # fmt: skip
_CALLS = frozenset({"open", "eval", "exec", "compile", "globals", "locals", "vars", "setattr", "delattr", "breakpoint"})


def refusal(code: str) -> str | None:
    """What in a block is not allowed, as a few words; None when it may run. A syntax error is the engine's to tell."""
    if "\0" in code:  # a SyntaxError or a ValueError, as the version of Python has it
        return "code that no parser reads"
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    except (ValueError, RecursionError, MemoryError):  # lone surrogates, nesting without end
        return "code that no parser reads"
    found = (_wrong(node) for node in ast.walk(tree))
    return next((word for word in found if word is not None), None)


def _wrong(node: ast.AST) -> str | None:
    match node:
        case ast.Import(names=names):
            return next((n.name for n in names if n.name.split(".")[0] in _WORDS), None)
        case ast.ImportFrom(module=module, names=names):
            parts = (*(module or "").split("."), *(n.name for n in names))
            return next((part for part in parts if part in _WORDS or part.startswith("_")), None)
        case ast.Name(id=name) if name in _WORDS or name in _CALLS or (name.startswith("__") and name != "__name__"):
            return name
        case ast.Attribute(attr=name) if name in _WORDS or name.startswith("_"):
            return name
        case ast.Attribute(attr=name, value=ast.Name(id="builtins")) if name in _CALLS or name == "getattr":
            return f"builtins.{name}"
        case ast.Call(func=ast.Name(id="getattr"), args=[holder, name, *_]) if not _plain(holder, name):
            return "getattr"
    return None


def _plain(holder: ast.expr, name: ast.expr) -> bool:
    """`getattr` with any name on `apis` or one of its apps, or with a plain name written out, on anything."""
    if isinstance(name, ast.Constant):
        return isinstance(name.value, str) and not name.value.startswith("_") and name.value not in _WORDS
    while isinstance(holder, ast.Attribute):
        holder = holder.value
    return isinstance(holder, ast.Name) and holder.id == "apis"
