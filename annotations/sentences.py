"""Catalogues of messages by message code, and errors that take their message from one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

Template = str | Callable[..., str]
"""A template in the manner of `str.format`, or a function of the values."""


class Sentences:
    """Catalogue of message templates by message code."""

    def __init__(self, templates: Mapping[str, Template]) -> None:
        self._templates = dict(templates)

    def __iter__(self) -> Iterator[str]:
        return iter(self._templates)

    def text(self, code: str, /, **values: Any) -> str:
        """Return the message of a code, its placeholders filled; KeyError for an unknown code."""
        template = self._templates[code]
        return template.format(**values) if isinstance(template, str) else template(**values)


class CodedError(Exception):
    """Error with a message code and values; `sentences` is its catalogue of messages."""

    sentences: ClassVar[Sentences]

    def __init__(self, code: str, /, **values: Any) -> None:
        super().__init__(self.sentences.text(code, **values))
        self.code = code
        self.values = values
