"""What is wrong with options: codes with values, which a door turns into sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes
    ----------
    code : what, for programs; `evaluation.options.words` has the sentences. The codes of a value
        that is wrong by itself are those of Django and of its REST framework: "invalid" (of
        another type), "invalid_choice", "min_value", "max_value", "max_length", "null".
    option : the option where it shows.
    values : what the sentence tells.
    """

    code: str
    option: str
    values: Mapping[str, Any] = field(default_factory=dict)


def problem(code: str, option: str = "", **values: Any) -> Problem:
    """Return a problem with its values by name."""
    return Problem(code, option, values)


class OptionError(ValueError):
    """Options cannot be used as they are; `problems` says why.

    The text is for logs: a door makes its own of the problems.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            "; ".join(
                f"{one.option}: {one.code}"
                + "".join(f", {name}={value}" for name, value in one.values.items())
                for one in self.problems
            )
        )
