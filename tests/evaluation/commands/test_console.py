import io
import signal

import pytest
from django.core.management.base import CommandError, OutputWrapper

from annotations.exchange import InputError
from evaluation.core.messages.console import (
    ProgressBars,
    build_minimum_type,
    exit_on_signal,
    format_table,
    print_report,
    remove_control_characters,
    report_bad_input,
)


def test_a_table_puts_numbers_to_the_right_and_text_to_the_left():
    assert format_table(("rank", "worker", "grade"), [(1, "Ana", 0.5), (10, "Li", None)]) == (
        "rank  worker  grade\n----  ------  -----\n   1  Ana     0.500\n  10  Li"
    )


def test_a_table_keeps_its_rows_whatever_the_names_hold():
    lines = format_table(
        ("worker",), [("two\nlines",), ("\x1b[31mred",), ("x" * 1000,)]
    ).splitlines()
    assert len(lines) == 5
    assert lines[2:4] == ["two lines", "\N{REPLACEMENT CHARACTER}[31mred"]
    assert lines[4] == "x" * 57 + "..."


def test_an_empty_table_is_its_header():
    assert format_table(("a", "bb"), []) == "a  bb\n-  --"


def test_letters_that_the_stream_lacks_are_spelled_out():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    print_report(OutputWrapper(stream), "Łucja")
    assert raw.getvalue() == b"\\u0141ucja\n"


def test_a_full_disk_behind_the_report_is_no_failure():
    class Full(io.StringIO):
        def write(self, _text):
            raise OSError(28, "No space left on device")

    print_report(OutputWrapper(Full()), "report")


def test_line_breaks_and_letters_are_printable_and_the_rest_is_marked():
    assert remove_control_characters("a\nb\x07ü") == "a\nb\N{REPLACEMENT CHARACTER}ü"


def test_whole_numbers_from_the_lowest_on():
    assert build_minimum_type(2)("2") == 2
    for text in ("1", "2.5", "two", "9" * 5000):
        with pytest.raises(Exception, match=r"less than 2|no whole number"):
            build_minimum_type(2)(text)


def test_what_the_user_can_mend_is_one_message_with_code_2():
    with pytest.raises(CommandError, match="no rows") as caught, report_bad_input():
        raise InputError.single("a.csv", "no rows")
    assert caught.value.returncode == 2
    with pytest.raises(KeyError), report_bad_input():
        raise KeyError("a bug stays a bug")


def test_signals_end_the_block_with_the_code_a_shell_reports_and_are_put_back():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as caught, exit_on_signal():
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.code == 143
    with pytest.raises(SystemExit) as caught, exit_on_signal():
        raise KeyboardInterrupt
    assert caught.value.code == 130
    assert signal.getsignal(signal.SIGTERM) is before


def test_bars_are_silent_where_there_is_no_terminal(capsys):
    with ProgressBars() as bars:
        bars.show("embedding", 1, 2)
        bars.show("intervals", 2, 2)
    assert capsys.readouterr() == ("", "")
