"""The engine of AppWorld in a virtual environment of its own, and its task data unpacked: `ace-bench data setup appworld`.

The engine cannot share ours: it wants pydantic 1, and an open world freezes the clock of its process. Everything is made
under a temporary name and then put in place, so a setup that was cut leaves nothing half done.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

VERSION = "0.1.3.post1"
# The engine and those of its dependencies whose versions decide whether it works; the rest follows from their own bounds.
PINNED = (
    f"appworld=={VERSION}", "pydantic==1.10.27", "fastapi==0.110.3", "starlette==0.37.2", "sqlmodel==0.0.10",
    "SQLAlchemy==1.4.54", "cryptography==39.0.2", "httpx==0.27.2", "uvicorn==0.27.1", "uvloop==0.21.0", "typer==0.16.1",
    "click==8.5.1", "rich==13.9.4", "psutil==5.9.8", "freezegun==1.5.1", "Faker==24.14.1", "pytest==8.4.2",
    "python-multipart==0.0.9", "orjson==3.13.0", "ipython==9.10.1", "pendulum==3.3.0",
)  # fmt: skip
SPLITS = {"train": 90, "dev": 57, "test_normal": 168, "test_challenge": 417}  # tasks of the official data
_MARK = "engine.json"
_UNPACK = (
    "import sys; from appworld.common.constants import PASSWORD, SALT; from appworld.common.utils import unpack_bundle; "
    "unpack_bundle(bundle_file_path=sys.argv[1], base_directory=sys.argv[2], password=PASSWORD, salt=SALT)"
)
Say = Callable[[str], None]


class SetupError(Exception):
    """The engine or its data could not be set up; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A ready environment: its interpreter and the folder of what the engine unpacked."""

    python: Path
    cache: Path


def home() -> Path:
    """Where engine and data live: the folder `appworld` in ACE_BENCH_HOME, else in ~/.cache/ace_bench."""
    named = os.environ.get("ACE_BENCH_HOME")
    return (Path(named).expanduser() if named else Path.home() / ".cache" / "ace_bench") / "appworld"


def engine() -> Engine | None:
    """The engine, None when it was not set up (or with other versions than this release pins)."""
    mark = home() / _MARK
    try:
        made = json.loads(mark.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    found = Engine(home() / "venv" / "bin" / "python", home() / "cache")
    return found if made.get("pinned") == list(PINNED) and found.python.exists() else None


def setup_engine(say: Say = lambda line: None, python: str = sys.executable) -> Engine:
    """Make the environment, unless it is there: about a minute, 180 MB. Raises `SetupError`.

    `python` is the interpreter to build it from (3.11 or newer).
    """
    if (there := engine()) is not None:
        say(f"The engine is in {home()} already (appworld {VERSION}).")
        return there
    home().mkdir(parents=True, exist_ok=True)
    (home() / _MARK).unlink(missing_ok=True)
    for name in ("venv", "cache"):
        shutil.rmtree(home() / name, ignore_errors=True)
    made = Engine(home() / "venv" / "bin" / "python", home() / "cache")
    say(f"Making a virtual environment in {home() / 'venv'} ...")
    _run([python, "-m", "venv", str(home() / "venv")])
    say(f"Installing appworld {VERSION} and its dependencies ...")
    _run([str(made.python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *PINNED])
    say("Unpacking the apps ...")
    _run([str(made.python.with_name("appworld")), "install"], environment(made, home()))
    frozen = _run([str(made.python), "-m", "pip", "freeze", "--disable-pip-version-check"]).splitlines()
    mark = {"pinned": list(PINNED), "installed": [line for line in frozen if "==" in line]}
    (home() / _MARK).write_text(json.dumps(mark, indent=1) + "\n", encoding="utf-8")
    say(f"The engine is ready: {made.python}")
    return made


def setup_data(bundle: Path, say: Say = lambda line: None, expected: Mapping[str, int] = SPLITS) -> Path:
    """Unpack the (checked) data bundle beside the engine; the data root. What is there already stays as it is."""
    root, ready = home() / "root", engine()
    if (root / "data").is_dir():
        say(f"The task data is in {root} already.")
        return root
    if ready is None:
        raise SetupError("The engine is needed to unpack the task data; run: ace-bench data setup appworld")
    with TemporaryDirectory(prefix=".root.", dir=home()) as temporary:
        made = Path(temporary) / "root"
        made.mkdir()
        _run([str(ready.python), "-c", _UNPACK, str(bundle.absolute()), str(made)], environment(ready, made))
        for split, size in expected.items():
            lists = made / "data" / "datasets" / f"{split}.txt"
            found = len(lists.read_text(encoding="utf-8").split()) if lists.is_file() else 0
            if found != size:
                raise SetupError(f"{bundle} unpacks to {found} tasks of {split}, not {size}; fetch it again.")
        made.replace(root)
    say(f"The task data is in {root}. Its licence asks that nothing of it be published unencrypted.")
    return root


def environment(made: Engine, root: Path) -> dict[str, str]:
    """The variables a process of the engine gets: nothing of ours, so no key of a model either."""
    return {
        "APPWORLD_ROOT": str(root), "APPWORLD_CACHE": str(made.cache), "HOME": str(root), "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8", "PYTHONUTF8": "1", "PYTHONHASHSEED": "0",
    }  # fmt: skip


def _run(command: Sequence[str], variables: Mapping[str, str] | None = None) -> str:
    """What the command printed. Raises `SetupError` with the last lines of its complaint."""
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise SetupError(f"{command[0]} cannot be run: {error.strerror}.") from None
    if done.returncode:
        said = " / ".join((done.stderr or done.stdout).strip().splitlines()[-3:]) or "it said nothing"
        raise SetupError(f"`{' '.join(command[:4])} ...` ended with exit code {done.returncode}: {said}")
    return done.stdout
