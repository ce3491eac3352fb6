"""BIRD: three scores as columns, six statuses, the prompt, gold checks, overall by difficulty, the databases untouched."""

import hashlib
import json
import sqlite3

import pytest
from pydantic import ValidationError

from ace_bench.benchmarks.bird import Bird, by_difficulty
from ace_bench.benchmarks.jsonl import DataError
from ace_bench.contracts import Episode

FERRY = {"db_id": "ferry_lines", "evidence": "HINTED", "question_id": 1, "difficulty": "simple"}


@pytest.fixture
def small(tmp_path, rows_file):
    """A database root of one table, and a way to write questions about it."""
    path = tmp_path / "dbs" / "d" / "d.sqlite"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as made:
        made.executescript("CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (2, 'y');")
    made.close()

    def settings(*gold, **more):
        rows = [{"db_id": "d", "question": f"Q{i}?", "SQL": sql} for i, sql in enumerate(gold)]
        return {"test": rows_file(rows), "db_root": tmp_path / "dbs", **more}

    return settings


def of(benchmark, sql, scored, gold):
    sample = next(s for s in benchmark.samples("test") if s.target == gold)
    return scored(benchmark, sample, sql)


SELECT_A, SELECT_B = "SELECT a FROM t", "SELECT a FROM t ORDER BY a DESC, b"
EMPTY, WITH = "SELECT a FROM t WHERE a > 9", "WITH w AS (SELECT a FROM t) SELECT COUNT(*) FROM w"
CASES = [  # gold, answer, bird, streambench, multiset, status
    (SELECT_A, "SELECT a FROM t", 1, 1, 1, "match"),
    (SELECT_A, "select a from t", 1, 0, 1, "match"),  # the prefix makes `SELECT select a`
    (SELECT_A, "SELECT DISTINCT a FROM t", 1, 1, 0, "mismatch"),
    (SELECT_A, "SELECT a FROM t ORDER BY a DESC", 1, 1, 1, "match"),
    (SELECT_B, "SELECT a FROM t ORDER BY a DESC", 1, 1, 1, "match"),
    (SELECT_B, "SELECT a FROM t ORDER BY a", 1, 1, 0, "mismatch"),
    (SELECT_A, "SELECT b FROM t", 0, 0, 0, "mismatch"),
    (EMPTY, "SELECT b FROM t WHERE 0", 1, 0, 1, "match"),
    (EMPTY, "SELECT a FROM t", 0, 0, 0, "mismatch"),
    (WITH, WITH, 1, 0, 1, "match"),
    (WITH, "SELECT 3", 1, 1, 1, "match"),
    (SELECT_A, "SELECT nope FROM t", 0, 0, 0, "pred_error"),
    (SELECT_A, "DROP TABLE t", 0, 0, 0, "pred_error"),
    (SELECT_A, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT COUNT(*) FROM n", 0, 0, 0, "pred_timeout"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_three_rules_and_a_status(make, scored, small, case):
    gold, answer, bird, stream, multiset, status = case
    for rule, wanted in (("bird", bird), ("streambench", stream)):
        settings = small(SELECT_A, SELECT_B, EMPTY, WITH, execution=rule, steps=200_000)
        score = of(make(Bird, **settings), answer, scored, gold)
        assert (score.named["execution"], score.named["multiset"]) == (wanted, multiset)
        assert [name for name in score.named if name not in ("execution", "multiset") and score.named[name]] == [status]
        assert (score.value, score.correct) == (wanted, bool(wanted))


def test_the_primary_score_can_be_the_strict_one(make, scored, small):
    benchmark = make(Bird, **small(SELECT_A, primary="multiset"))
    score = of(benchmark, "SELECT DISTINCT a FROM t", scored, SELECT_A)
    assert (score.value, score.outcome) == (0.0, "wrong")


def test_gold_that_fails_is_a_bad_row_or_leaves_an_item_without_a_score(make, scored, small):
    bad = "SELECT nope FROM t"
    with pytest.raises(DataError, match=r"line 2: the gold statement does not run on 'd': no such column: nope"):
        make(Bird, **small(SELECT_A, bad)).samples("test")
    skipped = make(Bird, **small(SELECT_A, bad, on_bad_row="skip"))
    assert len(skipped.samples("test")) == 1
    kept = make(Bird, **small(SELECT_A, bad, check_gold=False))
    score = of(kept, "SELECT 1", scored, bad)
    assert (score.value, score.correct, score.outcome, score.named["gold_error"]) == (None, False, "unanswerable", 1.0)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT COUNT(*) FROM n"
    slow = make(Bird, **small(endless, check_gold=False, steps=50_000))
    assert of(slow, "SELECT 1", scored, endless).named["gold_timeout"] == 1.0
    assert slow.self_check("test") == {slow.samples("test")[0].task.id: ("timeout",)}


@pytest.mark.parametrize("answer", ["", "  ", "```sql\n```"])
def test_no_statement_is_unparsed(make, scored, answer):
    benchmark = make(Bird)
    assert scored(benchmark, benchmark.samples("test")[0], answer).outcome == "unparsed"


def test_the_gold_of_every_bundled_question_earns_all(make, scored):
    benchmark = make(Bird)
    for split in benchmark.splits():
        for sample in benchmark.samples(split):
            score = scored(benchmark, sample, sample.target)
            assert (score.value, score.named["execution"], score.named["multiset"]) == (1.0, 1.0, 1.0)


def test_the_bundled_gold_has_nothing_doubtful_but_the_planned_empty_results(make):
    benchmark = make(Bird)
    flagged = [flags for split in benchmark.splits() for flags in benchmark.self_check(split).values()]
    assert flagged == [("empty",)] * 6


def test_what_is_in_the_prompt(make, says, rows_file):
    plain, hinted = make(Bird), make(Bird, evidence=True)
    for sample in plain.samples("test"):
        assert sample.target not in sample.task.input
        assert "CREATE TABLE" in sample.task.input
        assert "Hint:" not in sample.task.input
        assert sample.task.group in sample.task.input
    assert any("Hint: delay is in minutes" in s.task.input for s in hinted.samples("test"))
    ask = says(solve='{"final_answer": "SELECT 1"}')
    plain.solve("", plain.samples("test")[0].task, ask)
    assert "'moderate'" not in ask.prompt()


def test_the_database_speaks_and_says_nothing_of_the_gold(make):
    benchmark = make(Bird)
    one, two = [s for s in benchmark.samples("test") if s.task.group == "ferry_lines"][:2]
    for sql, word in (
        ("SELECT nope", "no such column: nope"),
        ("SELECT 1, 2", "1 rows of 2 columns; the first: '(1, 2)'"),
    ):
        said = set()
        for sample in (one, two):
            episode = Episode(sample.task, "t", sql, "ok")
            feedback = benchmark.observe(sample, episode, benchmark.score(sample, episode))
            said.add(feedback.environment)
            assert sample.target in feedback.details
        assert len(said) == 1
        assert word in said.pop()


def test_scoring_leaves_databases_as_they_are(make, scored, small, tmp_path):
    benchmark = make(Bird, **small(SELECT_A))
    path = tmp_path / "dbs" / "d" / "d.sqlite"
    before = hashlib.sha256(path.read_bytes()).hexdigest(), benchmark.data_digest()
    for sql in ("DROP TABLE t", "UPDATE t SET a = 0", "ATTACH 'x' AS y", "PRAGMA user_version = 7", "VACUUM"):
        assert of(benchmark, sql, scored, SELECT_A).named["pred_error"] == 1.0
    again = make(Bird, **small(SELECT_A))
    assert (hashlib.sha256(path.read_bytes()).hexdigest(), again.data_digest()) == before
    assert [p.name for p in path.parent.iterdir()] == ["d.sqlite"]


def test_the_data_digest_follows_the_database(make, small, tmp_path):
    before = make(Bird, **small(SELECT_A)).data_digest()
    with sqlite3.connect(tmp_path / "dbs" / "d" / "d.sqlite") as open_:
        open_.execute("INSERT INTO t VALUES (5, 'z')")
    open_.close()
    assert make(Bird, **small(SELECT_A)).data_digest() != before


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"db_id": "../d"}, "not a plain name"), ({"db_id": "e"}, "no database"), ({"SQL": ""}, "column 'SQL' is empty"),
        ({"difficulty": "hard"}, "is none of simple"), ({"question": 3}, "must be a string"),
    ],
)  # fmt: skip
def test_bad_rows_are_named(make, small, rows_file, tmp_path, row, reason):
    settings = small(SELECT_A)
    settings["test"] = rows_file([{"db_id": "d", "question": "Q?", "SQL": SELECT_A, **row}])
    with pytest.raises(DataError, match=reason):
        make(Bird, **settings).samples("test")


def test_a_database_in_use_or_damaged_is_refused(make, small, tmp_path):
    path = tmp_path / "dbs" / "d" / "d.sqlite"
    settings = small(SELECT_A)
    wal = path.with_name("d.sqlite-wal")
    wal.write_bytes(b"x")
    with pytest.raises(DataError, match=r"changes in d\.sqlite-wal"):
        make(Bird, **settings).samples("test")
    wal.unlink()
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(DataError, match="cannot be read as an SQLite database"):
        make(Bird, **settings).samples("test")


def test_settings_that_do_not_fit_are_refused():
    with pytest.raises(ValidationError, match="go together"):
        Bird.Settings(db_root="x")
    with pytest.raises(ValidationError, match="needs judge=true"):
        Bird.Settings(primary="judge")


def _row(sample, score, **named):
    return {"sample": sample, "score": score, "scores": json.dumps(named)}


def test_overall_is_weighted_by_size():
    scored = {
        "simple-1-a": (1.0, 0.0),
        "simple-2-b": (0.0, 0.0),
        "moderate-3-c": (1.0, 1.0),
        "challenging-4-d": (0.0, 0.0),
    }
    rows = [_row(sample, score, multiset=strict) for sample, (score, strict) in scored.items()]
    rows.append(_row("simple-5-e", None))
    found = by_difficulty(rows)
    assert found["simple"] == {"n": 3, "scored": 2, "mean": 0.5}
    assert found["overall"] == {"n": 5, "scored": 4, "mean": pytest.approx((3 * 0.5 + 1 * 1.0 + 1 * 0.0) / 5)}
    assert by_difficulty(rows, "multiset")["overall"]["mean"] == pytest.approx(1 / 5)
    assert by_difficulty(rows, "judge")["overall"] == {"n": 5, "scored": 0, "mean": None}
    assert list(found) == ["simple", "moderate", "challenging", "overall"]


def test_ids_tell_the_difficulty(make):
    counts = {"simple": 0, "moderate": 0, "challenging": 0}
    for sample in make(Bird).samples("test"):
        counts[sample.task.id.partition("-")[0]] += 1
    assert sum(counts.values()) == 30
    assert min(counts.values()) >= 4
