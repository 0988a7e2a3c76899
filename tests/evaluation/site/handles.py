"""Handles of a page: its states, the texts of its elements, its notices, and numbers in texts."""

import re
from collections.abc import Iterable
from html.parser import HTMLParser

from django.contrib.messages import get_messages
from django.http import HttpResponse

VOID = {"br", "hr", "img", "input", "link", "meta", "col", "wbr"}
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")


def states(page: str) -> list[str]:
    """Return the values of `data-state` of a page's elements, in their order."""
    return re.findall(r'data-state="([^"]+)"', page)


class _Elements(HTMLParser):
    """Collects the text of each element that has a handle as its id or state."""

    def __init__(self, handle: str) -> None:
        super().__init__()
        self.handle = handle
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = self.handle in (value for name, value in attrs if name in ("id", "data-state"))
        if named:
            self.texts.append("")
        if tag not in VOID:
            self.open.append((tag, named))

    def handle_endtag(self, tag: str) -> None:
        while any(tag == opened for opened, _ in self.open):
            if self.open.pop()[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        if any(named for _, named in self.open):
            self.texts[-1] += data


def element_texts(page: str, handle: str) -> list[str]:
    """Return the texts of the elements whose id or state is the handle; blanks as one."""
    elements = _Elements(handle)
    elements.feed(page)
    return [" ".join(text.split()) for text in elements.texts]


def element_text(page: str, handle: str) -> str:
    """Return the text of the only element whose id or state is the handle."""
    (text,) = element_texts(page, handle)
    return text


def numbers(text: str) -> list[float]:
    """Return the numbers in a text, less those within words such as ids."""
    return [float(number.rstrip(",").replace(",", "")) for number in NUMBER.findall(text)]


def notices(response: HttpResponse) -> list[tuple[str, str]]:
    """Return the level and the text of each message that a response shows or hands on."""
    request = response.wsgi_request  # type: ignore[attr-defined]
    return [(notice.level_tag, str(notice)) for notice in get_messages(request)]


def error_codes(errors: Iterable) -> list[str]:
    """Return the codes of the errors of one field, such as `form.errors.as_data()["name"]`."""
    return [error.code for error in errors]
