"""Graded answers in tables: our own layout, ASAP's and Powergrading's."""

import pytest

from annotations.exchange import InputError
from annotations.exchange.graded import LabelGrades, read_marked_answers
from tests.problems import check_problem, faults, only_problem

OWN = "worker,question,answer,label\n"


def file(tmp_path, name, text, encoding="utf-8"):
    path = tmp_path / name
    path.write_text(text, encoding=encoding, newline="")
    return path


def refused(path, labels=None, columns=None):
    with pytest.raises(InputError) as caught:
        read_marked_answers(path, columns).compute_grades(labels and LabelGrades.parse(labels))
    return caught.value


def test_labels_are_worth_what_somebody_says_and_numbers_what_they_are(tmp_path):
    path = file(tmp_path, "a.csv", OWN + "w,1,x,Correct\nw,2,y, partial \nv,1,z,0.25\n")
    found = read_marked_answers(path).compute_grades(LabelGrades.parse("correct=1,PARTIAL=.5"))
    assert [one.grade for one in found] == [1.0, 0.5, 0.25]


def test_a_label_without_a_value_is_told_once_with_its_line_and_the_option(tmp_path):
    path = file(tmp_path, "a.csv", OWN + "w,1,x,correct\nw,2,y,odd\nv,1,z,odd\n")
    error = refused(path, "correct=1")
    check_problem(
        only_problem(error),
        "labels_without_value",
        file="a.csv",
        line=3,
        column="grade",
        label="odd",
        n=2,
    )
    assert "--labels correct=1,odd=..." in str(error)


def test_the_lowest_order_is_the_first_attempt_wherever_it_stands(tmp_path):
    text = "worker,question,order,answer,grade\nw,1,9,late,1\nw,1,2,early,0\nv,1,5,only,1\n"
    found = read_marked_answers(file(tmp_path, "a.csv", text))
    assert [one.text for one in found.answers] == ["early", "only"]
    assert found.n_repeated == 1


def test_without_an_order_the_first_row_counts(tmp_path):
    text = "student,item,response,score\nw,1,one,1\nw,1,two,0\n"
    found = read_marked_answers(file(tmp_path, "a.csv", text))
    assert [one.text for one in found.answers] == ["one"]


def test_equal_answers_of_nobody_in_particular_are_all_kept(tmp_path):
    text = "question,answer,grade\n1,same,1\n1,same,1\n"
    assert len(read_marked_answers(file(tmp_path, "a.csv", text)).answers) == 2


def test_answers_without_a_grade_or_a_text_are_left_out_and_counted(tmp_path):
    text = "question,answer,grade\n1,a,1\n1,,1\n1,c,\n2,d,0\n"
    found = read_marked_answers(file(tmp_path, "a.csv", text))
    assert (len(found.answers), found.n_empty, found.n_unmarked) == (2, 1, 1)
    # Without a grade, without a text, and questions with one graded answer only.
    assert [warning.split()[0] for warning in found.warnings] == ["1", "1", "2"]


def test_a_byte_order_mark_and_semicolons_do_no_harm(tmp_path):
    path = file(tmp_path, "a.csv", "Question;Answer;Grade\n1;a;2\n", "utf-8-sig")
    assert read_marked_answers(path).compute_grades()[0].grade == 2.0


def test_odd_headers_are_named_by_their_columns(tmp_path):
    path = file(tmp_path, "a.csv", "Frage,Antwort,Punkte\n1,a,3\n")
    missing = [(problem.code, problem.values["name"]) for problem in refused(path).problems]
    assert ("column_missing", "question") in missing
    columns = {"question": "Frage", "answer": "Antwort", "grade": "Punkte"}
    assert read_marked_answers(path, columns).compute_grades()[0].grade == 3.0


def test_a_short_row_a_missing_question_and_a_missing_worker_are_told_with_their_lines(tmp_path):
    text = OWN + "w,1,x\n,1,y,1\nv,,z,1\nv,2,z,1\n"
    error = refused(file(tmp_path, "a.csv", text))
    assert sorted(faults(error), key=str) == [
        (2, None, "row_too_short"),
        (3, "worker", "graded_worker_missing"),
        (4, "question", "table_question_missing"),
    ]


def test_a_file_without_a_graded_answer_says_so(tmp_path):
    error = refused(file(tmp_path, "a.csv", "question,answer,grade\n1,a,\n"))
    check_problem(only_problem(error), "answers_all_ungraded", n_ungraded=1)


def test_asap_has_the_first_score_for_a_grade_and_bare_quotes_in_its_texts(tmp_path):
    text = (
        "Id\tEssaySet\tScore1\tScore2\tEssayText\n"
        '1\t1\t2\t0\tthey said "rinse\n'
        '2\t1\t0\t3\t"the ""whole"" cell"\n'
        '3\t2\t1\t1\t"one" and "two"\n'
    )
    found = read_marked_answers(file(tmp_path, "train.tsv", text))
    assert found.layout == "asap-sas"
    assert [(one.question, one.grade) for one in found.compute_grades()] == [
        ("1", 2),
        ("1", 0),
        ("2", 1),
    ]
    assert [one.text for one in found.answers] == [
        'they said "rinse',
        'the "whole" cell',
        '"one" and "two"',
    ]
    assert not found.has_workers


def test_powergrading_has_the_mean_of_three_graders_and_leaves_ungraded_questions_out(tmp_path):
    text = "student\tQ#\tanswer\tG1\tG2\tG3\n1\t1\tspeech\t1\t1\t0\n1\t9\tx\t-1\t-1\t-1\n"
    found = read_marked_answers(file(tmp_path, "studentanswers_grades_698.tsv", text))
    assert found.layout == "powergrading"
    assert found.compute_grades()[0].grade == pytest.approx(2 / 3)
    assert (found.answers[0].worker, found.n_unmarked) == ("1", 1)


@pytest.mark.parametrize(
    "text", ["correct", "=1", "correct=x", "correct=nan", "a=1,A=2", '"a=1', "a=1\nb=2"]
)
def test_values_of_labels_that_make_no_sense_are_refused(text):
    with pytest.raises(ValueError, match=r"(?i)label"):
        LabelGrades.parse(text)


def test_a_label_may_hold_a_comma_and_an_equal_sign():
    labels = LabelGrades.parse('"right, but late=.5",a=b=1')
    assert labels.values == {"right, but late": 0.5, "a=b": 1.0}
