import pytest

from annotations import demo
from annotations.exchange.reading.questions import (
    LONGEST_PASSAGE,
    LONGEST_QUESTION,
    QuestionColumns,
    read_passages,
    read_questions,
)
from tests.annotations.exchange.files import check_fault, fault, write, write_jsonl, write_xlsx
from tests.problems import faults


def test_the_demos_files_are_read():
    passages = read_passages(demo.PASSAGES)
    assert [(p.passage, p.title) for p in passages.records] == [
        (p.id, p.title) for p in demo.load_passages()
    ]
    questions = read_questions(demo.QUESTIONS)
    assert [(q.question, q.passage, q.text) for q in questions.records] == [
        (q.id, q.passage, q.text) for q in demo.load_questions()
    ]
    assert {(q.kind, q.choices, q.answerable) for q in questions.records} == {("free", (), None)}


def test_lists_and_truth_values_come_as_json_or_as_cells(tmp_path):
    as_json = write_jsonl(
        tmp_path,
        {
            "question": 7,
            "text": "Which?",
            "choices": ["a", 2],
            "accepted_answers": ["a", ["2", "two"]],
            "answerable": True,
            "source": "book",
        },
        {"question": "8", "text": "Why?", "answerable": None},
        name="q.jsonl",
    )
    first, second = read_questions(as_json).records
    assert (first.question, first.kind, first.choices) == ("7", "choice", ("a", "2"))
    assert first.accepted_answers == ("a", ["2", "two"])
    assert (first.answerable, first.metadata) == (True, {"source": "book"})
    assert (second.kind, second.choices, second.answerable, second.metadata) == (
        "free",
        (),
        None,
        {},
    )
    header = ["id", "text", "choices", "accepted_answers", "answerable"]
    sheet = write_xlsx(tmp_path, header, [7, "Which?", "a | 2", '["a"]', False], name="q.xlsx")
    (record,) = read_questions(sheet).records
    assert (record.question, record.choices, record.accepted_answers, record.answerable) == (
        "7",
        ("a", "2"),
        ("a",),
        False,
    )


def test_a_repeated_question_is_counted_and_another_text_is_an_error(tmp_path):
    rows = "question,text,category\nq1,Why?,a\nq1, Why? ,a\n"
    file = read_questions(write(tmp_path, rows, "q.csv"))
    assert (len(file.records), file.n_rows, file.n_repeated) == (1, 2, 1)
    path = write(tmp_path, rows + "q1,How?,b\n", "q.csv")
    check_fault(
        path,
        "record_differs",
        reader=read_questions,
        file="q.csv",
        line=4,
        key="question",
        name="q1",
        first_line=2,
        what="text, category",
    )


def test_every_bad_row_is_told_with_its_line(tmp_path):
    path = write(
        tmp_path,
        "question,text,kind,choices,accepted_answers,answerable\n"
        ",Why?,,,,\n"
        "q2,,,,,\n"
        "q3,Why?,guess,,,\n"
        "q4,Why?,choice,,,\n"
        "q5,Why?,,,[1,\n"
        "q6,Why?,,,,perhaps\n"
        f"{'q' * 256},Why?,,,,\n",
        "q.csv",
    )
    assert faults(fault(path, read_questions)) == [
        (2, "question", "record_id_missing"),
        (3, "text", "text_missing"),
        (4, "kind", "word_unknown"),
        (5, "choices", "choices_not_allowed"),
        (6, "accepted_answers", "not_text_list"),
        (7, "answerable", "not_boolean"),
        (8, "question", "value_too_long"),
    ]


@pytest.mark.parametrize("letter", ["x", "é", "字", "😀"])
@pytest.mark.parametrize(
    ("reader", "key", "longest"),
    [
        (read_questions, "question", LONGEST_QUESTION),
        (read_passages, "passage", LONGEST_PASSAGE),
    ],
)
def test_a_text_may_have_its_bytes_and_not_one_more(tmp_path, reader, key, longest, letter):
    size = len(letter.encode())
    whole = letter * (longest // size) + "x" * (longest % size)
    (record,) = reader(write_jsonl(tmp_path, {key: "a", "text": whole})).records
    assert record.text == whole
    path = write_jsonl(tmp_path, {key: "a", "text": whole + "x"})
    expected = {"line": 1, "column": "text", "size": longest + 1, "most": longest}
    check_fault(path, "text_too_long", reader=reader, **expected)


def test_columns_of_other_names(tmp_path):
    path = write(tmp_path, "id,question\nq1,Why?\n", "q.csv")
    columns = QuestionColumns.parse("question=id,text=question")
    (record,) = read_questions(path, columns).records
    assert (record.question, record.text) == ("q1", "Why?")
    for bad in ("question=text", "worker=w", "question"):
        with pytest.raises(ValueError, match=r"."):
            QuestionColumns.parse(bad)


def test_a_list_that_is_none_is_told(tmp_path):
    path = write_jsonl(tmp_path, {"id": "q", "text": "Why?", "choices": [["a"]]}, name="q.jsonl")
    check_fault(path, "not_text_list", reader=read_questions, column="choices")
