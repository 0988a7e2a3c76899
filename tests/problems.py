"""What is wrong with a file, as codes, places and values instead of sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from annotations.exchange import InputError, Problem

PLACE = ("file", "line", "column")


def check_problem(problem: Problem, code: str, /, **expected: Any) -> None:
    """Assert the code of a problem, and what is expected of its place and its values."""
    found = {
        name: getattr(problem, name) if name in PLACE else problem.values[name] for name in expected
    }
    assert (problem.code, found) == (code, expected)


def only_problem(error: InputError) -> Problem:
    """Return the one problem of an error."""
    (problem,) = error.problems
    assert error.total == 1, str(error)
    return problem


@contextmanager
def raises_problem(code: str, /, **expected: Any) -> Iterator[None]:
    """Expect an `InputError` of one problem with this code, place and values."""
    with pytest.raises(InputError) as caught:
        yield
    check_problem(only_problem(caught.value), code, **expected)


def faults(error: InputError) -> list[tuple[int | None, str | int | None, str]]:
    """Return the line, the column and the code of each problem of an error."""
    return [(problem.line, problem.column, problem.code) for problem in error.problems]
