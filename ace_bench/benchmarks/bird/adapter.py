"""BIRD-SQL: write one SQLite query for a question about a database (paper, Table 2; columns of BIRD and StreamBench).

Three scores, each a column of its own: `execution` (as published: results equal as sets), `multiset` (strict: repeats
count, and the order where the gold fixes it) and, when asked for, `judge` (a model compares the statements).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from ace_bench.benchmarks import single_turn
from ace_bench.benchmarks.bird import compare, selfcheck
from ace_bench.benchmarks.bird.databases import Database, Databases
from ace_bench.benchmarks.bird.overall import DIFFICULTIES, UNRATED
from ace_bench.benchmarks.bird.sqlrun import Budget, Ran, once
from ace_bench.benchmarks.file_benchmark import FileBenchmark
from ace_bench.benchmarks.jsonl import SPLITS, FileSettings, text_of
from ace_bench.benchmarks.judging import judged
from ace_bench.benchmarks.single_turn import answer_once, quote, said
from ace_bench.benchmarks.tables import TableSplits, Values, content_id
from ace_bench.contracts import Ask, Episode, Feedback, Sample, Score, Task, text_digest
from ace_bench.prompts import Prompts

INSTRUCTIONS = (
    "You answer questions about an SQLite database by writing SQL. Write one statement that only reads and returns just "
    "the columns the question asks for. The field final_answer holds the statement and nothing else."
)
STATUSES = ("match", "mismatch", "pred_error", "pred_timeout", "gold_error", "gold_timeout")
_SHOWN = 3  # rows of the model's own result in the feedback of the database


class Bird(FileBenchmark):
    """The BIRD-SQL task set. Group = the database, which every question names anyway."""

    name = "bird"

    class Settings(FileSettings):
        """Columns db_id, question, SQL; question_id, evidence and difficulty where there are."""

        name: Literal["bird"] = "bird"
        db_root: Path | None = None  # holds <db_id>/<db_id>.sqlite; null: the bundled databases
        evidence: bool = False  # put the column `evidence` before the model (StreamBench: no)
        execution: Literal["bird", "streambench"] = "bird"
        primary: Literal["execution", "multiset", "judge"] = "execution"
        judge: bool = False  # ask a model for the third score
        check_gold: bool = True  # run the gold statements when loading; one that fails is a bad row
        steps: int = Field(default=1_000_000_000, ge=10_000)
        seconds: float = Field(default=30.0, gt=0)
        rows: int = Field(default=100_000, ge=1)

        @model_validator(mode="after")
        def _fits(self) -> Bird.Settings:
            given = any(getattr(self, split) is not None for split in SPLITS)
            if (self.db_root is not None) != given:
                raise ValueError("db_root and a file of questions (train, val, test) go together: give both or neither")
            if self.primary == "judge" and not self.judge:
                raise ValueError("primary=judge needs judge=true")
            return self

    def __init__(self, settings: Settings, prompts: Prompts) -> None:
        self.settings, self._prompts = settings, prompts
        self._databases = Databases(settings.db_root)
        self._budget = Budget(settings.steps, settings.seconds, settings.rows)
        self._files = TableSplits(settings, "bird_small", self._sample)

    def data_digest(self) -> str:
        """SHA-256 over ids, inputs and targets of all splits, and the content of every database they ask about."""
        names = sorted({s.meta["db"] for split in SPLITS for s in self.samples(split)})
        return text_digest("\n".join([super().data_digest(), *(self._databases.get(name).digest for name in names)]))

    def self_check(self, split: str) -> dict[str, tuple[str, ...]]:
        """Sample id -> what is doubtful in its gold statement (names in `selfcheck.FLAGS`). Takes two runs of each."""
        found = {s.task.id: selfcheck.flags(self._database(s), s.target, self._budget) for s in self.samples(split)}
        return {key: flags for key, flags in found.items() if flags}

    def solve(self, context: str, task: Task, ask: Ask) -> Episode:
        """One call of the solver."""
        return answer_once(self._prompts, INSTRUCTIONS, context, task, ask)

    def score(self, sample: Sample, episode: Episode) -> Score:
        """Run the answer once and compare. `named` has the rules and, as 0 or 1, which of `STATUSES` it came to."""
        if episode.status == "error":
            return Score(None, False, "error")
        sql = compare.statement(episode.answer or "")
        if not sql:
            status = episode.status if episode.answer is None else "unparsed"
            return Score(0.0, False, status, {"execution": 0.0, "multiset": 0.0})
        gold, pred = self._run(sample, sample.target), self._run(sample, sql)
        if gold.status != "ok":
            return Score(None, False, "unanswerable", _statuses(f"gold_{gold.status}"))
        execution, multiset = self._execution(sample, sql, gold), self._multiset(sample, pred, gold)
        status = f"pred_{pred.status}" if pred.status != "ok" else "match" if multiset else "mismatch"
        named = {"execution": float(execution), "multiset": float(multiset), **_statuses(status)}
        if self.settings.primary == "judge":
            return Score(None, False, "error", named)  # until `judge` has spoken
        right = named[self.settings.primary] == 1.0
        return Score(float(right), right, "right" if right else "wrong", named)

    def judge(self, sample: Sample, episode: Episode, score: Score, ask: Ask) -> Score:
        """The third score, when asked for: a model compares the statement with the gold one."""
        if not self.settings.judge or score.outcome == "unanswerable":
            return score
        return judged(self._prompts, sample, episode, score, ask, primary=self.settings.primary == "judge")

    def observe(self, sample: Sample, episode: Episode, score: Score) -> Feedback:
        """`environment` is what the database answered the statement, `details` tells of the gold one."""
        gold = self._run(sample, sample.target)
        details = f"The wanted statement returns {len(gold.rows)} rows: {sample.target}"
        return Feedback("gt", self._environment(sample, episode), score.correct, sample.target, details)

    def gold_reply(self, sample: Sample) -> str:
        """The reply that earns full marks."""
        return single_turn.gold_reply(sample.target)

    def _environment(self, sample: Sample, episode: Episode) -> str:
        if episode.answer is None:
            return said(episode.status) or ""
        sql = compare.statement(episode.answer)
        if not sql:
            return "The answer holds no statement."
        ran = self._run(sample, sql)
        if ran.status != "ok":
            return f"The database did not run the statement: {quote(ran.problem, 200)}."
        first = "".join(f" {quote(repr(row), 200)}" for row in ran.rows[:_SHOWN])
        shown = f"; the first:{first}" if ran.rows else ""
        return f"The statement ran and returned {len(ran.rows)} rows of {ran.columns} columns{shown}."

    def _execution(self, sample: Sample, sql: str, gold: Ran) -> bool:
        """The published rule; StreamBench's variant rewrites the statement before it runs it."""
        if self.settings.execution == "bird":
            pred = self._run(sample, sql)
            return pred.status == "ok" and compare.same_sets(pred.rows, gold.rows)
        pred = self._run(sample, compare.streambench_statement(sql))
        return pred.status == "ok" and compare.same_sets_streambench(pred.rows, gold.rows)

    def _multiset(self, sample: Sample, pred: Ran, gold: Ran) -> bool:
        ordered = selfcheck.ordered_by_gold(self._database(sample), sample.target, self._budget)
        return pred.status == "ok" and compare.same_rows(pred.rows, gold.rows, ordered)

    def _run(self, sample: Sample, sql: str) -> Ran:
        database = self._database(sample)
        return once(database.path, database.digest, sql, self._budget)

    def _database(self, sample: Sample) -> Database:
        return self._databases.get(sample.meta["db"])

    def _sample(self, row: Values) -> Sample:
        db, question, sql = (text_of(row, name).strip() for name in ("db_id", "question", "SQL"))
        difficulty = row.get("difficulty") or UNRATED
        if difficulty not in (*DIFFICULTIES, UNRATED):
            raise ValueError(f"the difficulty {quote(repr(difficulty))} is none of {', '.join(DIFFICULTIES)}")
        database = self._databases.get(db)
        if self.settings.check_gold and (ran := once(database.path, database.digest, sql, self._budget)).status != "ok":
            raise ValueError(f"the gold statement does not run on '{db}': {ran.problem}")
        key = f"{difficulty}-{_number(row)}{content_id(f'{db} {question}', sql)[:6]}"
        return Sample(Task(key, db, self._prompt(database, question, row)), sql, {"db": db})

    def _prompt(self, database: Database, question: str, row: Values) -> str:
        hint = row.get("evidence") if self.settings.evidence else None
        hints = [f"Hint: {hint.strip()}"] if isinstance(hint, str) and hint.strip() else []
        return "\n".join([f"Database {database.name} (SQLite):", database.tables, "", *hints, f"Question: {question}"])


def _statuses(status: str) -> dict[str, float]:
    return {name: float(name == status) for name in STATUSES}


def _number(row: Values) -> str:
    number: Any = row.get("question_id")
    return f"{number}-" if isinstance(number, int) and not isinstance(number, bool) else ""
