"""Embedders: texts to unit vectors. Each is a plug-in of group `ace_bench.embedders`; a cell reaches it by `run.embed`.

Importing this package costs nothing; numpy and the weights come with the first use.
"""

from ace_bench.llm.embedders.base import Embedder, EmbedderSettings
from ace_bench.llm.embedders.similar import similar_pairs

__all__ = ["Embedder", "EmbedderSettings", "similar_pairs"]
