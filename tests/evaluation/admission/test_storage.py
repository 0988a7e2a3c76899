"""People are asked back by what they scored in an earlier set."""

import io
import math
import re

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotations.answering import collecting
from annotations.models import Membership, Submission, Team
from annotations.models.base import new_public_id
from annotations.worker_pages.outcomes import OUTCOMES
from evaluation.admission import storage as recruiting
from evaluation.models import AnswerScore, Run, ScoreRule, WorkerGrade
from evaluation.models.runs import make_official
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import made_set, published
from tests.evaluation.grading.results.world import finished
from tests.numbers import numbers_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def earlier(db):
    """Four people of Prolific: leave-one-out .65, .5667, .4833 and .4 (0.4 + grade / 4).

    The last of them gave too few answers for a score.
    """
    run = finished()
    run.owner.is_staff = True
    run.owner.save()
    return run


@pytest.fixture
def later(earlier):
    return published(made_set(earlier.owner), protocol="open", places=9, panel="Prolific")


def names(collection):
    return sorted(collection.admissions.values_list("external_id", flat=True))


def rule(later, run, at_least=0.5, end="score"):
    return recruiting.store_rule(later.collection, run.version.question_set, at_least, end)


def test_who_scored_enough_is_admitted_and_others_are_told_before_the_consent(earlier, later):
    rule(later, earlier)
    assert names(later.collection) == ["w001", "w002"]
    inside = Browser(later, "w002")
    inside.begin()
    assert "/page/" in inside.address
    for name in ("w003", "stranger"):
        outside = Browser(later, name)
        outside.get(outside.link)
        assert outside.page.form is None
        assert str(OUTCOMES["not_chosen"].title) in outside.page.words
        assert later.collection.code_screened_out in outside.page.words
        assert ".4" not in outside.page.words
        assert "score" not in outside.page.words.lower()
    assert Submission.objects.filter(version=later.version).count() == 1


def test_people_are_admitted_by_question_contrast_where_the_rule_says_so(earlier, later):
    for rank, contrast in enumerate((0.1, 0.2, 0.3), 1):
        WorkerGrade.objects.filter(run=earlier, rank=rank).update(
            contrast=contrast, contrast_low=contrast - 0.05, contrast_high=contrast + 0.05
        )
    asked = (later.collection, earlier.version.question_set, 0.2)
    stored = recruiting.store_rule(*asked, "score", "contrast")
    assert names(later.collection) == ["w002", "w003"]
    assert (stored.score, stored.n_admitted) == ("contrast", 2)
    assert recruiting.find_admitted_workers(*asked, "low", "contrast").ids == ["w003"]
    recruiting.store_rule(*asked, "score")
    assert names(later.collection) == ["w001", "w002", "w003"]


def test_others_get_a_code_of_their_own_where_there_is_one(earlier, later):
    collecting.change_settings(later.collection, code_not_chosen="NOTNOW")
    rule(later, earlier)
    outside = Browser(later, "w003")
    outside.get(outside.link)
    assert "NOTNOW" in outside.page.words
    assert later.collection.code_screened_out not in outside.page.words


def test_an_end_of_the_interval_can_be_asked_for(earlier, later):
    # Six answers of w002 with leave-one-out scores .5, .6, .5, .6, .5, .6: sd = .0548,
    # standard error .0548 / sqrt(6) = .02236, t with 5 degrees of freedom 2.5706: +- .0575.
    worker = WorkerGrade.objects.get(run=earlier, worker__external_id="w002").worker
    scores = AnswerScore.objects.filter(run=earlier, response__submission__worker=worker)
    for number, one in enumerate(scores.order_by("pk")):
        one.score_leave_one_out = 0.5 + number % 2 / 10
        one.save()
    assert scores.count() == 6
    middle, half = 0.4 + 2 / 3 / 4, 2.570582 * math.sqrt(0.003 / 6)
    assert half == pytest.approx(0.0575, abs=1e-4)
    for end, bound in (("low", middle - half), ("high", middle + half)):
        for off, is_in in ((-0.0001, True), (0.0001, False)):
            found = recruiting.find_admitted_workers(
                later.collection, earlier.version.question_set, bound + off, end
            )
            assert ("w002" in found.ids) is is_in, (end, off)


def test_who_has_one_graded_answer_has_no_interval_and_the_others_are_admitted(earlier, later):
    mine = AnswerScore.objects.filter(run=earlier, response__submission__worker__external_id="w001")
    mine.exclude(pk=mine.first().pk).delete()
    found = recruiting.find_admitted_workers(
        later.collection, earlier.version.question_set, 0.0, "low"
    )
    assert (found.ids, found.n_too_few) == (["w002", "w003"], 2)


def test_too_few_answers_to_say_admit_nobody_and_other_panels_do_not_count(earlier, later):
    best, second = WorkerGrade.objects.filter(run=earlier).order_by("-grade")[:2]
    WorkerGrade.objects.filter(pk=best.pk).update(support=False)
    second.worker.panel = "Another"
    second.worker.save()
    found = recruiting.find_admitted_workers(
        later.collection, earlier.version.question_set, 0.0, "score"
    )
    assert (found.ids, found.n_graded, found.n_too_few) == (["w003"], 3, 2)


def test_the_list_follows_the_run_that_counts_and_keeps_who_was_added_by_hand(
    client, earlier, later
):
    rule(later, earlier)
    collecting.admit_workers(later.collection, ["friend", "w002"])
    begun = Browser(later, "w001")
    begun.begin()
    # The same run again, in which nobody scores much.
    other = Run.objects.get(pk=earlier.pk)
    grades = list(WorkerGrade.objects.filter(run=other))
    other.pk, other.public_id, other._state.adding = None, new_public_id(), True
    other.save()
    for one in grades:
        one.pk, one.run, one.leave_one_out = None, other, 0.1
    WorkerGrade.objects.bulk_create(grades)
    make_official(earlier, earlier.owner)
    client.force_login(earlier.owner)
    client.post(reverse("admin:run-use", args=[other.public_id]))
    # w001 was on the list by score alone; w002 was added by hand meanwhile.
    assert names(later.collection) == ["friend", "w002"]
    assert ScoreRule.objects.get().run_id == other.pk
    begun.get(begun.link)
    assert "/page/" in begun.address
    recruiting.delete_rule(later.collection)
    assert names(later.collection) == ["friend", "w002"]
    anybody = Browser(later, "stranger")
    anybody.begin()
    assert "/page/" in anybody.address


def test_a_run_that_is_archived_counts_no_more(earlier, later):
    from evaluation.deletion.storage import removals

    rule(later, earlier)
    assert recruiting.apply_rules_of_set(earlier.version.question_set_id) == 0
    removals.archive_object(earlier, earlier.owner.pk)
    assert names(later.collection) == []
    removals.restore_object(earlier, earlier.owner.pk)
    assert names(later.collection) == ["w001", "w002"]


def test_the_page_counts_before_it_saves(client, earlier, later):
    client.force_login(earlier.owner)
    page = reverse("admin:collecting-admission", args=[later.version.question_set.public_id])
    assert 'data-state="no_rule"' in client.get(page).content.decode()
    values = {"earlier": earlier.version.question_set.pk, "end": "score", "at_least": "0.5"}
    counted = client.post(page, values | {"do": "count"})
    found = counted.context["counted"]
    assert (found.ids, found.n_graded, found.n_too_few) == (["w001", "w002"], 4, 1)
    assert "<strong>2 of 4</strong>" in counted.content.decode()
    assert not ScoreRule.objects.exists()
    client.post(page, values | {"do": "save"})
    assert names(later.collection) == ["w001", "w002"]
    assert "2 admitted:" in client.get(page).content.decode()
    assert client.post(page, values | {"at_least": "much", "do": "save"}).status_code == 400
    client.post(page, {"do": "drop"})
    assert not ScoreRule.objects.exists()


def test_a_member_is_not_told_the_name_of_an_earlier_set_that_they_do_not_see(
    client, earlier, later
):
    rule(later, earlier)
    earlier_set, later_set = earlier.version.question_set, later.version.question_set
    type(earlier_set).objects.filter(pk=earlier_set.pk).update(name="xyzzy lakes")
    tara = User.objects.create_user("tara", is_staff=True)
    team = Team.objects.create(owner=earlier.owner, name="Lab")
    Membership.objects.create(team=team, user=tara)
    type(later_set).objects.filter(pk=later_set.pk).update(team=team)
    page = reverse("admin:collecting-admission", args=[later_set.public_id])
    for person, sees in ((tara, False), (earlier.owner, True)):
        client.force_login(person)
        shown = client.get(page).content.decode()
        assert "2 admitted" in shown
        assert ("xyzzy lakes" in shown) is sees
        assert ('data-earlier="hidden"' in shown) is not sees
    # Nor does naming it by its key count its people.
    client.force_login(tara)
    sent = {"earlier": earlier_set.pk, "end": "score", "at_least": 0, "do": "count"}
    refused = client.post(page, sent)
    assert refused.status_code in (200, 400)
    assert refused.context["counted"] is None


def test_the_command_counts_and_saves(earlier, later):
    name, other = later.version.question_set.name, str(earlier.version.question_set.public_id)

    def said(*more):
        out = io.StringIO()
        call_command("admit", name, *more, stdout=out)
        return out.getvalue()

    whole = ("--earlier", other, "--at-least", "0.5", "--end", "score")
    assert numbers_in(said(*whole, "--count")) == ["2", "4", "1"]
    assert not ScoreRule.objects.exists()
    assert [numbers_in(line) for line in said(*whole).splitlines()] == [["2", "4", "1"], ["2"]]
    assert ScoreRule.objects.get().n_admitted == 2
    assert len(said("--off").splitlines()) == 1
    assert not ScoreRule.objects.exists()
    with pytest.raises(CommandError) as caught:
        said("--at-least", "nan", "--earlier", other)
    assert caught.value.returncode == 2
    assert re.findall("--[a-z-]+", str(caught.value)) == ["--earlier", "--at-least"]
    assert not ScoreRule.objects.exists()
