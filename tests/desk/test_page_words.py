"""Pages speak of what is on them: no switches of the command line."""

import ast
from pathlib import Path

from evaluation.core.messages.catalogue import COMMON
from evaluation.core.messages.message import Message
from evaluation.core.messages.table import Placeholders
from evaluation.core.options import SITE
from tests.desk.page_checks import FLAG, flags_in

WORDS = Path(__file__).resolve().parents[2] / "evaluation" / "core" / "messages"
OF_FEATURES = ("*/messages.py", "grading/**/*messages.py")
# Says what commands print, and the head of the table of the documents.
OF_TERMINALS = {"console.py", "table.py"}


def test_the_reader_sees_words_and_titles_and_no_code():
    page = "<p title='--one'>a --two-x</p><code>--three</code><style>--x: 1</style>b--four"
    assert flags_in(page) == ["--one", "--two-x"]


def test_no_message_of_the_site_says_one():
    for code in COMMON.keys() | SITE.own.keys():
        said = SITE.format_message(Message(code, Placeholders()))
        assert not FLAG.findall(said), (code, said)


def test_no_sentence_that_the_doors_share_says_one():
    # Titles, reasons and faults have no codes with values: all texts of the words are read.
    seen = 0
    features = [path for glob in OF_FEATURES for path in WORDS.parents[1].glob(glob)]
    for path in sorted([*WORDS.glob("*.py"), *features]):
        if path.name in OF_TERMINALS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                seen += 1
                assert not FLAG.findall(node.value), (path.name, node.value)
    assert seen > 500
