"""Runs that read people's answers beside other things leave excluded workers' answers out."""

import pytest

from annotations.models import Worker
from evaluation.llm_judge import storage as judge
from evaluation.llm_judge.options import JudgeParameters
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.multiqa.storage import questions as multiqa
from evaluation.umwp.storage.questions import list_worker_answers
from tests.evaluation.grading.results import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    """4 workers with 6 answers each, and 2 models."""
    return world.finished()


def key(name):
    return Worker.objects.get(external_id=name).pk


def test_a_judge_is_not_shown_their_answers(run):
    everything = judge.load_judge_inputs(run.version, JudgeParameters()).to_judge
    some = judge.load_judge_inputs(run.version, JudgeParameters(exclude_workers=("w002",))).to_judge
    # 24 answers of people and 12 of models; 6 are of w002.
    assert (len(everything.texts), len(some.texts)) == (36, 30)
    people = {one for one, person in zip(some.authors, some.people, strict=True) if person}
    assert people == {key("w001"), key("w003"), key("w004")}


def test_replies_are_not_measured_by_their_consensus(run):
    crowd = multiqa.load_version_items(
        run.version, MultiqaRunOptions(exclude_workers=("w002",))
    ).crowd
    assert set(crowd.workers) == {key("w001"), key("w003"), key("w004")}
    out = ("w001", "w002", "w003", "w004")
    assert (
        multiqa.load_version_items(run.version, MultiqaRunOptions(exclude_workers=out)).crowd
        is None
    )


def test_they_are_no_people_who_noticed_that_a_problem_has_no_answer(run):
    found = list_worker_answers(run.version, ("w002",))
    assert {one.worker for one in found} == {"w001", "w003", "w004"}
