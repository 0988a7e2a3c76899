"""The messages above a page: their codes, and the numbers in them."""

import re
from typing import Any


def flashed(page: Any) -> list[str]:
    """Return the codes (`extra_tags`) of the messages that a page showed."""
    return [one.extra_tags for one in page.context["messages"]]


def flashed_numbers(page: Any) -> list[str]:
    """Return the numbers in the messages that a page showed, in their order."""
    return [number for one in page.context["messages"] for number in numbers_in(str(one))]


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text as they are written, such as 1,000 or 0.50."""
    return re.findall(r"\d+(?:[,.]\d+)*", text)
