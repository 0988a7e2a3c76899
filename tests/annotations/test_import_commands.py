from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotations import demo
from annotations.exchange.importing.report import DRY_RUN, NOTHING_CHANGED
from annotations.management.importing import QuestionSetError
from annotations.models import QuestionSet, Response
from tests.annotations import world
from tests.annotations.exchange.files import HEADER, write
from tests.annotations.exchange.reports import counts_line
from tests.problems import check_problem, only_problem

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
    return caught.value


def check_set_refused(code, *arguments, values=None, **options):
    error = refused(*arguments, **options)
    assert (error.code, error.values) == (code, values or {})


def test_the_demo_by_commands():
    world.user("rana")
    said = say("import_questions", "demo", demo.QUESTIONS, passages=demo.PASSAGES)
    assert counts_line("passages", n_rows=2, n_new=2) in said
    assert counts_line("questions", n_rows=16, n_new=16) in said
    said = say("import_answers", "demo", demo.ANSWERS, panel="demo")
    assert counts_line("answers", n_rows=464, n_new=464) in said
    assert "Also new: 29 workers" in said
    assert ": written_as" in said
    said = say("import_model_answers", "demo", demo.MODEL_ANSWERS)
    assert counts_line("model answers", n_rows=64, n_new=64) in said
    assert "Also new: 4 models" in said
    assert NOTHING_CHANGED in say("import_model_answers", "demo", demo.MODEL_ANSWERS)


def test_a_dry_run_leaves_no_set_behind(tmp_path):
    world.user("rana")
    said = say("import_questions", "demo", demo.QUESTIONS, passages=demo.PASSAGES, dry_run=True)
    assert said.count(DRY_RUN) == 2
    path = write(tmp_path, HEADER + "ada,q1,x\n")
    assert "1 new" in say("import_answers", "demo", path, create_questions=True, dry_run=True)
    assert not QuestionSet.objects.exists()


def test_a_failed_import_leaves_no_set_behind(tmp_path):
    world.user("rana")
    error = refused("import_questions", "demo", demo.QUESTIONS)
    problem = error.__cause__.problems[0]
    check_problem(problem, "passage_unknown", passage="tides")
    assert str(problem) in str(error)
    path = write(tmp_path, HEADER + ",q1,x\n")
    error = refused("import_answers", "demo", path, create_questions=True)
    check_problem(only_problem(error.__cause__), "id_missing", line=2, column="worker")


def test_the_owner_and_the_set_are_found_or_the_choice_is_named():
    answers = ("import_answers", "demo", demo.ANSWERS)
    check_set_refused("users_missing", *answers)
    world.user("rana")
    unknown = {"owner": "rana", "name": "demo", "names": "none"}
    check_set_refused("set_unknown", *answers, values=unknown)
    world.user("otto")
    check_set_refused("users_several", *answers)
    check_set_refused("user_unknown", *answers, owner="ann", values={"username": "ann"})
    assert "--columns" in str(refused("import_answers", "x", demo.ANSWERS, columns="a=b"))


def test_the_sets_of_others_are_out_of_reach():
    world.version(world.user("otto"), "rivers")
    world.user("rana")
    world.user("olga", is_superuser=True)
    # Who sees every set has none for that.
    for owner in ("rana", "olga"):
        with pytest.raises(QuestionSetError) as caught:
            say("import_answers", "rivers", demo.ANSWERS, owner=owner)
        assert caught.value.code == "set_unknown"
        assert caught.value.values == {"owner": owner, "name": "rivers", "names": "none"}
    assert not Response.objects.exists()
