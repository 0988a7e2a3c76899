"""Studies whose embedder is a server: the process that asks waits for it, no other."""

from itertools import cycle

import pytest

from evaluation.eloquent.options import EloquentRunOptions
from evaluation.maqa.options import MaqaRunOptions
from evaluation.models import Embedding, RunTask
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.steps import cache
from evaluation.runs.steps.checkpoints import Lane
from evaluation.umwp.options import UmwpRunOptions
from tests.evaluation.core.backends.chat.fake import said
from tests.evaluation.multiqa.world import World, rivers
from tests.evaluation.runs.background.embedding_server import EmbeddingServer
from tests.evaluation.runs.background.lanes import work_in_two_lanes


@pytest.fixture
def world(django_user_model, monkeypatch, settings):
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    # Requesters may not name a server.
    made = World(django_user_model.objects.create_superuser("rita"))
    replies = cycle(["the Rhine", "a river of the Alps", "water that bends"])
    made.server.reply = lambda body: said(next(replies))
    yield made
    made.server.close()


@pytest.fixture
def embedding_server():
    made = EmbeddingServer()
    yield made
    made.close()


def umwp(models, spec):
    return UmwpRunOptions(models=models, encoder=spec, threshold=0.8, bootstrap=20)


def maqa(models, spec):
    return MaqaRunOptions(models=models, embedder=spec, samples=2, bootstrap=20)


def eloquent(models, spec):
    return EloquentRunOptions(models=models, embedder=spec, bootstrap=20)


def multiqa(models, spec):
    return MultiqaRunOptions(models=models, embedder=spec, crowd=False, bootstrap=20)


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("made", [umwp, maqa, eloquent, multiqa])
def test_a_study_with_a_remote_embedder_does_not_wait_where_others_compute(
    world, embedding_server, made
):
    model = str(world.model("good").public_id)
    version = rivers(world.owner).latest_version()
    chosen = made((model,), embedding_server.spec)
    run = runs.queue_run(version, world.owner.pk, chosen, made.__name__)
    assert work_in_two_lanes(run, most=1) == [Lane.ASKING]
    assert run.state == "done", run.error
    assert embedding_server.asked


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("made", [maqa, eloquent, multiqa])
def test_the_texts_of_a_study_are_embedded_by_tasks_and_none_twice(
    world, embedding_server, monkeypatch, made
):
    # So slow that each text is a task.
    monkeypatch.setattr(cache, "GUESSED_SPEED", 1.0)
    model = str(world.model("good").public_id)
    version = rivers(world.owner).latest_version()
    chosen = made((model,), embedding_server.spec)
    run = runs.queue_run(version, world.owner.pk, chosen, made.__name__)
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == "done", run.error
    tasks = RunTask.objects.filter(run=run)
    assert tasks.count() >= 2
    assert set(tasks.values_list("state", "payload")) == {("done", None)}
    assert sorted(embedding_server.asked) == sorted(set(embedding_server.asked))
    assert Embedding.objects.count() == len(embedding_server.asked)


def test_vectors_of_words_are_not_stored():
    assert cache.open_stored_embedder(None, "tfidf-word", "float32") is None
