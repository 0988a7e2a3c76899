"""Serializers made from dataclasses, and excerpts of texts."""

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

from annotations.web.rest.renamed_keys import add_renamed_keys
from annotations.web.texts import EXCERPT_SHOWN, select_beginning, shorten_text

M = TypeVar("M", bound=Model)

# Other packages add their own types.
PLAIN: dict[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    UUID: serializers.UUIDField,
    datetime: serializers.DateTimeField,
}


@cache
def build_serializer(
    report: type[Any], *properties: str, without: tuple[str, ...] = ()
) -> type[serializers.Serializer[Any]]:
    """Return a serializer class for a dataclass or named tuple and the named properties.

    Parameters
    ----------
    properties : names of properties to send besides the fields.
    without : names of fields not to send.

    A field that may be None is nullable; a dataclass in a field gets its own serializer. The
    attribute `renamed_keys` of the report names fields that have another key in JSON now,
    `sent_properties` names properties that are sent wherever the report is, after its fields.
    Raises TypeError for a type that has no JSON form.
    """
    hints = get_type_hints(report)
    fields = {
        name: _build_field(hints[name]) for name in _list_field_names(report) if name not in without
    }
    sent: Sequence[str] = (*getattr(report, "sent_properties", ()), *properties)
    fields |= {name: _build_field(_get_return_type(getattr(report, name))) for name in sent}
    # The schema shows the first docstring line of the dataclass, so it must make sense alone.
    description = (report.__doc__ or "").strip().splitlines()[0]
    name = f"Result{report.__name__}Serializer"
    serializer = type(name, (serializers.Serializer,), fields | {"__doc__": description})
    renamed: dict[str, str] = getattr(report, "renamed_keys", {})
    return add_renamed_keys(**renamed)(serializer) if renamed else serializer


def _list_field_names(report: type[Any]) -> Sequence[str]:
    """Return the field names of a dataclass or a named tuple."""
    if dataclasses.is_dataclass(report):
        return [field.name for field in dataclasses.fields(report)]
    names: Sequence[str] = report._fields
    return names


def _is_record_type(hint: Any) -> bool:
    """Return whether a type is a dataclass or a named tuple."""
    return dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")


def _get_return_type(prop: property) -> Any:
    """Return the annotated return type of a property."""
    return get_type_hints(prop.fget)["return"]


def _build_field(hint: Any, **options: Any) -> Any:
    """Return the serializer field for a type; raise `TypeError` if it has no JSON form."""
    if hint in PLAIN:
        return PLAIN[hint](**options)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (kind,) = [part for part in inner if part is not type(None)]
        return _build_field(kind, **options, allow_null=True)
    if origin is Literal:
        return serializers.ChoiceField(choices=list(inner), **options)
    if origin in (list, tuple):
        parts = [part for part in inner if part is not Ellipsis]
        if _is_record_type(parts[0]) and parts[0] not in PLAIN:
            return build_serializer(parts[0])(many=True, **options)
        return serializers.ListField(child=_build_field(parts[0]), **options)
    if origin is dict:
        child = serializers.JSONField() if inner[1] is Any else _build_field(inner[1])
        return serializers.DictField(child=child, **options)
    if _is_record_type(hint):
        return build_serializer(hint)(**options)
    if hint is Any:
        return serializers.JSONField(**options)
    raise TypeError(f"{hint} has no form in JSON")


class ExcerptField(serializers.CharField):
    """Serializer field for the first 240 characters of a text, with … if it is longer."""

    def __init__(self, **kwargs: Any) -> None:
        help_text = f"The first {EXCERPT_SHOWN} characters of the text; … if there is more."
        super().__init__(read_only=True, help_text=help_text, **kwargs)

    def to_representation(self, value: Any) -> str:
        """Return the excerpt of a text."""
        return shorten_text(value)


def annotate_excerpt(rows: QuerySet[M, M]) -> QuerySet[M, M]:
    """Return the rows annotated with `excerpt`, the beginning of their text for `ExcerptField`."""
    annotated: QuerySet[Any, Any] = rows.annotate(excerpt=select_beginning("text"))
    return annotated
