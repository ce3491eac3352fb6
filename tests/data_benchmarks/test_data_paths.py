"""`${data:NAME}` in a config, and `data.root`."""

import pytest
from omegaconf.errors import OmegaConfBaseException

from ace_bench.experiment.compose import CellComposer, compose_master, session
from ace_bench.experiment.spec import check


def cell(*job):
    with session() as hydra:
        return CellComposer(hydra.config_loader, compose_master(hydra, [])).cell(list(job))


@pytest.fixture
def root(tmp_path):
    path = tmp_path / "finance" / "formula_test.jsonl"
    path.parent.mkdir()
    path.write_text("{}\n")
    return tmp_path


def test_a_name_becomes_a_path_under_the_root(root, monkeypatch):
    job = ["benchmark=formula", "benchmark.test=${data:formula_test}"]
    made = cell(*job, f"data.root={root}")
    assert made["benchmark"]["test"] == str(root / "finance" / "formula_test.jsonl")
    monkeypatch.setenv("ACE_BENCH_DATA", str(root))
    assert cell(*job)["benchmark"]["test"] == made["benchmark"]["test"]


def test_the_place_of_the_data_is_no_identity(root, tmp_path):
    job = ["benchmark=formula", "benchmark.test=${data:formula_test}"]
    other = tmp_path / "other"
    (other / "finance").mkdir(parents=True)
    (other / "finance" / "formula_test.jsonl").write_text("{}\n")
    assert check(cell(*job, f"data.root={root}")).id() == check(cell(*job, f"data.root={other}")).id()


def test_a_missing_file_says_how_to_get_it(tmp_path):
    with pytest.raises(OmegaConfBaseException, match="ace-bench data fetch bird_test"):
        cell("benchmark=bird", "benchmark.test=${data:bird_test}", f"data.root={tmp_path}")
