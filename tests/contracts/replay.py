"""Runs the commands of commands.toml in a source tree, and writes their results as text.

    python tests/contracts/replay.py FOLDER [GROUP ...] [--tree TREE]

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

HERE = Path(__file__).resolve().parent
WORKERS = [
    "Amara",
    "Henrik",
    "Tomasz",
    "Bao",
    "Elif",
    "Jonas",
    "Ines",
    "Leo",
    "Pip",
    "Quinn",
    "Stan",
    "Tariq",
    "Uma",
    "Viktor",
]
COMMANDS: dict[str, dict[str, str]] = tomllib.loads((HERE / "commands.toml").read_text("utf-8"))
# A longer file is kept as its first lines and a digest.
MOST_CHARACTERS = 3_000
FIRST_LINES, WIDEST = 10, 160
QUESTIONS = [f"tides-{number}" for number in range(1, 9)]
# The column that tells an export of ours from other files.
MARK = "crowdgrade:answers"
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
ALARM = re.compile(r"^([A-Z]+ [a-z_]+): ")
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

    from evaluation.background.work import work_one_turn

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
    """A long text's first lines and a digest: its words exactly, its numbers as sums."""
    if len(text) <= MOST_CHARACTERS:
        return text
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


def write_input(folder: Path, demo: Path) -> None:
    """A part of the demo with gaps and repeats, vectors, camps, and files with mistakes."""
    import numpy as np

    shutil.copytree(HERE / "input", folder)
    workers = WORKERS
    with (demo / "answers.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            [row["worker"], row["question"], row["answer"]]
            for row in csv.DictReader(file)
            if row["worker"] in workers and row["question"] in QUESTIONS
        ]
    rows = [row for at, row in enumerate(rows) if at % 17 != 5]
    rows.append(['Zoe; "the" late', "tides-1", "=1+1, says the Moon\nand the Sun"])
    header = ["worker", "question", "answer"]
    save_csv(folder / "crowd.csv", [header, *rows, rows[3]])
    save_csv(folder / "crowd.tsv", [["who", "item", "said"], *rows], "\t")
    with (demo / "model_answers.csv").open(encoding="utf-8", newline="") as file:
        said = [
            [row["model"], row["question"], row["answer"], row["status"]]
            for row in csv.DictReader(file)
            if row["question"] in QUESTIONS and row["model"].endswith("t=0")
        ]
    said[2][2:], said[9][2:] = ["", "error"], ["", "refused"]
    save_csv(folder / "models.csv", [["model", "question", "answer", "status"], *said])
    rng = np.random.default_rng(3)
    right = {question: rng.normal(size=6) for question in QUESTIONS}
    at = {worker: 0.3 + n / 8 for n, worker in enumerate(workers)}
    of_rows = [right[q] + at.get(w, 1) * rng.normal(size=6) for w, q, _ in rows]
    of_models = [right[row[1]] + rng.normal(size=6) for row in said]
    # Of the repeated row, in crowd.csv only, the first counts.
    np.savez(folder / "vectors.npz", answers=np.array([*of_rows, of_rows[3]]), models=of_models)
    (folder / "excluded.txt").write_text("Uma\nViktor\n", "utf-8")
    (folder / "strangers.txt").write_text("Nobody\n", "utf-8")
    save_csv(folder / "strange-anchors.csv", [[*header[:2], "grade"], ["Nobody", "tides-1", 3]])
    write_camps(folder, rng)
    write_several(folder)
    write_problems(folder)
    write_mistakes(folder, demo, header, rows)
    write_graded_answers(folder / "mohler2011", rng)
    write_rewordings(folder)
    write_prompts(folder)
    shutil.copytree(HERE / "evaluations", folder / "evaluations")


def write_prompts(folder: Path) -> None:
    """Prompts that mean the same (one file lacks a comma), replies to them, and judgements."""
    wordings = {
        "001": [("en", "What are the rules?"), ("en", "How is it played?"), ("sv", "Reglerna?")],
        "002": [("en", "Write to mum."), ("en", "Write to mother."), ("en", "Write to mom.")],
    }
    items = [
        {
            "id": name,
            "variation": "style",
            "variants": [{"language": one, "prompt": prompt} for one, prompt in variants],
        }
        for name, variants in wordings.items()
    ]
    test = {"source": "us", "year": "2024", "items": items}
    text = json.dumps({"eloquent-robustness-test": test}, indent=1)
    (folder / "prompts.json").write_text(text, "utf-8")
    (folder / "broken-prompts.json").write_text(text.replace("},\n", "}\n", 1), "utf-8")
    replies = [("system", "item", "language", "variant", "reply", "status")]
    replies += [("a", "001", "en", n, f"eleven a side {n}", "") for n in (0, 1)]
    replies += [("a", "002", "en", n, "dear mother come home", "") for n in (0, 1)]
    replies += [("a", "002", "en", 2, "", "refused"), ("a", "099", "en", 0, "who", "")]
    save_csv(folder / "prompt-replies.csv", replies)
    judged = [("item", "system", "language", "judge", "repeat", "score", "judge_reply")]
    judges = ("small", "large", "human")
    for at, item in enumerate(wordings):
        judged += [(item, "a", "en", judge, 1, at + len(judge) % 3, "") for judge in judges]
        judged.append((item, "a", "en", "small", 2, "", "They agree.\n**Similarity score: 4/5**"))
        judged.append((item, "b", "en", "small", 1, "", "Similarity score: 0-5"))
    save_csv(folder / "judgements.csv", judged)
    turns = [{"question": "Write to mum.", "answer": "dear mum"}]
    turns += [
        {"question": "Shorter?", "answer": "mum"},
        {"question": "Write to mom.", "answer": "x"},
    ]
    form = {"team": "t", "system": "b", "submissionid": "1", "language": "en", "date": "d"}
    form |= {"label": "l", "questions": [{"questionid": 2, "turns": turns}]}
    (folder / "submission.json").write_text(json.dumps(form), "utf-8")


def write_rewordings(folder: Path) -> None:
    """Items of every kind with replies to their wordings, and replies with mistakes."""
    choices = ["Paris", "Rome", "New York, USA"]
    items = [
        {"item": "c1", "kind": "choice", "dataset": "one", "choices": choices, "answers": ["A"]},
        {"item": "c2", "kind": "choice", "choices": choices, "answers": ["Rome", "C"]},
        {"item": "x1", "kind": "extractive", "dataset": "one", "answers": ["1,889"]},
        {"item": "x2", "kind": "extractive", "answers": ["colour"], "matcher": "levenshtein"},
        {"item": "f1", "kind": "free", "dataset": "two", "answers": ["The sun is a star"]},
        {"item": "n1", "kind": "extractive", "dataset": "two", "answers": []},
    ]
    lines = [json.dumps(item, ensure_ascii=False) for item in items]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    said = {
        "c1": ["Paris", "(b)", "E", "The answer is A."],
        "c2": ["Rome, New York, USA", "BC", "B"],
        "x1": ["1889", "in 1889", "1889."],
        "x2": ["color", "cool", "COLOUR!"],
        "f1": ["the sun is a star!", "A star is the sun", "Cheese", "Cheese."],
        "n1": ["nothing"],
        "zz": ["to nothing"],
    }
    rows = [
        [system, item, variant, reply if system == "sage" or variant % 3 else "", status]
        for system in ("sage", "oracle")
        for item, replies in said.items()
        for variant, reply in enumerate(replies)
        for status in (["refused", "TEXT", ""][variant % 3] if system == "oracle" else "",)
    ]
    header = ["system", "item", "variant", "reply", "status"]
    save_csv(folder / "replies.csv", [header, *rows, rows[0]])
    crooked = [["", "c1", "0", "A", "lost"], ["", "", "-1", "B", ""], ["", "c1", "1", "B", "empty"]]
    save_csv(folder / "crooked-replies.csv", [header, *crooked])


def write_several(folder: Path) -> None:
    """Questions with several right answers, and replies of two systems in every form."""
    questions = [
        {
            "question": "Which seas touch Denmark?",
            "answer": ["North Sea", ["Baltic Sea", "Baltic"]],
        },
        {"question": "Solve x^2 + 2x - 63 = 0.", "answer": [-9, 7], "dataset": "mathematics"},
        {"question": "Where is it filmed?", "answer": ["Atlanta, Texas", "Vivian, Louisiana"]},
        {"question": "Which statements hold?", "answer": ["A", "C"], "dataset": "choices"},
        {"question": "Which one is even?", "answer": ["B"], "id": "even", "dataset": "choices"},
        {"question": "Nobody knows.", "answer": []},
    ]
    sure = [
        {"answer": "A", "logits": [3.0, 1.0, 0.5, 0.0]},
        {"answer": "B", "top_logprobs": [-0.5, -1.5], "vocabulary": 1000},
        {"answer": "C", "top_logprobs": [{"token": "C", "logprob": -0.2}]},
    ]
    replies = [
        {"item": 0, "reply": "The Baltic and the North Sea\nConfidence: 90%"},
        {"item": 0, "sample": 1, "reply": "- North Sea\n- Baltic Sea\n\nConfidence: 0.8"},
        {"item": 0, "sample": 2, "reply": "North Sea, Baltic, Baltic Sea, Kattegat"},
        {"item": 1, "reply": 'x = 7 or -9, so ["7", "-9"]', "confidence": 340},
        {"item": 2, "reply": "The places are Vivian, Louisiana, and Atlanta, Texas."},
        {"item": 3, "answers": ["A", "B", "C"], "confidence": "about 60 %", "first_token": sure},
        {"item": "even", "reply": "B) because it is", "confidence": 1},
        {"item": 5, "reply": "42"},
        {"item": 77, "reply": "42"},
        {"system": "other", "item": 0, "status": "refused"},
        {"system": "other", "item": 1, "status": "error"},
        {"system": "other", "item": 3, "answers": ["C"], "first_token": sure[2:]},
    ]
    (folder / "several.json").write_text(json.dumps(questions, indent=1), "utf-8")
    lines = "".join(json.dumps(reply) + "\n" for reply in replies)
    (folder / "several.jsonl").write_text(lines, "utf-8")


def write_problems(folder: Path) -> None:
    """Math problems with and without an answer, and replies of two systems in two forms."""
    about = [
        ("Tom has 9 books and 46 more. How many?", [55.0], None, None),
        ("A rope of 10 m is cut into 4 parts. How long is one?", [2.5], 0, None),
        ("Tom has some books and 46 more. How many?", None, 2, [1]),
        ("Tom has 9 books. How many pens?", None, 4, [1]),
        ("A rope is cut into 4 parts. How long is one?", None, 1, [2]),
        ("A rope is cut  into 4 parts. How long is one?", [2.0], None, None),
        ("Who is he?", None, 5, [70]),
    ]
    lines = [
        {
            "id": number,
            "question": text,
            "answer": answer,
            "answerable": answer is not None,
            "category": category,
            "relevant_ids": relevant,
            "source": "made" if number < 5 else "other",
        }
        for number, (text, answer, category, relevant) in enumerate(about, 1)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "problems.jsonl").write_text(text, "utf-8")
    (folder / "templates.txt").write_text("It is not known.\nNobody can tell.\n", "utf-8")
    header = ["system", "id", "form", "reply", "status"]
    replies = [
        ["one", 1, "direct", "9 + 46 = 55, so the answer is 55.", ""],
        ["one", 2, "direct", "Each part is 2.5m long.", ""],
        ["one", 3, "direct", "Nobody can tell. It cannot be determined.", ""],
        ["one", 4, "direct", "The answer is 9 + x.", ""],
        ["one", 5, "direct", "It is 3.", ""],
        ["one", 6, "direct", "", "refused"],
        ["one", 7, "direct", "", "error"],
        ["one", 8, "direct", "There is no such problem.", ""],
        ["two", 1, "direct", "It cannot be determined!", ""],
        ["two", 1, "instruction", "55 books", "text"],
        ["two", 3, "instruction", "", "EMPTY"],
    ]
    save_csv(folder / "problem_replies.csv", [header, *replies])


def write_camps(folder: Path, rng: object) -> None:
    """Twelve workers, half of whom share an error, and six answers that an expert graded."""
    import numpy as np

    rows, vectors, anchors = [], [], []
    for question in range(10):
        truth, error = rng.normal(size=(2, 20))  # type: ignore[attr-defined]
        for worker in range(12):
            camp = truth if worker < 6 else 0.4 * truth + error
            vectors.append(camp + 0.4 * rng.normal(size=20))  # type: ignore[attr-defined]
            rows.append([f"w{worker}", f"q{question}", f"answer of {worker} to {question}"])
        if question < 3:
            anchors += [["w1", f"q{question}", 5], ["w8", f"q{question}", 1]]
    save_csv(folder / "camps.csv", [["worker", "question", "answer"], *rows])
    np.savez(folder / "camps.npz", answers=np.array(vectors))
    save_csv(folder / "anchors.csv", [["worker", "question", "grade"], *anchors])


def write_mistakes(folder: Path, demo: Path, header: list[str], rows: list[list[str]]) -> None:
    """Files for imports: good ones, one that contradicts, one that names what is not there."""
    for name in ("questions.jsonl", "passages.jsonl"):
        shutil.copy(demo / name, folder / name)
    save_csv(folder / "contradiction.csv", [header, [*rows[0][:2], "something else"]])
    save_csv(folder / "unknown.csv", [header, ["Amara", "tides-99", "high"], ["", "tides-1", "x"]])
    lines = [
        {"worker": w, "question": q, "answer": a, "rejected": str(w == "Uma"), MARK: "1"}
        for w, q, a in rows[: 8 * 13]
        if w != "Elif"
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "rejected.jsonl").write_text(text, "utf-8")
    heads = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Input.word", "Answer.text"]
    words = [["H1", "mono"], ["H2", "ie"]]
    batch = [
        [hit, f"A{hit}{n}", f"W{n}", "Rejected" if n == 2 else "Submitted", word, f"thing {n}"]
        for hit, word in words
        for n in range(3)
    ]
    save_csv(folder / "batch.csv", [heads, *batch])


def write_graded_answers(folder: Path, rng: object) -> None:
    """Columns of Mohler et al.: 22 answers a question, the worse the fewer right words."""
    folder.mkdir()
    rights = (
        "the stack gives back last what came in first",
        "pointers hold the address of some other value there",
        "queues give back first what somebody put in first",
        "trees have nodes that have more nodes below them",
    )
    rows: list[list[object]] = [["question_id", "answer", "grade_average"]]
    for number, right in enumerate(rights):
        for n in range(22):
            words = right.split()[: 9 - n // 3] + [f"wrong{n}{k}" for k in range(n // 3)]
            noise = float(rng.normal(0, 0.05))  # type: ignore[attr-defined]
            rows.append([f"1.{number}", " ".join(words) + "<br>", 5 - n / 5 + noise])
    save_csv(folder / "answers.csv", rows)


def save_csv(path: Path, rows: list, delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)


if __name__ == "__main__":
    main()
