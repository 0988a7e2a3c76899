"""Whose model is asked where, and with whose key."""

import pytest

from evaluation.core.backends.errors import ChatError
from evaluation.core.options import SITE
from evaluation.models import LanguageModel
from evaluation.runs.flow.asking.options import ModelOptions
from evaluation.runs.steps.asking.registration import (
    convert_to_model_columns,
    find_registration_problems,
    open_chat_model,
    read_model_options,
)
from tests.annotations import world as crowd

pytestmark = pytest.mark.django_db
HOST = "openai:small@https://api.example.org/v1"


@pytest.fixture
def rana():
    return crowd.user("rana", is_staff=True)


@pytest.fixture
def olga():
    return crowd.user("olga", is_staff=True, is_superuser=True)


def codes(user, **given):
    return [one.code for one in find_registration_problems(ModelOptions(**given), user)]


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        (HOST, None),
        ("local:smollm2", None),
        (None, None),
        ("http://api.example.org/v1", "spec_form"),
        ("local:other", "spec_form"),
        ("openai:small", "spec"),  # without an address
        ("openai:small@ftp://api.example.org", "spec"),
        ("openai:small@https://user:secret@api.example.org/v1", "spec"),
        ("openai:small@https://api.example.org/v1?key=secret", "spec"),
        ("openai:sm\x00all@https://api.example.org", "invalid"),
        ("openai:sm\nall@https://api.example.org", "spec"),
        ("openai:" + "m" * 1000 + "@https://api.example.org", "max_length"),
        ("replies:/etc/passwd", "spec_operators"),
    ],
)
def test_a_spec_is_an_address_or_the_packaged_model(rana, spec, code):
    assert codes(rana, spec=spec) == ([code] if code else [])


def test_only_operators_have_files_of_replies_read(olga):
    assert codes(olga, spec="replies:/tmp/replies.csv") == []


@pytest.mark.parametrize(
    ("given", "code", "option"),
    [
        ({"price_in": 1.0}, "prices", "price_out"),
        ({"price_out": 1.0}, "prices", "price_in"),
        ({"price_in": -1.0, "price_out": 1.0}, "min_value", "price_in"),
        ({"price_in": float("nan"), "price_out": 1.0}, "invalid", "price_in"),
        ({"parameters": {"model": "other"}}, "fixed", "parameters"),
        ({"parameters": {"stream": True}}, "fixed", "parameters"),
        ({"parameters": ["top_p"]}, "invalid", "parameters"),
        ({"parameters": {"stop": "x" * 10_000}}, "max_length", "parameters"),
        ({"key_variable": "sk-12345678"}, "variable", "key_variable"),
        ({"key_variable": "OPENAI_API_KEY"}, "key_without_address", "key_variable"),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_has_a_sentence(olga, given, code, option):
    (wrong,) = find_registration_problems(ModelOptions(**given), olga)
    assert (wrong.code, wrong.option) == (code, option)
    assert SITE.format_field_problem(ModelOptions, wrong)


def test_a_requester_has_no_key_sent_unless_the_operator_says_which_and_where(rana, olga, settings):
    mine = {"spec": HOST, "key_variable": "OPENAI_API_KEY"}
    for rules, refused in (
        ([], True),
        (["OPENAI_API_KEY"], False),
        (["OPENAI_*"], False),
        (["OTHER_*"], True),
        (["OPENAI_API_KEY@api.example.org"], False),
        # Else a requester would have the key sent to an address of her own.
        (["OPENAI_API_KEY@api.openai.com"], True),
        (["OPENAI_API"], True),
        # A rule with a host names its scheme and port too: HTTPS and 443 where it says nothing.
        (["OPENAI_API_KEY@api.example.org:443"], False),
        (["OPENAI_API_KEY@https://API.example.org"], False),
        (["OPENAI_API_KEY@api.example.org:8443"], True),
        (["OPENAI_API_KEY@http://api.example.org"], True),
    ):
        settings.KEY_VARIABLES = rules
        assert codes(rana, **mine) == (["variable_refused"] if refused else []), rules
    settings.KEY_VARIABLES = []
    assert codes(olga, **mine) == []


@pytest.mark.parametrize(
    ("address", "rule", "refused"),
    [
        ("http://api.example.org/v1", "KEY_A@api.example.org", True),
        ("https://api.example.org:8443/v1", "KEY_A@api.example.org", True),
        ("https://api.example.org:8443/v1", "KEY_A@api.example.org:8443", False),
        ("http://api.example.org:8080/v1", "KEY_A@http://api.example.org:8080", False),
    ],
)
def test_a_key_goes_to_the_scheme_and_port_of_its_rule_alone(
    rana, settings, address, rule, refused
):
    settings.KEY_VARIABLES = [rule]
    found = codes(rana, spec=f"openai:m@{address}", key_variable="KEY_A")
    assert ("variable_refused" in found) == refused


@pytest.mark.parametrize("name", ["SECRET_KEY", "DATABASE_URL"])
def test_not_even_operators_have_secrets_of_the_installation_sent(olga, settings, name):
    settings.KEY_VARIABLES = ["*", "SECRET_KEY", "DATABASE_URL"]
    assert codes(olga, spec=HOST, key_variable=name) == ["variable_refused"]


@pytest.mark.parametrize(
    ("url", "networks", "refused"),
    [
        ("http://127.0.0.1:8081/v1", [], True),
        ("http://127.0.0.1:8081/v1", ["127.0.0.0/8"], False),
        ("http://[::1]:8081/v1", ["127.0.0.0/8"], True),
        ("http://10.1.2.3/v1", ["127.0.0.0/8", "10.1.0.0/16"], False),
        ("http://169.254.169.254/v1", ["127.0.0.0/8"], True),
        ("http://[::ffff:10.1.2.3]/v1", [], True),
        ("http://[64:ff9b::a01:203]/v1", [], True),  # 10.1.2.3 behind NAT64
        ("http://0.0.0.0/v1", [], True),
        ("http://8.8.8.8/v1", [], False),
    ],
)
def test_addresses_that_are_not_public_need_the_operator(rana, settings, url, networks, refused):
    settings.MODEL_NETWORKS = networks
    assert codes(rana, spec=f"openai:small@{url}") == (["address"] if refused else [])


def test_columns_and_options_are_the_same_thing(rana):
    given = ModelOptions(spec=HOST, parameters={"top_p": 0.9}, price_in=1.0, price_out=2.0)
    model = LanguageModel(owner=rana, name="small", **convert_to_model_columns(given))
    assert (model.key_variable, read_model_options(model)) == ("", given)


def test_a_model_is_asked_with_the_rights_of_its_owner_as_they_are_now(rana, settings):
    settings.KEY_VARIABLES = ["MY_KEY"]
    model = LanguageModel(owner=rana, name="small", spec=HOST, key_variable="MY_KEY")
    chat = open_chat_model(model)
    assert (chat.spec, chat.server.api_key_env) == (HOST, "MY_KEY")
    assert chat.server.vet is not None
    settings.KEY_VARIABLES = []
    with pytest.raises(ChatError, match="MY_KEY"):
        open_chat_model(model)
    with pytest.raises(ChatError, match="imported"):
        open_chat_model(LanguageModel(owner=rana, name="imported"))


def test_without_a_variable_no_key_is_sent_whatever_the_environment_holds(rana, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-operator")
    chat = open_chat_model(LanguageModel(owner=rana, name="small", spec=HOST))
    assert chat.server._read_key() == ""
