"""The pieces of code that the case runs in its installations, and the case without a service."""

import socket

import pytest
from django.utils import timezone

from evaluation.models import Embedding, Run, RunTask
from evaluation.models.runs import BackgroundWorker
from tests.benchmarks import scale
from tests.benchmarks.results import SkippedError
from tests.evaluation.runs.background.task_world import embedder

__all__ = ["embedder"]  # a fixture


def run_code(code, **names):
    """What an installation's process does with a piece of code."""
    exec(code, names)
    return names["result"]


@pytest.mark.medium
@pytest.mark.django_db
def test_a_run_of_the_case_is_embedded_by_tasks_and_its_log_read(embedder, monkeypatch):
    from evaluation.runs.background.work import work_one_turn

    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    version = run_code(scale.FILL, NAME="large", WORKERS=6, QUESTIONS=4)
    (run,) = run_code(scale.QUEUE, VERSION=version, N=1, FORGET=True, PARAMETERS=scale.EMBEDS)
    assert run_code(scale.STATE, RUN=run)["started"] is None
    while work_one_turn():
        pass
    end = run_code(scale.STATE, RUN=run)
    assert (end["state"], end["error"], end["texts"], end["processes"]) == ("done", "", 24, 1)
    assert 0 < end["first"] <= end["last"]
    assert end["started"] > 0
    assert end["lengths"] == run_code(scale.LENGTHS, RUNS=[run])
    assert len(end["lengths"]) == RunTask.objects.filter(run=run).count() > 12
    # Its texts are different ones, so each is embedded.
    assert Embedding.objects.count() == 24
    more = run_code(scale.QUEUE, VERSION=version, N=2, FORGET=True, PARAMETERS=scale.EMBEDS)
    assert not Embedding.objects.exists()
    BackgroundWorker.objects.create(name="here:1", seen_at=timezone.now())
    found = run_code(scale.WAITING, RUNS=[run, *more])
    assert found == {"processes": 1, "tasks": len(end["lengths"]), "begun": 1}
    assert run_code(scale.CANCEL, RUNS=[run, *more]) == 2
    assert set(Run.objects.filter(pk__in=more).values_list("state", flat=True)) == {"cancelled"}


def test_without_a_service_the_case_is_skipped():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        scale.check_service("Redis", f"redis://127.0.0.1:{port}/0")
    with pytest.raises(SkippedError, match=str(port)):
        scale.check_service("Redis", f"redis://127.0.0.1:{port}/0")
