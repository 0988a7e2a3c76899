"""Settings of a site with a kind of run that never comes back: it waits in the code of a library.

The lock of the interpreter is held there, so that no thread of the process goes on either.
"""

import re

from crowdgrade.settings import *  # noqa: F403
from crowdgrade.settings import RUN_KINDS

RUN_KINDS = [*RUN_KINDS, "tests.evaluation.runs.background.stuck.kind"]


def never_ends(turn) -> None:
    turn.report_progress("waiting", 1, 3)
    re.match(r"(a|aa)+$", "a" * 200 + "b")


def __getattr__(name):
    if name != "kind":
        raise AttributeError(name)
    from evaluation.core.options import Parameters
    from evaluation.runs.run_types.kind import Kind

    globals()["kind"] = Kind("stuck", "Stuck", "Never ends.", Parameters, never_ends)
    return globals()["kind"]
