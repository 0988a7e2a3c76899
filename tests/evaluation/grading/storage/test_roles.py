"""Practice and attention checks are asked, answered and exported, and no run sees them."""

import pytest

from annotations.models import Response
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.results.report.changes import read_data_change
from evaluation.grading.storage.inputs import load_inputs
from evaluation.maqa import storage as maqa
from evaluation.models import LanguageModel, LLMResponse
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.flow.asking.plan import TEMPLATES, Prompt
from evaluation.runs.steps.asking import model_askings
from evaluation.umwp.storage import questions
from tests.annotations import world

ROLES = {"r1": "graded", "r2": "gold", "r3": "practice", "r4": "attention"}


@pytest.fixture
def version(db, monkeypatch):
    """A question of each role, answered by three workers and a model."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    draft = world.version(world.user("rana"), n_questions=4)
    for name, role in ROLES.items():
        draft.questions.filter(external_id=name).update(role=role)
    for worker in ("ada", "ben", "cy"):
        submission = world.submission(draft, worker)
        for name in ROLES:
            world.response(submission, name, f"north {worker} {name}")
    Response.objects.update(state="submitted")
    model = LanguageModel.objects.create(owner=draft.question_set.owner, name="model")
    for question in draft.questions.all():
        LLMResponse.objects.create(model=model, question=question, text="north", status="text")
    return draft


def names(version, keys):
    found = version.questions.filter(pk__in=set(keys)).order_by("external_id")
    return [question.external_id for question in found]


def test_a_grading_reads_graded_and_gold_alone(version):
    bow = AqerParameters(embedder="bow", bootstrap=0)
    run = runs.queue_run(version, version.question_set.owner_id, bow)
    given = load_inputs(run.pk)
    assert names(version, given.answered.questions) == ["r1", "r2"]
    assert names(version, given.models.questions) == ["r1", "r2"]
    assert work_one_turn()
    run.refresh_from_db()
    # What it did not read is no change of what it read: 3 workers, 2 questions.
    change = read_data_change(run)
    assert (change.n_answers_then, change.n_answers_now) == (6, 6)
    assert not change.has_changed
    Response.objects.filter(question__external_id="r3").update(text="south")
    assert not read_data_change(run).has_changed


def test_nothing_else_asks_or_measures_them(version):
    prompt = Prompt("closed", TEMPLATES["closed"])
    asked = model_askings.build_question_items(
        model_askings.load_graded_questions(version), prompt, 1
    )
    assert [one.id for one in asked] == ["r1", "r2"]
    assert [one.id for one in maqa.load_questions(version)] == ["r1", "r2"]
    assert [one.id for one in questions.list_problems(version)] == ["r1", "r2"]
    assert {one.question for one in questions.list_people_answers(version)} == {"r1", "r2"}
