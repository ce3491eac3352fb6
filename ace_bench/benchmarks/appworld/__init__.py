"""AppWorld with the real engine: `adapter` the benchmark, `tasks` the data root, `acting` one world, `policy` what is not run,
`pool`, `client` and `server` the engine processes, `figures` TGC and SGC."""

from ace_bench.benchmarks.appworld.adapter import AppWorld, Final
from ace_bench.benchmarks.appworld.figures import Figures, figures

__all__ = ["AppWorld", "Figures", "Final", "figures"]
