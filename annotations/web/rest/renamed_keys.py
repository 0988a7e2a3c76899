"""Renamed JSON keys: for one release, responses have the new and the deprecated old key."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

SerializerT = TypeVar("SerializerT", bound=type[serializers.BaseSerializer[Any]])
AnyField = serializers.Field[Any, Any, Any, Any]


def add_renamed_keys(**new_names: str) -> Callable[[SerializerT], SerializerT]:
    """Return a class decorator that adds a new key for each renamed field of a serializer.

    The keywords are the old names. The new key comes directly before the old one and has the same
    value and description; the schema marks the old key as deprecated. A name without a field is
    skipped, because subclasses may leave a field out.
    """

    def decorate(serializer_class: SerializerT) -> SerializerT:
        """Return the serializer class with the additional fields."""
        get_declared: Any = serializer_class.get_fields  # type: ignore[attr-defined]

        def get_fields(self: Any) -> dict[str, AnyField]:
            """Return the fields by name, with each new name before the old one."""
            fields: dict[str, AnyField] = {}
            for name, field in get_declared(self).items():
                if name in new_names:
                    new = new_names[name]
                    fields[new] = _copy_field(new, field, name)
                fields[name] = field
            return fields

        serializer_class.get_fields = get_fields  # type: ignore[attr-defined]
        return extend_schema_serializer(deprecate_fields=list(new_names))(serializer_class)

    return decorate


def _copy_field(new: str, field: AnyField, old: str) -> AnyField:
    """Return a copy of the serializer field `old` with the name `new` and the same value."""
    copied = copy.deepcopy(field)
    if isinstance(copied, serializers.SerializerMethodField):
        copied.method_name = copied.method_name or f"get_{old}"
    else:
        source = copied.source or old
        # DRF refuses a source that equals the field's own name.
        copied.source = None if source == new else source
    return copied
