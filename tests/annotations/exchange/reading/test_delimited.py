import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.exchange import read_answers
from tests.annotations.exchange.files import HEADER, fault, only_fault, texts, write


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_found_out_from_the_header(tmp_path, delimiter):
    content = HEADER.replace(",", delimiter) + delimiter.join(["w1", "q1", '"a, b; c"']) + "\n"
    assert texts(write(tmp_path, content)) == [("w1", "q1", "a, b; c")]


def test_a_header_name_full_of_commas_does_not_mislead_the_delimiter(tmp_path):
    content = "worker;question;answer;a,b,c,d,e\nw1;q1;yes;no\n"
    assert read_answers(write(tmp_path, content)).kept_aside == ("a,b,c,d,e",)


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
    lines = str(error).splitlines()
    assert "line 2: the row has 2 fields, the header has 3" in lines[0]
    assert "line 4: the row has 4 fields, the header has 3" in lines[1]
    assert "line 5: the row has 1 field, the header has 3" in lines[2]
    assert "comma" in lines[0]


def test_what_a_long_row_and_a_short_one_need_is_told_apart(tmp_path):
    error = fault(write(tmp_path, HEADER.replace(",", ";") + "w1;q1\nw3;q1;a;b\n"))
    short, long = (problem.remedy for problem in error.problems)
    assert short.startswith("Check whether the row was cut off: ")
    assert "an empty cell needs its semicolon too" in short
    assert long == "Put quotes around a cell that holds a semicolon or a line break."


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
    assert "empty" in only_fault(write(tmp_path, ",,\n,,\n"))


def test_an_unclosed_quote_names_the_line_where_the_record_began(tmp_path):
    path = write(tmp_path, HEADER + 'w1,q1,yes\nw2,q1,"open\nw3,q1,no\nw4,q1,no\n')
    message = only_fault(path)
    assert "line 3: a quote that opens in this row is not closed" in message


def test_an_unclosed_quote_that_meets_another_one_names_its_line(tmp_path):
    path = write(tmp_path, HEADER + 'w1,q1,"open\nw2,q1,"closed"\nw3,q1,no\n')
    assert "line 2: after a closing quote" in only_fault(path)


def test_every_row_with_a_stray_quote_is_told(tmp_path):
    path = write(tmp_path, HEADER + 'w1,q1,"a "b" c"\nw2,q1,fine\nw3,q1,"d "e" f"\n')
    error = fault(path)
    assert [p.line for p in error.problems] == [2, 4]


def test_an_unclosed_quote_does_not_swallow_a_large_file(tmp_path):
    path = write(tmp_path, HEADER + 'w1,q1,"open\n' + "w2,q1,some words here\n" * 20_000)
    message = only_fault(path)
    assert "line 2: a cell is longer than" in message
    assert "not closed" in message


def test_a_cell_beyond_the_limit_of_csv_itself_is_our_error_with_its_line(tmp_path):
    path = write(tmp_path, HEADER + f"w1,q1,yes\nw2,q1,{'x' * 200_000}\n")
    assert "answers.csv, line 3: a cell is longer than 131,072 characters" in only_fault(path)


def test_a_header_that_is_no_header_is_an_error_and_no_traceback(tmp_path):
    assert "a cell is longer" in only_fault(write(tmp_path, "x" * 200_000))
    assert "not closed" in only_fault(write(tmp_path, '"worker,question,answer\nw1,q1,yes\n'))
    broken = '"worker"x,question,answer\nworker,question,answer\nw1,q1,yes\n'
    assert "line 1: after a closing quote" in only_fault(write(tmp_path, broken))


def test_the_limit_of_the_csv_module_is_left_as_it_was(tmp_path):
    before = csv.field_size_limit()
    read_answers(write(tmp_path, HEADER + "w1,q1,yes\n"))
    assert csv.field_size_limit() == before


def test_quotes_inside_an_unquoted_cell_are_letters(tmp_path):
    path = write(tmp_path, HEADER + 'w1,q1,a 5" disk\nw2,q1,"he said ""no"""\n')
    assert [t for _, _, t in texts(path)] == ['a 5" disk', 'he said "no"']


def test_a_unicode_line_separator_is_no_line_end(tmp_path):
    assert texts(write(tmp_path, HEADER + "w1,q1,a\u2028b\x85c\x0bd\n")) == [
        ("w1", "q1", "a\u2028b\x85c\x0bd")
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
    assert [t for _, _, t in texts(path)] == [t if t.strip() else "" for t in answers]
