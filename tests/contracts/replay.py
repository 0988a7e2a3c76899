"""Runs the commands of commands.toml in a source tree, and writes their results as text.

    python -m tests.contracts.replay FOLDER [GROUP ...] [--tree TREE]

needs nothing of the project but its commands, so the same script replays an older tree
(``--tree``, with the Python of that tree) and this one. What differs from run to run for good
reasons (ids, times, durations, paths, versions) is replaced by its name. Of each sentence only the
numbers, codes, files and ids are written (`without_sentences`), so that other words for the same
change no result.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import re
import shlex
import shutil
import sys
import tempfile
import threading
import tomllib
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from tests.contracts.inputs import WORKERS, write_input

HERE = Path(__file__).resolve().parent
COMMANDS: dict[str, dict[str, str]] = tomllib.loads((HERE / "commands.toml").read_text("utf-8"))
# A longer file is kept as its first lines and a digest.
MOST_CHARACTERS = 3_000
FIRST_LINES, WIDEST = 10, 160
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+(?:e[-+]\d+)?|e[-+]\d+)(?!\w)")
OF_DJANGO = {"-h", "-v", "--version", "--settings", "--pythonpath", "--traceback", "--no-color"}
OF_DJANGO |= {"--force-color", "--skip-checks"}
CHANGING = [
    (r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", "<id>"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?", "<time>"),
    (r"\b20\d\d-\d\d-\d\d\b", "<date>"),
    (r"\bversion:[0-9][\w.]*", "version:<version>"),
    (r"[\d.]+ (?:bytes|kB|MB) in [\d.]+ s", "<size> in <seconds>"),
    (r'("version": )"[0-9][\w.]*"', r'\1"<version>"'),
]
# What a sentence names: a number, a code, a place, a file, an id of the input.
NAMES = {*WORKERS, "Zoe", "Elk", "Ox", "rana", "tides", "lakes", "rejections"}
FACT = re.compile(r"[\d_]|<\w+>|\{\w+\}|\.(?:csv|json|jsonl|md|npz|svg|tsv|txt|xlsx|zip)$")
AROUND = " .,;:!?()[]\"'“”`"
# An alarm begins with its severity and its code, which may be a plain word.
ALARM = re.compile(r"^((?:ALARM|NOTICE|INFO|ANSWERED) [a-z_]+): ")
RULE = re.compile(r"^-+(?:  -+)*$")
# Keys of JSON files and columns of tables whose values are sentences.
SENTENCE_KEYS = {"answered", "holds", "limits", "message", "outcome", "repair", "run_name"}
SENTENCE_KEYS |= {"title", "warnings", "words"}
SENTENCE_COLUMNS = {"message", "outcome"}


def main() -> None:
    """Replay what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(COMMANDS))
    parser.add_argument("--tree", type=Path, default=HERE.parents[1])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="replay-") as scratch:
        enter(asked.tree.resolve(), Path(scratch))
        write_input(Path(scratch, "in"), asked.tree.resolve() / "annotations" / "demo")
        for group in asked.groups or COMMANDS:
            for name, line in COMMANDS[group].items():
                target = asked.folder / group / name
                target.mkdir(parents=True)
                replay(line, Path(scratch), target)
        (asked.folder / "options.txt").write_text(options_of_all_commands(), "utf-8")


def enter(tree: Path, scratch: Path) -> None:
    """Make this process one of that tree, with a home, a database and a broker of its own."""
    sys.path[:0] = [str(tree), str(tree / "platform")]
    os.chdir(tree)
    for name in ("DATABASE_URL", "CELERY_BROKER_URL", "CACHE_URL"):
        os.environ.pop(name, None)
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "crowdgrade.settings",
        "CROWDGRADE_HOME": str(scratch / "home"),
        "SECRET_KEY": "a key that only the replayed commands use",
        "DJANGO_SUPERUSER_PASSWORD": "rivers-and-lakes",
        "COLUMNS": "100",
    }
    (scratch / "home" / "broker" / "control").mkdir(parents=True)
    import django

    django.setup()


def replay(line: str, scratch: Path, target: Path) -> None:
    """Run one command and write its exit code, output and files below `target`."""
    from django.core.management import execute_from_command_line

    out = scratch / "out"
    out.mkdir()
    demo = str(Path("annotations/demo").resolve())
    places = {"{in}": str(scratch / "in"), "{out}": str(out / "made"), "{demo}": demo}
    words = shlex.split(line)
    for mark, path in places.items():
        words = [word.replace(mark, path) for word in words]
    if words[0].startswith("export_") and words[0] != "export_consensus":
        (out / "made").mkdir()
    said, erred = io.StringIO(), io.StringIO()
    code: object = 0
    refused: list[str] = []
    worker = threading.Thread(target=work, daemon=True) if words[0] == "grade" else None
    with redirect_stdout(said), redirect_stderr(erred):
        try:
            if worker and "--no-wait" not in words:
                worker.start()
            execute_from_command_line(["manage.py", *words])
        except SystemExit as end:
            code, refused = end.code, refusals_of(end)

    def clean(text: str) -> str:
        for mark, path in places.items():
            text = text.replace(path, mark)
        text = text.replace(str(scratch), "{scratch}")
        for pattern, name in CHANGING:
            text = re.sub(pattern, name, text)
        return text

    errors = [row for row in erred.getvalue().splitlines() if not row.startswith(("usage:", "   "))]
    terminal = [f"$ {line}", f"exit code {int(code or 0)}", *(f"! {one}" for one in refused)]
    terminal += [said.getvalue(), "--- stderr", *errors]
    save(target / "terminal.txt", clean("\n".join(terminal)))
    for path in sorted(out.rglob("*")):
        if path.is_file():
            name = str(path.relative_to(out)).replace("/", "__") + ".txt"
            save(target / name, clean(as_text(path)))
    shutil.rmtree(out)


def save(path: Path, text: str) -> None:
    """Write a text without its sentences, shortened."""
    kind = Path(path.stem).suffix or path.suffix
    path.write_text(shortened(without_sentences(kind, text)), "utf-8")


def refusals_of(end: BaseException) -> list[str]:
    """Return the place and the code of each refusal that ended a command, as far as it has them.

    Errors are read by their attributes: an older tree may have fewer.
    """
    found: list[str] = []
    seen: list[BaseException] = []
    error: BaseException | None = end
    while error is not None and error not in seen:
        seen.append(error)
        problems = getattr(error, "problems", ())
        for one in problems if isinstance(problems, tuple) else ():
            place = [getattr(one, "file", ""), getattr(one, "option", "")]
            place += [f"line {one.line}" if getattr(one, "line", None) else ""]
            place += [f"column {one.column}" if getattr(one, "column", None) else ""]
            found.append(", ".join(filter(None, [*place, getattr(one, "code", "")])))
        message = getattr(error, "message", None)
        names = [getattr(error, "argument_name", None), getattr(error, "code", "")]
        found += [one for one in (*names, getattr(message, "code", "")) if isinstance(one, str)]
        error = error.__cause__ or error.__context__
    return list(dict.fromkeys(filter(None, found)))


def work() -> None:
    """Be the worker: grade the run that the command queues."""
    import time

    from django.db import connection

    from evaluation.runs.background.work import work_one_turn

    for _ in range(600):
        if work_one_turn():
            break
        time.sleep(0.1)
    connection.close()


def as_text(path: Path) -> str:
    """The content of a file of any kind that a command writes."""
    if path.suffix == ".npz":
        return arrays_as_text(path)
    if path.suffix == ".xlsx":
        return sheets_as_text(path)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return "\n".join(sorted(archive.namelist()))
    text = path.read_bytes().decode("utf-8")
    if path.suffix == ".json":
        text = json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False)
    return text


def arrays_as_text(path: Path) -> str:
    """Names, types and shapes; of numbers the length of each row and its product with a wave."""
    import numpy as np

    lines = []
    with np.load(path) as arrays:
        for name in sorted(arrays.files):
            values = arrays[name]
            lines.append(f"{name} {values.dtype.kind} {values.shape}")
            if values.dtype.kind != "f":
                lines.append(repr(values.tolist()))
                continue
            flat = values.astype(float).reshape(len(values), -1)
            wave = np.cos(np.arange(flat.shape[1]))
            lines += [f"{float(np.sqrt((row**2).sum()))!r} {float(row @ wave)!r}" for row in flat]
    return "\n".join(lines)


def sheets_as_text(path: Path) -> str:
    """Each sheet as tab-separated cells."""
    from openpyxl import load_workbook

    text = io.StringIO()
    for sheet in load_workbook(path, read_only=True).worksheets:
        text.write(f"[{sheet.title}]\n")
        csv.writer(text, delimiter="\t").writerows(sheet.iter_rows(values_only=True))
    return text.getvalue()


def without_sentences(kind: str, text: str) -> str:
    """Return the text of a file of a kind (.json ...) with the facts only of its sentences."""
    if kind == ".json":
        content = facts_of_sentences(json.loads(text))
        return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
    if kind == ".csv":
        return columns_without_sentences(text)
    if kind == ".svg":
        text = re.sub(r">[^<]+<", lambda found: f">{facts_of(found[0][1:-1])}<", text)
        return re.sub(r'aria-label="([^"]*)"', lambda f: f'aria-label="{facts_of(f[1])}"', text)
    if kind == ".md":
        return "\n".join(
            line if line.startswith("|") else facts_of(line) for line in text.splitlines()
        )
    return terminal_without_sentences(text) if text.startswith("$ ") else text


def terminal_without_sentences(text: str) -> str:
    """Return command line, exit code, refusals and tables, and the facts of each paragraph.

    A table is a line of titles, a rule below it and rows until an empty line. Lines of a paragraph
    are one, since other words break it elsewhere; an alarm and an error have a line of their own.
    """
    lines = text.splitlines()
    kept: list[str] = []
    in_table = in_sentence = False
    for at, line in enumerate(lines):
        has_rule = at + 1 < len(lines) and RULE.match(lines[at + 1]) is not None
        in_table = has_rule or (in_table and bool(line))
        is_frame = line.startswith(("$ ", "exit code ", "! ", "--- "))
        if not line or in_table or is_frame:
            kept += [line] if line else []
            in_sentence = False
        elif facts := facts_of(line):
            begins = not in_sentence or ALARM.match(line) or "--- stderr" in kept
            kept = [*kept, facts] if begins else [*kept[:-1], f"{kept[-1]} {facts}"]
            in_sentence = True
    return "\n".join(kept) + "\n"


def columns_without_sentences(text: str) -> str:
    """Return a table whose sentences are replaced by their facts, any other as it is."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    header = rows[0] if rows else []
    if SENTENCE_COLUMNS.isdisjoint(header):
        return text
    saved = io.StringIO()
    csv.writer(saved, lineterminator="\n").writerows(
        [header]
        + [
            [
                facts_of(cell) if name in SENTENCE_COLUMNS else cell
                for name, cell in zip(header, row, strict=True)
            ]
            for row in rows[1:]
        ]
    )
    return saved.getvalue()


def facts_of_sentences(value: object, is_sentence: bool = False) -> object:
    """Return a value of JSON with facts in place of the sentences below `SENTENCE_KEYS`."""
    if isinstance(value, dict):
        return {
            key: facts_of_sentences(one, is_sentence or key in SENTENCE_KEYS)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [facts_of_sentences(one, is_sentence) for one in value]
    return facts_of(value) if is_sentence and isinstance(value, str) else value


def facts_of(sentence: str) -> str:
    """Return the numbers, codes, files and ids of a sentence, in their order."""
    alarm = ALARM.match(sentence)
    words = (word.strip(AROUND) for word in sentence[alarm.end() if alarm else 0 :].split())
    facts = [alarm[1]] if alarm else []
    facts += [word for word in words if word in NAMES or FACT.search(word)]
    return " ".join(facts)


def shortened(text: str) -> str:
    """Return a long text's first lines and digest, and a shorter text as it is."""
    return text if len(text) <= MOST_CHARACTERS else digest(text)


def digest(text: str) -> str:
    """Return a text's first lines, its words exactly as a hash, and its numbers as sums."""
    from hashlib import sha256

    numbers = [float(number) for number in NUMBER.findall(text)]
    words = sha256(NUMBER.sub("#", text).encode()).hexdigest()[:16]
    total = math.fsum(value * math.cos(at) for at, value in enumerate(numbers))
    size = math.fsum(abs(value) for value in numbers)
    first = "\n".join(line[:WIDEST] for line in text.splitlines()[:FIRST_LINES])
    counts = f"{len(text.splitlines())} lines, {len(numbers)} numbers"
    return f"{first}\n... {counts}, words {words}, sums {total!r} {size!r}\n"


def options_of_all_commands() -> str:
    """Every command of ours: names of arguments, how many values, whether needed, each choice."""
    from django.core.management import get_commands, load_command_class

    lines = []
    for command, app in sorted(get_commands().items()):
        if app not in ("annotations", "evaluation", "crowdgrade"):
            continue
        parser = load_command_class(app, command).create_parser("manage.py", command)
        lines += options_of(parser, command)
    lines = [line for line in lines if line.split()[1] not in OF_DJANGO]
    return "\n".join(lines) + "\n"


def options_of(parser: argparse.ArgumentParser, command: str) -> list[str]:
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, deeper in action.choices.items():
                found += options_of(deeper, f"{command} {name}")
            continue
        names = " ".join(action.option_strings) or action.dest
        count = f" x{action.nargs}" if action.nargs not in (None, 0) else ""
        takes = "" if action.nargs == 0 or not action.option_strings else " VALUE"
        needed = " needed" if action.required else ""
        found.append(f"{command}: {names}{takes}{count}{needed}")
        found += [f"{command}: {names} = {choice}" for choice in action.choices or ()]
    return sorted(found)


if __name__ == "__main__":
    main()
