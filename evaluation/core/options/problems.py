"""Define the problems of option values: codes with values, without sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Problem:
    """What is wrong with an option: the problem's code, the option's name, and values.

    Attributes
    ----------
    code : what, for programs; `evaluation.core.options.words` has the sentences. The codes of a
        value that is wrong by itself are those of Django and of its REST framework: "invalid" (of
        another type), "invalid_choice", "min_value", "max_value", "max_length", "null".
    option : the option where it shows.
    values : what the sentence tells.
    """

    code: str
    option: str
    values: Mapping[str, Any] = field(default_factory=dict)


def build_problem(code: str, option: str = "", **values: Any) -> Problem:
    """Return the problem of a code, with the values of its sentence as keyword arguments."""
    return Problem(code, option, values)


class OptionError(ValueError):
    """The options of a run cannot be used; `problems` lists the reasons.

    The text is for logs; each interface builds its own sentences.
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
