"""A worker without a script: presses the first form of each page, as the contract says."""

from html.parser import HTMLParser
from typing import ClassVar
from urllib.parse import urljoin

import httpx


class Page(HTMLParser):
    """The first form by POST within main, the code, the words that are seen, and how it ended.

    `outcome` is the code of a page on which nothing can be done, "" for any other page; `errors`
    are the codes of what is wrong with what was sent, `decision` says what was decided of the work,
    and `right` whether the answers of practice were.
    """

    def __init__(self, html):
        super().__init__()
        self.form, self.code, self.words, self.title = None, "", "", ""
        self.outcome, self.errors, self.decision, self.right = "", [], "", []
        self._in_main = self._in_code = self._in_form = self._in_title = False
        self._textarea, self._button = None, None
        self.feed(html)
        self.words = " ".join(self.words.split())

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag == "main":
            self._in_main = True
        if tag == "title":
            self._in_title = True
        if found.get("id") == "completion-code":
            self._in_code = True
        self.outcome = found.get("data-outcome") or self.outcome
        if "data-error" in found:
            self.errors.append(found["data-error"])
        if "data-right" in found:
            self.right.append(found["data-right"] == "yes")
        self.decision = found.get("data-decision") or self.decision
        if not self._in_main:
            return
        if tag == "form" and found.get("method", "").lower() == "post" and self.form is None:
            self.form = {"action": found.get("action", ""), "data": {}, "texts": {}, "hit": False}
            self._in_form = True
        if self._in_form:
            self._field(tag, found)

    def _field(self, tag, found):
        name, form = found.get("name"), self.form
        if tag == "input" and found.get("type") in ("checkbox", "radio"):
            form["data"].setdefault(name, found.get("value", "on"))
        elif tag == "input" and name:
            form["data"][name] = found.get("value", "")
        elif tag == "textarea":
            self._textarea = name
            form["texts"][name] = ""
        elif tag == "button" and not form["hit"]:
            form["hit"] = True
            if name:
                form["data"][name] = found.get("value", "")

    def handle_data(self, data):
        self.words += f" {data}"
        if self._in_title:
            self.title += data
        if self._textarea:
            self.form["texts"][self._textarea] += data
        if self._in_code:
            self.code += data.strip()

    def handle_endtag(self, tag):
        if tag == "textarea":
            self._textarea = None
        elif tag == "form":
            self._in_form = False
        elif tag == "main":
            self._in_main = False
        elif tag == "title":
            self._in_title = False
        self._in_code = False


class Walker:
    """Walks with httpx, as a browser of its own."""

    opened: ClassVar[list] = []

    def __init__(self, link, worker="", answer=None, parameter="PROLIFIC_PID", more=""):
        self.client = httpx.Client(follow_redirects=True, timeout=30)
        self.opened.append(self.client)
        self.answer = answer or (lambda name: f"{worker} says something about it")
        join = "&" if "?" in link else "?"
        self.link = f"{link}{join}{parameter}={worker}{more}" if worker else link
        self.seen = []

    def enter(self):
        return self.look(self.client.get(self.link))

    def look(self, response):
        self.response, self.page = response, Page(response.text)
        self.seen.append(self.page)
        return self.page

    @property
    def address(self):
        return str(self.response.url)

    def get(self, address):
        return self.look(self.client.get(urljoin(self.address, address)))

    def press(self, **changed):
        """Fill the form in and send it; `changed` replaces fields."""
        form = self.page.form
        assert form is not None, f"{self.response.status_code} {self.page.words}"
        data = form["data"] | {name: self.answer(name) for name in form["texts"]} | changed
        address = urljoin(self.address, form["action"]) if form["action"] else self.address
        return self.look(self.client.post(address, data=data))

    def walk(self, most=200):
        """Go to the end; returns the code, "" where nothing more can be done."""
        self.enter()
        for _ in range(most):
            assert self.response.status_code < 500, self.page.words
            if self.page.code or self.page.form is None:
                return self.page.code
            self.press()
        raise AssertionError(f"it has no end: {self.page.words}")

    def until(self, word, most=50):
        """Go on until the address holds a word."""
        for _ in range(most):
            if f"/{word}/" in self.address:
                return self.page
            self.press()
        raise AssertionError(f"never came to {word}: {self.address}")

    @classmethod
    def close_all(cls):
        while cls.opened:
            cls.opened.pop().close()
