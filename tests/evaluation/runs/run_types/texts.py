"""What a test reads out of the texts of a command or a page: places in files, and numbers."""

import re
from typing import NamedTuple

PLACE = re.compile(
    r"(?:(?P<file>[\w.-]+\.\w+)(?:, )?)?(?:[Ll]ine (?P<line>\d+))?(?:, column (?P<column>[^:]+))?: "
)

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


class Place(NamedTuple):
    """A file ("" where it is not named), a line and a column; None where the whole is meant."""

    file: str
    line: int | None
    column: str | None


def places_of(text: str) -> list[Place]:
    """Return the places that a text names, in its order, each before a colon."""
    return [
        Place(found["file"] or "", int(found["line"]) if found["line"] else None, found["column"])
        for found in PLACE.finditer(text)
        if found["file"] or found["line"]
    ]


def numbers_of(text: str) -> list[float]:
    """Return the numbers of a text, in its order."""
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]
