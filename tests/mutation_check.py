"""Apply a fixed list of mutants, one at a time, and report which ones the quick tests kill.

    python -m tests.mutation_check [--tree FOLDER] [--only ID ...] [--draw]

The list is tests/mutation_check.toml. Each mutant changes one line. The script changes that line in
a temporary copy of the checkout and runs the named test modules by `pytest -x` in one process,
without the slow and the long tests. A mutant is killed when a test fails, and survives
otherwise. At the end the tests that failed run once more on the unchanged copy, where they must
pass. The exit code is 1 when a mutant survives that the list expects to be killed.

`--draw` prints a new list instead: 20 lines of the product, drawn at random by a fixed seed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from evaluation.core.stats.statistics.descriptive import wilson_interval

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")
SEED = 20261126
DRAWN = 20
PRODUCT = ("annotations", "evaluation", "platform/crowdgrade")
# Markers of tests that `make test` leaves out.
LEFT_OUT = ("slow", "long", "alone")
# Seconds; an endless loop counts as killed. The slowest modules need one minute on a quiet machine.
TIMEOUT = 900.0
KILLED, SURVIVES = "killed", "survives"


@dataclass(frozen=True)
class Mutant:
    """One change of one line, and the test modules that should notice it.

    `function` and `occurrence` select the line where a file has several lines of the same text.
    `expected` is the result of the last run. `slow` lists test modules of which only slow or long
    tests kill the mutant; `note` explains a survivor.
    """

    id: str
    file: str
    function: str
    line: str
    mutant: str
    operator: str
    tests: tuple[str, ...]
    expected: str = KILLED
    occurrence: int = 1
    slow: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Result:
    """The result of one mutant; `killer` is the test that failed, empty for a survivor."""

    mutant: Mutant
    place: int
    killer: str
    seconds: float


@dataclass(frozen=True)
class Change:
    """A replacement of the bytes `start` to `end` of one line, found by an operator."""

    row: int
    start: int
    end: int
    text: str
    operator: str


def main() -> int:
    """Draw a list or check the stored one; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to test")
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="only these mutants")
    parser.add_argument("--draw", action="store_true", help="print a new list instead")
    options = parser.parse_args()
    tree = options.tree.resolve()
    if options.draw:
        print_drawn(tree)
        return 0
    mutants = [one for one in read_list() if not options.only or one.id in options.only]
    if not mutants:
        parser.error("no mutant has such an id")
    with tempfile.TemporaryDirectory(prefix="mutation-check-") as folder:
        copy = Path(folder) / "tree"
        copy_tree(tree, copy)
        return check(mutants, copy)


def read_list() -> list[Mutant]:
    """Return the mutants of tests/mutation_check.toml."""
    records = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    for record in records:
        for key in ("tests", "slow"):
            record[key] = tuple(record.get(key, ()))
    return [Mutant(**record) for record in records]


def copy_tree(tree: Path, copy: Path) -> None:
    """Copy the files that git tracks or would track, with their uncommitted changes."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (tree / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, copy / name)
    data = os.environ.get("CROWDGRADE_DATA") or str((tree / ".." / "shared" / "data").resolve())
    os.environ["CROWDGRADE_DATA"] = data


def check(mutants: list[Mutant], copy: Path) -> int:
    """Run every mutant, print the table and the totals, and return the exit code."""
    places = {one.id: find_row(one, (copy / one.file).read_text("utf-8")) for one in mutants}
    missing = sorted({test for one in mutants for test in one.tests if not (copy / test).exists()})
    if missing:
        sys.exit(f"test modules that do not exist: {', '.join(missing)}")
    results = []
    for one in mutants:
        results.append(run_mutant(one, places[one.id], copy))
        print_result(results[-1])
    unsound = find_failures({result.killer for result in results} - {"", "timeout"}, copy)
    print_totals(results)
    lost = [
        result.mutant.id
        for result in results
        if result.mutant.expected == KILLED and (not result.killer or result.killer in unsound)
    ]
    if unsound:
        print(f"Tests that fail without a mutant too: {', '.join(sorted(unsound))}")
    if lost:
        print(f"Expected to be killed, but not: {', '.join(lost)}")
    return 1 if lost or unsound else 0


def find_row(mutant: Mutant, source: str) -> int:
    """Return the index of the mutant's line: the only one of its text, or that of its function."""
    lines = source.splitlines()
    rows = [row for row, line in enumerate(lines) if line.strip() == mutant.line]
    if len(rows) > 1:
        spans = [span for name, span in list_functions(source) if name == mutant.function]
        rows = [row for row in rows if any(low <= row < high for low, high in spans)]
        rows = rows[mutant.occurrence - 1 : mutant.occurrence]
    if len(rows) != 1:
        sys.exit(f"{mutant.id}: {mutant.file} has no such line in {mutant.function}: {mutant.line}")
    return rows[0]


def list_functions(source: str) -> list[tuple[str, tuple[int, int]]]:
    """Return the name (with its classes) of each function and the range of its line indices."""
    found: list[tuple[str, tuple[int, int]]] = []

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            name = f"{prefix}{child.name}" if named else ""
            if named and not isinstance(child, ast.ClassDef):
                found.append((name, (child.lineno - 1, child.end_lineno or child.lineno)))
            visit(child, f"{name}." if named else prefix)

    visit(ast.parse(source), "")
    return found


def run_mutant(mutant: Mutant, row: int, copy: Path) -> Result:
    """Change the line, run the tests of the mutant and restore the file."""
    path = copy / mutant.file
    original = path.read_text("utf-8")
    lines = original.splitlines(keepends=True)
    lines[row] = lines[row].replace(mutant.line, mutant.mutant)
    began = time.monotonic()
    try:
        write_module(path, "".join(lines))
        killer = run_tests(list(mutant.tests), copy)
    finally:
        write_module(path, original)
    return Result(mutant, row + 1, killer, time.monotonic() - began)


def write_module(path: Path, source: str) -> None:
    """Write a module and delete its compiled file, which may have the same size and time."""
    ast.parse(source)
    path.write_text(source, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def run_tests(tests: list[str], copy: Path, *arguments: str) -> str:
    """Run tests until the first failure; return its name, "timeout", or "" when all pass."""
    failures = call_pytest([*tests, "-x", *arguments], copy)
    return failures[0] if failures else ""


def call_pytest(arguments: list[str], copy: Path) -> list[str]:
    """Return the names of the tests that failed; exit when pytest could not run the tests."""
    cache = copy.parent / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:xdist"]
    command += ["-m", select_quick(copy), "-o", f"cache_dir={cache}", *arguments]
    process = subprocess.Popen(
        command,
        cwd=copy,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return ["timeout"]
    if process.returncode == 0:
        return []
    failed = cache / "v" / "cache" / "lastfailed"
    if failed.exists() and (names := list(json.loads(failed.read_text("utf-8")))):
        return names
    # A mutant may prevent Django from starting, or the tests from being imported.
    if re.search(r"Error\b", output) and process.returncode not in (4, 5):
        return ["start"]
    sys.exit(f"pytest ended with {process.returncode}:\n{output}")


def select_quick(copy: Path) -> str:
    """Return the marker expression of the quick tests, of markers that the checkout has."""
    settings = tomllib.loads((copy / "pyproject.toml").read_text("utf-8"))
    lines = settings["tool"]["pytest"]["ini_options"]["markers"]
    declared = {line.split(":")[0] for line in lines}
    return " and ".join(f"not {name}" for name in LEFT_OUT if name in declared)


def find_failures(tests: set[str], copy: Path) -> set[str]:
    """Return the tests that fail although no line is changed."""
    tests -= {"start"}
    return set(call_pytest(sorted(tests), copy)) if tests else set()


def print_result(result: Result) -> None:
    """Print one row of the table: id, place, mutation, result, seconds."""
    one = result.mutant
    outcome = f"killed by {result.killer}" if result.killer else SURVIVES
    if not result.killer and one.slow:
        outcome += f" (only slow tests kill it: {', '.join(one.slow)})"
    cells = [one.id, f"{one.file}:{result.place}", f"`{one.line}` -> `{one.mutant}`", outcome]
    print("|", " | ".join([*cells, f"{result.seconds:.0f}"]), "|", flush=True)


def print_totals(results: list[Result]) -> None:
    """Print how many mutants of each list, and of all, are killed, with Wilson's interval."""
    lists = sorted({result.mutant.id[0] for result in results})
    for name in [*lists, *(["all"] if len(lists) > 1 else [])]:
        chosen = [result for result in results if name in ("all", result.mutant.id[0])]
        killed, n = sum(bool(result.killer) for result in chosen), len(chosen)
        low, high = (float(end) for end in wilson_interval(killed / n, n))
        share = f"{killed / n:.0%} (95% {low:.0%} to {high:.0%})"
        print(f"{name}: {killed} of {n} killed, {n - killed} survive: {share}")


# Operators


def print_drawn(tree: Path) -> None:
    """Print 20 mutants of lines drawn by the seed, as TOML without tests."""
    lines = [found for path in list_modules(tree) for found in list_logic_lines(tree / path, path)]
    # Not for security: the same seed gives the same list.
    chance = random.Random(SEED)
    print(f"# {DRAWN} of {len(lines):,} lines, seed {SEED}")
    for number, (path, row, changes) in enumerate(chance.sample(lines, DRAWN), 1):
        change = chance.choice(changes)
        source = (tree / path).read_text("utf-8")
        line = source.splitlines()[row]
        mutated = apply_change(line, change)
        function, (first, _) = max(
            (found for found in list_functions(source) if found[1][0] <= row < found[1][1]),
            key=lambda found: found[1][0],
        )
        before = [text.strip() for text in source.splitlines()[first:row]]
        print("\n[[mutant]]")
        values = {"id": f"B{number}", "file": path, "function": function, "line": line.strip()}
        values |= {"mutant": mutated.strip(), "operator": change.operator}
        for key, value in values.items():
            print(f"{key} = {json.dumps(value, ensure_ascii=False)}")
        if line.strip() in before:
            print(f"occurrence = {before.count(line.strip()) + 1}")


def list_modules(tree: Path) -> list[str]:
    """Return the product's modules that git tracks, without migrations."""
    command = ["git", "ls-files", "--", *(f"{folder}/*.py" for folder in PRODUCT)]
    names = subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in names.splitlines() if "/migrations/" not in name)


def list_logic_lines(path: Path, name: str) -> list[tuple[str, int, list[Change]]]:
    """Return the lines of a module's functions that an operator can change, with the changes."""
    source = path.read_text("utf-8")
    lines = source.splitlines()
    found: dict[int, list[Change]] = {}
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for statement in function.body:
            for node in walk_logic(statement):
                for change in list_changes(node, lines):
                    if apply_change(lines[change.row], change) != lines[change.row]:
                        found.setdefault(change.row, []).append(change)
    return [(name, row, changes) for row, changes in sorted(found.items())]


def walk_logic(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and those below it, without nested functions, classes and f-strings."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.JoinedStr):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from walk_logic(child)


def list_changes(node: ast.AST, lines: list[str]) -> Iterator[Change]:
    """Yield what the operators make of a node, where that is within one line."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield from negate(test, lines)
        case ast.comprehension(ifs=tests):
            for test in tests:
                yield from negate(test, lines)
        case ast.Continue() | ast.Break():
            text = "break" if isinstance(node, ast.Continue) else "continue"
            yield replace(node, text, f"{type(node).__name__.lower()} to {text}")
        case ast.Return(value=ast.expr() as value) if node.lineno == node.end_lineno:
            # A plain `return name` or `return call()` is no logic: each run of it would fail.
            if any(isinstance(part, LOGIC) for part in ast.walk(value)):
                yield replace(node, "return None", "return None")
        case ast.UnaryOp(op=ast.Not()):
            end = node.col_offset + len("not ")
            yield Change(node.lineno - 1, node.col_offset, end, "", "drop not")
    yield from swap_operators(node, lines)


SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
SWAPS |= {"is": "is not", "is not": "is", "in": "not in", "not in": "in"}
SWAPS |= {"and": "or", "or": "and", "+": "-", "-": "+"}
TOKENS = re.compile(r"is not|not in|[=!<>]=|[<>+\-]|\b(?:is|in|and|or)\b")
LOGIC = (ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.comprehension)
TEXTS = (ast.List, ast.Tuple, ast.JoinedStr, ast.ListComp)


def swap_operators(node: ast.AST, lines: list[str]) -> Iterator[Change]:
    """Yield the changes of the operators between the operands of a node."""
    operands: list[ast.expr] = []
    match node:
        case ast.Compare(left=left, comparators=others):
            operands = [left, *others]
        case ast.BoolOp(values=values):
            operands = values
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            sides = (left, right)
            # Texts and lists cannot be subtracted: every test would notice.
            if not any(isinstance(side, TEXTS) or is_text(side) for side in sides):
                operands = list(sides)
    for left, right in pairwise(operands):
        if left.end_lineno != right.lineno or left.end_col_offset is None:
            continue
        row, start = right.lineno - 1, left.end_col_offset
        between = lines[row].encode()[start : right.col_offset].decode()
        if token := TOKENS.search(between):
            text = token.group()
            place = start + token.start()
            yield Change(row, place, place + len(text), SWAPS[text], f"{text} to {SWAPS[text]}")


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def negate(test: ast.expr, lines: list[str]) -> Iterator[Change]:
    """Yield the negation of a condition, unless another operator makes the same of it."""
    simple = isinstance(test, ast.Compare) and len(test.ops) == 1
    simple = simple and not isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
    if simple or isinstance(test, ast.UnaryOp | ast.NamedExpr) or test.lineno != test.end_lineno:
        return
    text = lines[test.lineno - 1].encode()[test.col_offset : test.end_col_offset].decode()
    yield replace(test, f"not ({text})", "negate the condition")


def replace(node: ast.stmt | ast.expr, text: str, operator: str) -> Change:
    """Return the change that writes a text in place of a node of one line."""
    return Change(node.lineno - 1, node.col_offset, node.end_col_offset or 0, text, operator)


def apply_change(line: str, change: Change) -> str:
    """Return the line with a change."""
    raw = line.encode()
    return (raw[: change.start] + change.text.encode() + raw[change.end :]).decode()


if __name__ == "__main__":
    sys.exit(main())
