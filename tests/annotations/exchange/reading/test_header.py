import pytest

from annotations.exchange import ColumnNames, read_answers, read_model_answers
from annotations.exchange.header import fill_empty_headings
from tests.annotations.exchange.files import (
    check_fault,
    fault,
    only_fault,
    texts,
    write,
    write_jsonl,
    write_xlsx,
)
from tests.problems import check_problem


def test_the_first_column_gets_a_name_where_it_has_none():
    assert fill_empty_headings([" ", "a", "a"]) == ["participant", "a", "a"]
    assert fill_empty_headings(["who", "a"]) == ["who", "a"]
    assert fill_empty_headings([]) == []


def test_header_names_are_trimmed(tmp_path):
    content = " worker , question,answer \nw1,q1,yes\n"
    assert texts(write(tmp_path, content)) == [("w1", "q1", "yes")]


def test_columns_may_stand_in_any_order_and_others_are_kept_aside(tmp_path):
    path = write(tmp_path, "note,answer,time,question,worker\nn1,yes,3,q1,w1\n")
    file = read_answers(path)
    assert file.kept_aside == ("note", "time")
    assert file.records[0].extra == ("n1", "3")
    assert file.get_extra_cells(file.records[0]) == {"note": "n1", "time": "3"}


def test_a_missing_column_lists_what_was_found(tmp_path):
    problem = only_fault(write(tmp_path, "worker,question,reply\nw1,q1,yes\n"))
    found = ", ".join(["worker", "question", "reply"])
    check_problem(problem, "column_missing", line=1, name="answer", found=found)
    assert "--columns answer=NAME" in str(problem)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("Worker", "--columns worker=Worker"),
        ("WORKER", "--columns worker=WORKER"),
        ("Wor ker", "--columns 'worker=Wor ker'"),
    ],
)
def test_a_name_that_differs_by_case_or_space_only_is_suggested(tmp_path, name, option):
    row = write(tmp_path, f"{name},question,answer\nw1,q1,yes\n")
    assert str(only_fault(row)).endswith(option)
    rows = write_xlsx(tmp_path, [name, "question", "answer"], ["w1", "q1", "yes"])
    assert str(only_fault(rows)).endswith(option)
    objects = write_jsonl(tmp_path, {name: "w1", "question": "q1", "answer": "yes"})
    assert str(only_fault(objects)).endswith(option)


def test_all_missing_columns_are_told_at_once(tmp_path):
    assert fault(write(tmp_path, "a,b,c\nw1,q1,yes\n")).total == 3


def test_a_wanted_column_that_stands_there_twice_is_refused(tmp_path):
    path = write(tmp_path, "worker,question,answer,worker\nw1,q1,yes,w2\n")
    check_fault(path, "column_twice", column="worker", first=1, again=4)


def test_columns_that_nobody_wants_may_repeat_or_have_no_name(tmp_path):
    path = write(tmp_path, ",worker,question,answer,x,x,\n0,w1,q1,yes,1,2,\n")
    file = read_answers(path)
    assert file.kept_aside == ("x", "x")
    assert file.records[0].extra == ("1", "2")


def test_given_names_are_used_and_our_own_word_is_kept_aside(tmp_path):
    path = write(tmp_path, "Worker ID,worker,q,text\nw1,boss,q1,yes\n")
    columns = ColumnNames.parse("worker=Worker ID,question=q,answer=text")
    file = read_answers(path, columns)
    assert file.records[0].worker == "w1"
    assert file.kept_aside == ("worker",)


def test_a_given_name_that_is_missing_says_for_what_it_was_given(tmp_path):
    path = write(tmp_path, "worker,question,answer\nw1,q1,yes\n")
    problem = only_fault(path, columns=ColumnNames(worker="Prolific ID"))
    expected = {"name": "Prolific ID", "key": "worker", "suggestion": "worker"}
    check_problem(problem, "column_missing", **expected)
    assert str(problem).endswith("--columns worker=worker")


def test_a_models_file_may_use_the_given_names_or_our_own(tmp_path):
    columns = ColumnNames.parse("worker=w,question=q,answer=a")
    own = write(tmp_path, "model,question,answer\nm,q1,yes\n", "own.csv")
    given = write(tmp_path, "model,q,a,question\nm,q1,yes,other\n", "given.csv")
    for path in (own, given):
        [record] = read_model_answers(path, columns).records
        assert (record.question, record.text) == ("q1", "yes")


def test_a_status_column_is_required_only_if_a_name_was_given(tmp_path):
    path = write(tmp_path, "model,question,answer\nm,q1,yes\n")
    assert read_model_answers(path).n_rows == 1
    problem = only_fault(path, read_model_answers, columns=ColumnNames(status="State"))
    check_problem(problem, "column_missing", name="State", key="status")


def test_parse_keeps_the_defaults_of_what_is_not_named():
    assert ColumnNames.parse("worker=Worker ID") == ColumnNames(worker="Worker ID")


def test_parse_takes_spaces_equal_signs_and_quoted_commas():
    names = ColumnNames.parse('worker = Who is it , "answer=One, two ""three""",question=a=b')
    assert names == ColumnNames("Who is it", "a=b", 'One, two "three"')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected"),
        ("worker", "no '='"),
        ("worker=a,", "no '='"),
        ("worker=a, b", "no '='"),
        ("person=a", "unknown column 'person'"),
        ("worker=a,worker=b", "named twice"),
        ("worker= ", "no name"),
        ("worker=a,question=a", "both named 'a'"),
        ("worker=question", "both named 'question'"),
        ('"worker=a', "quoted"),
        ("worker=a\nquestion=b", "expected"),
    ],
)
def test_parse_refuses_what_it_does_not_understand_and_says_so(text, reason):
    with pytest.raises(ValueError, match=reason):
        ColumnNames.parse(text)


def test_worker_and_model_may_share_a_name_for_they_stand_in_two_files():
    assert ColumnNames.parse("worker=id,model=id").model == "id"
