import pytest

from annotations import demo
from annotations.exchange.reading.questions import QuestionColumns, read_passages, read_questions
from tests.annotations.exchange.files import check_fault, write, write_jsonl, write_xlsx


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


def test_columns_of_other_names(tmp_path):
    path = write(tmp_path, "id,question\nq1,Why?\n", "q.csv")
    columns = QuestionColumns.parse("question=id,text=question")
    (record,) = read_questions(path, columns).records
    assert (record.question, record.text) == ("q1", "Why?")
    for bad in ("question=text", "worker=w", "question"):
        with pytest.raises(ValueError, match=r"."):
            QuestionColumns.parse(bad)
