"""Base classes of all REST endpoints: JSON parsing, strict serializers, limits and headers."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from rest_framework import serializers, viewsets
from rest_framework.exceptions import (
    AuthenticationFailed,
    ErrorDetail,
    NotAuthenticated,
    ParseError,
    Throttled,
)
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.rest.paging import KeysetPagination
from annotations.web.rest.problems import ApiProblem


class SafeJSONParser(JSONParser):
    """JSON parser that refuses deeply nested values and texts that cannot be stored.

    Python reads half a surrogate pair, but cannot store it or send it back. This is true even of
    the key that an error names.
    """

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Return the JSON value of a request's body; raise ParseError if it is invalid."""
        try:
            value = super().parse(stream, media_type, parser_context)
            # One call in C: a Python loop over the value would slow down large uploads.
            json.dumps(value, ensure_ascii=False).encode()
        except RecursionError:
            raise ParseError("The body is nested too deeply.") from None
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x}"
            raise ParseError(f"The body contains half a surrogate pair ({half}).") from None
        return value


class StrictSerializer(serializers.Serializer[Any]):
    """Base class of serializers that refuse unknown keys, such as misspelt ones."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the validated values; raise `ValidationError` for unknown keys."""
        if not isinstance(data, dict):
            return super().to_internal_value(data)
        known = ", ".join(name for name, field in self.fields.items() if not field.read_only)
        reason = ErrorDetail(f"There is no such key; known are {known}.", "unknown_key")
        faults: dict[str, Any] = {key: [reason] for key in data if key not in self.fields}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            faults |= dict(error.detail)  # type: ignore[arg-type]
        if faults:
            raise serializers.ValidationError(faults)
        return values


class StrictModelSerializer(StrictSerializer, serializers.ModelSerializer[Any]):
    """Base class of model serializers that refuse unknown keys."""


class ApiViewSet(viewsets.GenericViewSet[Any]):
    """Base class of API endpoints: rows by public id, limited request bodies."""

    lookup_field = "public_id"
    lookup_url_kwarg: str
    lookup_value_converter = "uuid"
    pagination_class = KeysetPagination
    parser_classes: Any = (SafeJSONParser,)

    def get_max_bytes(self, request: Request) -> int:
        """Return the largest permitted request body, in bytes."""
        return settings.API_SMALL_BYTES

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise an API problem if the request body is too large, before it is read."""
        super().initial(request, *args, **kwargs)
        most = self.get_max_bytes(request)
        # The web server buffers a chunked body and sets its length, so the header can be trusted.
        if int(request.META.get("CONTENT_LENGTH") or 0) > most:
            raise ApiProblem(
                "too-large", f"At most {most:,} bytes are read here; send several requests."
            )

    def handle_exception(self, exc: Exception) -> Response:
        """Return the error response; failed sign-ins also count for the rate limit."""
        if isinstance(exc, NotAuthenticated | AuthenticationFailed):
            try:
                self.check_throttles(self.request)
            except Throttled as too_many:
                exc = too_many
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Return the response with headers that forbid caching and state the version's number."""
        response = super().finalize_response(request, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        if (version := getattr(request, "version_shown", None)) is not None:
            response["X-Question-Set-Version"] = str(version.number)
        return response

    def validate_body(
        self, serializer: type[serializers.BaseSerializer[Any]], **kwargs: Any
    ) -> Any:
        """Return the valid serializer of the request body; raise `ValidationError` if invalid."""
        valid_serializer = serializer(
            data=self.request.data, context=self.get_serializer_context(), **kwargs
        )
        valid_serializer.is_valid(raise_exception=True)
        return valid_serializer
