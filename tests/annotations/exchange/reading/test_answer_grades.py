import pytest

from annotations.exchange import ColumnNames, read_answer_grades
from tests.problems import raises_problem


@pytest.fixture
def written(tmp_path):
    def write(text, name="judgements.csv"):
        file = tmp_path / name
        file.write_text(text)
        return file

    return write


def test_grades_of_several_experts_have_a_mean_each_answer(written):
    file = written("worker,question,grade,expert\nann,q1,4,x\nann,q1,5,y\nben,q1,2.5,x\n")
    found = read_answer_grades(file)
    assert [(r.worker, r.expert, r.grade, r.line) for r in found.records] == [
        ("ann", "x", 4.0, 2),
        ("ann", "y", 5.0, 3),
        ("ben", "x", 2.5, 4),
    ]
    # (4 + 5) / 2
    assert found.compute_mean_grades() == {("ann", "", "q1"): 4.5, ("ben", "", "q1"): 2.5}


def test_a_weight_or_an_expert_under_a_heading_in_capitals_is_not_read_over(written):
    file = written("worker,question,Grade,Expert,Weight\nann,q1,4,x,2\nann,q1,5,y,2\n")
    records = read_answer_grades(file, weighted=True).records
    assert [(r.expert, r.grade, r.weight) for r in records] == [("x", 4.0, 2.0), ("y", 5.0, 2.0)]


@pytest.mark.parametrize("spelling", [str.upper, str.title])
def test_all_headings_may_stand_in_capitals(written, spelling):
    header = spelling("worker,model,question,expert,grade,settles")
    records = read_answer_grades(written(f"{header}\nann,,q1,x,4,1\n,small,q2,y,3,\n")).records
    assert [(r.worker, r.model, r.question, r.settles) for r in records] == [
        ("ann", "", "q1", True),
        ("", "small", "q2", False),
    ]


def test_a_question_s_text_may_stand_beside_its_id_in_a_column_of_the_same_name(written):
    file = written("worker,question,Question,grade\nann,q1,What is it?,4\n")
    [record] = read_answer_grades(file).records
    assert record.question == "q1"


def test_a_column_that_somebody_names_is_spelled_as_they_say(written):
    file = written("ID,id,Question,grade\nann,7,q1,4\n")
    [record] = read_answer_grades(file, ColumnNames(worker="ID")).records
    assert (record.worker, record.question) == ("ann", "q1")
    with raises_problem("column_missing", name="Id", key="question"):
        read_answer_grades(file, ColumnNames(question="Id"))


def test_empty_rows_of_a_spreadsheet_are_read_over(written):
    found = read_answer_grades(written("worker,question,grade\n,,\nann,q1,4\n,,,\n"))
    assert [(r.worker, r.line) for r in found.records] == [("ann", 3)]


def test_answers_of_models_are_graded_beside_those_of_workers(written):
    found = read_answer_grades(written("model,worker,question,grade\nsmall,,q1,3\n,ann,q1,1\n"))
    assert found.compute_mean_grades() == {("", "small", "q1"): 3.0, ("ann", "", "q1"): 1.0}
