import codecs
import hashlib
import os

import pytest

from annotations.exchange import read_answers
from annotations.exchange.reading import decoding
from tests.annotations.exchange.files import HEADER, check_fault, only_fault, texts, write
from tests.problems import raises_problem

CONTENT = HEADER + "w1,q1,Ärger über “cafés”\nw2,q1,naïve\n"
EXPECTED = [("w1", "q1", "Ärger über “cafés”"), ("w2", "q1", "naïve")]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (CONTENT.encode("utf-8"), "utf-8"),
        (CONTENT.encode("utf-8-sig"), "utf-8-sig"),
        (CONTENT.encode("utf-16"), "utf-16"),
        (codecs.BOM_UTF16_BE + CONTENT.encode("utf-16-be"), "utf-16"),
        (CONTENT.encode("utf-16-le"), "utf-16-le"),
        (CONTENT.encode("utf-16-be"), "utf-16-be"),
        (CONTENT.encode("utf-32"), "utf-32"),
        (CONTENT.encode("cp1252"), "cp1252"),
    ],
)
def test_every_accepted_encoding_gives_the_same_text(tmp_path, content, encoding):
    path = write(tmp_path, content)
    assert texts(path) == EXPECTED
    assert read_answers(path).encoding == encoding


def test_windows_1252_is_read_with_a_warning_and_utf8_without(tmp_path):
    [warning] = read_answers(write(tmp_path, CONTENT.encode("cp1252"))).warnings
    assert "cp1252" in warning
    assert warning.startswith("answers.csv")
    assert read_answers(write(tmp_path, CONTENT)).warnings == []


def test_a_capital_with_a_curly_quote_in_windows_1252_is_not_taken_for_utf8(tmp_path):
    # 0xDF 0x94 is good UTF-8 by accident; the others are not.
    path = write(
        tmp_path, (HEADER + "w1,q1,Spaß” für alle, groß\n".replace(", g", " g")).encode("cp1252")
    )
    assert texts(path) == [("w1", "q1", "Spaß” für alle groß")]


def test_utf8_with_one_foreign_byte_is_refused_with_line_and_byte(tmp_path):
    content = (HEADER + "w1,q1,é à ü\n").encode() + b"w2,q1,caf\xe9\n"
    check_fault(write(tmp_path, content), "two_encodings", line=3, column=10, byte="0xE9")


def test_a_byte_that_no_encoding_explains_is_named_with_its_line(tmp_path):
    content = HEADER.encode() + b"w1,q1,caf\xe9\r\nw2,q1,\x81\n"
    check_fault(write(tmp_path, content), "neither_encoding", line=3, column=7, byte="0x81")


def test_a_utf8_mark_forbids_another_reading(tmp_path):
    content = codecs.BOM_UTF8 + HEADER.encode() + b"w1,q1,caf\xe9\n"
    path = write(tmp_path, content)
    check_fault(path, "undecodable", line=2, column=10, byte="0xE9", encoding="UTF-8")


def test_utf16_cut_in_the_middle_of_a_character_is_refused(tmp_path):
    content = CONTENT.encode("utf-16")[:-1]
    check_fault(write(tmp_path, content), "undecodable", encoding="UTF-16")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_a_nul_character_is_named_with_line_and_column(tmp_path, encoding):
    content = (HEADER + "w1,q1,fine é\nw2,q1,bro\0ken\n").encode(encoding)
    check_fault(write(tmp_path, content), "nul_in_text", line=3, column=10)


def test_places_are_right_across_the_border_of_two_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(decoding, "BLOCK", 5)
    content = (HEADER + "w1,q1,é\r\nw2,q1,ü\r\nw3,q1,bro\0ken\n").encode()
    check_fault(write(tmp_path, content), "nul_in_text", line=4, column=10)
    assert texts(write(tmp_path, CONTENT)) == EXPECTED


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.ndjson", "a.xlsx"])
def test_an_empty_file_is_refused(tmp_path, name):
    check_fault(write(tmp_path, "", name), "file_empty")


@pytest.mark.parametrize("content", [codecs.BOM_UTF8, b"\n\n  \n", codecs.BOM_UTF16_LE])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_file_of_nothing_visible_is_empty_too(tmp_path, content, name):
    check_fault(write(tmp_path, content, name), "file_empty")


def test_a_missing_file_is_named_with_its_path(tmp_path):
    check_fault(tmp_path / "none.csv", "file_missing", path=str(tmp_path / "none.csv"))


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "a.csv").mkdir()
    check_fault(tmp_path / "a.csv", "is_folder", path=str(tmp_path / "a.csv"))


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    check_fault(tmp_path / "a.csv", "not_ordinary_file")


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "a\0b.csv"])
def test_a_name_that_no_file_can_have_is_an_input_error(tmp_path, name):
    check_fault(tmp_path / name, "unreadable")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_a_file_without_permission_is_an_input_error(tmp_path, name):
    path = write(tmp_path, HEADER, name)
    path.chmod(0)
    check_fault(path, "unreadable")


def test_an_error_while_reading_is_an_input_error(tmp_path, monkeypatch):
    path = write(tmp_path, CONTENT)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    check_fault(path, "unreadable", place=str(path), cause="Permission denied")


@pytest.mark.parametrize(
    ("magic", "word"),
    [
        (b"PK\x03\x04rest", "zip"),
        (b"%PDF-1.7 rest", "PDF"),
        (b"\x1f\x8b\x08rest", "gzip"),
        (b"\xfd7zXZ\x00rest", "xz"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", ".xls"),
    ],
)
def test_a_file_of_another_kind_is_called_by_its_name(tmp_path, magic, word):
    problem = only_fault(write(tmp_path, magic))
    assert problem.code == "not_text"
    assert word in problem.values["kind"]


def test_a_file_that_changes_between_the_two_readings_is_refused(tmp_path):
    path = write(tmp_path, CONTENT)
    source = decoding.open_text(path)
    path.write_bytes(CONTENT.encode("cp1252"))
    with raises_problem("file_changed"):
        list(source.iterate_lines(""))
    path.write_text(CONTENT + "w3,q1,late\n")
    with raises_problem("file_changed"):
        list(source.iterate_lines(""))


def test_the_hash_is_that_of_the_bytes(tmp_path):
    content = CONTENT.encode("utf-16")
    assert read_answers(write(tmp_path, content)).sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("content", [b"3", b"{"])
def test_a_file_of_one_byte_is_no_utf_16(tmp_path, content):
    text = decoding.open_text(write(tmp_path, content))
    assert (text.encoding, list(text.iterate_lines(""))) == ("utf-8", [content.decode()])
