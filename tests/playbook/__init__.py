"""Tests of ace_bench.playbook."""
