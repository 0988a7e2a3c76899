"""The documents say what is so: functions, commands, switches, columns and links exist."""

import importlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Collection
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from evaluation.evidence import tables
from evaluation.runs.files.reply_tables import COLUMNS
from tests.evaluation.commands.crowd import header_of, make_crowd, summary_of
from tests.evaluation.commands.running import evaluate

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "platform" / "docs"
DOCUMENTS = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]

# Of the command `celery worker`, which operators start.
OF_CELERY = {"--hostname"}


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def code_spans(text: str) -> list[str]:
    """What stands in backticks or in a block of commands, a piece each."""
    blocks = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)
    indented = re.findall(r"^    (.+)$", text, re.MULTILINE)
    return [*re.findall(r"`([^`\n]+)`", text), *"\n".join(blocks).splitlines(), *indented]


@cache
def flags_of(command: str) -> set[str]:
    """The switches of a command and of its sub-commands."""
    parser = load_command_class(get_commands()[command], command).create_parser(
        "manage.py", command
    )
    found, waiting = set(), [parser]
    while waiting:
        for action in waiting.pop()._actions:
            found |= set(action.option_strings)
            if isinstance(action.choices, dict):  # sub-commands
                waiting += action.choices.values()
    return found


def resolved(name: str) -> object:
    """What a dotted name stands for; raises if there is none."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"{name} is not in the project")


OURS = r"`((?:annotations|evaluation)\.[\w.]+)`"


def is_function(name: str) -> bool:
    """Return whether a dotted name is that of a function or class of the project."""
    try:
        return callable(resolved(name))
    except (AssertionError, AttributeError):
        return False


def test_every_function_that_papers_names_exists():
    named = sorted(set(re.findall(OURS, text_of(DOCS / "papers.md"))))
    assert len(named) > 200
    missing = [name for name in named if not is_function(name)]
    assert not missing, f"papers.md names no function: {missing}"


def test_papers_names_a_function_for_every_row_of_its_tables():
    rows = [line for line in text_of(DOCS / "papers.md").splitlines() if line.startswith("| ")]
    rows = [row for row in rows if not row.endswith(("| function |", "| where |"))]
    assert len(rows) > 30
    told = re.compile(rf"{OURS}|`manage\.py \w+|not here: ")
    assert [row for row in rows if not told.search(row)] == []


def test_the_readme_has_at_most_700_words():
    # As `wc -w` counts them.
    assert len(text_of(ROOT / "README.md").split()) <= 700


def test_the_example_of_the_estimator_runs():
    blocks = re.findall(r"```python\n(.*?)```", text_of(DOCS / "python.md"), re.DOTALL)
    (code,) = (block for block in blocks if "from evaluation.consensus import" in block)
    assert len([line for line in code.splitlines() if line]) <= 5
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "{'ann': 1.0, 'bob': 1.0, 'cy': 0.0}\n"


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    named = [
        (path.name, words[1])
        for path in DOCUMENTS
        for words in map(str.split, code_spans(text_of(path)))
        if words[:1] == ["make"] and len(words) > 1
    ]
    assert named
    missing = [(document, target) for document, target in named if target not in targets]
    assert not missing, f"no targets of the Makefile: {missing}"


def test_every_command_and_switch_that_is_named_exists():
    known = get_commands()
    # Switches named alone are those of the commands for files, of the doors into and out of the
    # database, or of the benchmark.
    doors = [name for name in known if name.startswith(("import_", "export_"))]
    collecting = [
        "grade",
        "run",
        "publish",
        "monitor",
        "admit",
        "decide",
        "payments",
        "recruit",
        "link_wave",
        "backup",
        "restore",
    ]
    files = ["evaluate", "study", "ask", "reproduce", "train_entailment"]
    commands = [*files, "benchmark", *collecting, *doors]
    flags = set().union(*map(flags_of, commands)) | OF_CELERY
    missing = [
        (path.name, span)
        for path in DOCUMENTS
        for span in code_spans(text_of(path))
        if not is_command_line(span, known) or set(re.findall(r"^(--[a-z][\w-]*)", span)) - flags
    ]
    assert not missing, f"no commands or switches: {missing}"


def is_command_line(span: str, known: Collection[str]) -> bool:
    """Return whether a span names no command, or one that is known, with its own switches."""
    called = re.search(r"manage\.py (\w+)(.*)", span)
    if called is None:
        return True
    command, rest = called.groups()
    if command == "help":  # of every Django site, and no command of a module
        return True
    switches = {word.split("=")[0] for word in shlex.split(rest) if word.startswith("--")}
    return command in known and switches <= flags_of(command)


def test_the_readme_names_demo_and_test_first():
    commands = re.findall(r"^    (\S.*)$", text_of(ROOT / "README.md"), re.MULTILINE)
    assert commands[:2] == ["make demo", "make test"]


def test_the_readme_shows_the_labels_of_the_demo():
    from annotations import demo

    text = text_of(ROOT / "README.md")
    assert demo.LABEL in text
    assert demo.MODEL_LABEL in text


def test_every_link_to_a_file_leads_to_one():
    links = [
        (path, link)
        for path in DOCUMENTS
        for link in re.findall(r"\]\(([^)#]+)", text_of(path))
        if "://" not in link
    ]
    assert links
    missing = [(path.name, link) for path, link in links if not (path.parent / link).exists()]
    assert not missing, f"links to no file: {missing}"


def test_data_formats_names_every_column_that_is_written(tmp_path):
    crowd, output = make_crowd(tmp_path), tmp_path / "out"
    evaluate(crowd.answers, "--models", crowd.models, "--embedder=bow", "--output", output)
    written = text_of(DOCS / "data-formats.md").split("## Written")[1]
    parts = dict(re.findall(r"### (\S+?)[\s,].*?\n(.*?)(?=\n### |\Z)", written, re.DOTALL))

    def named(part: str) -> list[str]:
        first_cells = re.findall(r"^\| (`.*?) \|", parts[part], re.MULTILINE)
        return [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]

    for path in output.iterdir():
        assert path.name in parts
        if path.suffix == ".csv":
            assert named(path.name) == header_of(path), path.name
    assert named("summary.json") == list(summary_of(output))
    assert named("Studies") == list(tables.HEADER)


def test_data_formats_names_every_column_and_error_of_an_asking():
    asked_part = text_of(DOCS / "data-formats.md").split("## Asked")[1].split("## Written")[0]
    table = asked_part.split("### model_answers.csv")[1].split("###")[0]
    first_cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert [n for cell in first_cells for n in re.findall(r"`([\w:-]+)`", cell)] == list(COLUMNS)
    known = {"batch", "cancelled", "refused_prompt"}  # never in a row
    for module in ("server.py", "chat/openai.py", "chat/registry.py"):
        source = text_of(ROOT / "evaluation" / "core" / "backends" / module)
        codes = set(re.findall(r'Fault(?:Error)?\(\s*"(\w+)"', source))
        assert {code for code in codes - known if f"`{code}`" not in table} == set()


@pytest.mark.parametrize("switches", [(), ("--difficulty",), ("--bootstrap=0",)], ids=" ".join)
def test_data_formats_lists_the_reasons_for_empty_cells(tmp_path, switches):
    crowd, output = make_crowd(tmp_path), tmp_path / "out"
    evaluate(
        crowd.answers, "--models", crowd.models, "--embedder=bow", *switches, "--output", output
    )
    reasons = {entry["reason"] for entry in summary_of(output)["undefined"]}
    text = text_of(DOCS / "data-formats.md")
    assert {reason for reason in reasons if f"`{reason}`" not in text} == set()


def test_every_notebook_is_listed_and_stored_without_results():
    notebooks = {f"notebooks/{path.name}": path for path in (DOCS / "notebooks").glob("*.ipynb")}
    linked = re.findall(r"\]\((notebooks/[\w-]+\.ipynb)\)", text_of(DOCS / "notebooks.md"))
    assert sorted(notebooks) == sorted(linked) != []
    cells = [c for path in notebooks.values() for c in json.loads(text_of(path))["cells"]]
    # `make docs` computes them: a stored result would be that of an older version.
    assert [c for c in cells if c.get("outputs") or c.get("execution_count")] == []


def test_evidence_says_when_and_how_it_was_measured():
    text = text_of(DOCS / "evidence.md")
    for part in ("manage.py reproduce worker-grading", "manage.py reproduce crowdwsa"):
        assert part in text
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", text)
    assert re.search(r"\b[0-9a-f]{64}\b", text)


def test_no_document_points_out_of_the_project():
    outside = {
        path.name: re.findall(r"/(?:home|root|work|tmp)/\S+", text_of(path)) for path in DOCUMENTS
    }
    found = {document: paths for document, paths in outside.items() if paths}
    assert not found, f"paths out of the project: {found}"
