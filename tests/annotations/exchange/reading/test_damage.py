"""Whatever the bytes are, reading ends in records or in an InputError, never in a traceback."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.exchange import InputError, read_answers, read_model_answers
from tests.annotations.exchange.files import write, write_xlsx

CSV = b'worker,question,answer,model\nw1,q1,"one, ""two""\n",m\nw2,q1,caf\xc3\xa9,m\n'
JSONL = b'{"worker": "w1", "model": 1.5, "question": "q1", "answer": "caf\\u00e9"}\n' * 2
PIECES = st.sampled_from(
    [b"\0", b'"', b"\n", b"\r", b",", b"\xff\xfe", b"\x81", b"\xe9", b"{", b"[", b"\\ud800", b"<"]
)
CHANGES = st.lists(
    st.tuples(st.integers(0, 20_000), st.integers(0, 20), PIECES | st.binary(max_size=6)),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    folder = tmp_path_factory.mktemp("intact")
    book = write_xlsx(
        folder,
        ["worker", "question", "answer", "model"],
        ["w1", 2.0, "=A1", "m"],
        ["w2", True, "text", "m"],
    )
    return {".csv": CSV, ".tsv": CSV, ".jsonl": JSONL, ".xlsx": book.read_bytes()}


@pytest.mark.medium
@settings(deadline=None, max_examples=150)
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".xlsx"])
@given(changes=CHANGES)
def test_a_damaged_file_gives_records_or_an_input_error(tmp_path_factory, intact, ending, changes):
    content = intact[ending]
    for place, length, piece in changes:
        place %= len(content) + 1
        content = content[:place] + piece + content[place + length :]
    path = write(tmp_path_factory.getbasetemp(), content, f"damaged{ending}")
    for read in (read_answers, read_model_answers):
        with contextlib.suppress(InputError):
            file = read(path)
            assert file.n_rows == len(file.records) + file.n_repeated
