"""What must be the same in every process, printed as JSON: run by the benchmark suite with other hash seeds."""

import hashlib
import json
import sys

from ace_bench.experiment import plugins
from ace_bench.prompts import Prompts
from ace_bench.protocols.orders import order_digest, ordered


def fingerprint(benchmark):
    """Digests of data, ids, inputs, groups and orders of a benchmark."""
    samples = {split: benchmark.samples(split) for split in benchmark.splits()}
    texts = [[s.task.id, s.task.group, s.task.input, s.target] for some in samples.values() for s in some]
    orders = {
        f"{kind}/{seed}": order_digest(ordered(samples["test"], kind, seed))
        for kind in ("shuffled", "blocked", "interleaved")
        for seed in (0, 7)
    }
    return {
        "data": benchmark.data_digest(),
        "samples": hashlib.sha256(json.dumps(texts).encode()).hexdigest(),
        "orders": orders,
    }


def made(name):
    """The benchmark with its defaults."""
    cls = plugins.load("benchmarks", name)
    return cls(cls.Settings(), Prompts())


if __name__ == "__main__":
    json.dump({name: fingerprint(made(name)) for name in sys.argv[1:]}, sys.stdout)
