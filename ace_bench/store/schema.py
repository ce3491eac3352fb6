"""The row schemas: seven tables, one grain each, the only thing reports are made from (design, section 5).

A column is a name, a type and what it means. Types are the few words of `ARROW`; `?` marks a column that may be null.
A null is an unknown (not parsed, not priced, not reported): never a zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# Phases a step can belong to, in the order tables are sorted by.
PHASES = ("adapt", "select", "score", "probe")
# The five token classes. They are disjoint: their sum is every token of a call.
TOKEN_CLASSES = ("input", "cached_input", "cache_write", "output", "reasoning")
# What became of an attempt on a sample. Only the first two carry a score of the answer itself.
OUTCOMES = ("right", "wrong", "unparsed", "refused", "truncated", "empty", "overflow", "unanswerable", "error")
# What can happen to a bullet.
BULLET_EVENTS = (
    "born", "tagged", "edited", "merged_into", "removed", "pruned", "evicted", "rewritten_away", "restored", "end",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `kind` is a key of `ARROW`, `null` says whether an unknown is allowed."""

    name: str
    kind: str
    null: bool
    doc: str


def _columns(text: str) -> tuple[Column, ...]:
    """Read `name type[?] meaning` lines; blank ones are where two pieces were joined."""
    out = []
    for line in filter(str.strip, text.splitlines()):
        name, kind, doc = line.split(None, 2)
        out.append(Column(name, kind.rstrip("?"), kind.endswith("?"), doc))
    return tuple(out)


_AT = """
cell string id of the cell
phase string adapt, select, score or probe
epoch int pass over the training stream, from 0
round int which validation pass (number of adaptation steps before it); 0 elsewhere
position int place in the order of this phase, from 0
"""

_USAGE = "\n".join(
    f"{phase}_{what} {'int' if what == 'calls' else 'int?'} {what.replace('_', ' ')} needed by this step, phase {phase}"
    for phase in PHASES
    for what in ("calls", "input_tokens", "output_tokens")
)

TABLES: dict[str, tuple[Column, ...]] = {
    "cells": _columns("""
cell string id: readable slug and digest of the resolved config
experiment string name of the experiment (its folder)
instance string random id of this cell folder, kept over resumes; who paid for a response is written with it
method string name of the method
benchmark string name of the benchmark
model string model the Generator runs on
simulated bool true when no language model was behind the calls: never to stand beside a published number
protocol string offline, online or frozen
feedback string regime: gt, outcome, execution or none
select string gt or last: whether validation labels picked the state
seed int seed of everything random but the order
order_kind string shuffled, blocked, interleaved or file
order_seed int seed of the order
knobs string the resolved config of the cell, JSON: all that can change a result
config_digest string SHA-256 of that config
data_digest string SHA-256 over the samples, all splits
order_digest string SHA-256 over the sample ids in stream order
prompts_digest string SHA-256 over the role prompts
prices_digest string SHA-256 over the list prices it is billed at, sources and dates included
start string? finished cell or file that the initial state came from; null for a cold start
start_tokens int? tokens that were needed to make that state: a cost of its own, in no other column
code string version of ace_bench and git commit when known
status string finished, failed or stopped
attempts int how often this cell was started
error string? the sentence of the last failure
bad_rows int rows of the data files that were left out as bad, all splits
items int steps of phase score
scored int of those, with a score
score float? mean primary score over the scored items
score_all float? the same with every unscored item counted as 0
calls int needed model calls
input_tokens int? needed input tokens, all three input classes; null when a provider did not report
output_tokens int? needed output and reasoning tokens
billed_input_tokens int? input tokens this run paid for
billed_output_tokens int? output and reasoning tokens this run paid for
cost float? dollars of the needed calls at list price; null when any is unpriced
cost_uncached float? the same calls with every input token at the full input price
cached_share float? share of input tokens from the provider's prompt cache, over calls that reached one; null when unknown
billed_cost float? dollars this run paid
bits int bits of label feedback revealed to the method
labels int targets revealed to the method
adapt_latency_s float serial sum of provider latency of adaptation calls, seconds
wall_s float wall time over all attempts, seconds
"""),
    "steps": _columns(
        _AT
        + """
sample string sample id
group string group (scenario) of the sample
first bool first time this group is met in this phase and epoch
shapes_state bool this scored call also fed the update (online, window 1)
outcome string outcome class
score float? primary score in [0, 1]; null when the attempt has no score
scores string all named scores, JSON object
answer string? the parsed answer
state_version int version of the state that was shown
state string digest of that state's text
context string digest of the context text shown
context_tokens int estimate: UTF-8 bytes of the context / 4
bullets int? bullets in the state
used string ids of the bullets the answer names, JSON list
adapt_latency_s float serial provider latency of this step's adaptation calls, seconds
"""
        + _USAGE
    ),
    "calls": _columns(
        _AT
        + """
ordinal int place among the calls of the step, from 0; an address with the five columns before it
sample string? sample the call was about
purpose string solve, reflect, curate, rewrite, propose, merge, judge or embed
call_phase string phase the tokens belong to (an online step scores and adapts)
attempt int provider attempt, from 0
repair bool a second ask because the first reply did not fit its schema
shapes_state bool the call decides a score and also feeds the update
model string model asked for
status string ok, truncated, refused, empty, overflow or error
needed bool the method asked for it and got a reply
billed bool this run paid for it
input int? uncached input tokens
cached_input int? input tokens the provider read from its prompt cache
cache_write int? input tokens written to the provider's prompt cache
output int? visible output tokens
reasoning int? reasoning tokens
cost float? dollars at list price; null when unpriced or unreported
cost_uncached float? the same with every input token at the full input price: no prompt-prefix caching
input_cost_uncached float? what of cost_uncached is for input tokens
latency_s float? provider latency when first measured, seconds
queue_s float? waiting for a place and backing off, seconds
served_from string provider or cache
finish_reason string? as the provider said
error string? what went wrong with this attempt
request string digest of the request: its cache key
response string? digest of the reply text
seed int seed sent or used
draw int how often this very request was asked before for this sample, in this cell
"""
    ),
    "bullets": _columns(
        _AT
        + """
index int running number of the event in the cell, from 0
step int adaptation steps finished before this event
state_version int version after the event
bullet string bullet id
event string born, tagged, edited, merged_into, removed, pruned, evicted, rewritten_away, restored or end
section string section of the bullet
into string? absorbing bullet of merged_into
text string digest of the content
helpful int helpful count after the event
harmful int harmful count after the event
sample string? sample that gave the evidence
truth bool? whether the lesson is true, where the benchmark knows (rulebook); null elsewhere
"""
    ),
    "states": _columns(
        _AT
        + """
version int state version, from 0
state string digest of the text
tokens int estimate: UTF-8 bytes / 4
bullets int? bullets in it
proposed int operations proposed by the update that made it
applied int of those, applied
rejected int of those, rejected; applied + rejected = proposed
rejections string reasons and counts of the rejections, JSON object
"""
    ),
    "candidates": _columns(
        _AT
        + """
candidate int running number in the cell, from 0
state string digest of the candidate's text
parents string candidate numbers, JSON list
score float? selection score
items int items that score rests on
accepted bool became the best so far
reason string why, or why not
calls int model calls spent in the cell when it was found
"""
    ),
    "feedback": _columns(
        _AT
        + """
attempt int attempt on the sample within the step, from 0
sample string sample id
regime string gt, outcome, execution or none
fields string label fields revealed, comma separated; empty when none
bits int bits of label information: 1 for each right-or-wrong told (a told target is in `fields`)
"""
    ),
}


def columns(table: str) -> tuple[Column, ...]:
    """The columns of `table`; an unknown table is a KeyError with the known names."""
    if table not in TABLES:
        raise KeyError(f"no table {table!r}; the tables are {', '.join(TABLES)}")
    return TABLES[table]


def arrow_schema(table: str) -> pa.Schema:
    """The Arrow schema of `table` (plain strings: dictionary columns of different files do not group together)."""
    import pyarrow as pa

    arrow = {"string": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
    return pa.schema([pa.field(c.name, arrow[c.kind], nullable=c.null) for c in columns(table)])
