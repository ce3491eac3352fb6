"""The JSON form: a whole playbook, nothing left out. Strict on the way in.

Any text survives `json.dumps(..., ensure_ascii=True)` and back, lone surrogates too.
"""

from collections.abc import Mapping
from typing import Any

from ace_bench.playbook.bullet import Bullet
from ace_bench.playbook.playbook import Playbook

FORMAT = 1
_BULLET: dict[str, type] = {"id": str, "content": str, "helpful": int, "harmful": int, "section": str, "tail": str}
_PLAYBOOK: dict[str, type] = {
    "format": int,
    "version": int,
    "next_id": int,
    "counters": bool,
    "final_newline": bool,
    "preamble": str,
    "sections": list,
    "intros": list,
    "bullets": list,
    "graveyard": list,
    "applied_events": list,
}


def to_json(playbook: Playbook) -> dict[str, Any]:
    """`playbook` as plain dicts, lists, texts and numbers; equal playbooks give equal values."""
    return {
        "format": FORMAT,
        "version": playbook.version,
        "next_id": playbook.next_id,
        "counters": playbook.counters,
        "final_newline": playbook.final_newline,
        "preamble": playbook.preamble,
        "sections": list(playbook.sections),
        "intros": [list(pair) for pair in playbook.intros],
        "bullets": [_bullet_out(bullet) for bullet in playbook.bullets],
        "graveyard": [_bullet_out(bullet) for bullet in playbook.graveyard],
        "applied_events": sorted(playbook.applied_events),
    }


def from_json(raw: object) -> Playbook:
    """Inverse of `to_json`. Raises ValueError in a sentence for unknown or missing keys, wrong types, broken rules."""
    data = _checked(raw, _PLAYBOOK, "The playbook")
    if data["format"] != FORMAT:
        raise ValueError(f"The playbook has format {data['format']}, this version reads format {FORMAT}.")
    if data["version"] < 0:
        raise ValueError(f"The playbook has version {data['version']}; a version is 0 or more.")
    return Playbook(
        sections=_texts(data["sections"], "'sections'"),
        bullets=_bullets(data["bullets"], "bullets"),
        version=data["version"],
        next_id=data["next_id"],
        applied_events=frozenset(_texts(data["applied_events"], "'applied_events'")),
        preamble=data["preamble"],
        intros=tuple(_pair(item) for item in data["intros"]),
        counters=data["counters"],
        final_newline=data["final_newline"],
        graveyard=_bullets(data["graveyard"], "graveyard"),
    )


def _bullet_out(bullet: Bullet) -> dict[str, Any]:
    return {name: getattr(bullet, name) for name in _BULLET}


def _bullets(items: list[object], where: str) -> tuple[Bullet, ...]:
    return tuple(Bullet(**_checked(item, _BULLET, f"Item {i} of {where!r}")) for i, item in enumerate(items))


def _checked(raw: object, wanted: Mapping[str, type], where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise ValueError(f"{where} must be an object, got {type(raw).__name__}.")
    if unknown := [key for key in raw if key not in wanted]:
        raise ValueError(f"{where} has unknown keys {unknown[:5]}; known are {list(wanted)}.")
    if missing := [key for key in wanted if key not in raw]:
        raise ValueError(f"{where} lacks {missing}.")
    for key, kind in wanted.items():
        if type(raw[key]) is not kind:
            raise ValueError(f"{where}: {key!r} must be {kind.__name__}, got {type(raw[key]).__name__}.")
    return raw


def _texts(items: list[object], where: str) -> tuple[str, ...]:
    texts = tuple(item for item in items if isinstance(item, str))
    if len(texts) != len(items):
        raise ValueError(f"{where} must hold texts only.")
    return texts


def _pair(item: object) -> tuple[str, str]:
    if not isinstance(item, list) or len(item) != 2:
        raise ValueError("Each item of 'intros' must be a pair of section and text.")
    section, text = _texts(item, "An item of 'intros'")
    return section, text
