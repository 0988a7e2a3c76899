"""Answers that were refused where they were collected are left out of a grading, and counted."""

import io

import pytest
from django.core.management import call_command

from annotations.models import Response
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message
from evaluation.core.options import TERMINAL
from evaluation.grading.storage.inputs import load_inputs
from evaluation.models import Run
from evaluation.runs import exports
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.steps.checkpoints import RunInputError
from tests.annotations import world

BOW = AqerParameters(embedder="bow", bootstrap=0)
WITH = AqerParameters(embedder="bow", bootstrap=0, include_rejected=True)


@pytest.fixture
def version(db, monkeypatch):
    """Four workers on two questions; dee was rejected."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    draft = world.version(world.user("rana"))
    for worker, text in (
        ("ada", "up north"),
        ("ben", "north"),
        ("cy", "in the north"),
        ("dee", "x"),
    ):
        submission = world.submission(draft, worker)
        for question in ("r1", "r2"):
            world.response(submission, question, f"{text} {question}")
    Response.objects.update(state="submitted")
    Response.objects.filter(submission__worker__external_id="dee").update(rejected=True)
    return draft


def graded(version, parameters):
    run = runs.queue_run(version, version.question_set.owner_id, parameters)
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.DONE, run.error
    return run


def evaluate(*arguments):
    out = io.StringIO()
    call_command("evaluate", "aqer", *map(str, arguments), stdout=out)
    return out.getvalue()


LEFT_OUT = "Answers rejected where they were collected, which were left out: 2"


def test_they_are_left_out_unless_the_run_includes_them(version):
    without, included = graded(version, BOW), graded(version, WITH)
    assert without.worker_grades.count() == 3
    assert included.worker_grades.count() == 4
    stored = {"code": "rejected_answers", "values": {"count": 2}}
    assert stored in without.warnings
    assert stored not in included.warnings
    assert LEFT_OUT in TERMINAL.format_all(without.warnings)
    assert without.input_hash != included.input_hash
    assert "|rejected:left_out|" in without.signature
    assert "|rejected:graded|" in included.signature


def test_flagging_an_answer_changes_the_hash_of_the_input(version):
    run = graded(version, BOW)
    before = load_inputs(run.pk).hash()
    Response.objects.filter(submission__worker__external_id="cy").update(rejected=True)
    assert load_inputs(run.pk).hash() != before
    assert load_inputs(run.pk).n_rejected == 4


def test_a_set_with_rejected_answers_only_says_so(version):
    run = runs.queue_run(version, version.question_set.owner_id, BOW)
    Response.objects.update(rejected=True)
    with pytest.raises(RunInputError) as refused:
        load_inputs(run.pk)
    assert refused.value.message == Message("run.all_answers_rejected", {"rejected": 8})


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
def test_a_file_of_our_own_export_is_graded_as_the_database_is(version, tmp_path, kind):
    run = graded(version, BOW)
    path = tmp_path / f"answers.{kind}"
    exports.build_answers_export(version, run).write_file(path, kind)
    told = evaluate(path, "--embedder=bow", "--bootstrap=0", "--output", tmp_path / "out")
    assert LEFT_OUT in told
    raw = {}
    for line in (tmp_path / "out" / "workers.csv").read_text().splitlines()[1:]:
        worker, _, score = line.split(",")[:3]
        raw[worker] = float(score)
    stored = dict(run.worker_grades.values_list("worker__external_id", "raw"))
    assert raw == pytest.approx(stored)
    evaluate(
        path, "--embedder=bow", "--bootstrap=0", "--include-rejected", "--output", tmp_path / "all"
    )
    assert len((tmp_path / "all" / "workers.csv").read_text().splitlines()) == 5
