import uuid

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser

from annotations.models import Owned, Response, Worker, new_public_id
from tests.annotations import world


def test_public_ids_are_random_and_begin_with_the_time():
    ids = [new_public_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert {(i.version, i.variant) for i in ids} == {(7, uuid.RFC_4122)}
    assert sorted(i.int >> 80 for i in ids) == [i.int >> 80 for i in ids]
    assert len({i.int & (1 << 62) - 1 for i in ids}) == 1000


def owned_models():
    return [model for model in apps.get_models() if issubclass(model, Owned)]


@pytest.mark.parametrize("model", owned_models(), ids=lambda model: model.__name__)
@pytest.mark.django_db
def test_every_model_shows_nothing_to_strangers(model):
    # Building the query proves that owner_path leads to a user.
    assert list(model.objects.visible_to(world.user("otto"))) == []
    assert list(model.objects.visible_to(AnonymousUser())) == []


def test_every_model_of_the_project_has_an_owner():
    unowned = {
        model.__name__
        for model in apps.get_models()
        if model._meta.app_label in ("annotations", "evaluation") and not issubclass(model, Owned)
    }
    # Vectors are shared by everybody who has the same text, and no page lists them; who works in
    # the background works for everybody.
    assert unowned <= {"Embedding", "EmbedderVersion", "BackgroundWorker"}


@pytest.mark.django_db
def test_people_see_what_they_own_and_operators_see_all():
    rana, otto = world.user("rana"), world.user("otto")
    for owner in (rana, otto):
        world.response(world.submission(world.version(owner)), text=owner.username)
    operator = world.user("olga", is_superuser=True)

    def seen_by(user):
        return {r.text for r in Response.objects.visible_to(user)}

    assert seen_by(rana) == {"rana"}
    assert seen_by(operator) == {"rana", "otto"}
    assert seen_by(AnonymousUser()) == set()
    assert Worker.objects.filter(external_id="ada").visible_to(otto).get().owner == otto
    for gone in (rana, operator):
        gone.is_active = False
        assert seen_by(gone) == set()


@pytest.mark.django_db
def test_migrations_and_models_agree():
    from django.core.management import call_command

    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
