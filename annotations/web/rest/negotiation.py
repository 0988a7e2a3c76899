"""Content negotiation for API responses that are files."""

from __future__ import annotations

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation


class FileNegotiation(BaseContentNegotiation):
    """Content negotiation that ignores the Accept header, for responses that are files.

    A file has one format, or the one that the query parameter `format` names.

    Errors are JSON in any case.
    """

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """Return None, because requests for files have no body."""
        return None

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """Return (first renderer, its media type), whatever the Accept header names."""
        return renderers[0], renderers[0].media_type
