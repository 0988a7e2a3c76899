"""`python -m tests.chaos`: break an installation of its own at random moments, check the results.

Exit code 1: an invariant does not hold. `--write` puts the table into platform/docs/reliability.md.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path

from tests.chaos.load import LOADS, Asking, Check, Load
from tests.chaos.report import build_report, write_report
from tests.chaos.services import MissingProgramError
from tests.chaos.site import ChaosSite
from tests.chaos.stacks import Stack, start_postgres, start_sqlite

STACKS: dict[str, Callable[[Path], AbstractContextManager[Stack]]] = {
    "sqlite": start_sqlite,
    "postgres-redis": partial(start_postgres, broker="redis"),
    "postgres-rabbitmq": partial(start_postgres, broker="rabbitmq"),
}
MOST_SECONDS = 60.0
"""Recovery: seconds from the end of a fault to a finished small run and a page."""
QUICK_FAULTS, SECONDS_TO_FINISH = 3, 180.0
PROBE = {"embedder": "tfidf-word", "bootstrap": 0}


@dataclass
class Outcome:
    """Result of one stack: faults with seconds to recovery, invariants, and what was left out."""

    stack: str
    recoveries: list[tuple[str, float]] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether every invariant holds and every recovery was in time."""
        in_time = all(seconds <= MOST_SECONDS for _, seconds in self.recoveries)
        return in_time and all(check.holds for check in self.checks)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen stacks one after another; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few faults, some minutes in all")
    parser.add_argument("--stack", nargs="+", choices=list(STACKS), metavar="NAME")
    parser.add_argument("--seed", type=int, default=0, help="of the order and length of faults")
    parser.add_argument("--rounds", type=int, default=1, help="how often each fault happens")
    parser.add_argument("--write", action="store_true", help="the table into reliability.md")
    chosen = parser.parse_args(arguments)
    outcomes = []
    for name in chosen.stack or STACKS:
        print(f"== {name}", flush=True)
        drawn = random.Random(f"{name}/{chosen.seed}")
        with tempfile.TemporaryDirectory(prefix=f"chaos-{name}-") as folder:
            most = QUICK_FAULTS if chosen.quick else None
            outcomes.append(run_stack(name, Path(folder), drawn, chosen.rounds, most))
    options = " QUICK=1" if chosen.quick else ""
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    how = f"`make chaos{options}`, seed {chosen.seed}, {date.today()}, load average {load}"
    report = build_report(outcomes, how, MOST_SECONDS)
    print(report)
    if chosen.write:
        write_report(report)
    return 0 if all(outcome.holds for outcome in outcomes) else 1


def run_stack(
    name: str, folder: Path, drawn: random.Random, rounds: int, most: int | None
) -> Outcome:
    """Start a stack and its loads, let the faults happen, stop, and check."""
    outcome, began = Outcome(name), time.monotonic()
    try:
        with STACKS[name](folder) as stack:
            outcome.left_out = stack.left_out
            loads = [load(stack.site, drawn.randrange(1 << 30)) for load in LOADS]
            for load in loads:
                load.start()
            time.sleep(10)  # so that each load has begun
            for fault in list(draw_faults(stack, drawn, rounds))[:most]:
                fault.happen(drawn)
                seconds = measure_recovery(stack.site)
                outcome.recoveries.append((fault.name, seconds))
                print(f"{fault.name}: recovered in {seconds:.1f} s", flush=True)
                time.sleep(drawn.uniform(1, 4))
            outcome.checks = finish(stack.site, loads, len(outcome.recoveries))
    except MissingProgramError as error:
        # Not run is not passed: the report says so, and the stack has no check that holds.
        outcome.checks = [Check(name, "the stack starts", str(error), holds=False)]
    outcome.seconds = time.monotonic() - began
    return outcome


def draw_faults(stack: Stack, drawn: random.Random, rounds: int) -> Iterator:
    """Yield each fault of the stack in a drawn order, round by round."""
    for _ in range(rounds):
        faults = list(stack.faults)
        drawn.shuffle(faults)
        yield from faults


def measure_recovery(site: ChaosSite) -> float:
    """Return the seconds until a page is shown and a small run, started now, is done."""
    began = time.monotonic()
    site.wait_for_page(2 * MOST_SECONDS)
    probe = _Probe(site, 0)
    body = {"question_set": site.people["rana"]["set"], "parameters": PROBE}
    run = probe.send("POST", "runs/", json=body).json()["id"]
    while time.monotonic() - began < 3 * MOST_SECONDS:
        state = probe.send("GET", f"runs/{run}/").json()["state"]
        if state in ("done", "failed"):
            break
        time.sleep(0.5)
    return time.monotonic() - began


class _Probe(Load):
    """Sender of the small run that measures recovery."""

    def work(self) -> None:
        """Do nothing: only `send` is used."""

    def find_violations(self) -> Sequence[Check]:
        """Return nothing: recovery is measured, not checked here."""
        return []


def finish(site: ChaosSite, loads: Sequence[Load], n_faults: int) -> list[Check]:
    """Stop the loads, wait for all runs to end, and return every invariant."""
    for load in loads:
        load.stop()
    until = time.monotonic() + SECONDS_TO_FINISH
    code = (
        "from evaluation.models import Run\n"
        "result = Run.objects.exclude(state__in=['done', 'failed', 'cancelled']).count()"
    )
    while site.read(code) and time.monotonic() < until:
        time.sleep(1)
    for load in loads:
        if isinstance(load, Asking):
            load.faults = n_faults
    return [check for load in loads for check in load.check()]


if __name__ == "__main__":
    sys.exit(main())
