"""The loop of the code agent, with a world made of a list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ace_bench.benchmarks.react import BLANKED, Limits, cut, first_block, history, play, shown
from ace_bench.llm.types import Reply

OPENING = ({"role": "user", "content": "go"},)


class Echo:
    """Says the code back; `done()` completes it."""

    def __init__(self):
        self.ran = []

    def execute(self, code):
        self.ran.append(code)
        return f"ran {code.strip()}" if code.strip() else "No code available to execute."

    @property
    def completed(self):
        return any("done()" in code for code in self.ran)


def asked(*replies):
    """An `ask` that plays replies and keeps the messages."""
    left, seen = list(replies), []

    def ask(purpose, messages, **options):
        assert purpose == "solve"
        assert not options
        seen.append(messages)
        reply = left.pop(0) if len(left) > 1 else left[0]
        return reply if isinstance(reply, Reply) else Reply(reply, "ok")

    return ask, seen


def block(code):
    return f"```python\n{code}\n```"


@pytest.mark.parametrize(
    ("text", "written", "code"),
    [
        ("a\n```python\nx = 1\n```\nb\n```python\ny\n```", "a\n```python\nx = 1\n```", "x = 1\n"),
        ("```python\nx = 1\n", "```python\nx = 1\n```", "x = 1\n"),
        ("```python \nx = '```'\ny = 2\n```", "```python \nx = '```'\ny = 2\n```", "x = '```'\ny = 2\n"),
        ("no block", "no block", None),
        ("```\nx\n```", "```\nx\n```", None),
        ("```python\n```", "```python\n```", ""),
        ("", "", None),
    ],
)
def test_the_first_block_counts_and_what_follows_it_is_cut(text, written, code):
    assert first_block(text) == (written, code)


def test_it_stops_when_the_task_is_completed():
    ask, seen = asked(block("a"), block("done()"), block("never"))
    made = play(world := Echo(), OPENING, ask, Limits())
    assert (made.status, made.steps, made.blocks) == ("ok", 2, 2)
    assert world.ran == ["a\n", "done()\n"]
    assert [message["role"] for message in seen[1]] == ["user", "assistant", "user"]
    assert seen[1][2]["content"] == shown("ran a")
    assert made.trace == f"Agent:\n{block('a')}\n\nOutput:\nran a\n\nAgent:\n{block('done()')}\n\nOutput:\nran done()"


def test_it_stops_after_its_steps():
    ask, _ = asked(block("a"))
    assert play(Echo(), OPENING, ask, Limits(steps=3)).steps == 3


def test_replies_without_a_block_run_nothing_and_are_told_so():
    ask, seen = asked("no", "no")
    made = play(world := Echo(), OPENING, ask, Limits(steps=2))
    assert (made.status, made.blocks, world.ran) == ("unparsed", 0, ["", ""])
    assert seen[1][2]["content"] == shown("No code available to execute.")


@pytest.mark.parametrize("status", ["refused", "empty", "overflow", "error"])
def test_a_reply_that_cannot_go_on_ends_the_episode_under_its_name(status):
    ask, _ = asked(block("a"), Reply("", status))
    made = play(Echo(), OPENING, ask, Limits())
    assert (made.status, made.steps) == (status, 1)


def test_a_truncated_reply_runs_what_it_has():
    ask, _ = asked(Reply("```python\ndone()", "truncated"))
    assert play(Echo(), OPENING, ask, Limits()).status == "ok"


def test_outputs_are_cut_with_a_mark():
    assert cut("x" * 20_000, 20_000) == "x" * 20_000
    assert cut("x" * 20_007, 20_000) == "x" * 20_000 + "\n[cut here: 7 more characters]"


TURNS = st.lists(st.tuples(st.text(max_size=30), st.text(max_size=300)), max_size=12)


@given(TURNS, st.integers(0, 3000))
def test_history_blanks_old_outputs_first_and_then_drops_turns(turns, longest):
    kept = history(turns, longest)
    size = sum(len(m["content"]) for m in kept)
    whole = [text for written, said in turns for text in (written, shown(said))]
    assert size <= longest or len(kept) <= 2
    if sum(map(len, whole)) <= longest:
        assert [m["content"] for m in kept] == whole
    assert [m["role"] for m in kept] == ["assistant", "user"] * (len(kept) // 2)
    tail = whole[len(whole) - len(kept) :]
    for message, text in zip(kept, tail, strict=True):
        assert message["content"] in (text, shown(BLANKED))
    assert [m["content"] for m in kept[-5:]] == tail[-5:] if kept else True


def test_history_by_hand():
    turns = [("a", "x" * 100), ("b", "y" * 100), ("c", "z"), ("d", "z"), ("e", "z")]
    contents = [m["content"] for m in history(turns, 250)]
    assert contents[1] == shown(BLANKED)
    assert contents[3] == shown("y" * 100)
    assert [m["content"] for m in history(turns, 40)] == ["d", shown("z"), "e", shown("z")]
