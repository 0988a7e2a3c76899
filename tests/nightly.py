"""Runs every test: the quick ones, then the six parts of the long run, and prints a summary.

    python -m tests.nightly                the whole, as `make nightly`
    python -m tests.nightly --part 3       one part, as `make nightly PART=3`
    python -m tests.nightly --of-commit    the part that HEAD's hash chooses, as `.ci/run` does

A part is a list of steps, each a command; every step runs although an earlier one failed. The
summary lists each step with its outcome, its time and, of pytest, its numbers of tests. Exit code
1: a step failed. `tests/test_nightly.py` holds that every test marked `long` or `alone` is in one
part.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTEST = (sys.executable, "-m", "pytest")
# A process a core, four at most: each may hold PyTorch and a model (1 GB). A process starts with
# neighbouring tests, which share worlds made once a module, and then takes some from the others.
PROCESSES = ("-n", "logical", "--maxprocesses", "4", "--dist", "worksteal")
POSTGRES = "postgresql://postgres@127.0.0.1:5432/postgres"
COUNTS = re.compile(r"^=* ?((?:\d+ \w+(?:, )?)+) in [\d.]+s")


@dataclass(frozen=True)
class Step:
    """One command of a part.

    Attributes
    ----------
    name : what the summary names it.
    command : program and arguments, run in the root of the checkout.
    marker : of pytest, the tests that it selects; "" of other commands.
    paths : of pytest, the files and folders below which it selects them; "!" before one that is
        left out.
    on_postgres : whether the tests' database is PostgreSQL, with tables made by migrations.
    repeats_failed : whether tests that failed run once more, one at a time. Walks wait for two
        browsers beside each other, and on a busy machine one may run out of time.
    """

    name: str
    command: tuple[str, ...] = ()
    marker: str = ""
    paths: tuple[str, ...] = ()
    processes: tuple[str, ...] = PROCESSES
    more: tuple[str, ...] = ()
    on_postgres: bool = False
    repeats_failed: bool = False

    def arguments(self) -> list[str]:
        """Return the command as a list of program and arguments."""
        if self.command:
            return list(self.command)
        chosen = [path for path in self.paths if not path.startswith("!")]
        left_out = [f"--ignore={path[1:]}" for path in self.paths if path.startswith("!")]
        processes = list(self.processes)
        slowest = "--durations=8"
        return [*PYTEST, "-m", self.marker, slowest, *processes, *self.more, *left_out, *chosen]

    def repeated(self) -> Step:
        """Return the step that runs what failed once more, one test at a time."""
        more = (*self.more, "--last-failed", "--last-failed-no-failures", "none")
        name = f"{self.name}, failed ones again"
        return replace(self, name=name, processes=(), more=more, repeats_failed=False)

    def environment(self) -> dict[str, str]:
        """Return the environment of the command."""
        own = {"DATABASE_URL": os.environ.get("CI_DATABASE_URL", POSTGRES)}
        return os.environ | (own if self.on_postgres else {})

    def selects(self, path: str) -> bool:
        """Return whether tests of the module at `path`, from the root, may be selected."""
        chosen = [one for one in self.paths if not one.startswith("!")]
        left_out = [one[1:] for one in self.paths if one.startswith("!")]
        return is_below(path, chosen or ["tests"]) and not is_below(path, left_out)


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Return whether a path is one of the files and folders, or below one."""
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


LONG = "long and not alone and not browser"
EVIDENCE = (
    *("tests/evaluation/evidence", "tests/evaluation/core/stats", "tests/evaluation/consensus"),
    "tests/evaluation/grading",
)
COMMANDS = (
    *("tests/evaluation/commands", "tests/evaluation/runs/flow", "tests/contracts"),
    *("tests/evaluation/maqa", "tests/evaluation/umwp", "tests/evaluation/eloquent"),
    "tests/evaluation/multiqa",
)
ALONE = (
    *("tests/annotations/answering", "tests/annotations/ledger", "tests/crowdgrade"),
    "tests/benchmarks",
)
# Walks of the second part; the others are the first part's.
LATE_WALKS = tuple(
    f"tests/browser/test_{name}.py"
    for name in (
        *("every_error", "every_page", "every_route", "four_screens", "import_walk", "print"),
        *("remedies", "ten_minutes", "waves", "writing"),
    )
)
PARTS: dict[str, tuple[Step, ...]] = {
    "evidence": (
        Step("evidence on real data", marker=LONG, paths=EVIDENCE),
        Step(
            "whole sites and races, one at a time",
            marker="alone and not browser",
            paths=ALONE,
            processes=(),
        ),
    ),
    "commands": (Step("commands with real models and data", marker=LONG, paths=COMMANDS),),
    "processes": (
        Step(
            "killed background processes, outages, installations",
            marker=LONG,
            paths=("tests", *(f"!{path}" for path in (*EVIDENCE, *COMMANDS, "tests/browser"))),
        ),
        Step("faults at random moments", command=("make", "chaos", "QUICK=1")),
    ),
    "walks": (
        Step(
            "walks in Chromium, both widths: first half",
            marker="browser and long",
            paths=("tests/browser", *(f"!{path}" for path in LATE_WALKS)),
            repeats_failed=True,
        ),
    ),
    "more walks": (
        Step(
            "walks in Chromium, both widths: second half",
            marker="browser and long",
            paths=LATE_WALKS,
            repeats_failed=True,
        ),
        Step("attacks on a whole site", command=("make", "attack", "QUICK=1")),
    ),
    "databases": (
        Step(
            "every test of the database, on PostgreSQL",
            marker="database and not browser and not slow and not long",
            paths=("tests",),
            more=("--migrations",),
            on_postgres=True,
        ),
        Step(
            "25 examples of each operation of the REST API",
            marker="slow",
            paths=("tests/api/test_contract.py",),
            more=("--examples", "25"),
        ),
    ),
}
UNDRAWN = (
    Step("speed and equality against peers", command=("make", "benchmark", "ONLY=peers")),
    Step("40 fixed mutants", command=("make", "mutation-check")),
)
"""In the whole run alone: a busy machine misses a claim of speed, and mutants take half an hour."""

PUSHED = (
    Step("every quick and slow test", marker="not long", paths=("tests",)),
    Step("linters, types and import contracts", command=("make", "lint")),
)


@dataclass(frozen=True)
class Outcome:
    """What came of a step: its part, exit code, seconds and pytest's numbers of tests."""

    part: str
    step: str
    code: int
    seconds: float
    counts: str

    def row(self) -> str:
        """Return the outcome as a line of the summary."""
        verdict = "passed" if self.code == 0 else f"FAILED ({self.code})"
        where = f"{self.part:<10} {self.step:<52}"
        return f"{where} {verdict:<11} {self.seconds:>5.0f} s  {self.counts}"


def run(part: str, step: Step) -> Outcome:
    """Run a step, show what it prints, and return its outcome."""
    print(f"\n== {part}: {step.name}\n$ {' '.join(step.arguments())}", flush=True)
    began, counts = time.monotonic(), ""
    with subprocess.Popen(
        step.arguments(),
        cwd=ROOT,
        env=step.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if found := COUNTS.match(line):
                counts = found[1]
    return Outcome(part, step.name, process.returncode, time.monotonic() - began, counts)


def chosen_of_commit(commit: str) -> str:
    """Return the name of the part that a commit's hash chooses."""
    return list(PARTS)[int(commit[:8], 16) % len(PARTS)]


def current_commit() -> str:
    """Return the hash of HEAD."""
    command = ("git", "rev-parse", "HEAD")
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def steps_of(part: str | None) -> Iterator[tuple[str, Step]]:
    """Yield the steps of one part, or of all and before them those that every push runs."""
    if part is None:
        yield from (("push", step) for step in PUSHED)
    for name in PARTS if part is None else [part]:
        yield from ((name, step) for step in PARTS[name])
    if part is None:
        yield from (("undrawn", step) for step in UNDRAWN)


def named(number: str) -> str:
    """Return the name of a part by its name or its number from 1; raise what argparse shows."""
    names = list(PARTS)
    if number in names:
        return number
    if number.isdecimal() and 1 <= int(number) <= len(names):
        return names[int(number) - 1]
    raise argparse.ArgumentTypeError(f"choose 1 to {len(names)} or one of {', '.join(names)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the arguments choose; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.nightly", description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--part", type=named, metavar="PART")
    which.add_argument("--of-commit", action="store_true")
    chosen = parser.parse_args(arguments)
    part = chosen.part
    if chosen.of_commit:
        commit = current_commit()
        part = chosen_of_commit(commit)
        number = list(PARTS).index(part) + 1
        print(f"Part {number} of {len(PARTS)} of the long run ({part}), by commit {commit[:12]}")
    outcomes = []
    for name, step in steps_of(part):
        outcome = run(name, step)
        if outcome.code == 1 and step.repeats_failed:
            print("Tests that failed run once more by themselves; one that passes now has a race.")
            again = run(name, step.repeated())
            outcomes.append(replace(outcome, code=again.code))
            outcome = again
        outcomes.append(outcome)
    print("\nSummary of the long run")
    print("\n".join(outcome.row() for outcome in outcomes))
    minutes = sum(outcome.seconds for outcome in outcomes) / 60
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{minutes:.1f} minutes in all; load average at the end {load}")
    return 1 if any(outcome.code for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
