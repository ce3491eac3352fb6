"""ace_bench: which ways of improving an agent's context work, measured fairly."""

__version__ = "0.1.0"
