"""Where each worker is asked fewer than 5 graded questions, nobody can be ranked."""

import json

import pytest
from django.core.management import call_command

from annotations.answering.rank_notice import MESSAGES, find_rank_notice
from annotations.models import Question
from tests.annotations.answering.conftest import published

pytestmark = pytest.mark.django_db


def code_of(tides, **settings):
    notice = find_rank_notice(published(tides, **settings).collection)
    return notice and notice.code


def test_five_graded_questions_for_everybody_are_enough(tides):
    assert code_of(tides) is None


@pytest.mark.parametrize("role", ["practice", "attention"])
def test_questions_that_are_not_graded_do_not_count(tides, role):
    Question.objects.filter(external_id="cable1").update(role=role, accepted_answers=["x"])
    assert code_of(tides) == "few_graded"


def test_gold_questions_are_graded(tides):
    Question.objects.filter(external_id="cable1").update(role="gold", accepted_answers=["x"])
    assert code_of(tides) is None


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"questions_per_worker": 4}, "few_each"),
        ({"questions_per_worker": 5}, None),
        # 5 questions with 2 answers each from 3 people: 10 / 3, so 4 each.
        ({"answers_per_question": 2, "places": 3}, "few_each"),
        ({"answers_per_question": 3, "places": 3}, None),
    ],
)
def test_what_counts_is_how_many_each_worker_is_asked(tides, settings, code):
    assert code_of(tides, **settings) == code


@pytest.mark.parametrize("code", MESSAGES)
def test_every_notice_has_a_sentence(tides, code):
    made = published(tides, questions_per_worker=4)
    if code == "few_graded":
        Question.objects.filter(external_id="cable1").delete()
    notice = find_rank_notice(made.collection)
    assert (notice.code, "{" in notice.words) == (code, False)


def test_commands_print_it(tides, capsys):
    made = published(tides, questions_per_worker=1)
    words = find_rank_notice(made.collection).words
    call_command("publish", "tides", "--places", "3")
    assert words in capsys.readouterr().out
    call_command("monitor", "tides")
    assert words in capsys.readouterr().out
    call_command("monitor", "tides", "--json")
    assert json.loads(capsys.readouterr().out)["rank_notice"] == "few_each"
