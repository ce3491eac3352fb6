"""Completion of overrides, from Hydra's own completer (0.3 to 0.6 s a key)."""

from __future__ import annotations

import typer


def complete(ctx: typer.Context, incomplete: str) -> list[str]:
    """Candidates for the word under the cursor. Never an error: a completer that fails says nothing.

    Bash splits words at `=`, so `method=a` arrives as `method`, `=`, `a`; only what follows `=` may be returned then.
    """
    try:
        before = list(ctx.params.get("overrides") or [])
        if not incomplete and before and before[-1][-1:] != "=" and _is_left_side(before):
            incomplete = "="  # click drops a lone "="; a whole override would not end without one
        *earlier, word = _joined([*before, incomplete])
        found = _query(earlier, word)
        # The word under the cursor as bash sees it starts behind the last "=".
        cut = word.rfind("=") + 1 if incomplete == "=" or not incomplete.endswith(word) else 0
        return [f[cut:] for f in found]
    except Exception:
        return []


def _is_left_side(before: list[str]) -> bool:
    return "=" not in _joined(before)[-1] and not before[-1].startswith("~")


def _joined(parts: list[str]) -> list[str]:
    words: list[str] = []
    for part in parts:
        if words and (part.startswith("=") or words[-1].endswith("=")):
            words[-1] += part
        else:
            words.append(part)
    return words


def _query(earlier: list[str], word: str) -> list[str]:
    if word.startswith("experiment="):  # Hydra does not look into folders of presets
        from ace_bench.cli.run import presets

        return [f"experiment={p}" for p in presets() if f"experiment={p}".startswith(word)]
    from hydra._internal.core_plugins.bash_completion import BashCompletion

    from ace_bench.experiment.compose import CONFIG, session

    with session() as hydra:
        return list(BashCompletion(config_loader=hydra.config_loader)._query(CONFIG, " ".join([*earlier, word])))
