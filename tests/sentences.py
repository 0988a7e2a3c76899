"""Sentences of the catalogues, so that a test names a code and its values instead of the words."""

from typing import Any

from evaluation.core.messages.message import Message
from evaluation.core.options import API, SITE, TERMINAL


def site_sentence(code: str, **values: Any) -> str:
    """Return a message's sentence on the admin site."""
    return SITE.format_message(Message(code, values))


def terminal_sentence(code: str, **values: Any) -> str:
    """Return a message's sentence on the command line."""
    return TERMINAL.format_message(Message(code, values))


def api_sentence(code: str, **values: Any) -> str:
    """Return a message's sentence in the REST API."""
    return API.format_message(Message(code, values))
