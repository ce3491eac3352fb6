"""Prompt optimisers of other people's libraries: GEPA (gepa), MIPROv2 and BootstrapFewShot (dspy), TextGrad (textgrad).

The libraries only ever see (context text, task) -> (answer, score, feedback). Every call they cause goes through
`run.attempt`, `run.validate` and `run.ask`: our executor, meter, budget, ledger and cache. Nothing here imports a library
before a fit begins. docs/optimizers.md says how each differs from its source.
"""
