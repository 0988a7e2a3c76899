"""Frozen dataclasses that are kept as JSON, and read back with their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import TypeAdapter


class Stored:
    """A dataclass of plain values, tuples, mappings and other such dataclasses."""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """Read it back: what is missing has its default, what is unknown is left out.

        Raises ValueError where a value has another type, or one without a default is missing.
        """
        found: Self = cls._adapter().validate_python(dict(stored))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        written: dict[str, Any] = self._adapter().dump_python(self, mode="json")
        return written

    @classmethod
    def _adapter(cls) -> TypeAdapter[Any]:
        """Return what reads and writes the class; made once, for it takes milliseconds."""
        made: TypeAdapter[Any] | None = cls.__dict__.get("_made")
        if made is None:
            made = TypeAdapter(cls)
            cls._made = made  # type: ignore[attr-defined]
        return made
