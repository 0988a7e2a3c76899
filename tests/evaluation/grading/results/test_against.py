"""A run against another one: what came out differently, and why."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotations.models import Response
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.results.report.against import build_run_comparison, read_other_runs
from evaluation.models import AnswerScore, ExemplaryAnswer, LLMScore, Run, WorkerGrade
from tests.evaluation.grading.results import world
from tests.evaluation.site.handles import element_text, numbers, states
from tests.evaluation.site.test_pages import body, page, rows_of

pytestmark = pytest.mark.django_db
RESULTS = (WorkerGrade, ExemplaryAnswer, AnswerScore, LLMScore)


@pytest.fixture
def runs(rana):
    """A run, and one that came to the same."""
    first = world.finished(owner=rana)
    Run.objects.filter(pk=first.pk).update(input_hash="a" * 64)
    second = Run.objects.get(pk=first.pk)
    second.pk, second.public_id = None, Run._meta.get_field("public_id").get_default()
    second.save(force_insert=True)
    for model in RESULTS:
        for row in model.objects.filter(run=first):
            row.pk, row.run = None, second
            row.save(force_insert=True)
    return world.fetched(first), world.fetched(second)


def test_two_runs_that_came_to_the_same_differ_in_nothing(runs):
    report = build_run_comparison(*runs)
    assert report.data.same_texts
    assert (report.parameters, report.embedding, report.exemplars) == ([], [], [])
    assert report.spearman == pytest.approx(1)
    assert report.same_exemplars
    assert report.movers == []
    assert [(model.score_before, model.score_after) for model in report.models] == [
        (0.6, 0.6),
        (0.59, 0.59),
    ]


def test_the_earlier_run_stands_first_whichever_was_opened(runs):
    first, second = runs
    for report in (build_run_comparison(first, second), build_run_comparison(second, first)):
        assert (report.before.run, report.after.run) == (first.public_id, second.public_id)


def test_parameters_and_embedding_that_differ_are_named(runs):
    first, second = runs
    second.parameters = {"embedder": "minilm", "leave_one_out": True}
    second.summary = second.summary | {
        "embedding": second.summary["embedding"] | {"precision": "bfloat16"}
    }
    report = build_run_comparison(first, second)
    # The earlier run names no leave_one_out: it has the default.
    assert [(c.what, c.before, c.after) for c in report.parameters] == [
        ("leave_one_out", False, True)
    ]
    assert [(c.what, c.before, c.after) for c in report.embedding] == [
        ("precision", "float32", "bfloat16")
    ]
    assert not report.same_exemplars


def test_answers_that_were_added_removed_or_saved_anew_are_counted(runs):
    first, second = runs
    Run.objects.filter(pk=second.pk).update(input_hash="b" * 64)
    of_first, of_second = (
        list(AnswerScore.objects.filter(run=run).order_by("response").values_list("pk", flat=True))
        for run in runs
    )
    AnswerScore.objects.filter(pk__in=[*of_first[22:], *of_second[:3]]).delete()
    counts = first.summary["counts"] | {"answers": 22}
    Run.objects.filter(pk=first.pk).update(summary=first.summary | {"counts": counts})
    common = AnswerScore.objects.get(pk=of_second[5])
    Response.objects.filter(pk=common.response_id).update(
        updated_at=timezone.now() + timedelta(hours=1)
    )
    report = build_run_comparison(world.fetched(first), world.fetched(second))
    data = report.data
    assert (data.added, data.removed, data.withdrawn, data.edited) == (2, 3, 0, 1)
    assert not data.same_texts


def test_movers_stand_in_the_order_of_their_moves(runs):
    first, second = runs
    ranks = {"w001": (3, 0.2), "w002": (1, 1.0), "w003": (2, 0.5)}
    for name, (rank, grade) in ranks.items():
        WorkerGrade.objects.filter(run=second, worker__external_id=name).update(
            rank=rank, rank_low=None, grade=grade, grade_low=None
        )
    report = build_run_comparison(first, second)
    assert [(row.name, row.moved) for row in report.movers] == [
        ("w001", -2),
        ("w002", 1),
        ("w003", 1),
    ]
    # Grades 1, 2/3, 1/3, 0 against .2, 1, .5, 0: ranks 4 3 2 1 against 2 4 3 1, so
    # 1 - 6 (4 + 1 + 1 + 0) / (4 (16 - 1)) = .4
    assert report.spearman == pytest.approx(0.4)


def test_questions_with_another_nearest_answer_show_both(runs):
    first, second = runs
    other = Response.objects.filter(question__external_id="r2").last()
    ExemplaryAnswer.objects.filter(run=second, question__external_id="r2").update(
        nearest_response=other
    )
    report = build_run_comparison(first, second)
    assert report.n_other_nearest == 1
    assert [(row.name, row.before, row.after) for row in report.exemplars] == [
        ("r2", "river r2 runs north, says w001", "river r2 runs north, says w004")
    ]
    assert not report.same_exemplars


def test_workers_of_one_run_only_are_counted(runs):
    first, second = runs
    WorkerGrade.objects.filter(run=first, worker__external_id="w004").delete()
    report = build_run_comparison(first, second)
    assert (report.only_before, report.only_after, len(report.workers)) == (0, 1, 3)


def test_whom_a_run_left_out_is_none_of_its_workers_and_nobody_moves_because_of_it(site, runs):
    first, second = runs
    best = WorkerGrade.objects.get(run=first, rank=1)
    Run.objects.filter(pk=second.pk).update(
        parameters=second.parameters | {"exclude_workers": [best.worker.external_id]}
    )
    WorkerGrade.objects.filter(run=second, worker=best.worker).update(
        **dict.fromkeys(("rank", "rank_low", "rank_high", "grade", "grade_low", "grade_high")),
        weight=0,
    )
    for row in WorkerGrade.objects.filter(run=second, rank__gt=1).order_by("rank"):
        WorkerGrade.objects.filter(pk=row.pk).update(rank=row.rank - 1, rank_low=None)
    report = build_run_comparison(world.fetched(first), world.fetched(second))
    assert (report.only_before, report.only_after, len(report.workers)) == (1, 0, 3)
    # The others are one rank better than before, in the same order: places 1 and 2 both times.
    assert [(w.rank_before, w.rank_after, w.moved) for w in report.workers] == [
        (2, 1, 0),
        (3, 2, 0),
        (None, None, None),  # too few answers
    ]
    assert report.movers == []
    [gone] = report.left
    assert (gone.name, gone.rank, gone.excluded) == (best.worker.external_id, 1, True)
    assert [(change.label, change.before, change.after) for change in report.settings] == [
        ("Exclude workers", "none", best.worker.external_id)
    ]
    said = body(site.get(page("results-against", first)))
    assert numbers(element_text(said, "left")) == [1]
    left = element_text(said, "left_excluded")
    assert left.startswith(best.worker.external_id)
    assert numbers(left) == [1]  # the rank
    # The other way round, seen from the run without.
    Run.objects.filter(pk=first.pk).update(
        parameters={"exclude_workers": [str(best.worker.public_id)]}
    )
    Run.objects.filter(pk=second.pk).update(parameters={})
    report = build_run_comparison(world.fetched(first), world.fetched(second))
    assert [one.name for one in report.came] == [best.worker.external_id]
    # A public id is told by the worker's own.
    assert report.settings[0].before == best.worker.external_id


def test_the_settings_that_differ_are_told_by_their_labels(site, runs):
    first, second = runs
    changed = {"embedder": "tfidf-word", "leave_one_out": True}
    Run.objects.filter(pk=second.pk).update(parameters=second.parameters | changed, name="Words")
    said = body(site.get(page("results-against", first)))
    label = AqerParameters.get_options()["leave_one_out"].label
    assert f"{label}</th><td>no</td><td><strong>yes</strong>" in said
    label = AqerParameters.get_options()["embedder"].suggestions["tfidf-word"]
    assert f"{label.partition(':')[0]}</strong>" in said
    assert "leave_one_out" not in said
    assert ">Words, " in said  # the choice of runs names it


def test_runs_of_other_kinds_are_not_offered(site, runs):
    first, second = runs
    Run.objects.filter(pk=second.pk).update(kind="ask")
    assert read_other_runs(first) == []
    refused = site.get(page("results-against", first) + f"?with={second.public_id}")
    assert refused.status_code == 404


def test_the_page_compares_with_the_newest_other_run(site, runs):
    first, second = runs
    text = body(site.get(page("results-against", first)))
    assert {"nothing_differs", "same_texts"} <= set(states(text))
    assert f'value="{second.public_id}" selected' in text
    rows = rows_of(
        site.get(page("results-table", first, name="against") + f"?with={second.public_id}")
    )
    assert [row["worker"] for row in rows] == ["w001", "w002", "w003", "w004"]
    svg = site.get(page("results-chart", first, name="against") + f"?with={second.public_id}")
    assert "<svg" in body(svg)
    assert site.get(page("results-table", first, name="against")).status_code == 404


def test_a_single_run_and_one_without_results_say_so(site, rana):
    run = world.finished(owner=rana)
    assert "only_run" in states(body(site.get(page("results-against", run))))
    failed = Run.objects.create(
        owner=rana,
        version=run.version,
        state="failed",
        error="no <room>",
        finished_at=timezone.now(),
    )
    text = body(site.get(page("results-against", run)))
    assert "no_other_done" in states(text)
    text = body(site.get(page("results-against", run) + f"?with={failed.public_id}"))
    assert "no <room>" in element_text(text, "other_without_results")
    assert "no &lt;room&gt;" in text
    assert len(read_other_runs(run)) == 1


def test_runs_of_others_and_of_other_sets_are_not_found(site, rana):
    run = world.finished(owner=rana)
    otto = User.objects.create(username="otto", is_staff=True)
    foreign = world.finished(owner=otto)
    address = page("results-against", run)
    for wrong in (foreign.public_id, run.public_id, "x"):
        assert site.get(f"{address}?with={wrong}").status_code == 404
        assert (
            site.get(page("results-table", run, name="against") + f"?with={wrong}").status_code
            == 404
        )


def test_the_page_takes_a_constant_number_of_queries(site, runs, django_assert_max_num_queries):
    Run.objects.filter(pk=runs[1].pk).update(input_hash="b" * 64)
    with django_assert_max_num_queries(24):
        assert site.get(page("results-against", runs[0])).status_code == 200
