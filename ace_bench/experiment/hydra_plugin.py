"""What Hydra finds as `hydra_plugins.ace_bench`. No logic: an editable install carries a copy of this file.

The subclasses exist for their `__module__`: Hydra accepts plug-ins only out of `hydra_plugins.*`.
"""

from __future__ import annotations

from ace_bench.experiment.launcher import ThreadsLauncher as _Threads
from ace_bench.experiment.plugins import ConfSearchPath as _ConfSearchPath
from ace_bench.experiment.sweeper import PlanSweeper as _Plan


class ThreadsLauncher(_Threads):
    """`hydra/launcher=threads`."""


class PlanSweeper(_Plan):
    """`hydra/sweeper=plan`."""


class ConfSearchPath(_ConfSearchPath):
    """Adds the `conf` packages of installed plug-ins."""
