"""What if without somebody: shown at once, and the same as a run without that worker finds."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotations.models import Response
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.remedies.messages import NOT_AT_ONCE
from evaluation.grading.results.report.changes import build_what_if
from evaluation.grading.storage import running
from evaluation.models import Embedding, Run, WorkerGrade
from evaluation.runs.background.runs import queue_run
from evaluation.runs.background.work import work_one_turn
from tests.evaluation.grading.results import world
from tests.evaluation.site.handles import states

pytestmark = pytest.mark.django_db(transaction=True)


def graded(question_set, **options):
    parameters = AqerParameters(**{"embedder": "tfidf-char", "bootstrap": 0, **options})
    run = queue_run(question_set.latest_version(), question_set.owner_id, parameters)
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == Run.State.DONE, run.error
    return run


def worker_of(run, name):
    return WorkerGrade.objects.get(run=run, worker__external_id=name).worker


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"exclude_workers": ("Uma",), "leave_one_out": True, "init": "random", "seed": 3},
        {"collapse_copies": True, "aggregation": "majority", "embedder": "bow"},
    ],
    ids=["plain", "one-out-before", "collapsed"],
)
def test_every_grade_and_rank_is_that_of_a_run_without_the_worker(tides, options):
    run = graded(tides, **options)
    quinn = worker_of(run, "Quinn")
    found = running.compute_outcomes_without(run, quinn)
    out = (*options.get("exclude_workers", ()), "Quinn")
    real = graded(tides, **{**options, "exclude_workers": out})
    rows = WorkerGrade.objects.filter(run=real).exclude(worker__external_id__in=out)
    assert {row.worker.public_id: (row.grade, row.rank) for row in rows} == {
        worker: (outcome.grade, outcome.rank) for worker, outcome in found.items()
    }
    assert len(found) == WorkerGrade.objects.filter(run=run).count() - len(out)


@pytest.mark.slow
def test_vectors_of_a_model_are_read_as_they_were_stored(tides):
    run = graded(tides, embedder="minilm")
    quinn = worker_of(run, "Quinn")
    found = running.compute_outcomes_without(run, quinn)
    real = graded(tides, embedder="minilm", exclude_workers=("Quinn",))
    rows = WorkerGrade.objects.filter(run=real).exclude(worker=quinn)
    assert {row.worker.public_id: (row.grade, row.rank) for row in rows} == {
        worker: (outcome.grade, outcome.rank) for worker, outcome in found.items()
    }
    Embedding.objects.first().delete()
    assert build_what_if(run, quinn.public_id).reason == "no_vectors"


@pytest.mark.slow
def test_answers_of_models_that_came_later_change_nothing_of_it(tides):
    run = graded(tides)
    quinn = worker_of(run, "Quinn").public_id
    before = build_what_if(run, quinn)
    world.ask_model(run.version)
    assert build_what_if(run, quinn) == before
    # A run from before the hash of people's answers was stored goes by the models that it scored.
    Run.objects.filter(pk=run.pk).update(summary={**run.summary, "people_hash": ""})
    run.refresh_from_db()
    assert build_what_if(run, quinn) == before
    assert before.reason == ""
    Response.objects.filter(pk=Response.objects.first().pk).update(text="something else")
    assert build_what_if(run, quinn).reason == "changed"


@pytest.mark.medium
def test_who_would_move_is_told_by_ranks_among_the_others(tides):
    run = graded(tides)
    quinn = worker_of(run, "Quinn")
    report = build_what_if(run, quinn.public_id)
    assert (report.reason, report.why, report.name) == ("", "", "Quinn")
    ranked = WorkerGrade.objects.filter(run=run, rank__isnull=False).exclude(worker=quinn)
    assert report.n == ranked.count()
    assert report.n_moved >= len(report.movers)
    for mover in report.movers:
        before = ranked.filter(rank__lt=mover.rank_before).count() + 1
        assert mover.place_before == before
        assert mover.moved == mover.place_before - mover.place_after != 0


@pytest.mark.medium
def test_where_it_is_not_quick_or_not_what_a_run_would_find_the_reason_stands_there(
    tides, monkeypatch
):
    run = graded(tides)
    quinn = worker_of(run, "Quinn")

    def reason():
        return build_what_if(run, quinn.public_id).reason

    monkeypatch.setattr(running, "MOST_BY_WORDS", 10)
    assert reason() == "large"
    monkeypatch.undo()
    n = Response.objects.filter(question__version=run.version).count()
    # Every question has more than one answer, so there are more pairs than answers.
    monkeypatch.setattr(running, "MOST_PAIRS_BY_WORDS", n)
    assert reason() == "large"
    monkeypatch.undo()
    monkeypatch.setattr(running, "MOST_ANSWERS", 10)  # of stored vectors: these are of letters
    assert reason() == ""
    run.parameters["embedder"] = "minilm"
    assert reason() == "large"
    monkeypatch.undo()
    run.parameters["embedder"] = "tfidf-char"
    run.parameters["spelling"] = "en"
    assert reason() == "slow_settings"
    run.parameters |= {"spelling": None, "embedder": "precomputed:/tmp/x.npz"}
    assert reason() == "no_vectors"
    run.parameters |= {"embedder": "tfidf-char", "exclude_workers": ["Quinn"]}
    assert reason() == "out_already"
    run.parameters["exclude_workers"] = []
    Response.objects.filter(pk=Response.objects.first().pk).update(
        text="something else", updated_at=timezone.now()
    )
    assert reason() == "changed"
    assert build_what_if(run, quinn.public_id).why == NOT_AT_ONCE["changed"]


@pytest.mark.slow
def test_the_page_of_a_worker_and_the_first_page_show_it_and_store_nothing(client, tides):
    client.force_login(tides.owner)
    run = graded(tides)
    quinn = worker_of(run, "Quinn")
    before = (Run.objects.count(), Run.objects.get(pk=run.pk).summary)
    page = reverse("admin:results-worker", args=[run.public_id, quinn.public_id])
    assert f'href="?without={quinn.public_id.hex}#what-if"' in client.get(page).content.decode()
    for address in (page, reverse("admin:results-run", args=[run.public_id])):
        said = client.get(f"{address}?without={quinn.public_id.hex}").content.decode()
        assert "What if without <bdi>Quinn</bdi>?" in said
        assert "what_if_computed" in states(said)
        other = client.get(f"{address}?without={run.public_id}")
        assert other.status_code == 404
    assert (Run.objects.count(), Run.objects.get(pk=run.pk).summary) == before


@pytest.mark.slow
def test_rest_tells_the_same_as_the_page(client, tides):
    run = graded(tides)
    quinn = worker_of(run, "Quinn")
    client.force_login(run.owner)
    address = reverse("api:results-worker-without", args=[run.public_id, quinn.public_id])
    told, report = client.get(address).json(), build_what_if(run, quinn.public_id)
    assert (told["name"], told["reason"], told["why"]) == ("Quinn", "", "")
    assert (told["n"], told["n_moved"], told["spearman"]) == (
        report.n, report.n_moved, report.spearman,
    )  # fmt: skip
    assert [row["name"] for row in told["movers"]] == [row.name for row in report.movers]
    Response.objects.filter(pk=Response.objects.first().pk).update(
        text="something else", updated_at=timezone.now()
    )
    told = client.get(address).json()
    assert (told["reason"], told["why"]) == ("changed", NOT_AT_ONCE["changed"])
    assert (told["movers"], told["n"]) == ([], 0)
    nobody = reverse("api:results-worker-without", args=[run.public_id, run.public_id])
    assert client.get(nobody).status_code == 404
