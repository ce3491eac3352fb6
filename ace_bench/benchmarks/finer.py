"""FiNER: pick the US GAAP tag of four marked figures, from a list of options (paper, Section 4.1, Table 2).

Answers are compared by position. Two families of rules, always both computed: `upstream` is the released one (split at
commas, surplus cut, missing padded; known fault R02), `strict` reads lists, numbering and prefixes, and counts surplus
and missing tags against the answer (known fault B28).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from ace_bench.benchmarks import single_turn
from ace_bench.benchmarks.file_benchmark import FileBenchmark
from ace_bench.benchmarks.jsonl import SPLITS, FileSettings, Row, SplitFiles
from ace_bench.benchmarks.single_turn import answer_once, quote, said
from ace_bench.contracts import Ask, Episode, Feedback, Sample, Score, Task
from ace_bench.prompts import Prompts

INSTRUCTIONS = (
    "You label figures in financial reports with US GAAP XBRL tags. Choose every tag from the options of the task, "
    "spelled as there. The field final_answer holds one tag a question, in the order of the questions, parted by "
    "commas, and nothing else."
)
RULES = ("label_upstream", "row_upstream", "label_strict", "row_strict")
_OPTIONS = re.compile(r"options:(.*?)\.\s", re.DOTALL)
_ENTITY = re.compile(r'^\d+\. What is best tag for entity "(.*?)" in sentence: "', re.MULTILINE)
_NUMBERING = re.compile(r"^\(?\d{1,2}[.):]\s*")
_NAMESPACE = re.compile(r"^us[-_]gaap[:_]\s*", re.IGNORECASE)


class Finer(FileBenchmark):
    """The FiNER task set. Group = "all": a row mixes four tags, and any finer group would tell of the target."""

    name = "finer"

    class Settings(FileSettings):
        """There is one prompt mode: the released code, too, puts the whole row before the model."""

        name: Literal["finer"] = "finer"
        primary: Literal["label_upstream", "row_upstream", "label_strict", "row_strict"] = "label_upstream"

    def __init__(self, settings: Settings, prompts: Prompts) -> None:
        self.settings, self._prompts = settings, prompts
        self._files = SplitFiles(settings, "finer_small", row_problem, self._sample)
        self._options: dict[str, tuple[str, ...]] = {}  # the list is the same in every row: keep it once

    def unanswerable(self) -> dict[str, list[str]]:
        """Sample id -> its target tags that are not among its options. Such rows are scored like any other."""
        found = {}
        for sample in (sample for split in SPLITS for sample in self.samples(split)):
            known = {option.lower() for option in sample.meta["options"]}
            found[sample.task.id] = [tag for tag in gold_tags(sample.target) if tag.lower() not in known]
        return {key: tags for key, tags in found.items() if tags}

    def solve(self, context: str, task: Task, ask: Ask) -> Episode:
        """One call of the solver for the four questions of a row."""
        return answer_once(self._prompts, INSTRUCTIONS, context, task, ask)

    def score(self, sample: Sample, episode: Episode) -> Score:
        """All four rules; `correct` = the whole row is right under the primary's family. No answer scores 0."""
        if episode.status == "error":
            return Score(None, False, "error")
        if episode.answer is None:
            return Score(0.0, False, episode.status, dict.fromkeys(RULES, 0.0))
        labels = {
            "upstream": upstream_labels(episode.answer, sample.target),
            "strict": strict_labels(episode.answer, sample.target),
        }
        named = {f"{unit}_{family}": x if unit == "label" else float(x == 1.0)
                 for family, x in labels.items() for unit in ("label", "row")}  # fmt: skip
        correct = labels[self.settings.primary.partition("_")[2]] == 1.0
        outcome = "right" if correct else "wrong" if any(read_tags(episode.answer)) else "unparsed"
        return Score(named[self.settings.primary], correct, outcome, named)

    def observe(self, sample: Sample, episode: Episode, score: Score) -> Feedback:
        """Everything there is to learn: `environment` checks form and options, `details` names the wrong positions."""
        details = _details(sample, read_tags(episode.answer or ""))
        return Feedback("gt", _environment(sample, episode), score.correct, sample.target, details)

    def gold_reply(self, sample: Sample) -> str:
        """The reply that earns full marks."""
        return single_turn.gold_reply(sample.target)

    def _sample(self, row: Row) -> Sample:
        listed = _OPTIONS.search(row.context)
        options = self._options.setdefault(listed[1] if listed else "", tag_options(row.context))
        meta = {"options": options, "entities": entities(row.context), "line": row.line}
        return Sample(Task(row.id, "all", row.context), row.target, meta)


def tag_options(context: str) -> tuple[str, ...]:
    """The tags a row offers, in its order; empty without one. The full stop that ends the list is no part of a tag."""
    listed = _OPTIONS.search(context)
    return tuple(tag for part in listed[1].split(",") if (tag := part.strip())) if listed else ()


def entities(context: str) -> tuple[str, ...]:
    """The marked figure of each question, in order."""
    return tuple(_ENTITY.findall(context))


def row_problem(context: str, target: str) -> str | None:
    """What keeps a row from being a FiNER row, or None."""
    asked, wanted = len(entities(context)), gold_tags(target)
    if not tag_options(context):
        return "the context has no list of tag options ('options: A,B,C. ')"
    if not asked:
        return "the context has no question ('1. What is best tag for entity ...')"
    if not all(wanted):
        return f"the target {quote(target)} has an empty tag"
    return None if asked == len(wanted) else f"{asked} questions but {len(wanted)} target tags"


def gold_tags(target: str) -> tuple[str, ...]:
    """The target's tags, in question order."""
    return tuple(tag.strip() for tag in target.split(","))


def upstream_labels(answer: str, target: str) -> float:
    """Share of positions that agree by the released rule: case ignored, surplus cut, missing padded. No `eval`."""
    gold, pred = ([part.lower().strip() for part in text.split(",")] for text in (target, answer))
    pred += [""] * (len(gold) - len(pred))
    return sum(a == b for a, b in zip(pred, gold, strict=False)) / len(gold)


def strict_labels(answer: str, target: str) -> float:
    """Positions that agree over the longer of the two lists, after `read_tags`; case and Unicode form do not matter."""
    gold, pred = gold_tags(target), read_tags(answer)
    hits = sum(bool(b) and _same(a) == _same(b) for a, b in zip(pred, gold, strict=False))
    return hits / max(len(pred), len(gold))


def read_tags(answer: str) -> tuple[str, ...]:
    """The tags an answer gives, parted by commas, semicolons or lines.

    Brackets, quotes, numbering (`1.`) and the prefix `us-gaap:` are taken off. An empty place between
    two commas keeps its position; empty places at the ends do not count.
    """
    text = answer.strip().rstrip(".").removeprefix("[").removesuffix("]").strip(" \t\r\n,;")
    return tuple(_bare(part) for part in re.split(r"\s*[,;]\s*|\s*[\r\n]\s*", text)) if text else ()


def _bare(part: str) -> str:
    part = _NUMBERING.sub("", part.strip(" \t\"'`*-")).strip(" \t\"'`*.")
    return _NAMESPACE.sub("", part)


def _same(tag: str) -> str:
    visible = "".join(c for c in unicodedata.normalize("NFC", tag) if unicodedata.category(c) != "Cf")
    return visible.strip().casefold()


def _environment(sample: Sample, episode: Episode) -> str:
    """What a checker that knows the task but not the target can say."""
    if episode.answer is None:
        return said(episode.status) or ""
    tags, asked = read_tags(episode.answer), len(sample.meta["entities"])
    known = {_same(option) for option in sample.meta["options"]}
    strange = [quote(tag) for tag in tags[:asked] if _same(tag) not in known]
    text = f"The answer gave {len(tags)} tags for {asked} questions."
    return f"{text} Not among the options: {', '.join(strange)}." if strange else text


def _details(sample: Sample, tags: tuple[str, ...]) -> str:
    """One line a question: right, or what was answered and what was wanted."""
    lines = []
    for i, (entity, gold) in enumerate(zip(sample.meta["entities"], gold_tags(sample.target), strict=True)):
        given = tags[i] if i < len(tags) else ""
        hit = _same(given) == _same(gold)
        verdict = f"right, {gold}" if hit else f"answered {quote(given)}, the tag is {gold}"
        lines.append(f"Question {i + 1} (entity {quote(entity)}): {verdict}.")
    surplus = len(tags) - len(lines)
    return "\n".join([*lines, f"{surplus} tags too many."] if surplus > 0 else lines)
