"""Pages speak of what is on them: no switches of the command line."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evaluation.options import SITE
from evaluation.words.catalogue import COMMON
from evaluation.words.message import Message
from evaluation.words.table import Blanks
from tests.desk import test_access as access

circle = access.circle
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
WORDS = Path(__file__).resolve().parents[2] / "evaluation" / "words"
# Says what commands print, and the head of the table of the documents.
OF_TERMINALS = {"console.py", "table.py"}
NOT_READ = {"script", "style", "template", "code", "pre"}
# What people read of an element without opening it.
SAID = {"title", "aria-label", "placeholder", "alt"}


class Read(HTMLParser):
    """The words of a page that people read; files and code that they copy left aside."""

    def __init__(self):
        super().__init__()
        self.words, self.inside = [], []

    def handle_starttag(self, tag, attrs):
        if tag in NOT_READ:
            self.inside.append(tag)
        self.words += [value or "" for name, value in attrs if name in SAID]

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        if not self.inside:
            self.words.append(data)


def flags_in(page):
    read = Read()
    read.feed(page)
    return FLAG.findall(" ".join(read.words))


def test_the_reader_sees_words_and_titles_and_no_code():
    page = "<p title='--one'>a --two-x</p><code>--three</code><style>--x: 1</style>b--four"
    assert flags_in(page) == ["--one", "--two-x"]


@pytest.mark.slow
def test_no_page_says_a_switch_of_the_command_line(circle):
    things, found, seen = circle.of["rana"], {}, 0
    for name, method in access.requests():
        if method != "get" or name.split(":")[0] in access.NAMESPACES_OF_PROGRAMS:
            continue
        for address in access.addresses_of(name, things):
            _, said = access.ask(circle, "rana", "get", name, address)
            if "<html" not in said[:2000]:
                continue
            seen += 1
            if flags := flags_in(said):
                found[address] = flags
    assert found == {}
    assert seen > 40


def test_no_message_of_the_site_says_one():
    for code in COMMON.keys() | SITE.own.keys():
        said = SITE.said(Message(code, Blanks()))
        assert not FLAG.findall(said), (code, said)


def test_no_sentence_that_the_doors_share_says_one():
    # Titles, reasons and faults have no codes with values: all texts of the words are read.
    seen = 0
    for path in sorted(WORDS.glob("*.py")):
        if path.name in OF_TERMINALS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                seen += 1
                assert not FLAG.findall(node.value), (path.name, node.value)
    assert seen > 500
