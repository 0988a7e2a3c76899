"""The only file of an archive is read as if it had been unpacked first."""

import gzip
import hashlib
import io
import zipfile

import pytest

from annotations.exchange import InputError, read_answers
from annotations.exchange.reading import source
from annotations.exchange.reading.source import make_source, make_stored_source
from tests.annotations.exchange.reading.test_source import TABLE, workbook
from tests.problems import raises_problem

CONTENT = TABLE.encode()
MAC = {"__MACOSX/": b"", "__MACOSX/._answers.csv": b"\0", "folder/": b"", "folder/.DS_Store": b"\0"}


def make_zip(files, method=zipfile.ZIP_DEFLATED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "packed", "inner"),
    [
        # Qualtrics packs an export with its date; macOS adds files of its own.
        (
            "export.zip",
            make_zip({"Study_July 5, 2026_10.15.csv": CONTENT}),
            "Study_July 5, 2026_10.15.csv",
        ),
        ("a.ZIP", make_zip({**MAC, "folder/answers.csv": CONTENT}), "answers.csv"),
        ("stored.zip", make_zip({"a.csv": CONTENT}, zipfile.ZIP_STORED), "a.csv"),
        ("answers.csv.gz", gzip.compress(CONTENT, mtime=0), "answers.csv"),
        ("ANSWERS.CSV.GZ", gzip.compress(CONTENT, mtime=0), "ANSWERS.CSV"),
    ],
    ids=["qualtrics", "macos", "stored", "gzip", "capitals"],
)
def test_an_archive_of_one_table_is_read_as_the_table(tmp_path, name, packed, inner):
    path = tmp_path / name
    path.write_bytes(packed)
    stored = make_stored_source(name, lambda: io.BytesIO(packed), len(packed))
    for file in (read_answers(path), read_answers(stored)):
        assert (file.name, file.sha256) == (inner, hashlib.sha256(CONTENT).hexdigest())
        assert [(r.worker, r.text) for r in file.records] == [("ada", "naïve"), ("ben", "")]


def test_a_workbook_in_an_archive_is_read(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(make_zip({"a.xlsx": workbook(tmp_path / "a.xlsx")}))
    assert [record.text for record in read_answers(path).records] == ["naïve", ""]


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("two.zip", make_zip({"a.csv": CONTENT, "b.csv": CONTENT})),
        ("none.zip", make_zip(MAC)),
        ("page.zip", make_zip({"a.html": CONTENT})),
        ("nested.zip", make_zip({"a.zip": make_zip({"a.csv": CONTENT})})),
        ("no.zip", CONTENT),
        ("unnamed.gz", gzip.compress(CONTENT, mtime=0)),
        ("short.gz", b"\x1f"),
    ],
    ids=["two", "none", "page", "nested", "no-archive", "unnamed", "short"],
)
def test_any_other_archive_is_refused_by_its_ending(tmp_path, name, packed):
    path = tmp_path / name
    path.write_bytes(packed)
    ending = f".{name.partition('.')[2]}"
    with raises_problem("ending_unknown", ending=ending):
        read_answers(path)


def test_an_archive_with_a_password_is_refused_by_its_ending(tmp_path):
    content = bytearray(make_zip({"a.csv": CONTENT}))
    # Bit 0 of the flags, in the header of the file and in the directory at the end.
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    with raises_problem("ending_unknown", ending=".zip"):
        read_answers(path)


@pytest.mark.parametrize("name", ["a.zip", "a.csv.gz"])
def test_a_damaged_archive_is_unreadable(tmp_path, name):
    packed = make_zip({"a.csv": CONTENT}, zipfile.ZIP_STORED)
    packed = bytearray(packed if name == "a.zip" else gzip.compress(CONTENT, mtime=0))
    # A byte of the content: the check sum differs.
    packed[len(packed) // 2 if name == "a.csv.gz" else packed.index(b"ada")] ^= 1
    path = tmp_path / name
    path.write_bytes(packed)
    with raises_problem("unreadable"):
        read_answers(path)


def test_damaged_lzma_and_an_unknown_compression_are_unreadable(tmp_path):
    path = tmp_path / "a.zip"
    packed = bytearray(make_zip({"a.csv": CONTENT}, zipfile.ZIP_LZMA))
    # The compressed bytes end before the directory; the properties come first.
    at = packed.index(b"a.csv") + len(b"a.csv") + 4
    packed[at : at + 5] = b"\xff" * 5
    path.write_bytes(packed)
    with raises_problem("unreadable"):
        read_answers(path)
    packed = bytearray(make_zip({"a.csv": CONTENT}))
    # Method 97 instead of 8, in the header of the file and in the directory.
    packed[8:10] = b"\x61\0"
    directory = packed.index(b"PK\x01\x02")
    packed[directory + 10 : directory + 12] = b"\x61\0"
    path.write_bytes(packed)
    with raises_problem("unreadable"):
        read_answers(path)


def test_a_file_that_is_too_large_unpacked_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "MOST_UNPACKED", len(CONTENT) - 1)
    path = tmp_path / "a.zip"
    path.write_bytes(make_zip({"a.csv": CONTENT}))
    with raises_problem("ending_unknown", ending=".zip"):
        read_answers(path)
    # A gzip file of two parts says the size of the last one only.
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(CONTENT, mtime=0) + gzip.compress(b"x"))
    assert make_source(path).name == "a.csv"
    with pytest.raises(InputError, match="unpack it first"):
        read_answers(path)


def test_a_missing_archive_is_missing(tmp_path):
    with raises_problem("file_missing"):
        read_answers(tmp_path / "a.zip")
