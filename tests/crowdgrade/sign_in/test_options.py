"""Variables of sign-in: what each combination gives, and the name in the error of a wrong one."""

from itertools import product

import pytest
from django.core.exceptions import ImproperlyConfigured

from crowdgrade.environment import DECLARED
from crowdgrade.sign_in.options import (
    OpenID,
    read_openid,
    read_password_sign_in,
    read_required_second_factor,
)

ISSUER = "https://login.lab.org/realms/lab"
CLIENT = {"OPENID_CLIENT_ID": "crowdgrade", "OPENID_CLIENT_SECRET": "hush"}
COMPLETE = {"OPENID_ISSUER": ISSUER, **CLIENT}
NAMES = sorted(name for name in DECLARED if name.startswith("OPENID_"))


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Set variables; no other one of sign-in is set."""
    for name in (*NAMES, "PASSWORD_SIGN_IN", "REQUIRE_SECOND_FACTOR"):
        monkeypatch.delenv(name, raising=False)

    def set_variables(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    return set_variables


def name_in_error(read, *arguments):
    """The variable that an error names first; the error must show no secret."""
    with pytest.raises(ImproperlyConfigured) as refused:
        read(*arguments)
    text = str(refused.value)
    assert "hush" not in text
    # What is wrong, and after a colon what to do.
    assert ": " in text
    return text.split()[0]


# Of the three variables, those that are set, and the one that the error names.
INCOMPLETE = {
    ("OPENID_ISSUER",): "OPENID_CLIENT_ID",
    ("OPENID_CLIENT_ID",): "OPENID_CLIENT_ID",
    ("OPENID_CLIENT_SECRET",): "OPENID_CLIENT_SECRET",
    ("OPENID_ISSUER", "OPENID_CLIENT_ID"): "OPENID_CLIENT_SECRET",
    ("OPENID_ISSUER", "OPENID_CLIENT_SECRET"): "OPENID_CLIENT_ID",
    ("OPENID_CLIENT_ID", "OPENID_CLIENT_SECRET"): "OPENID_CLIENT_ID",
}


@pytest.mark.parametrize("password", [None, "yes", "no"])
@pytest.mark.parametrize("chosen", list(product([False, True], repeat=3)))
def test_each_combination_of_provider_and_passwords_works_or_names_what_is_missing(
    environment, chosen, password
):
    given = [pair for pair, is_set in zip(COMPLETE.items(), chosen, strict=True) if is_set]
    environment(**dict(given))
    if password is not None:
        environment(PASSWORD_SIGN_IN=password)
    names = tuple(name for name, _ in given)
    if names in INCOMPLETE:
        assert name_in_error(read_openid) == INCOMPLETE[names]
        return
    found = read_openid()
    if names:
        assert found == OpenID(issuer=ISSUER, client_id="crowdgrade", secret="hush")
    else:
        assert found is None
    if found is None and password == "no":
        # Neither opens the site: everybody would be locked out.
        assert name_in_error(read_password_sign_in, found) == "PASSWORD_SIGN_IN"
    else:
        assert read_password_sign_in(found) == (password != "no")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "OPENID_ISSUER"])
def test_each_variable_of_the_provider_is_refused_without_its_issuer(environment, name):
    environment(**{name: "yes"})
    assert name_in_error(read_openid) == name
    environment(**{name: " "})
    assert read_openid() is None


def test_all_variables_without_effect_are_listed(environment):
    environment(OPENID_GROUPS="staff", **CLIENT)
    with pytest.raises(ImproperlyConfigured) as refused:
        read_openid()
    listed = str(refused.value).rpartition("remove ")[2]
    assert listed == "OPENID_CLIENT_ID, OPENID_CLIENT_SECRET, OPENID_GROUPS"


def test_an_empty_variable_counts_as_not_set(environment):
    environment(**dict.fromkeys([*NAMES, "PASSWORD_SIGN_IN", "REQUIRE_SECOND_FACTOR"], ""))
    assert read_openid() is None
    assert read_password_sign_in(None) is True
    assert read_required_second_factor() == "none"


def test_every_option_of_the_provider_is_read(environment):
    environment(
        **COMPLETE,
        OPENID_NAME="Lab",
        OPENID_DOMAINS="Lab.org, sub.lab.org",
        OPENID_GROUPS="staff, Leads",
        OPENID_ROLE="requester",
        OPENID_TRUST_EMAIL="Yes",
        OPENID_NETWORKS="10.1.2.0/24",
    )
    assert read_openid() == OpenID(
        issuer=ISSUER,
        client_id="crowdgrade",
        secret="hush",
        name="Lab",
        domains=frozenset({"lab.org", "sub.lab.org"}),
        groups=frozenset({"staff", "Leads"}),
        makes_requesters=True,
        trusts_email=True,
        networks=("10.1.2.0/24",),
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENID_ISSUER", "login.lab.org"),
        ("OPENID_ISSUER", "http://login.lab.org"),
        ("OPENID_ISSUER", "https://login.lab.org/ realm"),
        ("OPENID_ISSUER", "https://login.lab.örg"),
        ("OPENID_ISSUER", "https://login.lab.org:0"),
        ("OPENID_ISSUER", "https://login.lab.org:port"),
        ("OPENID_ISSUER", "https://user:hush@login.lab.org"),
        ("OPENID_ISSUER", "https://login.lab.org/?tenant=1"),
        ("OPENID_ISSUER", "https://login.lab.org/#lab"),
        # 22 characters before the path: one more than the column holds.
        ("OPENID_ISSUER", "https://login.lab.org/" + "a" * (201 - 22)),
        ("OPENID_DOMAINS", "lab"),
        ("OPENID_DOMAINS", "ada@lab.org"),
        ("OPENID_DOMAINS", "@lab.org"),
        ("OPENID_DOMAINS", "*.lab.org"),
        ("OPENID_DOMAINS", ".lab.org"),
        ("OPENID_DOMAINS", "lab.org, lab"),
        ("OPENID_ROLE", "operator"),
        ("OPENID_TRUST_EMAIL", "always"),
        ("OPENID_NETWORKS", "10.1.2.3/24"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(environment, name, value):
    environment(**COMPLETE)
    assert read_openid() is not None
    environment(**{name: value})
    assert name_in_error(read_openid) == name


@pytest.mark.parametrize(
    "issuer",
    ["http://127.0.0.1:8080/realm", "http://localhost", "http://[::1]:8080", ISSUER + "/"],
)
def test_an_issuer_is_https_or_on_this_machine_and_stays_as_it_is_written(environment, issuer):
    environment(**{**COMPLETE, "OPENID_ISSUER": issuer})
    assert read_openid().issuer == issuer


@pytest.mark.parametrize(
    ("value", "is_allowed"),
    [("yes", True), ("on", True), ("1", True), ("no", False), ("Off", False), ("false", False)],
)
def test_passwords_are_switched_by_the_words_of_every_other_switch(environment, value, is_allowed):
    environment(**COMPLETE, PASSWORD_SIGN_IN=value)
    assert read_password_sign_in(read_openid()) is is_allowed


def test_another_word_for_a_switch_of_passwords_is_refused(environment):
    environment(PASSWORD_SIGN_IN="never")
    assert name_in_error(read_password_sign_in, None) == "PASSWORD_SIGN_IN"


@pytest.mark.parametrize("value", ["none", "operators", "requesters", "everyone"])
def test_the_accounts_that_need_a_second_factor_are_read(environment, value):
    environment(REQUIRE_SECOND_FACTOR=value)
    assert read_required_second_factor() == value


@pytest.mark.parametrize("value", ["yes", "staff", "Operators", "operators,requesters"])
def test_another_value_for_a_second_factor_is_refused(environment, value):
    environment(REQUIRE_SECOND_FACTOR=value)
    assert name_in_error(read_required_second_factor) == "REQUIRE_SECOND_FACTOR"
