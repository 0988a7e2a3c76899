"""Graded answers in SemEval's XML, and what strangers may do with XML."""

import re
import zipfile

import pytest

from annotations.exchange.graded import LabelGrades, read_marked_answers, reading, semeval
from tests.problems import raises_problem

BEETLE = """<?xml version="1.0" encoding="UTF-8"?>
<question qtype="Q_EXPLAIN_SPECIFIC" id="WHY1" module="FaultFinding" stype="EVALUATE">
  <questionText>Why is a voltage &lt; 1.5?</questionText>
  <referenceAnswers>
    <referenceAnswer category="BEST" id="answer204" fileID="WHY1_ANS1">They are separated
    </referenceAnswer>
    <referenceAnswer category="GOOD" id="answer205">A gap</referenceAnswer>
  </referenceAnswers>
  <studentAnswers>
    <studentAnswer count="1" answerMatch="answer204" id="FaultFinding-WHY1.sbj3-l1.qa193"
      accuracy="correct">it is separated</studentAnswer>
    <studentAnswer count="2" id="FaultFinding-WHY1.sbj3-l1.qa12" accuracy="contradictory">it is
      connected</studentAnswer>
    <studentAnswer count="1" id="FaultFinding-WHY1.sbjb11-l2.qa7"
      accuracy="partially_correct_incomplete">a gap?</studentAnswer>
  </studentAnswers>
</question>
"""
SCIENTSBANK = """<question id="EM_16b" module="EM"><questionText>How?</questionText>
<studentAnswers><studentAnswer id="EM.16b.230.1" accuracy="correct">so</studentAnswer>
<studentAnswer id="EM.16b.231.1" accuracy="non_domain">dunno</studentAnswer></studentAnswers>
</question>"""
BOMB = """<!DOCTYPE q [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>
<question id="1"><studentAnswer accuracy="correct">&c;</studentAnswer></question>"""
OUTSIDE = """<!DOCTYPE q [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<question id="1"><studentAnswer accuracy="correct">&a;</studentAnswer></question>"""


def written(tmp_path, text, name="q.xml"):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def check_refused(path, code, /, **expected):
    with raises_problem(code, **expected):
        read_marked_answers(path)


def test_students_of_beetle_and_their_first_attempts_stand_in_the_ids(tmp_path):
    found = read_marked_answers(written(tmp_path, BEETLE))
    assert [(one.worker, one.text.split()[0], one.line) for one in found.answers] == [
        ("sbj3", "it", 12),
        ("sbjb11", "a", 14),
    ]
    assert (found.n_repeated, found.asked, found.references) == (
        *(1, {"WHY1": "Why is a voltage < 1.5?"}),
        {"WHY1": "They are separated"},
    )
    # Only correct is worth 1, unless somebody says otherwise.
    assert [one.grade for one in found.compute_grades()] == [0.0, 0.0]
    partly = found.compute_grades(LabelGrades.parse("partially_correct_incomplete=.5"))
    assert [one.grade for one in partly] == [0.0, 0.5]


def test_students_of_scientsbank_are_numbers_of_their_module(tmp_path):
    found = read_marked_answers(written(tmp_path, SCIENTSBANK))
    assert [one.worker for one in found.answers] == ["EM.230", "EM.231"]


def test_ids_that_say_nothing_leave_workers_unknown_and_that_is_told(tmp_path):
    found = read_marked_answers(written(tmp_path, SCIENTSBANK.replace("EM.16b.231.1", "x")))
    assert not found.has_workers
    (note,) = found.notes
    assert re.findall(r"\d+", note) == ["1", "2"]  # one of two ids


def test_a_folder_and_an_archive_of_files_are_read_as_one(tmp_path):
    folder = tmp_path / "three-way"
    written(folder.parent, BEETLE, "three-way/a.xml")
    written(folder.parent, SCIENTSBANK, "three-way/b.xml")
    packed = tmp_path / "three-way.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.xml", "b.xml"):
            archive.write(folder / name, f"deep/{name}")
        archive.writestr("README.txt", "no XML")
    one, other = read_marked_answers(folder), read_marked_answers(packed)
    assert one.answers == other.answers
    assert len(one.answers) == 4
    assert one.sha256 == other.sha256


@pytest.mark.parametrize("text", [BOMB, OUTSIDE])
def test_entities_are_refused_before_they_grow_or_read_a_file(tmp_path, text):
    check_refused(written(tmp_path, text), "xml_declares_entities")


def test_an_archive_that_unpacks_to_more_than_it_may_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 1000)
    packed = tmp_path / "big.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.xml", SCIENTSBANK + " " * 100_000)
    check_refused(packed, "archive_too_large", most=0)


def test_a_file_that_is_larger_or_deeper_than_it_may_be_is_refused(tmp_path, monkeypatch):
    deep = "<a>" * 60 + "</a>" * 60
    check_refused(written(tmp_path, deep), "xml_too_deep", most=50)
    monkeypatch.setattr(semeval, "MOST_BYTES", 100)
    check_refused(written(tmp_path, SCIENTSBANK), "xml_too_large", most=0)


def test_a_text_that_is_too_long_is_told_with_its_line(tmp_path):
    text = SCIENTSBANK.replace("dunno", "x" * 100_001)
    check_refused(written(tmp_path, text), "xml_text_long", file="q.xml", line=3, most=100_000)


def test_what_is_no_such_xml_is_told(tmp_path):
    check_refused(written(tmp_path, "<question id='1'>"), "xml_malformed", line=1)
    check_refused(written(tmp_path, "<a/>"), "no_question_element")
    without_id = SCIENTSBANK.replace(' id="EM_16b"', "")
    check_refused(written(tmp_path, without_id), "question_without_id", line=1, column="id")
    (tmp_path / "empty").mkdir()
    check_refused(tmp_path / "empty", "no_xml_file")
    check_refused(written(tmp_path, "PK", "a.zip"), "archive_unreadable")
    check_refused(tmp_path / "none.xml", "file_missing", path=str(tmp_path / "none.xml"))
