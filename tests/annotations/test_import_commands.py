from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotations import demo
from annotations.models import QuestionSet, Response
from tests.annotations import world
from tests.annotations.exchange.files import HEADER, write

pytestmark = pytest.mark.django_db


def say(*arguments, **options):
    out = StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue()


def refused(*arguments, **options):
    with pytest.raises(CommandError) as caught:
        say(*arguments, **options)
    assert caught.value.returncode == 2
    assert not QuestionSet.objects.exists()
    return str(caught.value)


def test_the_demo_by_commands():
    world.user("rana")
    said = say("import_questions", "demo", demo.QUESTIONS, passages=demo.PASSAGES)
    assert "2 passages in the file = 2 new" in said
    assert "16 questions in the file = 16 new" in said
    said = say("import_answers", "demo", demo.ANSWERS, panel="demo")
    assert "464 answers in the file = 464 new + 0 unchanged + 0 repeated" in said
    assert "New beside them: 29 workers" in said
    assert "Columns kept aside: written_as" in said
    said = say("import_model_answers", "demo", demo.MODEL_ANSWERS)
    assert "64 model answers in the file = 64 new" in said
    assert "New beside them: 4 models" in said
    assert "Nothing changed" in say("import_model_answers", "demo", demo.MODEL_ANSWERS)


def test_a_dry_run_leaves_no_set_behind(tmp_path):
    world.user("rana")
    said = say("import_questions", "demo", demo.QUESTIONS, passages=demo.PASSAGES, dry_run=True)
    assert said.count("This was a dry run") == 2
    path = write(tmp_path, HEADER + "ada,q1,x\n")
    assert "1 new" in say("import_answers", "demo", path, create_questions=True, dry_run=True)
    assert not QuestionSet.objects.exists()


def test_a_failed_import_leaves_no_set_behind(tmp_path):
    world.user("rana")
    message = refused("import_questions", "demo", demo.QUESTIONS)
    assert "has no passage tides" in message
    path = write(tmp_path, HEADER + ",q1,x\n")
    assert "the worker is missing" in refused("import_answers", "demo", path, create_questions=True)


def test_the_owner_and_the_set_are_found_or_the_choice_is_named():
    assert "there is no user yet" in refused("import_answers", "demo", demo.ANSWERS)
    world.user("rana")
    assert "has no question set 'demo'" in refused("import_answers", "demo", demo.ANSWERS)
    world.user("otto")
    several = refused("import_answers", "demo", demo.ANSWERS)
    assert "several users" in several
    assert "createsuperuser" not in several
    assert "no user 'ann'" in refused("import_answers", "demo", demo.ANSWERS, owner="ann")
    assert "--columns" in refused("import_answers", "x", demo.ANSWERS, columns="a=b")


def test_the_sets_of_others_are_out_of_reach():
    world.version(world.user("otto"), "rivers")
    world.user("rana")
    world.user("olga", is_superuser=True)
    # Who sees every set has none for that.
    for owner in ("rana", "olga"):
        with pytest.raises(
            CommandError, match=f"{owner} has no question set 'rivers'; .* is: none"
        ):
            say("import_answers", "rivers", demo.ANSWERS, owner=owner)
    assert not Response.objects.exists()
