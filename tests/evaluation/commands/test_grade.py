"""Grading a question set of the database from a terminal."""

import io

import pytest
from django.core.management import CommandError, call_command

from annotations.models import Worker
from evaluation.grading.commands import format_run_report
from evaluation.models import Run, WorkerVerdict
from evaluation.runs.background.run_watch import follow_run
from evaluation.runs.background.work import work_one_turn

pytestmark = pytest.mark.django_db(transaction=True)


def test_grade_queues_a_run_with_the_options_that_were_given(tides):
    said = io.StringIO()
    call_command(
        "grade", "tides", "--embedder=tfidf-char", "--leave-one-out", "--no-wait", stdout=said
    )
    run = Run.objects.get()
    assert (run.state, run.parameters["embedder"]) == (Run.State.QUEUED, "tfidf-char")
    assert run.parameters["leave_one_out"] is True
    assert str(run.public_id) in said.getvalue()


def test_a_run_is_called_what_the_command_says(tides):
    call_command("grade", "tides", "--name=Plain", "--notes=To begin with.", "--no-wait")
    run = Run.objects.get()
    assert (run.name, run.notes) == ("Plain", "To begin with.")
    call_command("run", "crowd-size", "tides", "--name=Sizes", "--no-wait")
    assert Run.objects.get(kind="crowd-size").name == "Sizes"
    with pytest.raises(CommandError, match="--name: It has 121 characters") as refused:
        call_command("grade", "tides", f"--name={'x' * 121}", "--no-wait")
    assert refused.value.returncode == 2
    assert Run.objects.count() == 2


def test_whom_people_excluded_is_left_out_unless_the_command_says_otherwise(tides):
    quinn = Worker.objects.get(external_id="Quinn")
    WorkerVerdict.objects.create(
        question_set=tides,
        worker=quinn,
        kind="exclude",
        category="copied",
        decided_by=tides.owner,
    )
    for command, out in (
        (("grade", "tides"), ["Quinn"]),
        (("run", "crowd-size", "tides"), ["Quinn"]),
        (("grade", "tides", "--include-excluded"), []),
        (("grade", "tides", "--exclude-workers=Uma"), ["Uma"]),
    ):
        call_command(*command, "--no-wait", stdout=io.StringIO())
        assert Run.objects.latest("pk").parameters["exclude_workers"] == out


@pytest.mark.medium
def test_watching_ends_with_the_run_and_its_tables_name_every_worker(tides):
    call_command("grade", "tides", "--embedder=tfidf-char", "--bootstrap=20", "--no-wait")
    run = Run.objects.get()
    shown = []
    follow_run(run, lambda *progress: shown.append(progress), pause=lambda _: work_one_turn())
    assert run.state == Run.State.DONE
    table = format_run_report(run)
    names = {"Amara", "Uma", "Zuri"}
    assert {name for name in names if f"  {name} " in table} == names
    # Quinn pasted Amara's answers (annotations/demo/README.md).
    assert "ALARM copies:" in table
    assert "  Workers: Amara, Quinn" in table


def test_options_that_contradict_each_other_queue_nothing(tides):
    with pytest.raises(CommandError) as refused:
        call_command("grade", "tides", "--init=entailment", "--no-wait")
    assert refused.value.returncode == 2
    assert not Run.objects.exists()


def test_a_set_that_is_not_there_is_named_with_those_that_are(tides):
    with pytest.raises(CommandError, match="no question set 'moon'; there is: tides"):
        call_command("grade", "moon", "--no-wait")
