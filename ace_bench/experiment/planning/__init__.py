"""What a plan will take, before the first call: calls, tokens, dollars and the difference it can detect (docs/plan.md)."""
