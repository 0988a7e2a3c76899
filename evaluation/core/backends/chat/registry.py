"""Create the chat model that a SPEC (kind and name) names; imports its module only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.backends.chat.contract import ChatModel
from evaluation.core.backends.errors import ChatError
from evaluation.core.backends.specs import split_model_at_url

if TYPE_CHECKING:  # the help of commands imports this module, and httpx takes a third of a second
    from annotations.outgoing.connections import Vet
    from evaluation.core.backends.server import Patience

FORMS = "openai:MODEL@URL, local:smollm2, replies:FILE"
LOCAL = "local:"
"""Begins the SPEC of a model that computes on this machine, in a process of its own."""


def get_chat(
    spec: str,
    *,
    what: str = "model",
    api_key_env: str = "OPENAI_API_KEY",
    patience: Patience | None = None,
    vet: Vet | None = None,
) -> ChatModel:
    """Return the chat model that `spec` names; `what` is its role in error messages.

    `api_key_env` is the name of the environment variable that holds the key. Raises ChatError for
    an unknown SPEC, an address that is none or a package that is missing, InputError for a file
    of replies that cannot be used.
    """
    text = spec.strip()
    kind, _, target = text.partition(":")
    if kind == "openai":
        parts = split_model_at_url(target)
        if parts is None:
            raise ChatError(
                f"{what} {spec!r} is not of the form openai:MODEL@URL: write the server's base "
                "address after the @, such as openai:NAME@http://127.0.0.1:8080/v1"
            )
        from evaluation.core.backends.chat.openai import OpenAIChat

        return OpenAIChat(*parts, what=what, api_key_env=api_key_env, patience=patience, vet=vet)
    if text == "local:smollm2":
        from evaluation.core.backends.chat.local import LocalChat

        return LocalChat(patience)
    if kind == "replies" and target:
        from evaluation.core.backends.chat.replies import ScriptedChat

        return ScriptedChat(target)
    raise ChatError(f"{what} {spec!r} is unknown: choose one of {FORMS}")
