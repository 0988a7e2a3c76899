"""Workers whom people excluded: every later run of the set begins without them."""

import pytest

from annotations.models import Response, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.runs.background.exclusions import (
    add_excluded_workers,
    has_exclude_option,
    list_excluded_ids,
)
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.run_types import list_run_kinds
from evaluation.sample_size.run.trial import CrowdSizeParameters
from evaluation.triage.storage import decide, take_back
from tests.evaluation.grading.results import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    """4 workers, 6 questions that all of them answered."""
    return world.finished()


def worker(name):
    return Worker.objects.get(external_id=name)


def test_an_exclusion_in_one_run_counts_for_the_set(run):
    later = world.another(run)
    decide(run, worker("w002"), run.owner, "exclude", "copied")
    decide(later, worker("w004"), run.owner, "exclude", "copied")
    assert list_excluded_ids(run.version) == ("w002", "w004")
    asked = add_excluded_workers(AqerParameters(exclude_workers=("w001", "w004")), run.version)
    assert asked.exclude_workers == ("w001", "w004", "w002")


def test_the_newest_decision_counts_whichever_run_it_was_made_in(run):
    later = world.another(run)
    decide(run, worker("w002"), run.owner, "exclude", "copied")
    decide(later, worker("w002"), run.owner, "accept")
    assert list_excluded_ids(run.version) == ()
    take_back(later, worker("w002"), run.owner)
    assert list_excluded_ids(run.version) == ("w002",)
    take_back(run, worker("w002"), run.owner)
    assert list_excluded_ids(run.version) == ()


def test_who_answered_nothing_in_the_version_is_not_named(run):
    decide(run, worker("w002"), run.owner, "exclude", "copied")
    Response.objects.filter(submission__worker=worker("w002")).update(state="draft")
    assert list_excluded_ids(run.version) == ()


def test_two_workers_of_one_id_are_told_apart(run):
    decide(run, worker("w002"), run.owner, "exclude", "copied")
    out = worker("w002")
    Worker.objects.filter(external_id="w003").update(external_id="w002", panel="another")
    assert list_excluded_ids(run.version) == (str(out.public_id),)


def test_every_kind_of_run_that_reads_people_can_leave_them_out():
    can = {name for name, kind in list_run_kinds().items() if has_exclude_option(kind.options)}
    reads = {name for name, kind in list_run_kinds().items() if kind.reads_worker_answers}
    assert reads == can
    assert {"aqer", "crowd-size", "panels", "multiqa", "umwp", "judge"} <= can


def test_options_of_a_kind_that_reads_nobody_stay(run):
    decide(run, worker("w002"), run.owner, "exclude", "copied")
    options = AskOptions()
    assert add_excluded_workers(options, run.version) is options
    asked = add_excluded_workers(CrowdSizeParameters(), run.version)
    assert asked.exclude_workers == ("w002",)
