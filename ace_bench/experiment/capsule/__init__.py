"""A capsule: one file with what an experiment was, got and gave, that can be run again offline (docs/capsule.md)."""
