"""Studies whose embedder is a server: the process that asks waits for it, no other."""

from itertools import cycle

import pytest

from evaluation.eloquent.options import EloquentRunOptions
from evaluation.maqa.options import MaqaRunOptions
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.runs.background import runs
from evaluation.runs.steps.checkpoints import Lane
from evaluation.umwp.options import UmwpRunOptions
from tests.evaluation.core.backends.chat.fake import said
from tests.evaluation.multiqa.world import World, rivers
from tests.evaluation.runs.background.embedding_server import EmbeddingServer
from tests.evaluation.runs.background.lanes import work_in_two_lanes


@pytest.fixture
def world(django_user_model, monkeypatch, settings):
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("evaluation.runs.background.leases.notify", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.notify", lambda: True)
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
