"""Rita's question set about rivers, with a model that is right and one that is not always."""

import pytest

from tests.evaluation.multiqa.world import World


@pytest.fixture
def rita(db, django_user_model, monkeypatch, settings):
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    return django_user_model.objects.create_user("rita", password="rivers", is_staff=True)


@pytest.fixture
def world(rita):
    made = World(rita)
    yield made
    made.server.close()


@pytest.fixture
def good(world):
    return world.model("good")


@pytest.fixture
def shaky(world):
    return world.model("shaky")
