"""`python -m ace_bench`: the command line."""

from ace_bench.cli import main

main()
