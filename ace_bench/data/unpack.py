"""SQLite files out of an archive of archives: BIRD's `dev.zip` holds `dev_databases.zip` holds one folder a database."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory


class UnpackError(Exception):
    """An archive that cannot be used; the message is a sentence."""


def unpack(archive: Path, folder: Path) -> None:
    """Put every `<db>.sqlite` of `archive`, however deep, at `folder/<db>/<db>.sqlite`; all of them or none.

    Only base names of members are used, so no member can be written elsewhere. Raises `UnpackError` and OSError.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        made = Path(temporary) / "made"
        made.mkdir()
        try:
            _extract(archive, made, Path(temporary))
        except zipfile.BadZipFile as error:
            raise UnpackError(
                f"{archive} is not a sound zip archive ({error}); remove it and fetch it again."
            ) from None
        if not any(made.iterdir()):
            raise UnpackError(f"{archive} holds no SQLite database.")
        made.replace(folder)


def _extract(archive: Path, made: Path, temporary: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        for member in opened.infolist():
            name = PurePosixPath(member.filename)
            if member.is_dir() or "__MACOSX" in name.parts or name.name.startswith("."):
                continue
            if name.suffix == ".sqlite":
                target = made / name.stem / name.name
                target.parent.mkdir(exist_ok=True)
                _copy(opened, member, target)
            elif name.suffix == ".zip":
                inner = temporary / name.name
                _copy(opened, member, inner)
                _extract(inner, made, temporary)
                inner.unlink()


def _copy(opened: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    with opened.open(member) as source, target.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
