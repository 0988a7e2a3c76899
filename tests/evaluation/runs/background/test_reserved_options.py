"""Requesters name no folder of the server, and have no model fetched that nobody offers them."""

import pytest
from rest_framework.test import APIClient

from annotations.models import Response
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import API, OptionError
from evaluation.maqa.options import MaqaParameters
from evaluation.models import Run
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.runs.background import runs
from evaluation.runs.background.runs import find_reserved_options
from evaluation.runs.forms import OTHER, get_option_form
from tests.annotations import world as crowd

pytestmark = pytest.mark.django_db
OFFERED = {"small-mpnet", "team/nli-small"}
NOT_OFFERED = [
    AqerParameters(embedder="sentence-transformers:/etc"),
    AqerParameters(embedder="sentence-transformers:../../secret"),
    AqerParameters(embedder="sentence-transformers:anybody/anything"),
    AqerParameters(embedder="sentence-transformers:SMALL-MPNET"),
    AqerParameters(init="entailment", nli="/srv/models/nli"),
    MaqaParameters(nli="./nli"),
    MultiqaRunOptions(nli="anybody/nli"),
    MultiqaRunOptions(reranker="/srv/reranker"),
]


@pytest.fixture(autouse=True)
def offers(settings):
    settings.OFFERED_MODELS = frozenset(OFFERED)


@pytest.fixture
def rana():
    return crowd.user("rana", is_staff=True)


@pytest.fixture
def version(rana):
    return crowd.version(rana)


@pytest.fixture
def olga():
    return crowd.user("olga", is_staff=True, is_superuser=True)


@pytest.fixture
def answered(version):
    crowd.response(crowd.submission(version))
    Response.objects.update(state="submitted")
    return version


@pytest.mark.parametrize("asked", NOT_OFFERED)
def test_only_operators_name_a_folder_or_any_model_of_a_hub(asked, rana, olga):
    [wrong] = find_reserved_options(rana, asked)
    assert wrong.code == "not_offered"
    told = API.format_field_problem(type(asked), wrong)
    assert wrong.values == {"offered": "small-mpnet, team/nli-small"}
    # What was named is not told back, and nobody looked whether it is there.
    named = getattr(asked, wrong.option).removeprefix("sentence-transformers:")
    assert named not in told
    assert find_reserved_options(olga, asked) == []


@pytest.mark.parametrize(
    "asked",
    [
        AqerParameters(),
        AqerParameters(embedder="sentence-transformers:small-mpnet"),
        AqerParameters(init="entailment", nli="team/nli-small"),
        MultiqaRunOptions(nli="team/nli-small", reranker="small-mpnet"),
    ],
)
def test_requesters_name_what_the_installation_offers(asked, rana):
    assert find_reserved_options(rana, asked) == []


def test_without_an_offer_none_is_listed(rana, settings):
    settings.OFFERED_MODELS = frozenset()
    [wrong] = find_reserved_options(
        rana, AqerParameters(embedder="sentence-transformers:small-mpnet")
    )
    assert (wrong.code, wrong.values) == ("none_offered", {})


def test_form_and_request_refuse_at_the_field(answered, rana):
    empty = get_option_form(AqerParameters)(rana)
    filled = {name: value for name, value in empty.initial.items() if value not in (None, ())}
    filled |= {"embedder": OTHER, "other_embedder": "sentence-transformers:/etc"}
    form = get_option_form(AqerParameters)(rana, filled)
    assert list(form.errors) == ["other_embedder"]
    assert form.errors.as_data()["other_embedder"][0].code == "not_offered"
    client = APIClient()
    client.force_authenticate(rana)
    body = {
        "question_set": str(answered.question_set.public_id),
        "parameters": {"embedder": "sentence-transformers:/etc"},
    }
    refused = client.post("/api/v1/runs/", body, format="json")
    assert refused.status_code == 400, refused.content
    (error,) = refused.json()["errors"]
    assert error["pointer"] == "#/parameters/embedder"
    assert all(offer in error["detail"] for offer in OFFERED)
    assert not Run.objects.exists()


def test_an_operators_folder_is_not_used_again_by_a_requester(answered, rana, olga):
    run = runs.queue_run(
        answered, olga.pk, AqerParameters(embedder="sentence-transformers:/srv/model")
    )
    with pytest.raises(OptionError, match="not_offered"):
        runs.repeat_run(run, rana.pk)
    with pytest.raises(OptionError, match="not_offered"):
        runs.queue_run(
            answered, rana.pk, AqerParameters(embedder="sentence-transformers:/srv/model")
        )
    assert Run.objects.get() == run
