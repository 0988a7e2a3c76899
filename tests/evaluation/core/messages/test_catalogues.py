"""Every code that can be produced has words at every door, and options have each door's names."""

import ast
import re
from pathlib import Path

import pytest

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.catalogue import COMMON
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import WHY_EMPTY, WHY_NOT_CHOSEN, WHY_UNCHECKED
from evaluation.core.messages.run_sentences import FAILURES, GRADED, WARNINGS
from evaluation.core.messages.table import Placeholders, build_document
from evaluation.core.options import API, SITE, TERMINAL
from evaluation.core.options.parameters import LABELS
from evaluation.crowd_vs_llm.messages import PANELS
from evaluation.eloquent.options import EloquentRunOptions
from evaluation.grading.alarms.messages import ALARMS
from evaluation.grading.remedies.messages import REMEDIES
from evaluation.grading.results.messages import COMPARING
from evaluation.llm_judge.messages import JUDGE
from evaluation.multiqa.messages import MULTIQA
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.payments.messages import PAYING
from evaluation.runs.forms import get_option_form
from evaluation.sample_size.messages import PLAN
from evaluation.triage.messages import TRIAGE
from evaluation.trust.messages import DECISION, TRUST
from evaluation.umwp.messages import UMWP
from tests.features import FEATURES

ROOMS_OF_WARNINGS = (
    *("runs/files", "runs/flow", "runs/steps", "core/text", "consensus"),
    *("grading/run", "grading/files"),
    *("grading/storage", "grading/alarms/run", "grading/facts/run", *FEATURES),
)
ROOMS = Path(__file__).resolve().parents[4] / "evaluation"
DOORS = {"terminal": TERMINAL, "site": SITE, "api": API}
COUNTED = {
    "excluded_workers": "Excluded workers, who have no vote, no grade and no rank: 3",
    "single_answers": "Questions with a single answer, which is compared with itself alone: 3",
    "repeated_rows": "Rows that repeat an earlier answer and were left out: 3",
    "rejected_answers": "Answers rejected where they were collected, which were left out: 3",
    "empty_answers": "Empty answers, which count as unanswered: 3",
    "unranked_workers": "Workers without a rank (fewer than 5 answers to questions that 3 workers "
    "share): 3",
    "model_answers_to_nobody": "Answers of models to questions that no worker answered: 3",
    "models_with_errors": "Models with an answer that could not be fetched, not ranked until asked "
    "again: 3",
}


def calls(name, *rooms):
    """The arguments of every call of that name in the code of some rooms."""
    for room in rooms:
        for path in (ROOMS / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                    yield node.args


@pytest.mark.medium
def test_every_warning_has_words_and_no_words_are_left_over():
    made = {
        arguments[0].value
        for arguments in calls("Message", *ROOMS_OF_WARNINGS)
        if isinstance(arguments[0], ast.Constant)
    }
    of_panels = {code for code in made if code.startswith("panels.")}
    of_plans = {code for code in made if code.startswith("plan.")}
    assert of_plans == PLAN.keys()
    of_graded = {code for code in made if code.startswith("graded.")}
    made -= FAILURES.keys()  # a command ends for the reason for which a run fails
    # Of their reports, no warnings.
    made -= MULTIQA.keys() | TRIAGE.keys() | PAYING.keys() | TRUST.keys() | DECISION.keys()
    made -= COMPARING.keys()
    assert made - of_panels - of_plans - of_graded == WARNINGS.keys() | JUDGE.keys() | UMWP.keys()
    of_graded |= {code.value for code, *_ in calls("Message", "evidence") if of_a_code(code)}
    verdicts = {f"graded.{verdict}" for verdict in ("better", "default", "apart", "small")}
    bases = {f"graded.by_{basis}" for basis in ("workers", "best", "random")}
    assert of_graded | verdicts | bases == GRADED.keys()
    of_panels |= {  # whichever the numbers say
        *("panels.closer_than_halves", "panels.farther_than_halves"),
        *("panels.ranks_change", "panels.ranks_stay"),
        *("panels.ranks_change_beyond_chance", "panels.ranks_within_chance"),
        *("panels.models_alike", "panels.not_alike"),
    }
    assert of_panels == PANELS.keys()


def of_a_code(argument):
    """Whether what makes a message is a code of graded answers."""
    return isinstance(argument, ast.Constant) and str(argument.value).startswith("graded.")


def test_every_alarm_has_words_and_no_words_are_left_over():
    made = {"copies.proven", "copies.alike", "clique.clique"}  # whichever a group of copies is
    for kind, _, case, *_ in calls("Finding", "grading", "flow"):
        if isinstance(kind, ast.Constant):
            made.add(f"{kind.value}.{case.value}")
    assert made == ALARMS.keys()


def literals(*places):
    """The texts of some modules that look like the code of a reason."""
    for place in places:
        found = ROOMS / place
        for path in found.rglob("*.py") if found.is_dir() else [found]:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and REASON.fullmatch(str(node.value)):
                    yield node.value


REASON = re.compile(
    r"(no|fewer_than|too_few|nobody|graded_by|missing|only|estimate|equal|one)(_[a-z0-9]+)+"
    r"|disconnected|excluded|undivided|withdrawn|not_computed|error|too_few"
)


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (
            WHY_EMPTY,
            literals(
                *("consensus/methods", "core/stats/inference/intervals.py"),
                *("core/stats/inference/comparison.py", "grading/run/results.py"),
                "grading/remedies/methods/partial_crowd.py",
                *("grading/files/tables.py", "grading/results/report/questions.py"),
                "grading/results/report/consensus.py",
            ),
        ),
        (
            WHY_UNCHECKED,
            [*literals("grading/alarms/methods"), "no_words", "graded_by_words_already"],
        ),
        (
            WHY_NOT_CHOSEN,
            literals("grading/remedies/methods/camps.py"),
        ),
        (WHY_NOT_CHOSEN, literals("grading/alarms/methods/camps.py")),
    ],
    ids=["empty", "unchecked", "not chosen", "no camps"],
)
def test_every_reason_has_words(words, made):
    found = set(made) - {"no_convergence", "too_few"} | ({"too_few"} & words.keys())
    assert found
    assert found <= words.keys()


@pytest.mark.medium
def test_every_refusal_of_a_remedy_has_words():
    made = {
        arguments[0].value for arguments in calls("RemedyError", "consensus", "grading", "flow")
    }
    assert made == REMEDIES.keys()


def test_a_refusal_is_stored_as_text_and_said_at_each_door():
    message = Message("run.few_outside_groups", {"outside": 2, "fewest": 3})
    stored = message.as_text()
    assert Message.from_stored(stored) == message
    assert TERMINAL.format_message(stored) == (
        "Only 2 of the workers would be left outside the groups of copies, and 3 are needed "
        "to grade by: grade without --collapse-copies, or exclude the workers you do not trust."
    )
    assert "grade without “Collapse copies”, or" in SITE.format_message(stored)
    assert "grade without collapse_copies, or" in API.format_message(stored)


@pytest.mark.parametrize("code", COMMON)
def test_every_door_has_words_and_switches_are_those_of_the_command_line_only(code):
    for name, door in DOORS.items():
        words = door.format_message(Message(code, Placeholders()))
        assert ("--" in words) <= (name == "terminal"), words
        assert code.endswith(".todo") or code in WAITING or words, code


# What is so says a warning of the run.
WAITING = {
    f"{case}.said"
    for case in ("language.foreign", "language.unchecked", "truncation.cut", "shortness.short")
}


@pytest.mark.parametrize("code", COUNTED)
def test_what_is_counted_is_said_with_its_number(code):
    assert TERMINAL.format_message(Message(code, {"count": 3})) == COUNTED[code]


@pytest.mark.parametrize(
    ("code", "values", "words"),
    [
        (
            "truncated",
            {"answers": 3, "tokens": 256, "model": "MiniLM"},
            "Answers that are longer than what MiniLM reads (256 tokens, a token is about three "
            "quarters of a word) and whose ends were ignored: 3",
        ),
        (
            "english_only",
            {"model": "MiniLM", "share": 0.414, "script": "Greek"},
            "THE MODEL MiniLM KNOWS ENGLISH ONLY, but 41% of the letters are of another script "
            "(mostly Greek): similarities and grades mean little. Choose a multilingual model "
            "(--embedder sentence-transformers:NAME) or tfidf-char.",
        ),
        (
            "english_only",
            {"model": "MiniLM", "foreign": 7, "sentences": 30, "language": "es"},
            "THE MODEL MiniLM KNOWS ENGLISH ONLY, but 7 of 30 checked sentences are in another "
            "language (mostly 'es'): similarities and grades mean little. Choose a multilingual "
            "model (--embedder sentence-transformers:NAME) or tfidf-char.",
        ),
        (
            "short_answers",
            {"share": 0.751, "embedder": "bow", "auc": 0.003},
            "Most answers are short or numeric (75%), and the comparison hardly sees one wrong "
            "fact: shown a right answer and the same one with a wrong fact, bow prefers the right "
            "one in 0% of cases; a coin would in 50%. Check such answers against right ones that "
            "you know",
        ),
        (
            "not_converged",
            {"iterations": 100},
            "Grades still changed after 100 rounds: allow more (--max-iterations), and do not rely "
            "on close ranks",
        ),
        (
            "anchors_changed_nothing",
            {"reason": "equal_grades"},
            "The graded answers (anchors) changed nothing: all grades are equal: grade more "
            "answers, better and worse ones",
        ),
        (
            "no_question_camps",
            {},
            "No question has two camps of answers: --camps changed nothing",
        ),
    ],
)
def test_warnings_say_on_a_terminal_what_to_do(code, values, words):
    assert TERMINAL.format_message(Message(code, values)) == words


def test_each_door_has_its_own_name_of_an_option():
    message = Message("no_convergence.crowd", {"n_iterations": 9, "statistic": 0.1, "threshold": 0})
    words = {name: door.format_message(message) for name, door in DOORS.items()}
    assert "Allow more iterations (--max-iterations), and" in words["terminal"]
    assert "Allow more iterations (“Most iterations”), and" in words["site"]
    assert "Allow more iterations (max_iterations), and" in words["api"]


def test_the_site_calls_options_as_its_form_does():
    forms = (EloquentRunOptions, MultiqaRunOptions, AqerParameters)
    fields = {name: one for of in forms for name, one in get_option_form(of).base_fields.items()}
    assert {name: fields[name].label for name in LABELS} == LABELS


def test_a_sentence_of_an_older_run_stays_but_for_the_names_of_options():
    message = Message.from_stored("Cap it (--weight-cap), or -- with --camps: not.")
    assert message.code == "sentence"
    assert TERMINAL.format_message(message) == "Cap it (--weight-cap), or -- with --camps: not."
    assert API.format_message(message) == "Cap it (weight_cap), or -- with camps: not."
    expected = "Cap it (“Most weight of a worker”), or -- with “Several right answers”: not."
    assert SITE.format_message(message) == expected


def test_what_is_stored_is_read_as_it_was():
    message = Message("short_answers", {"share": 1 / 3, "embedder": "bow", "auc": 0.5})
    assert Message.from_stored(message.as_dict()) == message == Message.from_stored(message)


def test_a_code_of_a_newer_version_is_shown_as_it_is():
    assert SITE.format_message({"code": "quite_new", "values": {}}) == "quite new"


def test_the_table_of_the_documents_is_that_of_the_code():
    page = ROOMS.parent / "platform" / "docs" / "words.md"
    assert page.read_text(encoding="utf-8") == build_document(), (
        "python -m evaluation.core.messages.table"
    )
