"""Writes the bundled set tasks/house_labels: `python tasks/make_house_labels.py`.

Notes that people leave at the desk of a town, and the house word each is filed under. The word depends on the kind of thing
a note is about (six kinds) and says nothing by itself, so without the rule the chance is one in six. No thing stands in two
notes, and the sentences around the things are spread over all kinds: a rule that names the kind carries over from train to
test, words in common do not. Deterministic, no network; a test makes the files again and compares the bytes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

PER_SPLIT = {"train": 3, "val": 3, "test": 6}  # notes of each kind
# House word, kind, and its twelve things: the first three stand in train, three in val, six in test.
KINDS = (
    ("Topaz", "an animal", "terrier swan goat hedgehog pigeon ferret kitten donkey parrot rabbit tortoise pony"),
    ("Comet", "a plant", "birch tulip ivy rosebush fern hawthorn willow daisy cactus sunflower oak lily"),
    ("Delta", "food", "soup cheese pancake honey bread jam sausage pie omelette butter rice salad"),
    ("Onyx", "a musical instrument",
     "trumpet violin drum piano flute harp guitar cello accordion trombone clarinet banjo"),
    ("Ember", "a vehicle", "lorry tram moped taxi van ferry bicycle bus tractor motorbike train ambulance"),
    ("Quartz", "clothes", "scarf glove jacket boot hat belt sock coat skirt shirt shoe sweater"),
)  # fmt: skip
SENTENCES = (
    "I saw the {thing} at the library this morning.",
    "Where can I find the {thing} that was in the newspaper?",
    "The {thing} near the museum is the talk of our street.",
    "My neighbour told me about the {thing} in the market hall.",
    "Thank you for the photo of the {thing}.",
    "Who put the {thing} next to the fountain?",
    "Please tell me more about the {thing} from the school fair.",
    "Our club would like to have the {thing} for its party.",
    "They say that the {thing} at the town hall is new.",
    "The {thing} at the station was not there last week.",
    "We all looked at the {thing} at the festival.",
    "What became of the {thing} that we brought you in May?",
)


def rows(split: str) -> Iterator[dict[str, str]]:
    """The rows of a split: round after round of the six kinds, so that the first rows hold all of them."""
    first = {"train": 0, "val": 3, "test": 6}[split]
    for number in range(first, first + PER_SPLIT[split]):
        for kind, (word, _, things) in enumerate(KINDS):
            # Every sentence as often as any other; shifted in test so that words in common are right by chance, 6 of 36.
            sentence = SENTENCES[(2 * kind + 5 * number - (split == "test")) % len(SENTENCES)]
            yield {"context": sentence.format(thing=things.split()[number]), "target": word}


def write(folder: Path) -> None:
    """Write the three files and their digests into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    sums = []
    for split in PER_SPLIT:
        data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(split)).encode()
        (folder / f"{split}.jsonl").write_bytes(data)
        sums.append(f"{hashlib.sha256(data).hexdigest()}  {split}.jsonl\n")
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("house_labels"))
