"""The pages of a worker as a program without scripts sees them: a form, its fields, its button."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin

# Fields of a form that hold a text.
TEXTS = frozenset({"text", "hidden", "search", "email", "tel", "url", "number", ""})


@dataclass
class Form:
    """The first form of a page that changes something.

    Attributes
    ----------
    action : where it goes, absolute. fields : names with the values they have on the page, those of
        hidden fields included. texts : names of the textareas, in their order.
    ticks : names with values of the boxes, and of the first of the choices of each name.
    button : name and value of the first button that sends it, None where that has no name.
    attributes : those of the form's tag.
    """

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    ticks: dict[str, str] = field(default_factory=dict)
    button: tuple[str, str] | None = None
    attributes: dict[str, str] = field(default_factory=dict)

    def filled(self, text: str) -> dict[str, str]:
        """Return what is sent by somebody who ticks all, writes `text` everywhere and sends it."""
        sent = {**self.fields, **self.ticks, **dict.fromkeys(self.texts, text)}
        return sent if self.button is None else {**sent, self.button[0]: self.button[1]}


@dataclass
class Page:
    """What a program looks for: the form, and the code that stands at the end."""

    form: Form | None
    code: str


def read_page(html: str, address: str) -> Page:
    """Return the first form with method post inside main, and the text of #completion-code."""
    reader = _Reader(address)
    reader.feed(html)
    reader.close()
    return Page(reader.form, "".join(reader.code).strip())


class _Reader(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self.address = address
        self.form: Form | None = None
        self.code: list[str] = []
        self._in_main = False
        self._in_form = False
        self._sent = False
        self._textarea: str | None = None
        self._code_tag: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if found.get("id") == "completion-code":
            self._code_tag = tag
        if tag == "main":
            self._in_main = True
        elif tag == "form" and self._in_main and self.form is None:
            if found.get("method", "").lower() == "post":
                action = urljoin(self.address, found.get("action", ""))
                self.form, self._in_form = Form(action, attributes=found), True
        elif self._in_form and self.form is not None:
            self._field(self.form, tag, found)

    def _field(self, form: Form, tag: str, found: dict[str, str]) -> None:
        name, kind = found.get("name", ""), found.get("type", "").lower()
        sends = (tag == "button" and kind in {"", "submit"}) or (
            tag == "input" and kind == "submit"
        )
        if sends:
            if not self._sent and name:
                form.button = (name, found.get("value", ""))
            self._sent = True
        elif tag == "textarea" and name:
            form.texts.append(name)
            form.fields[name], self._textarea = "", name
        elif tag == "input" and name and kind in {"checkbox", "radio"}:
            form.ticks.setdefault(name, found.get("value", "on"))
        elif tag == "input" and name and kind in TEXTS:
            form.fields[name] = found.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._code_tag:
            self._code_tag = None
        if tag == "main":
            self._in_main = False
        elif tag == "form":
            self._in_form = False
        elif tag == "textarea":
            self._textarea = None

    def handle_data(self, data: str) -> None:
        if self._code_tag is not None:
            self.code.append(data)
        if self._textarea is not None and self.form is not None:
            self.form.fields[self._textarea] += data
