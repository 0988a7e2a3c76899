"""Define the reasons why a model gave no answer, and what the requester can do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FaultWords:
    """A fault of a model's reply in words: its name in tables, and what to do about it."""

    what: str
    remedy: str


FAULTS = {
    "connection": FaultWords(
        "no connection", "Check the address, and that the server is running; then ask again."
    ),
    "timeout": FaultWords(
        "no answer in time", "The server is slow or hangs. Ask again, with fewer at once."
    ),
    "cut": FaultWords("connection cut off", "Ask again; if it stays so, look at the server's log."),
    "rate_limited": FaultWords(
        "too many requests", "Ask again later, with fewer at once or fewer a minute."
    ),
    "server_error": FaultWords("the server failed", "Ask again later; it is the server's fault."),
    "no_quota": FaultWords("the account is used up", "Pay in at the provider, then ask again."),
    "unauthorized": FaultWords(
        "the key was not accepted",
        "Check on the model's page which variable holds the key, and its value with who runs "
        "this installation.",
    ),
    "not_found": FaultWords(
        "no such model or address",
        "Check on the model's page the address (it mostly ends in /v1) and what the server calls "
        "the model.",
    ),
    "bad_request": FaultWords(
        "the request was refused",
        "Read what the server says; often a parameter is not known there.",
    ),
    "prompt_too_long": FaultWords(
        "longer than the model can read", "Use shorter passages or a model with a longer context."
    ),
    "redirect": FaultWords(
        "the address leads elsewhere", "Write the final address on the model's page."
    ),
    "not_json": FaultWords(
        "no OpenAI-compatible answer",
        "Something else answers at this address: check it, up to /v1, on the model's page.",
    ),
    "wrong_charset": FaultWords(
        "unreadable bytes", "Look at what the server sends; it should be UTF-8."
    ),
    "no_reply": FaultWords(
        "an answer without a reply", "Check that it is a model for chats, and what the server says."
    ),
    "error_in_reply": FaultWords(
        "an error in place of an answer", "It is the server's fault, or its provider's. Ask again."
    ),
    "too_large": FaultWords("an answer far too long", "Ask for fewer tokens."),
    "answer_too_long": FaultWords("an answer far too long", "Ask for fewer tokens."),
    "unsendable": FaultWords(
        "it cannot be sent",
        "Check the address and the texts for characters that do not belong there.",
    ),
    "address_refused": FaultWords(
        "the address is not allowed here",
        "Choose a public address, or ask who runs this installation to allow this one.",
    ),
    "key": FaultWords(
        "the key is broken", "Ask who runs this installation to set its variable anew."
    ),
    "not_asked": FaultWords(
        "not asked", "The model was given up after the errors before; mend those and ask again."
    ),
}
UNKNOWN = FaultWords("error", "Read what it says, then ask again.")


def get_fault_words(code: str) -> FaultWords:
    """Return the words for a fault code; general ones for an unknown code."""
    return FAULTS.get(code, UNKNOWN)
