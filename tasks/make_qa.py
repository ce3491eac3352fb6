"""Writes the bundled question set, tasks/qa_small: `python tasks/make_qa.py`.

Deterministic (seeded, no network): the same bytes everywhere. Little sums about clocks, coins, boxes and the like; each
row has a whole number as answer and four options, so all four ways of scoring can be tried on it. A test works every
question out again from its text.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

ROWS = {"train": 24, "val": 12, "test": 24}
NAMES = ("Ada", "Bela", "Cato", "Dina", "Egon", "Fay", "Gus", "Hana")
Made = tuple[str, int]


def _coins(rng: random.Random) -> Made:
    n, m = rng.randrange(3, 30), rng.randrange(3, 30)
    return (
        f"{rng.choice(NAMES)} has {n} coins of 5 and {m} coins of 2. How much are they worth together?",
        5 * n + 2 * m,
    )


def _boxes(rng: random.Random) -> Made:
    boxes, each, gone = rng.randrange(4, 15), rng.randrange(6, 25), rng.randrange(1, 20)
    text = f"{rng.choice(NAMES)} packs {boxes} boxes of {each} tiles, then {gone} tiles break. How many are whole?"
    return text, boxes * each - gone


def _clock(rng: random.Random) -> Made:
    start, long = rng.randrange(0, 720), rng.randrange(15, 600)
    end = start + long
    text = f"A ferry leaves at {start // 60:02d}:{start % 60:02d} and lands at {end // 60:02d}:{end % 60:02d} the same day. "
    return text + "How many minutes does it take?", long


def _seats(rng: random.Random) -> Made:
    rows, more = rng.randrange(5, 20), rng.randrange(2, 6)
    first = rng.randrange(8, 20)
    text = f"A hall has {rows} rows. The first has {first} seats, each next one {more} more. How many has the last row?"
    return text, first + more * (rows - 1)


TOPICS: dict[str, Callable[[random.Random], Made]] = {
    "coins": _coins,
    "boxes": _boxes,
    "clock": _clock,
    "seats": _seats,
}


def rows(split: str) -> list[dict[str, object]]:
    """The rows of a split, the topics in turn."""
    rng = random.Random(f"qa_small/{split}")
    out: list[dict[str, object]] = []
    for i in range(ROWS[split]):
        topic = list(TOPICS)[i % len(TOPICS)]
        question, answer = TOPICS[topic](rng)
        wrong = rng.sample([answer + d for d in (-10, -3, -2, -1, 1, 2, 3, 10) if answer + d > 0], 3)
        options = [str(n) for n in (answer, *wrong)]
        rng.shuffle(options)
        out.append({"id": i, "topic": topic, "question": question, "answer": str(answer), "options": options})
    return out


CARD = """# qa_small

One small sum a row, about coins, boxes, clocks or seats; the answer is a whole number.

| file | rows |
| --- | --- |
{table}

Columns: `question`, `answer`, `options` (four, the answer among them), `id`, `topic`. All text and numbers are ours, made up
by `tasks/make_qa.py` from fixed seeds.

Use: trying the harness out and its tests, and as a pattern for a file of your own. Figures from it never stand beside
published ones.

Made again by `python tasks/make_qa.py`; digests in `SHA256SUMS`. Licence: that of ace-bench (Apache-2.0).
"""


def files() -> dict[str, bytes]:
    """Relative path -> bytes of every file this script writes."""
    texts = {f"{split}.jsonl": "".join(json.dumps(row) + "\n" for row in rows(split)) for split in ROWS}
    texts["README.md"] = CARD.format(table="\n".join(f"| {split}.jsonl | {n} |" for split, n in ROWS.items()))
    data = {name: text.encode() for name, text in texts.items()}
    sums = "".join(f"{hashlib.sha256(body).hexdigest()}  {name}\n" for name, body in sorted(data.items()))
    return {f"qa_small/{name}": body for name, body in {**data, "SHA256SUMS": sums.encode()}.items()}


def main(folder: Path) -> None:
    """Write every file below `folder`."""
    for path, body in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(body)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
