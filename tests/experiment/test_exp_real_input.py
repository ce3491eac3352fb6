"""The real finance rows through ACE, offline and online, over HTTP and litellm: the calls are the algorithm's."""

from collections import Counter

import pytest
from loopback import loopback

from ace_bench.experiment.sweeper import launch
from ace_bench.store import read_table

pytest.importorskip("litellm", reason="the extra litellm is not installed")
pytest.importorskip("hydra_plugins.ace_bench", reason="needs an install: pip install -e .")
FORMULA, FORMULA_VAL, FINER = "formula_train_subset_500", "formula_val_subset_300", "finer_val_batched_500_samples"
SIZE = {FORMULA: 500, FORMULA_VAL: 300, FINER: 500}


def counts(train, test, val=0, passes=0):
    """1 solve + 1 reflect + 1 curate a sample learned from; one solve a sample scored or validated."""
    return {"solve": train + test + passes * val, "reflect": train, "curate": train}


# protocol and files, and the calls by purpose that follow from the algorithm (rounds = 1, one epoch)
CASES = {
    "formula offline, select last": (
        ["benchmark=formula", "protocol=offline", "select=last"],
        {"train": FORMULA, "test": FORMULA_VAL},
        counts(500, 300),
    ),
    "formula offline, validated every 250 steps": (
        ["benchmark=formula", "protocol=offline", "select=gt", "protocol.eval_every=250", "benchmark.test_limit=20"],
        {"train": FORMULA, "val": FORMULA_VAL, "test": FORMULA_VAL},
        counts(500, 20, 300, passes=3),
    ),
    "formula online": (["benchmark=formula", "protocol=online"], {"test": FORMULA}, counts(500, 0)),
    "finer online": (["benchmark=finer", "protocol=online"], {"test": FINER}, counts(500, 0)),
    "finer offline": (
        ["benchmark=finer", "protocol=offline", "select=last", "benchmark.test_limit=40"],
        {"train": FINER, "test": FINER},
        counts(500, 40),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_calls_by_purpose_are_those_of_the_algorithm(tmp_path, trial_data, case):
    overrides, files, expected = CASES[case]
    paths = [f"benchmark.{split}={trial_data}/finance/{name}.jsonl" for split, name in files.items()]
    with loopback("A,B,C,D" if "finer" in case else "2.0") as server:
        outcome = launch([
            "name=real", f"results={tmp_path}", "method=ace", "model=litellm", "model.name=stub",
            f"model.endpoint={server.url}", "model.params.max_tokens=500", *overrides, *paths,
        ])  # fmt: skip
        assert outcome.exit_code == 0
        calls = read_table(tmp_path / "real", "calls", ["purpose", "status", "attempt"]).to_pylist()
        assert Counter(c["purpose"] for c in calls) == expected
        assert {(c["status"], c["attempt"]) for c in calls} == {("ok", 0)}
        assert server.calls <= sum(expected.values())  # equal requests of one cell are distinct draws; none is repeated
