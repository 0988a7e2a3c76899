"""Content negotiation for responses with files."""

from __future__ import annotations

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation


class AnyForm(BaseContentNegotiation):
    """Ignores the Accept header: a file has one format, or the one that `format` names.

    Errors are JSON in any case.
    """

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """Return None: these requests have no body."""
        return None

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """Return the first renderer."""
        return renderers[0], renderers[0].media_type
