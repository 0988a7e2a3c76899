"""Types of events, and sentences by the code of a failed delivery or an invalid webhook."""

from __future__ import annotations

from typing import Final

from evaluation.core.messages.message import fill_template

RUN_FINISHED: Final = "run.finished"
RUN_FAILED: Final = "run.failed"
COLLECTION_FULL: Final = "collection.full"
ALARM_RAISED: Final = "alarm.raised"
TEST: Final = "test"
EVENT_TYPES: Final = {
    RUN_FINISHED: "run finished",
    RUN_FAILED: "run failed",
    COLLECTION_FULL: "collection full",
    ALARM_RAISED: "alarm raised",
}
"""Label by the type of event that a webhook can ask for."""
LABELS: Final = {**EVENT_TYPES, TEST: "test event"}
FAILURES: Final = {
    "timeout": "no response within {seconds:g} s",
    "connection": "the connection failed",
    "address_refused": "the host's address is not allowed here",
    "redirect": "a redirect, which is not followed: write the final address",
    "status": "the response is no success (200 to 299)",
    "unsendable": "the address is invalid",
    "no_access": "the owner of the webhook no longer edits the question set",
    "key_changed": "the secret is no longer valid: make a new one",
}
"""Sentence by the code of a failed attempt."""
PROBLEMS: Final = {
    "no_url": "Write http:// or https://, a host and a path, such as https://example.org/hook.",
    "user_in_url": "Leave the user name and password out: the signature shows the sender.",
    "fragment_in_url": "Leave out # and what follows it: it is never sent.",
    "address": "Connecting to {address} is not allowed on this site.",
    "no_events": "Choose at least one event.",
    "unknown_set": "There is no such question set, or you may not edit it.",
    "too_many": "You have {most} webhooks, which is the limit. Delete one first.",
    "name_taken": "You have a webhook of this name.",
}
"""Sentence by the code of a `WebhookError`."""


class WebhookError(ValueError):
    """Error: a webhook cannot be stored; `code` is a key of `PROBLEMS`, `field` the wrong field."""

    def __init__(self, code: str, field: str, **values: object) -> None:
        super().__init__(fill_template(PROBLEMS[code], values))
        self.code, self.field = code, field
