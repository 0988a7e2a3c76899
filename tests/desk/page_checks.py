"""What is wrong with a page's text and attributes, whichever page it is."""

import re
from html.parser import HTMLParser

from tests.desk.conftest import MARK

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
NOT_READ = {"script", "style", "template", "code", "pre"}
# What people read of an element without opening it.
READ_ATTRIBUTES = {"title", "aria-label", "placeholder", "alt"}
SCRIPTED = re.compile(r"^(x-|@|:|hx-|on)")


class ReadText(HTMLParser):
    """The text of a page that people read; files and code that they copy left aside."""

    def __init__(self):
        super().__init__()
        self.words, self.inside = [], []

    def handle_starttag(self, tag, attrs):
        if tag in NOT_READ:
            self.inside.append(tag)
        self.words += [value or "" for name, value in attrs if name in READ_ATTRIBUTES]

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        if not self.inside:
            self.words.append(data)


def flags_in(page):
    """Return the switches of the command line that a page's text names."""
    read = ReadText()
    read.feed(page)
    return FLAG.findall(" ".join(read.words))


class ScriptedAttributes(HTMLParser):
    """What scripts read: Alpine's and htmx's attributes, handlers, script bodies; styles inside."""

    def __init__(self):
        super().__init__()
        self.scripted, self.inside = [], []
        self.open = ""

    def handle_starttag(self, tag, attrs):
        self.open = tag
        self.scripted += [value or "" for name, value in attrs if SCRIPTED.match(name)]
        self.inside += ["a style" for name, _ in attrs if name == "style"]
        if tag == "style":
            self.inside.append("a style")
        # An element of ours that carries a foreign text never carries Alpine's data.
        if tag == "script" and "src" not in dict(attrs):
            self.inside.append("a script")

    def handle_data(self, data):
        if self.open == "script":
            self.scripted.append(data)


def scripted_faults(page):
    """Yield what the policy of a page refuses, and foreign texts where a script reads them."""
    parser = ScriptedAttributes()
    parser.feed(page)
    yield from (f"{what} inside the page" for what in parser.inside)
    yield from (f"a script reads {value[:80]!r}" for value in parser.scripted if MARK in value)
    if "<script>alert" in page:
        yield "a foreign text is a script"
