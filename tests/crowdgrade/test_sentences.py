"""Sentences for operators about an outage and a failed mail, each asserted once."""

import pytest

from crowdgrade.invitation_links.mailing import FAILURES
from crowdgrade.outages import BEHIND, DEMO_SEALED, SENTENCES, Outage

CASES = [
    ("busy", "The database is busy (R): try again in a moment."),
    ("database-lost", "The database cannot be reached (R): see that it runs, and DATABASE_URL."),
    ("storage-full", "The disk is full (R): free some space, and try again."),
    (
        "read-only",
        "Nothing can be stored in /home (R): let this user write there, or set CROWDGRADE_HOME to "
        "another folder.",
    ),
    (
        "read-only-demo",
        "Nothing can be stored in /home (R): let this user write there, or set "
        "CROWDGRADE_DEMO_HOME to another folder.",
    ),
    (
        "behind",
        "The database lacks tables or columns of this release (R): run `manage.py migrate`, or "
        "`make up`, which does it.",
    ),
]


@pytest.mark.parametrize(("code", "sentence"), CASES)
def test_what_is_told_of_an_outage(code, sentence):
    assert SENTENCES[code].format(reason="R", home="/home") == sentence


def test_each_outage_has_a_sentence_here():
    codes = [code for code, _ in CASES]
    assert codes == list(SENTENCES)
    assert set(codes) == {one.value for one in Outage} | {DEMO_SEALED, BEHIND}


def test_each_failure_of_a_mail_has_a_sentence():
    assert FAILURES == {
        "connection": "the mail server cannot be reached",
        "login": "the mail server refuses the site's user name or password",
        "refused": "the mail server refuses the address",
        "server": "the mail server refuses the mail",
    }
