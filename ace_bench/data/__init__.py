"""Public data: `sources` says what there is and where, `root` where copies lie, `fetch` gets them, `verify` checks them."""

from ace_bench.data.fetch import Fetch, FetchError, fetch
from ace_bench.data.root import DataMissing, data_root, located
from ace_bench.data.sources import SOURCES, Source, chosen
from ace_bench.data.verify import State, state_of

__all__ = [
    "SOURCES", "DataMissing", "Fetch", "FetchError", "Source", "State", "chosen", "data_root", "fetch", "located", "state_of",
]  # fmt: skip
