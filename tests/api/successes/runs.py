"""Runs."""

from __future__ import annotations

from types import SimpleNamespace

from evaluation.consensus.parameters import AqerParameters
from evaluation.models import Run
from evaluation.runs.background import runs
from tests.api.successes.declaration import Sent, archived, succeeds


def queued(world: SimpleNamespace) -> Run:
    """A run of Rana's that waits for a worker."""
    return runs.queue_run(world.version, world.rana.pk, AqerParameters(embedder="bow", bootstrap=0))


@succeeds("runs_create")
def _(world):
    parameters = {"embedder": "bow", "bootstrap": 0}
    return Sent({"question_set": str(world.set.public_id), "parameters": parameters})


@succeeds("runs_partial_update")
def _(world):
    return Sent({"name": "the first", "notes": "to be looked at"})


@succeeds("runs_cancel_create")
def _(world):
    return Sent(ids={"run_id": queued(world).public_id})


@succeeds("runs_pause_create")
def _(world):
    return Sent(ids={"run_id": queued(world).public_id})


@succeeds("runs_resume_create")
def _(world):
    paused = queued(world)
    assert runs.pause_run(paused)
    return Sent(ids={"run_id": paused.public_id})


@succeeds("runs_again_create")
def _(world):
    return Sent()


@succeeds("runs_use_create")
def _(world):
    return Sent()


@succeeds("runs_archive")
def _(world):
    return Sent()


@succeeds("runs_restore")
def _(world):
    archived(world, world.run)
    return Sent()


@succeeds("runs_delete")
def _(world):
    return Sent()
