"""The forms of a page as a browser reads them: where they go, what they hold, what is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

CONTROLS = ("input", "select", "textarea")
SILENT = ("hidden", "submit", "button", "image", "reset")
TICKED = ("checkbox", "radio")


@dataclass
class Form:
    """A form: `held` is what a browser would send of it, `asked` what somebody fills in.

    `kinds` are the sorts of what is asked, such as "number" or "select".
    """

    method: str
    action: str
    held: dict[str, list[str]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    kinds: dict[str, str] = field(default_factory=dict)
    buttons: set[str] = field(default_factory=set)

    @property
    def names(self) -> set[str]:
        """Everything that it may send."""
        return {*self.held, *self.asked, *self.buttons}


class Page(HTMLParser):
    """The forms of a page, its elements by their ids, and what is marked as wrong."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.ids: dict[str, dict[str, Any]] = {}
        self.said: dict[str, str] = {}
        self.fieldsets: list[dict[str, Any]] = []
        self.wrong: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.focused: list[dict[str, Any]] = []
        self.links: list[str] = []
        self.title = self.alerts = self.text = ""
        self._open: list[tuple[str, dict[str, Any]]] = []
        self._form: Form | None = None
        self._select: tuple[str, bool] = ("", False)
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Note the element."""
        found = {"tag": tag, **{name: value or "" for name, value in attrs}}
        if "id" in found:
            self.ids[found["id"]] = found
            self.said[found["id"]] = ""
        if "autofocus" in found:
            self.focused.append(found)
        if found.get("aria-invalid") == "true":
            sets = [one for _, one in self._open if one["tag"] == "fieldset"]
            self.wrong.append((found, sets[-1] if sets else {}))
        if tag == "a" and self._inside("role", "alert"):
            self.links.append(found.get("href", ""))
        if tag == "form":
            self._form = Form(found.get("method", "get").lower(), found.get("action", ""))
            self.forms.append(self._form)
        elif self._form is not None:
            self._control(tag, found, self._form)
        if tag not in ("input", "br", "hr", "img", "link", "meta", "option"):
            self._open.append((tag, found))

    def handle_endtag(self, tag: str) -> None:
        """Leave the element."""
        if tag == "form":
            self._form = None
        while any(name == tag for name, _ in self._open):
            if self._open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        """Note what is said where."""
        self.text += data
        if self._open and self._open[-1][0] == "title" and not self._inside("tag", "svg"):
            self.title += data
        if self._inside("role", "alert") or self._inside("aria-label", "Messages"):
            self.alerts += data
        for _, one in self._open:
            if "id" in one:
                self.said[one["id"]] = self.said.get(one["id"], "") + data
        if self._open and self._open[-1][0] == "textarea" and self._form is not None:
            held = self._form.held[self._open[-1][1].get("name", "")]
            held[-1] += data if held[-1] else data.removeprefix("\n")

    def _inside(self, name: str, value: str) -> bool:
        return any(one.get(name) == value for _, one in self._open)

    def _control(self, tag: str, found: dict[str, Any], form: Form) -> None:
        name, kind = found.get("name", ""), found.get("type", "text")
        if tag == "option" and self._select[0]:
            name, is_new = self._select
            if "selected" in found or is_new:
                form.held[name] = [found.get("value", "")]
                self._select = (name, False)
        if tag == "button" and name:
            form.buttons.add(name)
        if tag not in CONTROLS or not name or "disabled" in found:
            return
        if kind not in SILENT:
            form.asked.add(name)
            form.kinds[name] = kind if tag == "input" else tag
        if tag == "select":
            self._select = (name, True)
        elif tag == "textarea":
            form.held.setdefault(name, []).append("")
        elif kind in TICKED:
            if "checked" in found:
                form.held.setdefault(name, []).append(found.get("value", "on"))
        elif kind not in ("file", "submit", "button"):
            form.held.setdefault(name, []).append(found.get("value", ""))
