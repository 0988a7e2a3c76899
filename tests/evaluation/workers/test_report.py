"""Workers over several sets: what counts, what may be seen, what is said."""

from math import sqrt

import pytest
from django.contrib.auth.models import User
from scipy import stats

from annotations.models import Share, WorkerNote
from evaluation.models import Run
from evaluation.models.runs import make_official
from evaluation.runs.reports.across import load_representing_runs
from evaluation.workers.report.worker import WorkerFilter, build_worker_history
from evaluation.workers.report.workers import VisibleWorkers
from tests.evaluation.runs.reports.across.world import graded_set, named, worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def rana():
    return User.objects.create_user("rana", is_staff=True)


@pytest.fixture
def runs(rana):
    """Ada gets better from set to set, Ben stays, Cy and Dee copy in the first two sets."""
    made = [
        graded_set(
            rana,
            f"set {at}",
            {
                "ada": [0.3 + at / 10, 0.5 + at / 10],
                "ben": [0.6, 0.6],
                "cy": [0.2, 0.4],
                "dee": [0.2, 0.4],
            },
            month=at,
        )
        for at in range(5)
    ]
    for run in made[:2]:
        named(run, "cy", "dee")
    named(made[0], "ben", severity="info")
    return made


def row(user, name):
    workers = VisibleWorkers(user)
    (found,) = workers.build_summaries([worker(workers.user, name)])
    return found


def listed(user, **asked):
    workers = VisibleWorkers(user)
    asked = WorkerFilter({k: str(v) for k, v in asked.items()}, workers=workers)
    rows, order = asked.apply_order(asked.filter_rows())
    return [one.external_id for one in order.load_page(rows).rows]


def test_a_row_has_the_latest_score_and_the_mean_of_the_sets_with_their_intervals(rana, runs):
    ada = row(rana, "ada")
    assert (ada.n_sets, ada.n_answers, ada.n_scored) == (5, 10, 5)
    assert ada.latest_set == "set 4"
    # Answers of .7 and .9: mean .8, standard deviation .1 sqrt 2, standard error .1
    assert ada.latest.value == pytest.approx(0.8)
    half = stats.t.ppf(0.975, 1) * 0.1
    assert (ada.latest.low, ada.latest.high) == pytest.approx((0.8 - half, 0.8 + half))
    # Means .4 .5 .6 .7 .8, each with standard error .1 on 1 degree of freedom: 5 in all.
    assert ada.mean.value == pytest.approx(0.6)
    half = stats.t.ppf(0.975, 5) * 0.1 / sqrt(5)
    assert (ada.mean.low, ada.mean.high) == pytest.approx((0.6 - half, 0.6 + half))


def test_alarms_count_in_the_runs_that_count_and_infos_and_dismissed_ones_do_not(rana, runs):
    assert (row(rana, "ben").n_alarms, row(rana, "cy").n_alarms) == (0, 2)
    assert row(rana, "cy").copies_again
    runs[0].alarms.filter(kind="copies", severity="alarm").update(state="dismissed")
    assert row(rana, "cy").n_copies == 1
    assert not row(rana, "cy").copies_again


@pytest.mark.parametrize("became", [{"state": "remedied"}, {"state": "remedied", "answered": True}])
def test_an_alarm_that_a_remedy_answered_is_history_and_no_evidence(rana, runs, became):
    assert (row(rana, "cy").n_alarms, row(rana, "cy").n_copies) == (2, 2)
    runs[0].alarms.filter(kind="copies", severity="alarm").update(**became)
    assert (row(rana, "cy").n_alarms, row(rana, "cy").n_copies) == (1, 1)
    assert not row(rana, "cy").copies_again
    history = build_worker_history(rana, worker(rana, "cy"))
    told = [(alarm.case, alarm.answered) for entry in history.sets for alarm in entry.alarms]
    assert told == [("copies", True), ("copies", False)]
    assert all(not one.again for one in history.companions)
    # Somebody who opens an answered alarm again makes it evidence again.
    runs[0].alarms.update(state="open")
    assert row(rana, "cy").n_copies == 2


def test_the_run_of_record_counts_else_the_newest_that_is_done(rana, runs):
    first = runs[0]
    second = Run.objects.create(
        owner=rana,
        version=first.version,
        state="done",
        finished_at=first.finished_at,
        parameters=first.parameters,
    )
    assert second.pk in load_representing_runs(rana).runs
    make_official(first, rana)
    assert first.pk in load_representing_runs(rana).runs
    assert second.pk not in load_representing_runs(rana).runs


def test_scores_of_another_embedder_stand_in_the_history_and_in_no_mean(rana, runs):
    graded_set(rana, "other", {"ada": [0.99, 0.99]}, month=9, embedder="tfidf-word")
    assert row(rana, "ada").mean.value == pytest.approx(0.6)
    history = build_worker_history(rana, worker(rana, "ada"))
    assert [entry.on_scale for entry in history.sets] == [True] * 5 + [False]
    assert history.n_other_scale == 1


def test_a_history_tells_score_place_and_trend_in_the_order_of_time(rana, runs):
    history = build_worker_history(rana, worker(rana, "ada"))
    assert [entry.set_name for entry in history.sets] == [f"set {at}" for at in range(5)]
    # Of the three others, in the first set Ben (.6) is better and Cy and Dee (.3) are not.
    assert [round(entry.percentile) for entry in history.sets] == [67, 67, 83, 100, 100]
    assert history.scores.direction == "rises"
    trend = history.told[0]
    assert (trend.code, trend.values["n"]) == ("trend.rises", 5)
    # Of the 120 orders of five scores two are as clear as this one: 1/60.
    found = (trend.values["change"], trend.values["p_value"])
    assert found == pytest.approx((0.1, 1 / 60))
    assert "standing.unclear" not in [message.code for message in history.told]


def test_people_who_copy_together_again_are_named_with_where(rana, runs):
    (dee,) = build_worker_history(rana, worker(rana, "cy")).companions
    assert (dee.name, dee.sets, dee.again) == ("dee", ("set 0", "set 1"), True)


def test_a_viewer_of_one_set_learns_nothing_of_the_others_nor_reads_notes(rana, runs):
    vera = User.objects.create_user("vera")
    Share.objects.create(question_set=runs[0].version.question_set, user=vera, role="viewer")
    WorkerNote.objects.create(worker=worker(rana, "ada"), author=rana, text="late")
    ada = VisibleWorkers(vera).build_summaries([worker(rana, "ada")])[0]
    assert (ada.n_sets, ada.n_answers, ada.n_notes) == (1, 2, 0)
    assert ada.mean.value == pytest.approx(0.4)
    history = build_worker_history(vera, worker(rana, "ada"))
    assert [entry.set_name for entry in history.sets] == ["set 0"]
    assert history.notes == ()
    assert (history.told[0].code, history.told[0].values["n"]) == ("trend.too_few", 1)
    assert build_worker_history(rana, worker(rana, "ada")).notes[0].text == "late"


def test_an_expert_sees_no_worker_at_all(rana, runs):
    ed = User.objects.create_user("ed")
    Share.objects.create(question_set=runs[0].version.question_set, user=ed, role="expert")
    assert not VisibleWorkers(ed).select_visible_workers().exists()
    assert load_representing_runs(ed).runs == {}


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("name", "ada ben cy dee eve"),
        ("-name", "eve dee cy ben ada"),
        ("mean", "cy dee ada ben eve"),  # .3 .3 .6 .6 and none
        ("-latest", "ada ben cy dee eve"),
        ("-alarms", "cy dee ada ben eve"),
        ("-sets", "ada ben cy dee eve"),
        ("answers", "eve ada ben cy dee"),
        ("-notes", "ben ada cy dee eve"),
        ("seen", "ada ben cy dee eve"),
    ],
)
def test_the_list_is_sorted_by_every_column_and_pages_follow_each_other(rana, runs, sort, order):
    graded = graded_set(rana, "alone", {"eve": [0.1]}, month=12)
    graded.worker_grades.update(leave_one_out=None)
    WorkerNote.objects.create(worker=worker(rana, "ben"), author=rana, text="asks why")
    assert listed(rana, sort=sort) == order.split()
    workers = VisibleWorkers(rana)
    asked = WorkerFilter({"sort": sort}, workers=workers)
    rows, keyset = asked.apply_order(asked.filter_rows())
    found, after = [], ""
    while after is not None:
        page = keyset.load_page(rows, after, 2)
        found += [one.external_id for one in page]
        after = page.next
    assert found == order.split()


def test_the_list_is_filtered(rana, runs):
    run = graded_set(rana, "more", {"ada": [0.8], "eve": [0.1]}, 8, exclude_workers=("eve",))
    WorkerNote.objects.create(worker=worker(rana, "ben"), author=rana, text="asks why")
    worker(rana, "ben").__class__.objects.filter(external_id="ben").update(panel="prolific")
    everybody = ["ada", "ben", "cy", "dee", "eve"]
    assert listed(rana, sort="name") == everybody
    for asked, names in (
        ({"q": "E"}, ["ben", "dee", "eve"]),
        ({"panel": "prolific"}, ["ben"]),
        ({"question_set": run.version.question_set.public_id}, ["ada", "eve"]),
        ({"alarms": "any"}, ["cy", "dee"]),
        ({"alarms": "none"}, ["ada", "ben", "eve"]),
        ({"alarms": "repeated"}, ["cy", "dee"]),
        ({"excluded": "true"}, ["eve"]),
        ({"notes": "true"}, ["ben"]),
        ({"notes": "false", "sets": 6}, ["ada"]),
        ({"score_from": 0.55}, ["ada", "ben"]),
        ({"score_from": 0.2, "score_to": 0.4}, ["cy", "dee"]),
    ):
        assert listed(rana, sort="name", **asked) == names, asked
