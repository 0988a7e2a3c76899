"""Frozen dataclasses that are kept as JSON, and read back with their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class RunSummary(Stored):
    """What a run says of itself beside its rows; each kind of run has a subclass.

    Attributes
    ----------
    version : of the class that wrote it; 0 for runs from before it was counted, which are read as
        they are.
    """

    version: int = 0

    def shown_counts(self) -> Mapping[str, int]:
        """Return what the page of a run shows of what went in, by its name."""
        return {}

    def asked_models(self) -> Sequence[Any]:
        """Return the `Usage` of each model, by step; nothing where none was asked for a study."""
        return ()
