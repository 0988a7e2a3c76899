"""Values that stand for themselves: a sentence filled with them shows what goes where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.words.message import SENTENCE


class Blank(str):
    """A value called by its name in braces, whatever a sentence does with it."""

    def __format__(self, spec: str) -> str:
        return str(self)

    def __mul__(self, other: Any) -> Blank:
        return Blank(f"{self} x {other}")


class Blanks(Mapping[str, Any]):
    """A blank for every name."""

    def __getitem__(self, name: str) -> Blank:
        return Blank(f"{{{name}}}")

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, name: object) -> bool:
        return name != SENTENCE
