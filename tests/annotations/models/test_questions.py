"""What a question says of itself."""

import pytest

from annotations.models import Question
from tests.annotations import world


@pytest.mark.parametrize(
    ("accepted", "answer", "right"),
    [
        (["north"], "north", True),
        (["north"], "  NORTH\n", True),
        (["north"], "north west", False),
        (["the  north"], "The north", True),
        (["caf\u00e9"], "cafe\u0301", True),
        ([["north", "N"], "up"], "n", True),
        ([["north", "N"], "up"], "up", True),
        (["north"], "", False),
        ([], "north", None),
    ],
)
def test_an_answer_is_right_if_it_is_accepted_in_any_way_of_writing(accepted, answer, right):
    assert Question(accepted_answers=accepted).accepts_answer(answer) is right


@pytest.mark.django_db
def test_practice_and_attention_checks_are_not_graded_and_gold_is():
    draft = world.version(world.user("rana"), n_questions=4)
    roles = ["graded", "practice", "attention", "gold"]
    for number, role in enumerate(roles, 1):
        draft.questions.filter(external_id=f"r{number}").update(role=role)
    graded = draft.questions.graded().order_by("position")
    assert [question.external_id for question in graded] == ["r1", "r4"]
    assert [question.is_graded for question in draft.questions.order_by("position")] == [
        role in ("graded", "gold") for role in roles
    ]
