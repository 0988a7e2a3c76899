"""Every address of the admin site, for every role; a new address without a rule fails here."""

import itertools

import pytest
from django.contrib import admin
from django.urls import URLResolver, reverse

from annotations.admin import staging
from evaluation.models import LanguageModel, Run

from .conftest import MARK

# Of Django's own admin, with no one's data: for operators, or for everybody who is signed in.
DJANGOS_OWN = {
    *("index", "login", "logout", "password_change", "password_change_done", "autocomplete"),
    *("jsi18n", "view_on_site", "app_list", "search", None),
}
OWN_LISTS = {"question-sets", "question-set-new", "runs", "models"}
# Changes something, so that it is posted to.
POSTED = {"question-set-publish", "upload-confirm", "upload-discard", "run-cancel", "run-again"}


def patterns():
    """Every named pattern of the site; those of registered models are in resolvers."""
    for entry in admin.site.get_urls():
        if isinstance(entry, URLResolver):
            for inner in entry.url_patterns:
                yield inner.name, inner.pattern.converters
        else:
            yield entry.name, entry.pattern.converters


def is_ours(name):
    return name not in DJANGOS_OWN and not name.startswith(("auth_",))


OURS = sorted({name for name, _ in patterns() if is_ours(name)})


@pytest.fixture
def addresses(world):
    """Every address of ours, filled in with what is Rana's."""
    staged = staging.stage(
        [b"worker,question,answer\nada,q1,hills"],
        user=world.rana.pk,
        question_set=str(world.set.public_id),
        kind="answers",
        name="answers.csv",
        state="checked",
        report={"version": 1, "what": "answers", "n_rows": 1, "n_new": 1, "changed": True},
    )
    staged.save()
    question = world.version.questions.first().public_id
    submission = world.version.submissions.first()
    values = {
        "set_id": world.set.public_id,
        "question_id": question,
        "model_id": LanguageModel.objects.get().public_id,
        "run_id": world.run.public_id,
        "kind": "answers",
        "token": staged.token,
        "run": world.run.public_id,
        "worker": submission.worker.public_id,
        "question": question,
    }
    names = {
        "results-chart": ["grades", "convergence"],
        "results-table": ["workers", "questions", "models"],
    }
    found = {}
    for name, converters in patterns():
        if is_ours(name):
            for last in names.get(name, [""]):
                filled = {key: last if key == "name" else values[key] for key in converters}
                found[f"{name} {last}".strip()] = reverse(f"admin:{name}", kwargs=filled)
    return found


def ask(client, name, address):
    return (client.post if name.split()[0] in POSTED else client.get)(address)


def body(response):
    if response.streaming:
        return b"".join(response.streaming_content).decode()
    return response.content.decode()


def test_there_are_pages_of_ours():
    assert {"question-set", "run", "run-status", "uploaded", "results-run"} <= set(OURS)


def test_nobody_who_is_not_signed_in_gets_anything_but_the_login(client, addresses):
    for name, address in addresses.items():
        response = ask(client, name, address)
        assert response.status_code == 302, name
        assert response.url.startswith(reverse("admin:login")), name


def test_a_user_who_is_no_requester_gets_nothing(client, addresses, django_user_model):
    client.force_login(django_user_model.objects.create_user("walter"))
    for name, address in addresses.items():
        assert ask(client, name, address).status_code == 302, name


@pytest.mark.parametrize("who", ["rana", "ida"])
def test_the_owner_and_operators_get_every_page(client, world, addresses, who):
    client.force_login(getattr(world, who))
    for name, address in addresses.items():
        response = ask(client, name, address)
        if who == "ida" and name in ("uploaded", "upload-confirm", "upload-discard"):
            # A staged file belongs to the one who sent it.
            assert response.status_code == 404
            continue
        assert response.status_code in (200, 302), (name, response.status_code)
        assert reverse("admin:login") not in response.headers.get("Location", "")


def test_another_requester_gets_nothing_of_it(client, world, addresses):
    client.force_login(world.otto)
    before = Run.objects.count()
    for name, address in addresses.items():
        response = ask(client, name, address)
        if name in OWN_LISTS:
            assert response.status_code == 200
        else:
            assert response.status_code == 404, name
        assert MARK not in body(response), name
    # Posting is no way in either.
    for name, address in addresses.items():
        if name not in OWN_LISTS:
            assert client.post(address).status_code in (404, 405), name
    assert MARK not in body(client.get(reverse("admin:index")))
    assert Run.objects.count() == before


def test_the_overview_shows_what_is_ones_own(client, world):
    client.force_login(world.rana)
    assert client.get(reverse("admin:index")).context["counts"][0].number == 1
    client.force_login(world.otto)
    assert {c.number for c in client.get(reverse("admin:index")).context["counts"]} == {0}


def test_only_operators_see_users(client, world):
    client.force_login(world.rana)
    assert client.get(reverse("admin:auth_user_changelist")).status_code == 403
    client.force_login(world.ida)
    assert client.get(reverse("admin:auth_user_changelist")).status_code == 200
    assert client.get(reverse("admin:auth_user_add")).status_code == 200


def test_changes_are_posted_with_a_token(world, addresses):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(world.rana)
    for name in POSTED:
        assert client.get(addresses[name]).status_code == 405, name
        assert client.post(addresses[name]).status_code == 403, name


def test_no_address_holds_a_primary_key(addresses):
    for name, address in addresses.items():
        assert not any(part.isdecimal() for part in address.split("/")), (name, address)


def test_the_notice_shows_wherever_the_answers_show(client, world, addresses):
    client.force_login(world.rana)
    shows = ["question-set", "question", "passages", "model-answers", "run", "results-run"]
    shows += ["results-worker", "results-question", "results-models"]
    for name in shows:
        assert f"Notice {MARK}" in body(client.get(addresses[name])), name


def test_lists_ask_the_database_the_same_number_of_times_however_long_they_are(
    client, world, django_assert_max_num_queries, addresses
):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from annotations.models import QuestionSet
    from evaluation.background import runs

    client.force_login(world.rana)
    pages = [addresses[n] for n in ("question-sets", "runs", "models", "question-set")]
    pages.append(reverse("admin:index"))

    def count():
        numbers = []
        for page in pages:
            with CaptureQueriesContext(
                connection,
            ) as asked:
                assert client.get(page).status_code == 200
            numbers.append(len(asked))
        return numbers

    few = count()
    for number in itertools.islice(itertools.count(), 5):
        QuestionSet.objects.create(owner=world.rana, name=f"more {number}")
        runs.again(world.run, world.rana.pk)
    many = count()
    # A waiting run makes pages ask once whether anybody listens.
    assert all(after <= before + 1 for before, after in zip(few, many, strict=True)), (few, many)
    assert max(many) <= 25
