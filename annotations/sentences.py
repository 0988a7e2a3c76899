"""Sentences by their codes: what errors and reports say, as a code with values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

Template = str | Callable[..., str]
"""A template in the manner of `str.format`, or a function of the values."""


class Sentences:
    """A catalogue of sentences by their codes."""

    def __init__(self, templates: Mapping[str, Template]) -> None:
        self._templates = dict(templates)

    def __iter__(self) -> Iterator[str]:
        return iter(self._templates)

    def text(self, code: str, /, **values: Any) -> str:
        """Return the sentence of a code with its values. Raises KeyError for an unknown code."""
        template = self._templates[code]
        return template.format(**values) if isinstance(template, str) else template(**values)


class CodedError(Exception):
    """An error with a code and values; its sentence comes from the catalogue of its class."""

    sentences: ClassVar[Sentences]

    def __init__(self, code: str, /, **values: Any) -> None:
        super().__init__(self.sentences.text(code, **values))
        self.code = code
        self.values = values
