"""Which run counts for a set: the first that is done, until somebody chooses another."""

import pytest
from django.utils import timezone

from annotations.models import QuestionSetVersion
from evaluation.models import Run, RunOfRecord
from evaluation.models.runs import (
    choose_official_or_newest,
    find_official_run,
    make_first_official,
    make_official,
)
from tests.annotations import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def rana():
    return world.user("rana", is_staff=True)


@pytest.fixture
def version(rana):
    return world.version(rana)


def done(version, **fields):
    owner = version.question_set.owner
    fields = {"state": "done", "finished_at": timezone.now(), **fields}
    return Run.objects.create(owner=owner, version=version, **fields)


def test_the_first_run_of_a_kind_counts_and_later_ones_of_any_version_do_not(version):
    first = done(version)
    make_first_official(first)
    type(version).objects.update(published_at=timezone.now())
    later = QuestionSetVersion.objects.create(question_set=version.question_set, number=2)
    make_first_official(done(later))
    other_kind = done(version, kind="ask")
    make_first_official(other_kind)
    found = find_official_run(version.question_set, "aqer")
    assert (found.run, found.chosen_by) == (first, None)
    assert find_official_run(version.question_set, "ask").run == other_kind
    assert find_official_run(version.question_set, "umwp") is None


def test_whom_a_person_chooses_counts_and_no_run_takes_its_place_by_itself(version, rana):
    first, second = done(version), done(version)
    make_first_official(first)
    make_official(second, rana)
    make_first_official(first)
    found = find_official_run(version.question_set_id, "aqer")
    assert (found.run, found.chosen_by) == (second, rana)
    assert found.chosen_at <= timezone.now()
    assert RunOfRecord.objects.count() == 1


def test_a_run_without_results_cannot_be_chosen(version, rana):
    with pytest.raises(ValueError, match="queued"):
        make_official(done(version, state="queued", finished_at=None), rana)
    assert not RunOfRecord.objects.exists()


def test_without_a_run_of_record_the_newest_counts_and_deleting_it_leads_back_there(version, rana):
    runs = Run.objects.filter(version=version, kind="aqer", state="done")
    assert choose_official_or_newest(runs) is None
    chosen, _, newest = done(version), done(version), done(version)
    assert choose_official_or_newest(runs) == newest
    make_official(chosen, rana)
    assert choose_official_or_newest(runs) == chosen
    chosen.delete()
    assert find_official_run(version.question_set, "aqer") is None
    assert choose_official_or_newest(runs) == newest


def test_the_database_holds_one_run_of_a_kind_for_a_set(version):
    first, second = done(version), done(version)
    make_first_official(first)
    with world.refused("run_of_record_once"):
        RunOfRecord.objects.bulk_create(
            [
                RunOfRecord(
                    question_set=version.question_set,
                    kind="aqer",
                    run=second,
                    chosen_at=timezone.now(),
                )
            ]
        )


def test_a_run_of_record_is_seen_and_changed_by_whom_its_set_is(version, rana):
    make_first_official(done(version))
    tara = world.user("tara", is_staff=True)
    seen = [RunOfRecord.objects.visible_to(user).count() for user in (rana, tara)]
    changed = [RunOfRecord.objects.editable_by(user).count() for user in (rana, tara)]
    assert (seen, changed) == ([1, 0], [1, 0])
