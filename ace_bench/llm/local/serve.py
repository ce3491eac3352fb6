"""The child process: one GGUF model behind an OpenAI-style endpoint on 127.0.0.1, until standard input closes.

Started by `servers.py` as `python -m ace_bench.llm.local.serve FILE CONTEXT SLOTS THREADS CACHE_MIB`, the key in the
environment. Prints one JSON line when it is ready. Its standard input is a pipe of the parent: when that ends, in
whatever way, the pipe closes and so does this process.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

KEY_VARIABLE = "ACE_BENCH_LOCAL_SERVER_KEY"


def parameters(file: str, context: int, slots: int, threads: int, cache_mib: int, key: str) -> Any:
    """The server's parameters. `context` is tokens a slot; `cache_mib` bounds the prompts kept outside of the slots."""
    import xllamacpp

    made = xllamacpp.CommonParams()
    made.model.path = file
    made.n_ctx, made.n_parallel, made.kv_unified = context * slots, slots, False
    made.n_batch, made.n_ubatch = 2048, 512
    made.cpuparams.n_threads = made.cpuparams_batch.n_threads = threads
    made.hostnames, made.port, made.api_keys = ["127.0.0.1"], 0, [key]
    made.cache_prompt, made.cache_ram_mib = True, cache_mib
    made.ctx_shift = False  # a prompt that does not fit is an error, never cut in silence
    made.use_jinja, made.ui, made.warmup, made.verbosity = True, False, True, 0
    return made


def main(arguments: list[str]) -> None:
    """Serve until standard input closes."""
    file, *numbers = arguments
    context, slots, threads, cache_mib = map(int, numbers)
    import xllamacpp

    server = xllamacpp.Server(parameters(file, context, slots, threads, cache_mib, os.environ.pop(KEY_VARIABLE)))
    print(json.dumps({"url": server.listening_address, "build": str(xllamacpp.BUILD_INFO)}), flush=True)
    sys.stdin.buffer.read()
    os._exit(0)  # at once, also in the middle of a prompt: nobody waits for the answer any more


if __name__ == "__main__":
    main(sys.argv[1:])
