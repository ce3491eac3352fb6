"""One process of AppWorld's engine, spoken to in JSON lines over its pipes. Runs in the engine's environment, not in ours.

It imports nothing of ace_bench and is started as a script by `client`. One world at a time: two in a process read each
other's data. Everything happens in the main thread, because the engine's time limit is a signal. What the engine or the
agent's code prints never reaches the pipe.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
from typing import Any

_MEMORY = 4 << 30  # bytes of address space: code that asks for more sees a MemoryError


def main() -> None:
    """Read requests `{"op": ..., ...}` until the pipe closes; answer each with `{"ok": ...}` or `{"error": text}`."""
    requests, replies = _pipes()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    handler = Handler()
    replies.write(json.dumps({"ok": handler.version}) + "\n")
    replies.flush()
    for line in requests:
        request = json.loads(line)
        try:
            answer = {"ok": getattr(handler, "do_" + request.pop("op"))(**request)}
        except Exception as error:  # whatever the engine raises is the client's to name
            answer = {"error": f"{type(error).__name__}: {error}"[:2000]}
        replies.write(json.dumps(answer) + "\n")
        replies.flush()


def _pipes() -> tuple[Any, Any]:
    """Our two pipes under numbers of their own; 0 and 1 lead to nothing from here on."""
    requests, replies = os.fdopen(os.dup(0), encoding="ascii"), os.fdopen(os.dup(1), "w", encoding="ascii")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    return requests, replies


class Handler:
    """The operations. A player has `open`, `execute` and `close`; a grader has `grade` and `dataset`."""

    def __init__(self) -> None:
        import dotenv

        dotenv.load_dotenv = lambda *a, **k: False  # the engine would read a .env file of whoever contains its folder
        import appworld
        from appworld.apps import get_all_apps

        self.engine, self.world, self.apps = appworld, None, get_all_apps()
        self.version = appworld.__version__

    def do_open(self, task: str, experiment: str, seed: int, seconds: int, calls: int) -> None:
        """Start the world of a task. Its ground truth is not loaded, and is not in the data root of a player."""
        self.do_close()
        self.world = self.engine.AppWorld(
            task_id=task, experiment_name=experiment, random_seed=seed, timeout_seconds=seconds,
            max_api_calls_per_interaction=calls, load_ground_truth=False,
        )  # fmt: skip

    def do_execute(self, code: str) -> dict[str, Any]:
        """Run one block: its output, and the task's status and answer after it."""
        assert self.world is not None
        output = self.world.execute(code)
        task = self.world.requester.request("supervisor", "show_active_task", track=False)
        return {"output": output, "completed": self.world.task_completed(), "answer": task.get("answer")}

    def do_close(self) -> None:
        """End the world, if there is one. Its state is on disk after every block."""
        if self.world is not None:
            self.world.close()
            self.world = None

    def do_grade(self, task: str, experiment: str) -> dict[str, Any]:
        """The engine's evaluation of what a world left on disk: success, difficulty, num_tests, passes, failures."""
        done = self.engine.evaluate_tasks([task], experiment_name=experiment, save_reports=False)
        report: dict[str, Any] = done["individual"][task]
        return report

    def do_dataset(self, experiment: str, dataset: str) -> dict[str, Any]:
        """The engine's own figures of a whole split, for comparison with ours."""
        from appworld.evaluator import Metric

        done = self.engine.evaluate_dataset(experiment, dataset, print_report=False)
        return {**done, "report": Metric.build_report(done)}

    def do_forget(self, experiment: str) -> None:
        """Remove what an experiment left."""
        path = os.path.join(self.engine.path_store.experiment_outputs, experiment)
        shutil.rmtree(path, ignore_errors=True)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder has names that are none of the engine's business
    main()
