"""Answers that are files: in one form, whatever is accepted."""

from __future__ import annotations

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation


class AnyForm(BaseContentNegotiation):
    """A file is in the form that it has, or that `format` names; errors are JSON in any case."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """Return none: nothing is read."""
        return None

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """Return the first."""
        return renderers[0], renderers[0].media_type
