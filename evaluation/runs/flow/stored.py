"""Store frozen dataclasses as JSON, and read them back with their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic import TypeAdapter


class Stored:
    """Base of dataclasses that are stored as JSON and read back with their types."""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """Return an object from its stored JSON; missing fields get defaults, others are dropped.

        Raises ValueError where a value has another type, or one without a default is missing.
        """
        found: Self = cls._get_adapter().validate_python(dict(stored))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the object as plain values for JSON."""
        written: dict[str, Any] = self._get_adapter().dump_python(self, mode="json")
        return written

    @classmethod
    def _get_adapter(cls) -> TypeAdapter[Any]:
        """Return the class's pydantic adapter, which converts from and to JSON; cached."""
        made: TypeAdapter[Any] | None = cls.__dict__.get("_made")
        if made is None:
            made = TypeAdapter(cls)
            cls._made = made  # type: ignore[attr-defined]
        return made


@dataclass(frozen=True)
class RunSummary(Stored):
    """Base of the summary that a run stores beside its rows; each run type has a subclass.

    Attributes
    ----------
    version : of the class that wrote it; 0 for runs from before it was counted, which are read as
        they are.
    """

    version: int = 0

    def shown_counts(self) -> Mapping[str, int]:
        """Return the counts that the run's page shows, by name; none by default."""
        return {}

    def asked_models(self) -> Sequence[Any]:
        """Return each asked model's usage, by step; empty if no model was asked."""
        return ()
