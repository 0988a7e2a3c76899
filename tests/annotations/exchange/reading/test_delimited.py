import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.exchange import read_answers
from annotations.exchange.ids import is_blank
from tests.annotations.exchange.files import HEADER, check_fault, fault, texts, write
from tests.problems import faults


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_found_out_from_the_header(tmp_path, delimiter):
    content = HEADER.replace(",", delimiter) + delimiter.join(["w1", "q1", '"a, b; c"']) + "\n"
    assert texts(write(tmp_path, content)) == [("w1", "q1", "a, b; c")]


def test_a_header_name_full_of_commas_does_not_mislead_the_delimiter(tmp_path):
    content = "worker;question;answer;v,w,x,y,z\nw1;q1;yes;no\n"
    assert read_answers(write(tmp_path, content)).kept_aside == ("v,w,x,y,z",)


def test_the_line_sep_of_spreadsheets_is_obeyed_and_counted(tmp_path):
    path = write(tmp_path, "sep=;\r\nworker;question;answer\r\nw1;q1;yes\r\n")
    [record] = read_answers(path).records
    assert (record.text, record.line) == ("yes", 3)


def test_a_tsv_is_parted_by_tabs_only(tmp_path):
    path = write(tmp_path, "worker\tquestion\tanswer\nw1\tq1\ta, b; c\n", "a.TSV")
    assert texts(path) == [("w1", "q1", "a, b; c")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_of_three_ways(tmp_path, end):
    path = write(tmp_path, (HEADER + "w1,q1,yes\nw2,q1,no\n").replace("\n", end))
    assert [(r.text, r.line) for r in read_answers(path).records] == [("yes", 2), ("no", 3)]


def test_a_line_break_in_quotes_belongs_to_the_answer_and_lines_stay_right(tmp_path):
    path = write(tmp_path, HEADER + 'w1,q1,"one\ntwo\r\nthree"\n\n \nw2,q1,next\n')
    assert [(r.text, r.line, r.row) for r in read_answers(path).records] == [
        ("one\ntwo\r\nthree", 2, 0),
        ("next", 7, 1),
    ]


def test_a_header_may_come_after_blank_lines_and_hold_a_line_break(tmp_path):
    path = write(tmp_path, '\n\nworker,question,answer,"two\nlines"\nw1,q1,yes,x\n')
    file = read_answers(path)
    assert file.records[0].line == 5
    assert file.kept_aside == ("two\nlines",)


def test_ragged_rows_are_named_with_both_counts(tmp_path):
    error = fault(write(tmp_path, HEADER + "w1,q1\nw2,q1,yes\nw3,q1,a,b\nlonely\n"))
    found = [(p.line, p.code, p.values["fields"], p.values["width"]) for p in error.problems]
    assert found == [
        (2, "row_too_short", "2 fields", 3),
        (4, "row_too_long", "4 fields", 3),
        (5, "row_too_short", "1 field", 3),
    ]
    assert {p.values["delimiter"] for p in error.problems} == {"comma"}


def test_what_a_long_row_and_a_short_one_need_is_told_apart(tmp_path):
    error = fault(write(tmp_path, HEADER.replace(",", ";") + "w1;q1\nw3;q1;a;b\n"))
    assert [(p.code, p.values["delimiter"]) for p in error.problems] == [
        ("row_too_short", "semicolon"),
        ("row_too_long", "semicolon"),
    ]
    short, long = (problem.remedy for problem in error.problems)
    assert short != long


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("n_delimiters", [1, 2, 4])
def test_rows_of_empty_cells_are_read_over_and_lines_stay_right(tmp_path, delimiter, n_delimiters):
    empty = delimiter * n_delimiters
    content = f'{empty}\n{HEADER}{empty}\nw1,q1,yes\n {empty} \n""{empty}\nw2,q1,\n{empty}\n'
    path = write(tmp_path, content.replace(",", delimiter))
    assert [(r.worker, r.text, r.line) for r in read_answers(path).records] == [
        ("w1", "yes", 4),
        ("w2", "", 7),
    ]


def test_a_file_of_empty_cells_alone_is_empty(tmp_path):
    check_fault(write(tmp_path, ",,\n,,\n"), "file_empty")


def test_an_unclosed_quote_names_the_line_where_the_record_began(tmp_path):
    path = write(tmp_path, HEADER + 'w1,q1,yes\nw2,q1,"open\nw3,q1,no\nw4,q1,no\n')
    check_fault(path, "quote_open", line=3)


def test_an_unclosed_quote_that_meets_another_one_names_its_line(tmp_path):
    path = write(tmp_path, HEADER + 'w1,q1,"open\nw2,q1,"closed"\nw3,q1,no\n')
    check_fault(path, "text_after_quote", line=2)


def test_every_row_with_a_stray_quote_is_told(tmp_path):
    path = write(tmp_path, HEADER + 'w1,q1,"a "b" c"\nw2,q1,fine\nw3,q1,"d "e" f"\n')
    error = fault(path)
    assert faults(error) == [(2, None, "text_after_quote"), (4, None, "text_after_quote")]


def test_an_unclosed_quote_does_not_swallow_a_large_file(tmp_path):
    path = write(tmp_path, HEADER + 'w1,q1,"open\n' + "w2,q1,some words here\n" * 20_000)
    check_fault(path, "cell_too_long", line=2)


def test_a_cell_beyond_the_limit_of_csv_itself_is_our_error_with_its_line(tmp_path):
    path = write(tmp_path, HEADER + f"w1,q1,yes\nw2,q1,{'x' * 200_000}\n")
    check_fault(path, "cell_too_long", file="answers.csv", line=3, most=131_072)


def test_a_header_that_is_no_header_is_an_error_and_no_traceback(tmp_path):
    check_fault(write(tmp_path, "x" * 200_000), "cell_too_long")
    check_fault(write(tmp_path, '"worker,question,answer\nw1,q1,yes\n'), "quote_open")
    broken = '"worker"x,question,answer\nworker,question,answer\nw1,q1,yes\n'
    check_fault(write(tmp_path, broken), "text_after_quote", line=1)


def test_the_limit_of_the_csv_module_is_left_as_it_was(tmp_path):
    before = csv.field_size_limit()
    read_answers(write(tmp_path, HEADER + "w1,q1,yes\n"))
    assert csv.field_size_limit() == before


def test_quotes_inside_an_unquoted_cell_are_letters(tmp_path):
    path = write(tmp_path, HEADER + 'w1,q1,a 5" disk\nw2,q1,"he said ""no"""\n')
    assert [t for _, _, t in texts(path)] == ['a 5" disk', 'he said "no"']


def test_a_unicode_line_separator_is_no_line_end(tmp_path):
    assert texts(write(tmp_path, HEADER + "w1,q1,so\u2028far\x85so\x0bgood\n")) == [
        ("w1", "q1", "so\u2028far\x85so\x0bgood")
    ]


@settings(deadline=None)
@given(
    answers=st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1
    ),
    delimiter=st.sampled_from(",;\t"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_any_text_written_as_csv_comes_back(tmp_path_factory, answers, delimiter, encoding):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(["worker", "question", "answer"])
    writer.writerows([f"w{i}", "q", text] for i, text in enumerate(answers))
    path = tmp_path_factory.mktemp("csv") / "answers.csv"
    path.write_bytes(buffer.getvalue().encode(encoding))
    assert [t for _, _, t in texts(path)] == ["" if is_blank(t) else t for t in answers]
