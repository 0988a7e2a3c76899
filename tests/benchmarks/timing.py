"""Wall-clock times of several contestants in one process, taken in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

RUNS = 7
# What is faster than this is run once more, untimed, before each timed run: its caches went cold
# while the slow contestants had their turn. A longer run warms itself.
BRIEF = 0.5


@dataclass
class Timing:
    """Seconds of every timed run."""

    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median, in seconds."""
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Contestant:
    """Something to be timed.

    Attributes
    ----------
    name : as it stands in the report.
    run : does the work once.
    runs : how many timed runs; fewer than `RUNS` only for the slow.
    warm_up : whether to run it once before all turns.
    """

    name: str
    run: Callable[[], object]
    runs: int = RUNS
    warm_up: bool = True


def take_turns(contestants: Sequence[Contestant]) -> dict[str, Timing]:
    """Time all contestants, one run each in every round, so that a busy spell meets them all.

    One with fewer runs drops out of the later rounds.
    """
    timings = {contestant.name: Timing() for contestant in contestants}
    for contestant in contestants:
        if contestant.warm_up:
            contestant.run()
    for turn in range(max((contestant.runs for contestant in contestants), default=0)):
        for contestant in contestants:
            if turn < contestant.runs:
                seconds = timings[contestant.name].seconds
                if seconds and seconds[-1] < BRIEF:
                    contestant.run()
                seconds.append(elapsed(contestant.run))
    return timings


def elapsed(run: Callable[[], object]) -> float:
    """Run once and return the seconds it took."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin
