"""The messages above a page: their codes, and the numbers in them."""

from typing import Any

from tests.numbers import numbers_in


def flashed(page: Any) -> list[str]:
    """Return the codes (`extra_tags`) of the messages that a page showed."""
    return [one.extra_tags for one in page.context["messages"]]


def flashed_numbers(page: Any) -> list[str]:
    """Return the numbers in the messages that a page showed, in their order."""
    return [number for one in page.context["messages"] for number in numbers_in(str(one))]
