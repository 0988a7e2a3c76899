"""Changes lines of a room, one at a time, and counts the changes that no test of it notices.

    python tests/mutants.py ROOM ... [--sample N] [--seed N] [--processes N] [--folder FOLDER]

works in a copy of the files that git knows, so the checkout stays as it is, and prints a row of the
table in platform/docs/mutants.md, then each change that went unnoticed. mutmut makes the changes:
it writes all of them at once and forks a process for each from one that has Django loaded, where
cosmic-ray starts a new interpreter every time (five seconds of imports for each of thousands); of
a room it runs those tests only that reach the changed function.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Room:
    """Files to change, as globs, and the tests that ought to notice."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


def directly_in(folder: str) -> tuple[str, ...]:
    """The modules of a folder without those of the folders in it, as globs cannot say."""
    return tuple(sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).glob("*.py")))


def matching(glob: str) -> tuple[str, ...]:
    """The files that a glob names."""
    return tuple(sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(glob)))


def of_workbooks(path: str) -> bool:
    """Whether a module reads workbooks."""
    return Path(path).name in ("bounded_process.py", "unpacking.py", "workbook.py")


def has_tests(flow: str) -> bool:
    """Whether the tests have a folder for a flow; those of small ones are with their kind's."""
    return (ROOT / "tests" / "evaluation" / "runs" / "flow" / flow).is_dir()


OTHER_FLOWS = tuple(
    path.parent.name
    for path in sorted((ROOT / "evaluation" / "runs" / "flow").glob("*/__init__.py"))
    if path.parent.name != "asking"
)
# Features that have a folder of their own, with their tests.
FEATURES = tuple(
    path.name
    for path in sorted((ROOT / "evaluation").iterdir())
    if (path / "report.py").is_file() or (path / "report").is_dir()
)
PAYING = (
    "tests/annotations/ledger",
    "tests/annotations/panels",
    "tests/evaluation/payments/test_inviting.py",
    "tests/evaluation/triage/test_files.py",
)
PAGES_OF_PAYING = (*matching("tests/api/test_paying*.py"), *matching("tests/desk/test_paying*.py"))
ROOMS = {
    "access": Room(("annotations/models/access.py",), ("tests/annotations/models/test_access.py",)),
    "alarms": Room(
        ("evaluation/grading/alarms/methods/*",),
        ("tests/evaluation/grading/alarms",),
    ),
    "answering": Room(
        ("annotations/answering/*", "annotations/desk/collecting/*"),
        (
            "tests/annotations/answering",
            "tests/evaluation/admission/test_storage.py",
            "tests/evaluation/waves",
            "tests/api/test_collecting.py",
            "tests/desk/test_collecting.py",
        ),
    ),
    "background": Room(
        ("evaluation/runs/background/*",),
        (
            "tests/evaluation/runs/background",
            "tests/evaluation/commands/test_grade.py",
            "tests/desk/test_runs.py",
            "tests/api/test_runs.py",
        ),
    ),
    # With imports, of which `importing` is the part that writes to the database. Workbooks are left
    # out: a process with little memory unpacks them, too little for all changes at once.
    "exchange": Room(
        tuple(path for path in matching("annotations/exchange/**/*.py") if not of_workbooks(path)),
        (
            *(f"tests/annotations/exchange/{name}" for name in ("graded", "importing", "presets")),
            *matching("tests/annotations/exchange/reading/test_[!w]*.py"),
            "tests/annotations/exchange/writing",
            "tests/annotations/exchange/test_duplicates.py",
            "tests/annotations/exchange/test_model_replies.py",
            "tests/annotations/exchange/test_thinking.py",
            "tests/annotations/test_import_commands.py",
            "tests/annotations/answering/test_several_languages.py",
            "tests/evaluation/maqa/test_run_type.py",
        ),
    ),
    # Of the command line alone; readers of files are in `exchange`.
    "files": Room(
        ("evaluation/runs/files/*",),
        (
            "tests/evaluation/runs/files",
            "tests/evaluation/runs/flow/test_metrics.py",
            *matching("tests/evaluation/commands/test_ask*.py"),
            *matching("tests/evaluation/commands/test_evaluate_*put.py"),
            "tests/evaluation/multiqa/test_study.py",
            "tests/evaluation/eloquent/test_study.py",
        ),
    ),
    "flows": Room(
        (
            *(f"evaluation/runs/flow/{name}/*" for name in OTHER_FLOWS),
            *(f"evaluation/{name}/*" for name in FEATURES),
        ),
        (
            *(f"tests/evaluation/{name}" for name in FEATURES),
            *(f"tests/evaluation/runs/flow/{name}" for name in OTHER_FLOWS if has_tests(name)),
            "tests/evaluation/runs/run_types",
            *matching("tests/evaluation/commands/test_*multiqa*.py"),
            *matching("tests/evaluation/commands/test_*eloquent*.py"),
            *matching("tests/evaluation/commands/test_umwp*.py"),
        ),
    ),
    "importing": Room(
        ("annotations/exchange/importing/*",),
        (
            "tests/annotations/exchange/importing",
            "tests/annotations/test_import_commands.py",
            "tests/evaluation/runs/exports/test_exports.py",
        ),
    ),
    # The lists for panels are tested where they are paid by.
    "ledger": Room(("annotations/ledger/*",), PAYING),
    "panels": Room(("annotations/panels/*",), PAYING),
    "payments": Room(
        ("evaluation/payments/*",),
        ("tests/evaluation/payments", "tests/desk/test_one_decision.py", *PAGES_OF_PAYING),
    ),
    # Grading and asking; `flows` are those of the other kinds.
    "flow": Room(
        (
            *directly_in("evaluation/runs/flow"),
            *(
                "evaluation/runs/flow/asking/*",
                "evaluation/consensus/*",
                "evaluation/grading/run/*",
            ),
            *("evaluation/grading/alarms/run/*", "evaluation/grading/facts/run/*"),
            "evaluation/grading/remedies/run.py",
        ),
        (
            *(
                "tests/evaluation/runs/flow",
                "tests/evaluation/consensus",
                "tests/evaluation/grading",
            ),
            "tests/evaluation/runs/steps",
            "tests/contracts",
            "tests/evaluation/commands/test_evaluate_numbers.py",
            "tests/evaluation/commands/test_evaluate_remedies.py",
        ),
    ),
    "steps": Room(
        ("evaluation/runs/steps/*",),
        (
            "tests/evaluation/runs/steps",
            "tests/evaluation/runs/flow",
            "tests/evaluation/runs/background/test_draw_parts.py",
            "tests/evaluation/runs/run_types",
        ),
    ),
}
CONFIG = """

[tool.mutmut]
source_paths = ["annotations", "evaluation"]
only_mutate = {files}
also_copy = ["platform", "templates", "manage.py", "README.md", "Makefile"]
pytest_add_cli_args = [
    "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow and not long and not browser"
]
pytest_add_cli_args_test_selection = {tests}
track_dependencies = false
# A change has twice these seconds of processor time: its tests take a few, an endless loop all.
timeout_constant = 20.0
timeout_multiplier = 2.0
"""
# mutmut as well ends a change by the clock on the wall. On a busy machine that would take tests
# that only wait for the processor for endless ones, so that clock goes slowly, for those that wait
# for what never comes.
MUTMUT = """
from mutmut.workers import isolation
by_the_clock = isolation.register_timeout
isolation.register_timeout = lambda pid, timeout_s: by_the_clock(pid=pid, timeout_s=10 * timeout_s)
from mutmut.__main__ import cli
cli()
"""
# Exit codes of pytest and of mutmut, in words; others are signals.
KINDS = {0: "survived", 1: "killed", 3: "killed", 5: "untested", 33: "untested", None: "not tried"}
ENDLESS = (24, -24, 36, 152, 255)


def main() -> None:
    """Change, test, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="+", choices=list(ROOMS), metavar="ROOM")
    parser.add_argument("--sample", type=int, help="so many changes of each room, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--folder", type=Path, help="keep the copies here (default: thrown away)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        for name in asked.rooms:
            copy = (asked.folder or Path(scratch)).resolve() / name
            copy_of_the_tree(copy, ROOMS[name])
            tell(name, copy, asked)


def copy_of_the_tree(copy: Path, room: Room) -> None:
    """Copy the files that git knows, and say in the copy what to change."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    config = CONFIG.format(files=json.dumps(room.files), tests=json.dumps(room.tests))
    with (copy / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(config)


def tell(name: str, copy: Path, asked: argparse.Namespace) -> None:
    """Try the changes of a room, and print its row and what nobody noticed."""
    # A name that none has: makes the changes, and learns which tests reach what.
    mutmut(copy, asked.processes, "none")
    made = sorted(results(copy))
    if not made:
        sys.exit(f"{name}: no change was made, see {copy}")
    chosen = made
    if asked.sample and asked.sample < len(made):
        chosen = sorted(random.Random(asked.seed).sample(made, asked.sample))
    mutmut(copy, asked.processes, *chosen)
    codes = results(copy)
    kinds = Counter(kind_of(codes[change]) for change in chosen)
    tried = len(chosen) - kinds["not tried"]
    noticed = kinds["killed"] + kinds["endless"]
    cells = [name, f"{datetime.now(UTC):%Y-%m-%d}", asked.seed, len(made), tried, kinds["killed"]]
    cells += [kinds["endless"], kinds["survived"], kinds["untested"], kinds["crashed"]]
    cells += [share_of(noticed, tried)]
    print("|", " | ".join(map(str, cells)), "|", flush=True)
    for change in chosen:
        # Endless ones too: somebody should see that they are.
        if kind_of(codes[change]) in ("endless", "survived", "untested", "crashed"):
            print(f"\n{kind_of(codes[change])}: {change}\n{shown(copy, change)}", flush=True)


def mutmut(copy: Path, processes: int, *changes: str) -> None:
    command = [sys.executable, "-c", MUTMUT, "run", "--max-children", str(processes), *changes]
    with (copy / "mutmut.log").open("a", encoding="utf-8") as log:
        # One core for each process, as in tests beside each other.
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run(command, cwd=copy, stdout=log, stderr=log, env=environment, check=False)


def results(copy: Path) -> dict[str, int | None]:
    """The exit code of the tests of each change, None before it was tried."""
    found: dict[str, int | None] = {}
    for path in (copy / "mutants").rglob("*.meta"):
        found |= json.loads(path.read_text("utf-8"))["exit_code_by_key"]
    return found


def kind_of(code: int | None) -> str:
    return "endless" if code in ENDLESS else KINDS.get(code, "crashed")


def share_of(noticed: int, tried: int, z: float = 1.96) -> str:
    """The share in per cent with its 95% interval (Wilson 1927)."""
    if not tried:
        return ""
    share, shrink = noticed / tried, 1 + z**2 / tried
    middle = (share + z**2 / (2 * tried)) / shrink
    half = z * math.sqrt(share * (1 - share) / tried + z**2 / (4 * tried**2)) / shrink
    low, high = (100 * (middle + side * half) for side in (-1, 1))
    return f"{100 * share:.0f}% ({low:.0f} to {high:.0f})"


def shown(copy: Path, change: str) -> str:
    """The lines that a change takes away and puts there."""
    command = [sys.executable, "-m", "mutmut", "show", change]
    text = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False).stdout
    lines = [
        line for line in text.splitlines() if line[:1] in "+-@" and line[:3] not in ("+++", "---")
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
