"""Attention checks of surveys: found by their wording, named by hand, stored with their role."""

import csv
import io

import pytest

from annotations.exchange import InputError
from annotations.exchange.conversion import convert_survey_export
from annotations.exchange.importing.survey_exports import import_survey_export
from annotations.exchange.presets import Mapping, propose_mapping, read_head, recognise_preset
from annotations.exchange.presets.attention import is_right_answer
from annotations.exchange.reading.answers import read_answers
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import Question, QuestionSet
from tests.annotations import world

ASKED = "What causes ocean tides?"
CHECK = "To show that you read this, please choose 'Strongly disagree'."
IDS = [f"5f10000000000000000000{n:02}" for n in range(4)]
SAID = (
    "The Moon pulls the water up",
    "The gravity of Moon and Sun",
    "Mostly the pull of the Moon",
    "The wind moves all the water",
)
TICKED = ("Strongly disagree", "strongly disagree ", "Strongly agree", "Strongly disagree")


def survey(check=CHECK, ticked=TICKED, *more):
    text = io.StringIO()
    people = zip(IDS, SAID, ticked, strict=True)
    csv.writer(text).writerows([["Prolific ID", ASKED, check], *people, *more])
    return make_bytes_source("survey.csv", text.getvalue().encode())


def mapped(source):
    head = read_head(source)
    preset = recognise_preset(head)
    return preset, propose_mapping(preset, head, source)


@pytest.mark.parametrize(
    ("check", "ticked", "right"),
    [
        (CHECK, TICKED, "Strongly disagree"),
        ("Please select Blue to show that you are reading.", ("Blue", "Red") * 2, "Blue"),
        (
            "Bitte wählen Sie „stimme nicht zu“.",
            ("stimme nicht zu", "stimme zu") * 2,
            "stimme nicht zu",
        ),
        ("This is an attention check: choose 3.", ("3", "4", "3", "3"), "3"),
    ],
)
def test_a_check_is_found_by_a_wording_that_names_its_answer(check, ticked, right):
    _, mapping = mapped(survey(check, ticked))
    assert mapping.checks == ((check, right),)
    assert mapping.answers == (ASKED,)


@pytest.mark.parametrize(
    ("question", "ticked"),
    [
        ("Which colour do you choose for a wall?", ("Blue", "Red") * 2),
        ("Why does a plant choose to grow to the light?", SAID),
        ("Please describe what you see.", SAID),
    ],
)
def test_a_question_that_asks_for_no_certain_answer_is_no_check(question, ticked):
    assert mapped(survey(question, ticked))[1].checks == ()


def test_a_check_without_a_known_answer_is_not_graded():
    _, mapping = mapped(survey("attention_check_1", ("4 of them", "3 of them") * 2))
    assert (mapping.answers, mapping.checks) == ((ASKED,), ())


def test_case_blanks_and_signs_do_not_make_an_answer_wrong():
    assert is_right_answer(" strongly  Disagree.", "Strongly disagree")
    assert not is_right_answer("Strongly agree", "Strongly disagree")
    assert not is_right_answer("", "Strongly disagree")


def test_a_check_is_named_by_hand():
    header = ["id", "a=b", "c"]
    mapping = Mapping("id", "", ("a=b", "c")).replace_roles(
        ["check=a=b=yes, it is"], header, "file.csv"
    )
    assert mapping.checks == (("a=b", "yes, it is"),)
    assert mapping.answers == ("c",)
    assert mapping.replace_roles(["check="], header, "file.csv").checks == ()
    assert Mapping.from_dict(mapping.as_dict()) == mapping
    with pytest.raises(ValueError, match="right answer"):
        mapping.replace_roles(["check=c"], header, "file.csv")
    with pytest.raises(InputError) as caught:
        mapping.replace_roles(["check=d=yes"], header, "file.csv")
    assert caught.value.problems[0].code == "mapped_column_missing"


def test_converting_counts_who_failed_and_writes_no_answer_to_a_check(tmp_path):
    again = [IDS[3], "", "Strongly agree"]
    source = survey(CHECK, TICKED, again)
    preset, mapping = mapped(source)
    files = {name: tmp_path / f"{name}.csv" for name in ("answers", "questions")}
    lines = convert_survey_export(
        source,
        files["answers"],
        preset=preset,
        mapping=mapping,
        questions=files["questions"],
        duplicates=Duplicates.FIRST,
    )
    assert [(one.worker, one.text) for one in read_answers(files["answers"]).records] == [
        *zip(IDS, SAID, strict=True)
    ]
    written = files["questions"].read_text(encoding="utf-8-sig").splitlines()
    assert [row[:2] for row in csv.reader(written)][1:] == [[ASKED, ASKED]]
    [note] = [line for line in lines if CHECK in line]
    assert f"1 of 4 workers failed: {IDS[2]}" in note
    # Three examples at most, of a worker each; no answer to the check is one.
    examples = "; ".join(f"{who}: “{text}”" for who, text in zip(IDS[:3], SAID[:3], strict=True))
    shown = [line for line in lines if line.startswith("Question ")]
    assert shown == [f"Question {ASKED}: {examples}"]


@pytest.mark.django_db
def test_a_check_is_stored_as_a_question_with_its_role_and_right_answer():
    question_set = QuestionSet.objects.create(owner=world.user("rana"), name="survey")
    source = survey()
    preset, mapping = mapped(source)
    import_survey_export(question_set, source, preset=preset, mapping=mapping)
    stored = {one.text: one for one in Question.objects.all()}
    assert stored[ASKED].role == Question.Role.GRADED
    assert stored[CHECK].role == Question.Role.ATTENTION
    assert stored[CHECK].accepted_answers == ["Strongly disagree"]
    answers = stored[CHECK].responses.order_by("submission__worker__external_id")
    assert [stored[CHECK].accepts_answer(one.text) for one in answers] == [True, True, False, True]
