"""Serializers made out of frozen dataclasses, and texts cut: the API sends what pages show."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from django.db.models import Model, QuerySet
from rest_framework import serializers

from annotations.web.texts import EXCERPT_SHOWN, beginning, shortened

M = TypeVar("M", bound=Model)

# Other rooms add the types that only they know.
PLAIN: dict[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    UUID: serializers.UUIDField,
    datetime: serializers.DateTimeField,
}


@cache
def serializer_of(
    report: type[Any], *also: str, without: tuple[str, ...] = ()
) -> type[serializers.Serializer[Any]]:
    """Return the serializer of a dataclass, or of a named tuple.

    Parameters
    ----------
    also : names of properties that are sent beside the fields.
    without : names of fields that are not sent.

    A field that may be None may be null; a dataclass in a field gets a serializer of its own.
    Raises TypeError for a type that has no form in JSON.
    """
    hints = get_type_hints(report)
    fields = {name: _field(hints[name]) for name in _names(report) if name not in without}
    fields |= {name: _field(_returned(getattr(report, name))) for name in also}
    # Standing alone, the first line of the dataclass describes what is sent.
    described = (report.__doc__ or "").strip().splitlines()[0]
    name = f"Result{report.__name__}Serializer"
    return type(name, (serializers.Serializer,), fields | {"__doc__": described})


def _names(report: type[Any]) -> Sequence[str]:
    """Return the names of the fields of a dataclass or a named tuple."""
    if dataclasses.is_dataclass(report):
        return [field.name for field in dataclasses.fields(report)]
    names: Sequence[str] = report._fields
    return names


def _has_fields(hint: Any) -> bool:
    """Return whether a type gets a serializer of its own."""
    return dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")


def _returned(prop: property) -> Any:
    return get_type_hints(prop.fget)["return"]


def _field(hint: Any, **options: Any) -> Any:
    if hint in PLAIN:
        return PLAIN[hint](**options)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (kind,) = [part for part in inner if part is not type(None)]
        return _field(kind, **options, allow_null=True)
    if origin is Literal:
        return serializers.ChoiceField(choices=list(inner), **options)
    if origin in (list, tuple):
        parts = [part for part in inner if part is not Ellipsis]
        if _has_fields(parts[0]) and parts[0] not in PLAIN:
            return serializer_of(parts[0])(many=True, **options)
        return serializers.ListField(child=_field(parts[0]), **options)
    if origin is dict:
        child = serializers.JSONField() if inner[1] is Any else _field(inner[1])
        return serializers.DictField(child=child, **options)
    if _has_fields(hint):
        return serializer_of(hint)(**options)
    if hint is Any:
        return serializers.JSONField(**options)
    raise TypeError(f"{hint} has no form in JSON")


class Excerpt(serializers.CharField):
    """The first 240 characters of the text, with an ellipsis if there is more."""

    def __init__(self, **kwargs: Any) -> None:
        shown = f"The first {EXCERPT_SHOWN} characters of the text; … if there is more."
        super().__init__(read_only=True, help_text=shown, **kwargs)

    def to_representation(self, value: Any) -> str:
        """Return the cut text."""
        return shortened(value)


def with_excerpt(rows: QuerySet[M, M]) -> QuerySet[M, M]:
    """Add what `Excerpt` shows."""
    annotated: QuerySet[Any, Any] = rows.annotate(excerpt=beginning("text"))
    return annotated
