"""The statement runner: the table of attacks, the budget, verbatim runs, and comparing results (B30, B31, X06)."""

import hashlib
import sqlite3

import pytest

from ace_bench.benchmarks.bird import compare, selfcheck
from ace_bench.benchmarks.bird.databases import Database
from ace_bench.benchmarks.bird.sqlrun import Budget, execute
from ace_bench.benchmarks.bird.ties import has_order, loosened

BUDGET = Budget(steps=3_000_000, seconds=5.0, rows=1000)
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n"


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "db" / "t.sqlite"
    path.parent.mkdir()
    with sqlite3.connect(path) as made:
        made.executescript(
            "CREATE TABLE t (a INTEGER, b TEXT, n TEXT);"
            "INSERT INTO t VALUES (1, 'x', '10'), (2, 'y', '9'), (2, 'z', '8'), (3, NULL, '7');"
        )
    made.close()
    return path


ATTACKS = {  # what is tried -> (statement, how it ends, a word of what is said)
    "drop": ("DROP TABLE t", "error", "not authorized"),
    "delete": ("DELETE FROM t", "error", "not authorized"),
    "update": ("UPDATE t SET a = 0", "error", "not authorized"),
    "insert": ("INSERT INTO t VALUES (9, 'q', '1')", "error", "not authorized"),
    "update returning": ("UPDATE t SET a = 0 RETURNING a", "error", "not authorized"),
    "create": ("CREATE TABLE u (a)", "error", "not authorized"),
    "create temp": ("CREATE TEMP TABLE u AS SELECT * FROM t", "error", "not authorized"),
    "alter": ("ALTER TABLE t RENAME TO u", "error", "not authorized"),
    "vacuum into": ("VACUUM INTO 'copy.db'", "error", "denied"),
    "attach": ("ATTACH 'evil.db' AS evil", "error", ""),
    "detach": ("DETACH main", "error", "not authorized"),
    "writable_schema": ("PRAGMA writable_schema = ON", "error", "not authorized"),
    "journal_mode": ("PRAGMA journal_mode = WAL", "error", "not authorized"),
    "pragma function": ("SELECT * FROM pragma_table_info('t')", "error", "not authorized"),
    "load_extension": ("SELECT load_extension('evil')", "error", "not authorized"),
    "readfile": ("SELECT readfile('/etc/passwd')", "error", ""),
    "transaction": ("BEGIN EXCLUSIVE", "error", "not authorized"),
    "two statements": ("SELECT 1; DROP TABLE t", "error", "one statement"),
    "comment and drop": ("SELECT 1; -- x\nDROP TABLE t", "error", "one statement"),
    "endless recursion": (ENDLESS, "timeout", "steps"),
    "cross joins": ("SELECT COUNT(*) FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m", "timeout", "steps"),
    "endless rows": (ENDLESS.replace("COUNT(*)", "x"), "error", "more than 1,000 rows"),
    "huge text": ("SELECT hex(zeroblob(900000000))", "error", "too big"),
    "huge rows": ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 500) "
                  "SELECT hex(zeroblob(1000000)) FROM n", "error", "bytes"),
    "deep nesting": ("SELECT " + "(" * 5000 + "1" + ")" * 5000, "error", ""),
    "long text": ("SELECT '" + "x" * 200_000 + "'", "error", ""),
    "NUL": ("SELECT 1 \0; DROP TABLE t", "error", ""),
    "surrogate": ("SELECT '\ud83d'", "error", ""),
    "nothing": ("-- nothing", "ok", ""),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_change_nothing(database, tmp_path, monkeypatch, attack):
    monkeypatch.chdir(tmp_path)
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    statement, status, word = ATTACKS[attack]
    ran = execute(database, statement, BUDGET)
    assert ran.status == status, ran
    assert word in ran.problem
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["db", "t.sqlite"]  # no journal, no copy, no attached file
    assert execute(database, "SELECT COUNT(*) FROM t", BUDGET).rows == ((4,),)  # the next item is unaffected


def test_the_guard_is_what_stops_them(database, tmp_path):
    """The same statement without the guard does change the file: the test above can fail."""
    before = database.read_bytes()
    with sqlite3.connect(database) as open_:
        open_.execute("DROP TABLE t")
    open_.close()
    assert database.read_bytes() != before


def test_seconds_end_a_statement_that_steps_do_not(database):
    ran = execute(database, ENDLESS, Budget(steps=10**12, seconds=0.05, rows=10))
    assert (ran.status, ran.problem) == ("timeout", "stopped after 0.05 seconds")


def test_statements_run_verbatim_and_once(database):
    assert execute(database, "-- note\nSELECT 1", BUDGET).rows == ((1,),)
    assert execute(database, "select a from t where b = 'x';", BUDGET).rows == ((1,),)
    assert execute(database, "WITH w AS (SELECT a FROM t) SELECT COUNT(*) FROM w", BUDGET).rows == ((4,),)
    assert execute(database, "SELEC 1", BUDGET).status == "error"


def test_bytes_that_are_no_text_stay_apart(tmp_path):
    path = tmp_path / "b.sqlite"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE t (a TEXT)")
        made.executemany("INSERT INTO t VALUES (CAST(? AS TEXT))", [(b"\xff",), (b"\xfe",)])
    made.close()
    assert len(set(execute(path, "SELECT a FROM t", BUDGET).rows)) == 2


def test_a_missing_database_is_our_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        execute(tmp_path / "none.sqlite", "SELECT 1", BUDGET)
    assert not (tmp_path / "none.sqlite").exists()


A, B = (("a",), ("b",), ("b",)), (("b",), ("a",), ("b",))


@pytest.mark.parametrize(
    ("pred", "gold", "sets", "stream", "rows", "sequence"),
    [
        (A, A, 1, 1, 1, 1), (B, A, 1, 1, 1, 0), (A[:2], A, 1, 1, 0, 0), ((), (), 1, 0, 1, 1), (A, (), 0, 0, 0, 0),
        (((1,),), ((1.0,),), 1, 1, 1, 1), (((1,),), (("1",),), 0, 0, 0, 0), (((1, 2),), ((2, 1),), 0, 0, 0, 0),
    ],
)  # fmt: skip
def test_what_equal_means(pred, gold, sets, stream, rows, sequence):
    assert compare.same_sets(pred, gold) == sets
    assert compare.same_sets_streambench(pred, gold) == stream
    assert compare.same_rows(pred, gold, ordered=False) == rows
    assert compare.same_rows(pred, gold, ordered=True) == sequence


@pytest.mark.parametrize(
    ("sql", "ordered"),
    [
        ("SELECT a FROM t ORDER BY a", True), ("select a from t order\n by a limit 1", True), ("SELECT a FROM t", False),
        ("SELECT * FROM (SELECT a FROM t ORDER BY a)", False), ("SELECT 'ORDER BY' FROM t", False),
        ("SELECT a FROM t -- ORDER BY a", False), ("SELECT SUM(a) OVER (ORDER BY a) FROM t", False),
        ('SELECT "order" by_ FROM t', False), ("SELECT a FROM t WHERE b = ')' ORDER BY a", True),
    ],
)  # fmt: skip
def test_top_level_order(sql, ordered):
    assert has_order(sql) is ordered


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT a FROM t ORDER BY a DESC LIMIT 2", "SELECT a FROM t ORDER BY a DESC , ace_tie() LIMIT 2"),
        ("SELECT a FROM t ORDER BY a;", "SELECT a FROM t ORDER BY a , ace_tie() ;"),
        ("SELECT (SELECT b FROM t ORDER BY a LIMIT 1)", "SELECT (SELECT b FROM t ORDER BY a , ace_tie() LIMIT 1)"),
        ("SELECT * FROM (SELECT b FROM t ORDER BY f(a))", "SELECT * FROM (SELECT b FROM t ORDER BY f(a) , ace_tie() )"),
        ("SELECT SUM(a) OVER (ORDER BY a) FROM t", "SELECT SUM(a) OVER (ORDER BY a) FROM t"),
        ("SELECT a FROM t ORDER BY a -- end", "SELECT a FROM t ORDER BY a -- end , ace_tie()"),
    ],
)
def test_a_last_key_turns_ties_over(sql, wanted):
    assert " ".join(loosened(sql).split()) == wanted


@pytest.mark.parametrize(
    ("answer", "sql"),
    [
        ("SELECT 1", "SELECT 1"), (" SELECT 1; ", "SELECT 1;"), ("```sql\nSELECT 1\n```", "SELECT 1"),
        ("Here:\n```SQL\nSELECT 1\n```\nDone", "SELECT 1"), ("```\nselect 1\n```", "select 1"), ("```SELECT 1```", "SELECT 1"),
        ("```sql\nSELECT 1", "SELECT 1"), ("", ""), ("-- note\nSELECT 1", "-- note\nSELECT 1"),
    ],
)  # fmt: skip
def test_the_statement_of_an_answer(answer, sql):
    assert compare.statement(answer) == sql


def test_streambench_rewrites_what_is_not_upper_case_select():
    assert compare.streambench_statement("SELECT 1") == "SELECT 1"
    assert compare.streambench_statement("WITH x AS (SELECT 1) SELECT * FROM x").startswith("SELECT WITH")


@pytest.mark.parametrize(
    ("sql", "flags"),
    [
        ("SELECT a FROM t WHERE a = 1", ()), ("SELECT a FROM t WHERE a = 9", ("empty",)),
        ("SELECT b FROM t ORDER BY a LIMIT 2", ("tie",)), ("SELECT b FROM t WHERE a < 3 ORDER BY a, b LIMIT 2", ()),
        ("SELECT b FROM t LIMIT 1", ("tie",)),
        ("SELECT COUNT(*) FROM t WHERE b > (SELECT b FROM t WHERE a > 1 ORDER BY a LIMIT 1)", ("tie",)),
        ("SELECT b FROM t WHERE a < 3 UNION SELECT n FROM t ORDER BY 1", ()),
        ("SELECT date('now')", ("clock",)), ("SELECT CURRENT_DATE", ("clock",)),
        ("SELECT random()", ("clock",)), ("SELECT b FROM t WHERE a = 3", ("null",)),
        ("SELECT MAX(n) FROM t", ("text_numbers",)), ("SELECT a FROM t ORDER BY n LIMIT 1", ("text_numbers",)),
        ("SELECT MAX(a) FROM t", ()), ("SELECT nope FROM t", ("error",)), (ENDLESS, ("timeout",)),
    ],
)  # fmt: skip
def test_doubtful_gold_is_flagged(database, sql, flags):
    made = Database("t", database, hashlib.sha256(database.read_bytes()).hexdigest(), "")
    assert selfcheck.flags(made, sql, BUDGET) == flags


def test_order_counts_only_where_the_gold_fixes_it(database):
    made = Database("t", database, hashlib.sha256(database.read_bytes()).hexdigest(), "")
    assert selfcheck.ordered_by_gold(made, "SELECT a, n FROM t ORDER BY n", BUDGET)
    assert not selfcheck.ordered_by_gold(made, "SELECT b FROM t ORDER BY a", BUDGET)  # two rows tie
    assert not selfcheck.ordered_by_gold(made, "SELECT b FROM t", BUDGET)
