"""Each sentence of an import's problems and reports, spelled once; other tests assert codes."""

import ast
import tomllib
from pathlib import Path

import pytest

from annotations.exchange.problem_messages import PROBLEM_MESSAGES
from annotations.management.importing import SET_ERRORS
from tests.annotations.exchange.reports import report_of

ROOT = Path(__file__).resolve().parents[3]
CATALOGUE = ROOT / "annotations" / "exchange" / "problem_messages"
PRODUCT = ("annotations", "evaluation")
SENTENCES = tomllib.loads(Path(__file__).with_name("problem_sentences.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def product():
    """The strings of all modules that may name a code, and the calls that make a problem of one.

    Those of the catalogue are left out.
    """
    named = ("add_code", "from_code", "note", "wrong", "_build_error")
    strings, calls = set(), []
    for folder in PRODUCT:
        for path in (ROOT / folder).rglob("*.py"):
            if CATALOGUE in path.parents:
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if is_string(node):
                    strings.add(node.value)
                elif isinstance(node, ast.Call):
                    name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
                    if name in named:
                        calls.append(node)
    return strings, calls


def is_string(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_a_code_and_its_values_make_the_sentence():
    found, expected = [], []
    for one in SENTENCES["sentence"]:
        # TOML has no null: a name that nothing is like is left out there.
        values = {"suggestion": None, **one.get("values", {})}
        found.append((one["code"], *PROBLEM_MESSAGES[one["code"]].texts(values)))
        texts = (one.get(name, "") for name in ("reason", "remedy", "on_terminal"))
        expected.append((one["code"], *texts))
    assert found == expected


def test_every_code_is_spelled():
    assert {one["code"] for one in SENTENCES["sentence"]} == set(PROBLEM_MESSAGES)


@pytest.mark.medium
def test_every_code_is_used_by_the_product(product):
    strings, _ = product
    assert set(PROBLEM_MESSAGES) - strings == set()


def test_every_call_with_a_code_gives_the_values_of_its_sentence(product):
    _, calls = product
    wanted = {}
    for one in SENTENCES["sentence"]:
        wanted.setdefault(one["code"], set()).update(one.get("values", {}))
    checked = set()
    for call in calls:
        codes = {node.value for node in call.args if is_string(node)} & wanted.keys()
        given = {keyword.arg for keyword in call.keywords}
        for code in codes if None not in given else ():  # None: values that are unpacked
            assert wanted[code] <= given, f"{code}: line {call.lineno}"
            checked.add(code)
    assert len(checked) > 200


def test_a_code_is_in_one_module_of_the_catalogue():
    defined = [
        key.value
        for path in CATALOGUE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant)
    ]
    assert sorted(defined) == sorted(PROBLEM_MESSAGES)


def test_the_lines_of_a_report():
    report = report_of(
        n_rows=10,
        n_new=4,
        n_unchanged=3,
        n_repeated=2,
        n_superseded=1,
        n_empty=5,
        n_completed=6,
        n_rejected=7,
        n_reflagged=8,
        created={"workers": 2, "questions": 0, "passages": 1},
        kept_aside=("mood", "seconds"),
        notes=["A note."],
        warnings=["It is late."],
        dry_run=True,
    )
    assert list(report.lines()) == [
        "a.csv into rivers, version 2",
        "10 answers in the file = 4 new + 3 unchanged + 2 repeated + 1 superseded; 5 of them empty",
        "7 of them were rejected where they were collected: they are flagged, and left out of runs",
        "8 unchanged ones got the flag of the file",
        "6 questions got the text they lacked",
        "Also new: 2 workers, 1 passages",
        "Columns stored as extra information: mood, seconds",
        "A note.",
        "Warning: It is late.",
        "This was a dry run: nothing was stored.",
    ]
    assert list(report_of(n_rows=1, n_unchanged=1).lines()) == [
        "a.csv into rivers, version 2",
        "1 answers in the file = 0 new + 1 unchanged + 0 repeated",
        "Nothing changed: all of it was there already.",
    ]


SETS = [
    ("set_name_length", {"most": 200}, "a question set's name has 1 to 200 characters"),
    (
        "set_unknown",
        {"owner": "rana", "name": "lakes", "names": "none"},
        "rana has no question set 'lakes'; there is: none",
    ),
    (
        "user_unknown",
        {"username": "ann"},
        "there is no user 'ann' (`manage.py createsuperuser` makes one)",
    ),
    ("users_missing", {}, "there is no user yet (`manage.py createsuperuser` makes one)"),
    (
        "users_several",
        {},
        "there are several users: name the set's owner with --owner USERNAME",
    ),
]


def test_the_errors_of_a_command_that_names_a_set():
    assert [code for code, _, _ in SETS] == list(SET_ERRORS)
    for code, values, sentence in SETS:
        assert SET_ERRORS[code].format_map(values) == sentence
