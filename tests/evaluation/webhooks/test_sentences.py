"""What is shown of an attempt that failed and of a webhook that cannot be stored."""

import pytest

from evaluation.webhooks.messages import FAILURES, PROBLEMS, WebhookError
from evaluation.webhooks.storage import SECONDS

OF_ATTEMPTS = {
    "timeout": "no response within 10 s",
    "connection": "the connection failed",
    "address_refused": "the host's address is not allowed here",
    "redirect": "a redirect, which is not followed: write the final address",
    "status": "the response is no success (200 to 299)",
    "unsendable": "the address is invalid",
    "no_access": "the owner of the webhook no longer edits the question set",
    "key_changed": "the secret is no longer valid: make a new one",
}
OF_WEBHOOKS = {
    "no_url": "Write http:// or https://, a host and a path, such as https://example.org/hook.",
    "user_in_url": "Leave the user name and password out: the signature shows the sender.",
    "fragment_in_url": "Leave out # and what follows it: it is never sent.",
    "address": "Connecting to 10.0.0.1 is not allowed on this site.",
    "no_events": "Choose at least one event.",
    "unknown_set": "There is no such question set, or you may not edit it.",
    "too_many": "You have 20 webhooks, which is the limit. Delete one first.",
    "name_taken": "You have a webhook of this name.",
}


def test_each_failure_of_an_attempt_has_a_sentence():
    assert {code: text.format(seconds=SECONDS) for code, text in FAILURES.items()} == OF_ATTEMPTS


@pytest.mark.parametrize("code", PROBLEMS)
def test_each_problem_of_a_webhook_has_a_sentence(code):
    assert str(WebhookError(code, "url", address="10.0.0.1", most=20)) == OF_WEBHOOKS[code]
