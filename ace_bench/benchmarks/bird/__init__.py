"""BIRD-SQL on real SQLite databases: `adapter` the benchmark, `databases` the files, `sqlrun` one statement under guard,
`compare` what equal results are, `selfcheck` the gold statements, `overall` scores by difficulty."""

from ace_bench.benchmarks.bird.adapter import Bird
from ace_bench.benchmarks.bird.overall import by_difficulty

__all__ = ["Bird", "by_difficulty"]
