"""Import the parts of a run type from their dotted names only when they are first used.

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
    """Dataclass field (descriptor) given as an object or by its dotted name, imported on first use.

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
        """Return the part, imported if needed; on the class, the descriptor itself.

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
        """Store the declared object or dotted name, without importing it."""
        declared: object = value
        vars(instance)[self.name] = self.default if declared is self else declared

    def load(self, declared: Any) -> Value:
        """Return a declared object, imported if it is given by its dotted name."""
        found: Value = import_string(declared) if isinstance(declared, str) else declared
        return found

    def names(self, declared: Any) -> Iterator[str]:
        """Yield the dotted name in a declaration, if it is one."""
        if isinstance(declared, str):
            yield declared


class Parts(Part[Value]):
    """Dataclass field of a mapping or tuple whose values are objects or dotted names."""

    def __set__(
        self, instance: object, value: Value | str | tuple[str, ...] | Mapping[str, str]
    ) -> None:
        """Store the declared values or dotted names, without importing them."""
        super().__set__(instance, value)  # type: ignore[arg-type]

    def load(self, declared: Any) -> Value:
        """Return the declared mapping or tuple with all dotted names imported."""
        whole: Any = super().load(declared)
        each = super().load
        if isinstance(whole, Mapping):
            whole = {key: each(one) for key, one in whole.items()}
        else:
            whole = tuple(each(one) for one in whole)
        found: Value = whole
        return found

    def names(self, declared: Any) -> Iterator[str]:
        """Yield the dotted names in a declaration: its own, or those of its values."""
        if isinstance(declared, str):
            yield declared
            return
        for one in declared.values() if isinstance(declared, Mapping) else declared:
            yield from super().names(one)


def has_part(instance: object, name: str) -> bool:
    """Return whether an object declares a non-empty part, without importing it."""
    return bool(vars(instance)[name])


def list_part_names(instance: object) -> dict[str, tuple[str, ...]]:
    """Return the dotted names of the parts that an object declares, by field."""
    return {
        name: tuple(field.names(vars(instance)[name]))
        for name, field in vars(type(instance)).items()
        if isinstance(field, Part)
    }
