"""Why it is not shown at once how a run would be without somebody, for people."""

from __future__ import annotations

from collections.abc import Mapping

NOT_AT_ONCE: Mapping[str, str] = {
    "out_already": "This run left the worker out already.",
    "large": "There are too many answers to show it at once: a run shows it.",
    "changed": "People's answers were added, changed or withdrawn since this run, so it cannot be "
    "told what this run would have found: grade again.",
    "slow_settings": "With the settings of this run it takes too long to show it at once: a run "
    "shows it.",
    "no_vectors": "The vectors of this run are not at hand, so it cannot be shown at once: a run "
    "makes them.",
    "nobody_left": "Without this worker too few are left to grade by.",
}
