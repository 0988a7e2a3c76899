"""Models that are asked, and their prompts, over the API."""

import pytest

from annotations.models import Share
from evaluation.models import LanguageModel
from tests.api.conftest import problem

pytestmark = pytest.mark.django_db
SPEC = "openai:small@http://127.0.0.1:8081/v1"


@pytest.fixture(autouse=True)
def this_machine(settings):
    """Models on this machine may be asked with any database."""
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]


def test_a_model_is_registered_read_changed_and_deleted(api, rana):
    asking = api(rana)
    sent = {"name": "small", "spec": SPEC, "parameters": {"top_p": 0.9}, "strategy": "closed"}
    made = asking.post("language-models/", sent)
    assert made.status_code == 201, made.json()
    shown = asking.get(made.headers["Location"]).json()
    assert {name: shown[name] for name in sent} == sent
    assert (shown["price_in"], shown["key_variable"]) == (None, "")
    priced = asking.patch(made.headers["Location"], {"price_in": 0.5, "price_out": 1.5}).json()
    assert (priced["price_out"], priced["spec"]) == (1.5, SPEC)
    problem(asking.patch(made.headers["Location"], {"price_in": None}), 400, "invalid")
    assert asking.ask("DELETE", made.headers["Location"]).status_code == 204
    assert not LanguageModel.objects.exists()


@pytest.mark.parametrize(
    ("sent", "at"),
    [
        ({"spec": "small"}, "#/spec"),
        ({"spec": "replies:/etc/passwd"}, "#/spec"),
        ({"spec": "openai:small@http://169.254.169.254/"}, "#/spec"),
        ({"spec": SPEC, "key_variable": "SECRET_KEY"}, "#/key_variable"),
        ({"spec": SPEC, "key_variable": "sk-1234"}, "#/key_variable"),
        ({"parameters": {"messages": []}}, "#/parameters"),
        ({"price_in": 1}, "#/price_out"),
    ],
)
def test_what_is_no_way_to_reach_a_model_is_refused_at_its_key(api, rana, sent, at):
    body = problem(api(rana).post("language-models/", {"name": "m", **sent}), 400, "invalid")
    assert body["errors"][0]["pointer"] == at
    assert not LanguageModel.objects.exists()


def test_a_model_with_answers_is_not_deleted(api, world):
    model = LanguageModel.objects.get()
    address = f"language-models/{model.public_id}/"
    problem(api(world.rana).ask("DELETE", f"/api/v1/{address}"), 409, "conflict")


def test_who_may_only_look_at_a_model_does_not_read_where_it_is(api, world):
    model = LanguageModel.objects.get()
    LanguageModel.objects.update(spec=SPEC, key_variable="MY_KEY")
    Share.objects.create(question_set=world.set, user=world.otto, role="viewer")
    shown = api(world.otto).get(f"language-models/{model.public_id}/").json()
    assert (shown["name"], shown["spec"], shown["key_variable"]) == (model.name, "", "")
    assert api(world.rana).get(f"language-models/{model.public_id}/").json()["spec"] == SPEC


def test_a_prompt_is_kept_in_versions(api, rana):
    asking = api(rana)
    text = {"strategy": "closed", "system": "", "template": "{question} Briefly."}
    made = asking.post("prompts/", {"name": "brief", **text})
    assert made.status_code == 201, made.json()
    problem(asking.post("prompts/", {"name": "brief", **text}), 409, "conflict")
    address = made.headers["Location"]
    changed = {**text, "template": "{question} At length."}
    assert asking.post(f"{address}versions/", changed).json()["number"] == 2
    versions = asking.get(address).json()["versions"]
    assert [(one["number"], one["template"]) for one in versions] == [
        (1, "{question} Briefly."),
        (2, "{question} At length."),
    ]
    assert versions[0]["author"] == "rana"


@pytest.mark.parametrize("template", ["{passage}", "{", "no field", "{question!r}"])
def test_a_template_that_cannot_be_used_is_refused(api, rana, template):
    sent = {"name": "odd", "strategy": "closed", "template": template}
    body = problem(api(rana).post("prompts/", sent), 400, "invalid")
    assert body["errors"][0]["pointer"] == "#/template"
    assert "--" not in body["detail"]
