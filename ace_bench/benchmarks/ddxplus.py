"""DDXPlus: name the disease of a patient record, one of 49 (paper, Table 2; columns and numbering of StreamBench).

Two rules, always both computed: `upstream` reads the first number that a full stop follows, as StreamBench does;
`strict` wants the whole answer to be one diagnosis of the list. The order of the list is fixed (known fault B05).
"""

from __future__ import annotations

import re
from typing import Literal

from ace_bench.benchmarks import single_turn
from ace_bench.benchmarks.file_benchmark import FileBenchmark
from ace_bench.benchmarks.jsonl import FileSettings, text_of
from ace_bench.benchmarks.single_turn import answer_once, quote, said
from ace_bench.benchmarks.tables import TableSplits, Values, content_id
from ace_bench.contracts import Ask, Episode, Feedback, Sample, Score, Task
from ace_bench.prompts import Prompts

LABELS = (  # the number of a diagnosis is its place here, from 0: that of StreamBench
    "Acute COPD exacerbation / infection", "Acute dystonic reactions", "Acute laryngitis", "Acute otitis media",
    "Acute pulmonary edema", "Acute rhinosinusitis", "Allergic sinusitis", "Anaphylaxis", "Anemia",
    "Atrial fibrillation", "Boerhaave", "Bronchiectasis", "Bronchiolitis", "Bronchitis",
    "Bronchospasm / acute asthma exacerbation", "Chagas", "Chronic rhinosinusitis", "Cluster headache", "Croup",
    "Ebola", "Epiglottitis", "GERD", "Guillain-Barré syndrome", "HIV (initial infection)", "Influenza",
    "Inguinal hernia", "Larygospasm", "Localized edema", "Myasthenia gravis", "Myocarditis", "PSVT",
    "Pancreatic neoplasm", "Panic attack", "Pericarditis", "Pneumonia", "Possible NSTEMI / STEMI",
    "Pulmonary embolism", "Pulmonary neoplasm", "SLE", "Sarcoidosis", "Scombroid food poisoning",
    "Spontaneous pneumothorax", "Spontaneous rib fracture", "Stable angina", "Tuberculosis", "URTI",
    "Unstable angina", "Viral pharyngitis", "Whooping cough",
)  # fmt: skip
INSTRUCTIONS = (
    "You read the record of a patient and decide which diagnosis of the numbered list fits best. The field final_answer "
    "holds that one line of the list: its number, a full stop and the name."
)
_INDEX = {label.casefold(): i for i, label in enumerate(LABELS)}
_LINES = tuple(f"{i}. {label}" for i, label in enumerate(LABELS))
_LONGEST = 200  # characters of a line of the list, with room
_DIGITS = re.compile(r"\d+")
_WHOLE = re.compile(r"(\d{1,2})\s*[.):]?\s*(\D.*)?", re.DOTALL)


class DDXPlus(FileBenchmark):
    """The DDXPlus task set. Group = "all": a finer group would be the target."""

    name = "ddxplus"

    class Settings(FileSettings):
        """Columns PATIENT_PROFILE and PATHOLOGY; others are not used."""

        name: Literal["ddxplus"] = "ddxplus"
        primary: Literal["upstream", "strict"] = "upstream"

    def __init__(self, settings: Settings, prompts: Prompts) -> None:
        self.settings, self._prompts = settings, prompts
        self._files = TableSplits(settings, "ddxplus_small", sample_of)

    def solve(self, context: str, task: Task, ask: Ask) -> Episode:
        """One call of the solver."""
        return answer_once(self._prompts, INSTRUCTIONS, context, task, ask)

    def score(self, sample: Sample, episode: Episode) -> Score:
        """Right when the primary rule reads the target's number."""
        if episode.status == "error":
            return Score(None, False, "error")
        if episode.answer is None:
            return Score(0.0, False, episode.status, {"upstream": 0.0, "strict": 0.0})
        read = {"upstream": upstream_label(episode.answer), "strict": strict_label(episode.answer)}
        wanted = upstream_label(sample.target)
        named = {rule: float(label == wanted) for rule, label in read.items()}
        right = named[self.settings.primary] == 1.0
        outcome = "right" if right else "wrong" if read[self.settings.primary] is not None else "unparsed"
        return Score(float(right), right, outcome, named)

    def observe(self, sample: Sample, episode: Episode, score: Score) -> Feedback:
        """`environment` says which line of the list was read, `details` which one was wanted."""
        given = "There was no answer" if episode.answer is None else f"The answer was {quote(episode.answer)}"
        details = f"{given}; the diagnosis is {sample.target}."
        return Feedback("gt", self._environment(episode), score.correct, sample.target, details)

    def gold_reply(self, sample: Sample) -> str:
        """The reply that earns full marks."""
        return single_turn.gold_reply(sample.target)

    def _environment(self, episode: Episode) -> str:
        if episode.answer is None:
            return said(episode.status) or ""
        reader = upstream_label if self.settings.primary == "upstream" else strict_label
        label = reader(episode.answer)
        if label is None:
            return f"No line of the list (0 to {len(LABELS) - 1}) could be read from {quote(episode.answer)}."
        return f"The answer was read as {_LINES[label]}."


def sample_of(row: Values) -> Sample:
    """A row as a sample; ValueError with the reason when it is none."""
    profile, pathology = text_of(row, "PATIENT_PROFILE").strip(), text_of(row, "PATHOLOGY").strip()
    if (label := _INDEX.get(pathology.casefold())) is None:
        raise ValueError(f"the pathology {quote(pathology)} is none of the {len(LABELS)} diagnoses")
    text = "\n".join([profile, "", "Diagnoses:", *_LINES, "", "Which diagnosis fits best?"])
    return Sample(Task(content_id(profile, pathology), "all", text), _LINES[label])


def upstream_label(answer: str) -> int | None:
    """The first number with a full stop right behind it, if the list has it. Later numbers do not count."""
    for digits in _DIGITS.finditer(answer):
        if answer[digits.end() : digits.end() + 1] == ".":
            number = int(digits[0]) if len(digits[0]) <= 9 else len(LABELS)
            return number if number < len(LABELS) else None
    return None


def strict_label(answer: str) -> int | None:
    """The diagnosis that is the whole answer: a number of the list, its name, or both, if they agree."""
    text = answer.strip()
    whole = _WHOLE.fullmatch(text) if len(text) <= _LONGEST else None
    if whole is None:
        return _INDEX.get(text.removesuffix(".").casefold())
    number, name = int(whole[1]), (whole[2] or "").strip().removesuffix(".").casefold()
    return number if number < len(LABELS) and name in ("", LABELS[number].casefold()) else None
