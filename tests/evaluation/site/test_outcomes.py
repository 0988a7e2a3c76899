"""From an alarm to green: what pages and REST say became of alarms after a remedy."""

import pytest
from django.urls import reverse

from evaluation.background import runs
from evaluation.background.work import work_one_turn
from evaluation.flow.parameters import AqerParameters
from evaluation.models import Run
from evaluation.options import SITE
from evaluation.reports.alarms import outcomes_report
from evaluation.reports.lists import in_short
from evaluation.reports.trust import trust_report
from evaluation.reviewing import review
from tests.evaluation.steps import test_save_alarms as crowd

version = crowd.version
pytestmark = pytest.mark.django_db


@pytest.fixture
def site(version, client):
    owner = version.question_set.owner
    owner.is_staff = True
    owner.save()
    client.force_login(owner)
    return client


def graded(version, made_from=None, **parameters):
    asked = AqerParameters(**{"embedder": "tfidf-word", "bootstrap": 4, **parameters})
    run = runs.queue(version, version.question_set.owner_id, asked, made_from=made_from)
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.DONE, run.error
    return run


def fact(run):
    return next(fact for fact in trust_report(run).facts if fact.name == "alarms")


def rows(run):
    return {
        (row.case, tuple(worker.name for worker in row.workers)): row
        for row in outcomes_report(run).rows
    }


def page(site, run, name="results-decision", **more):
    return site.get(
        reverse(f"admin:{name}", kwargs={"run": run.public_id, **more})
    ).content.decode()


def test_collapsing_the_group_turns_the_alarm_green_by_itself(site, version):
    before = graded(version)
    assert outcomes_report(before) is None
    # The copies, and a ranking of so few that hangs on one of them, which this does not mend.
    assert fact(before).values == {"count": 2}
    after = graded(version, before, collapse_copies=True, collapse_workers=("cy", "dee"))
    assert fact(after).values == {"count": 1}
    assert [one.kind for one in after.alarms.filter(severity="alarm", answered=False)] == [
        "leverage"
    ]
    row = rows(after)["copies", ("cy", "dee")]
    assert (row.is_settled, row.before, row.place) == (True, 0, 0)
    assert SITE.said(row.outcome).startswith("Answered: the 2 of them count as one voter")
    assert in_short(Run.objects.filter(pk=after.pk)).get().n_alarms == 1
    review(after.alarms.get(kind="leverage"), after.owner, "dismissed", "Ten people are few.")
    assert fact(after).level == "care"  # notices
    after.alarms.filter(severity="notice").update(state="dismissed")
    assert (fact(after).level, SITE.said(fact(after).said)) == (
        "good",
        "1 alarm or notice is answered by a remedy of this run, 3 dismissed with a reason; no "
        "other is open.",
    )
    shown = page(site, after)
    assert "What became of the alarms" in shown
    assert "count as one voter" in shown
    assert reverse("admin:results-alarms", args=[before.public_id]) in shown
    assert "yes, answered" in page(site, after, "results-alarms")
    assert "Answered in this run" in page(site, after, "results-alarm", place=0)


def test_an_answered_alarm_that_somebody_opens_again_rings_again(site, version):
    run = graded(version, collapse_copies=True)
    alarm = run.alarms.get(kind="copies")
    review(alarm, run.owner, "open", "They are four people.")
    assert fact(run).level == "bad"
    assert not rows(run)["copies", ("cy", "dee")].is_settled
    assert "yes, answered" not in page(site, run, "results-alarms")
    assert in_short(Run.objects.filter(pk=run.pk)).get().n_alarms == 2


def test_the_alarms_of_the_excluded_are_gone_and_named(site, version):
    before = graded(version)
    review(before.alarms.get(kind="copies"), before.owner, "examined", "Same wording.")
    after = graded(version, before, exclude_workers=("dee",))
    row = rows(after)["copies", ("cy", "dee")]
    assert (row.is_settled, row.place, row.said, row.note) == (
        True, None, "Examined", "Same wording.",
    )  # fmt: skip
    shown = page(site, after)
    assert "1 of the 2 whom it was about is left out" in shown
    assert "In the run before: examined" in shown


def test_an_alarm_that_other_settings_do_not_have_is_told_of_the_run_before(version):
    before = graded(version)
    after = graded(version, before, embedder="tfidf-char")
    became = rows(after)
    assert became["copies", ("cy", "dee")].outcome.code == "outcome.still"
    assert not became["copies", ("cy", "dee")].is_settled
    gone = {row.outcome.code for row in became.values() if row.place is None}
    assert gone <= {"outcome.settings", "outcome.unchecked"}


def test_the_form_of_an_alarm_collapses_that_group_and_keeps_those_before(site, version):
    run = graded(version)
    Run.objects.filter(pk=run.pk).update(
        parameters=run.parameters | {"collapse_copies": True, "collapse_workers": ["ada"]}
    )
    shown = page(site, run, "results-alarm", place=0)
    assert "collapse_workers=ada%0Acy%0Adee" in shown
    link = next(part for part in shown.split('"') if "collapse_workers=" in part)
    form = site.get(link.replace("&amp;", "&")).context["form"]
    assert form.initial["collapse_workers"] == "ada\ncy\ndee"
    sent = site.post(
        link.replace("&amp;", "&"), {**fields(form, collapse_workers="cy"), "seed": "0"}
    )
    assert sent.status_code == 302, sent.context and sent.context["form"].errors
    made = Run.objects.latest("pk")
    assert (made.made_from, made.parameters["collapse_workers"]) == (run, ["cy"])


def fields(form, **changes):
    """What the form would send, with changes; boxes that are not ticked are not sent."""
    values = {**form.initial, **changes}
    return {name: "on" if value is True else value for name, value in values.items() if value}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"collapse_copies": "on", "collapse_workers": "zebra"},
            "nobody of the name answered here: zebra",
        ),
        ({"collapse_workers": "cy"}, "is only used with"),
    ],
)
def test_members_that_will_not_do_are_refused_before_a_run_is_started(site, version, changes, told):
    form = reverse("admin:grade", args=[version.question_set.public_id])
    known = {**fields(site.get(form).context["form"]), "group_vote": "0.25", "seed": "0"}
    answer = site.post(form, known | {"embedder": "tfidf-word"} | changes)
    assert answer.status_code == 400
    assert told in answer.content.decode()
    assert not Run.objects.exists()


def test_rest_tells_what_became_of_each_alarm(site, version):
    before = graded(version)
    after = graded(version, before, collapse_copies=True)
    address = reverse("api:results-alarms", kwargs={"run_id": after.public_id})
    found = site.get(address).json()
    [entry] = [one for one in found["alarms"]["results"] if one["kind"] == "copies"]
    assert (entry["answered"], entry["state"]) == (True, "remedied")
    assert entry["outcome"].startswith("Answered: the 2 of them")
    [row] = [one for one in found["outcomes"] if one["case"] == "copies"]
    assert (row["is_settled"], row["before"]) == (True, 0)
    assert (
        site.get(address.replace(str(after.public_id), str(before.public_id))).json()["outcomes"]
        == []
    )
