"""Import the parts of a run type from their dotted names at their first use.

A list of run types needs only their names and titles. The parts hold what a run type computes and
shows, and importing the parts of all run types takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar, overload

from django.utils.module_loading import import_string

Value = TypeVar("Value")

_NEEDED: Any = object()


class Part(Generic[Value]):
    """A field of a dataclass, given as an object or by its dotted name.

    The name is imported when the field is first read. `finish` takes the object and the declared
    value, and returns what a reader of the field gets.
    """

    def __init__(
        self, default: Value = _NEEDED, finish: Callable[[Any, Value], Value] | None = None
    ) -> None:
        self.default, self.finish = default, finish

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.read = name, f"_{name}_read"

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        """Return the part, imported; of the class the field itself, which stands for its default.

        Raises ImportError for a name of nothing.
        """
        if instance is None:
            if self.default is _NEEDED:
                raise AttributeError(self.name)  # so that the dataclass asks for a value
            return self
        kept = vars(instance)
        if self.read not in kept:
            value = self.load(kept[self.name])
            kept[self.read] = self.finish(instance, value) if self.finish else value
        found: Value = kept[self.read]
        return found

    def __set__(self, instance: object, value: Value | str) -> None:
        """Keep what was declared."""
        declared: object = value
        vars(instance)[self.name] = self.default if declared is self else declared

    def load(self, declared: Any) -> Value:
        """Return the object that a declaration names."""
        found: Value = import_string(declared) if isinstance(declared, str) else declared
        return found

    def names(self, declared: Any) -> Iterator[str]:
        """Yield the dotted names in a declaration."""
        if isinstance(declared, str):
            yield declared


class Parts(Part[Value]):
    """A mapping or a tuple of values, each given as an object or by its dotted name."""

    def __set__(
        self, instance: object, value: Value | str | tuple[str, ...] | Mapping[str, str]
    ) -> None:
        """Keep what was declared."""
        super().__set__(instance, value)  # type: ignore[arg-type]

    def load(self, declared: Any) -> Value:
        """Return the mapping or tuple with all names imported."""
        whole: Any = super().load(declared)
        each = super().load
        if isinstance(whole, Mapping):
            whole = {key: each(one) for key, one in whole.items()}
        else:
            whole = tuple(each(one) for one in whole)
        found: Value = whole
        return found

    def names(self, declared: Any) -> Iterator[str]:
        """Yield the dotted names in a declaration and in its values."""
        if isinstance(declared, str):
            yield declared
            return
        for one in declared.values() if isinstance(declared, Mapping) else declared:
            yield from super().names(one)


def has_part(instance: object, name: str) -> bool:
    """Return whether a non-empty part is declared, without importing it."""
    return bool(vars(instance)[name])


def list_part_names(instance: object) -> dict[str, tuple[str, ...]]:
    """Return the dotted names of an object's declared parts, by field."""
    return {
        name: tuple(field.names(vars(instance)[name]))
        for name, field in vars(type(instance)).items()
        if isinstance(field, Part)
    }
