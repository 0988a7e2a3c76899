"""Language models and prompts."""

from __future__ import annotations

from types import SimpleNamespace

from evaluation.models import LanguageModel
from tests.api.successes.declaration import Sent, archived, succeeds


def model(world: SimpleNamespace) -> LanguageModel:
    """A model of Rana's that answered nothing."""
    return LanguageModel.objects.create(owner=world.rana, name="small-2")


@succeeds("language_models_create")
def _(world):
    return Sent({"name": "small-1", "family": "Small", "spec": "", "notice": "as it came"})


@succeeds("language_models_partial_update")
def _(world):
    return Sent({"version": "2", "size": "135M"})


@succeeds("language_models_destroy")
def _(world):
    return Sent(ids={"model_id": model(world).public_id})


@succeeds("language_models_archive")
def _(world):
    return Sent()


@succeeds("language_models_restore")
def _(world):
    return Sent(ids={"model_id": archived(world, model(world)).public_id})


@succeeds("language_models_delete")
def _(world):
    return Sent({"name": LanguageModel.objects.filter(owner=world.rana).earliest("pk").name})


@succeeds("language_models_note")
def _(world):
    return Sent({"text": "It repeats the question."})


@succeeds("language_models_note_destroy")
def _(world):
    return Sent()


@succeeds("prompts_create")
def _(world):
    return Sent({"name": "short", "strategy": "closed", "template": "Shortly: {question}"})


@succeeds("prompts_versions_create")
def _(world):
    return Sent({"strategy": "closed", "template": "In a word: {question}", "system": ""})
