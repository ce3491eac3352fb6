"""The registry of public data: where each file comes from, at which revision, how long it is, and its SHA-256.

A digest marked None is not known to us. What is then fetched first is written down in the data folder, and a later copy
must equal it (`verify`). Nothing here is ours; each set has a licence of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """One file. `path` is its place under the data root; `unpacked` the folder that stands for it, if it is an archive.

    `revision` is the commit or release the URL is pinned to, None when the URL follows whatever is newest.
    """

    name: str
    group: str
    path: str
    url: str
    revision: str | None
    size: int | None
    sha256: str | None
    licence: str
    unpacked: str | None = None


_ACE = "bcb7cea0504afad6f55fec4845dd4864c9f9eee7"
_RAW = f"https://raw.githubusercontent.com/ace-agent/ace/{_ACE}/eval/finance/data"
_STREAM = "https://huggingface.co/datasets/appier-ai-research/StreamBench/resolve/refs%2Fconvert%2Fparquet"


def _finance(name: str, file: str, size: int, sha256: str | None) -> Source:
    return Source(name, "finance", f"finance/{file}", f"{_RAW}/{file}", _ACE, size, sha256, "see ace-agent/ace")


def _stream(name: str, config: str, split: str) -> Source:
    path = f"streambench/{config}/{split}.parquet"
    return Source(
        name, "streambench", path, f"{_STREAM}/{config}/{split}/0000.parquet", None, None, None, "see its card"
    )


SOURCES: tuple[Source, ...] = (
    _finance("finer_train", "finer_train_batched_1000_samples.jsonl", 8_028_162, None),
    _finance("finer_val", "finer_val_batched_500_samples.jsonl", 4_022_980,
             "80ef2f057221f0ea963561957dd9ad36fb1a16419d88fc459495198d5e0c795e"),
    _finance("finer_test", "finer_test_subset_006_seed42.jsonl", 3_572_008, None),
    _finance("formula_train", "formula_train_subset_500.jsonl", 266_931,
             "aea676feb2354462ba22d3c2c73a18b780e1193b05597beaeb0250ae9021b482"),
    _finance("formula_val", "formula_val_subset_300.jsonl", 159_618,
             "09948f7f24af5f2331f69a047ef086649873756cbf8626d19d23029346e98933"),
    _finance("formula_test", "formula_test.jsonl", 106_566, None),
    _stream("ddxplus_test", "ddxplus", "test"),
    _stream("ddxplus_validate", "ddxplus", "validate"),
    _stream("bird_test", "bird", "test"),
    _stream("bird_train", "bird", "train"),
    _stream("bird_validation", "bird", "validation"),
    Source("bird_databases", "bird", "bird/dev.zip", "https://bird-bench.oss-cn-beijing.aliyuncs.com/dev.zip", "dev_20240627",
           346_207_293, "cdd6d19faeb45a23970b98d3ef6c40a87987c95459c2cf12076897a60cf5a630", "CC BY-SA 4.0",
           unpacked="bird/dev_databases"),
    Source("appworld", "appworld", "appworld/data-0.1.0.bundle",
           "https://s3.us-west-2.amazonaws.com/appworld.dev/data-0.1.0.bundle", "0.1.0", 34_280_074,
           "fd9f9608c2ec71ed0ac25c3633a738b9129a318a129e31230425b9188e508250", "Apache-2.0, keep it encrypted"),
)  # fmt: skip


def chosen(names: Iterable[str], sources: tuple[Source, ...] = SOURCES) -> tuple[Source, ...]:
    """The sources named one by one, by group, or all with `all`; in the registry's order.

    Raises KeyError with a sentence for a name that is neither.
    """
    wanted = set(names)
    known = {"all"} | {s.name for s in sources} | {s.group for s in sources}
    if unknown := sorted(wanted - known):
        raise KeyError(f"There is no data named {unknown[0]!r}. Known: {', '.join(sorted(known))}.")
    return tuple(s for s in sources if {"all", s.name, s.group} & wanted)
