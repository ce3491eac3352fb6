"""Writes the bundled set tasks/house_labels: `python tasks/make_house_labels.py`.

Notes that people leave at the desk of a town, and the house word each is filed under. The word depends on what the note
is about (six subjects) and says nothing by itself, so without the rule the chance is one in six. The place named in a
note depends on nothing: it stands in notes of every subject. Deterministic, no network; a test makes the files again and
compares the bytes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

PLACES = ("library", "swimming pool", "bus station", "museum", "market hall", "ice rink")
PER_SPLIT = {"train": 4, "val": 2, "test": 6}  # notes of each subject
# House word, subject, and twelve notes: the first four are train, two val, six test.
SUBJECTS = (
    ("Topaz", "money back", (
        "I was charged twice at the {p} and want the second payment returned.",
        "My card shows a fee from the {p} for a day I was not there. Please pay it back.",
        "The event at the {p} was called off, so please send me the price of the tickets.",
        "I gave back my yearly pass of the {p} in May and still wait for the rest of the sum.",
        "Could you return the deposit that I left at the {p}?",
        "You billed me too much for the visit to the {p}. I ask for the difference.",
        "The machine at the {p} took my coins and gave no ticket. I would like them back.",
        "We paid for six people at the {p} but only four came. May we have the rest of the sum?",
        "Please refund the course at the {p} that never took place.",
        "The {p} kept my ten euros by mistake; how do I get them again?",
        "I cancelled in time, yet the {p} has not repaid me.",
        "Our school paid the bill of the {p} two times over. We expect one of the sums back.",
    )),
    ("Maple", "opening hours", (
        "Is the {p} open on Sunday evenings?",
        "Until what time can one come to the {p} on Fridays?",
        "Does the {p} close over the holidays?",
        "From what hour does the {p} let people in tomorrow?",
        "On which days of the week is the {p} shut?",
        "At what time does the {p} close tonight?",
        "How early may I come to the {p} in the morning?",
        "Will the {p} be open on the first of January?",
        "Does the {p} stay open during lunch?",
        "Is the {p} closed on Mondays in winter?",
        "When is the last hour at which the {p} admits visitors?",
        "Are the times of the {p} different in August?",
    )),
    ("Comet", "something is broken", (
        "The door of the {p} does not shut any more.",
        "A lamp above the entrance of the {p} has gone dark.",
        "Water drips through the roof of the {p}.",
        "The lift in the {p} is stuck between two floors.",
        "One of the benches in the {p} has a split board.",
        "The hand dryer in the {p} gives off sparks.",
        "There is a cracked pane beside the stairs of the {p}.",
        "The clock in the {p} stopped a week ago.",
        "The tap in the washroom of the {p} will not turn off.",
        "A handrail at the {p} came loose in my hand.",
        "The heating in the {p} has failed again.",
        "The display at the {p} shows nothing but stripes.",
    )),
    ("Falcon", "thanks and praise", (
        "The young man at the {p} was so kind to my mother. Thank you.",
        "What a lovely afternoon we had at the {p}; well done, all of you.",
        "I want to praise the team of the {p} for its patience.",
        "Many thanks to the lady of the {p} who helped me with my bags.",
        "My children still speak of the fine guide at the {p}.",
        "Warm greetings and thanks to everyone at the {p}.",
        "The staff of the {p} deserve a medal.",
        "I have never been treated as well as at the {p}.",
        "Thank you for the quick help at the {p} yesterday.",
        "Hats off to the people who keep the {p} so clean.",
        "We are grateful to the {p} for a wonderful morning.",
        "Please tell the caretaker of the {p} that he made my day.",
    )),
    ("Nickel", "reservation", (
        "Please keep a room in the {p} free for our club on 4 March.",
        "I would like to book the {p} for a birthday with ten guests.",
        "May our class reserve a guided hour at the {p} next month?",
        "Put us down for two places at the {p} on Saturday.",
        "We wish to hire the side hall of the {p} for a wedding.",
        "Can I sign up a group of eight for the {p} on Tuesday?",
        "Could you hold a table at the {p} in my name?",
        "Our choir wants to rent the {p} for one evening.",
        "I want to arrange a visit to the {p} for twenty pupils in June.",
        "Please reserve a corner of the {p} for our chess evening.",
        "Is there a free slot at the {p} on the ninth? We would take it.",
        "Book me in for the early session at the {p}, please.",
    )),
    ("Violet", "lost property", (
        "I left my umbrella at the {p}. Has anyone handed it in?",
        "My son lost a blue glove somewhere in the {p}.",
        "Did someone find a set of keys in the {p}?",
        "A brown purse of mine must still be in the {p}.",
        "I miss my reading glasses since my visit to the {p}.",
        "My scarf slipped off in the {p}; was it found?",
        "I believe my telephone is still lying somewhere in the {p}.",
        "Has a child's red cap turned up at the {p}?",
        "My wife forgot her bag on a seat of the {p}.",
        "I can no longer find my ring after a day at the {p}.",
        "Someone may have picked up my hat in the {p}. Where can I ask?",
        "Our daughter's teddy bear was left behind at the {p}.",
    )),
)  # fmt: skip


def rows(split: str) -> Iterator[dict[str, str]]:
    """The rows of a split: round after round of the six subjects, so that the first rows hold all of them."""
    first = {"train": 0, "val": 4, "test": 6}[split]
    for turn in range(PER_SPLIT[split]):
        for number, (word, _, notes) in enumerate(SUBJECTS):
            place = PLACES[(number + turn + first) % len(PLACES)]
            yield {"context": notes[first + turn].format(p=place), "target": word}


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
