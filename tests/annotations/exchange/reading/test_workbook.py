import datetime
import re
import threading
import zipfile

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.chart import BarChart
from openpyxl.utils import get_column_letter
from openpyxl.worksheet._reader import WorkSheetParser

from annotations.exchange import read_answers
from annotations.exchange.ids import is_blank
from annotations.exchange.reading import (
    blank_cells,
    bounded_process,
    sheet_parts,
    unpacking,
    workbook,
)
from annotations.exchange.reading.source import make_bytes_source
from tests.annotations.exchange.files import (
    check_fault,
    fault,
    only_fault,
    texts,
    write,
    write_xlsx,
)

HEADER = ["worker", "question", "answer"]
SHEET = "xl/worksheets/sheet1.xml"


def check_too_large(path, bound):
    """Assert that a workbook is larger than is read, and which bound it is beyond."""
    problem = only_fault(path)
    assert problem.code == "workbook_too_large"
    assert bound in problem.values["error"]


def rewrite(path, part, change):
    """The same workbook with one part changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = change(parts[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_the_first_sheet_is_read_and_the_others_are_mentioned(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "yes"])
    book = openpyxl.load_workbook(path)
    book.create_sheet("Other")
    book.save(path)
    file = read_answers(path)
    assert [(r.worker, r.question, r.text, r.line) for r in file.records] == [
        ("w1", "q1", "yes", 2)
    ]
    assert file.encoding is None
    [warning] = file.warnings
    assert re.search(r"answers.xlsx\D*2\D* Sheet\b", warning)


def test_numbers_and_dates_become_text_as_a_person_would_type_them(tmp_path):
    path = write_xlsx(
        tmp_path,
        HEADER,
        [7.0, 1e3, 2.5],
        ["007", 12, True],
        [datetime.datetime(2026, 1, 2, 3, 4, 5), datetime.date(2026, 1, 2), datetime.time(3, 4)],
    )
    rewrite(path, SHEET, lambda xml: xml.replace(b"<v>7</v>", b"<v>7.0</v>"))
    assert texts(path) == [
        ("7", "1000", "2.5"),
        ("007", "12", "TRUE"),
        ("2026-01-02T03:04:05", "2026-01-02", "03:04:00"),
    ]


def test_lines_are_the_rows_of_the_sheet_and_empty_rows_are_skipped(tmp_path):
    path = write_xlsx(tmp_path, [], HEADER, ["w1", "q1", "a"], [], [None, "  "], ["w2", "q1", "a"])
    assert [(r.row, r.line) for r in read_answers(path).records] == [(0, 3), (1, 6)]


def test_short_rows_are_filled_up_and_cells_without_a_header_left_out(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1"], ["w2", "q1", "a", "stray"])
    assert [t for _, _, t in texts(path)] == ["", "a"]
    assert read_answers(path).kept_aside == ()


def test_a_wrong_extent_loses_no_rows(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"], ["w2", "q1", "b"])
    rewrite(path, SHEET, lambda xml: xml.replace(b'ref="A1:C3"', b'ref="A1:B2"'))
    assert len(texts(path)) == 2


def test_a_row_number_beyond_any_sheet_is_refused_quickly(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    rewrite(path, SHEET, lambda xml: xml.replace(b'<row r="2"', b'<row r="99999999999"'))
    check_too_large(path, "1,048,576")


@pytest.mark.parametrize("content", [b"worker,question,answer\n", b"PK\x03\x04 but no more"])
def test_a_file_that_is_no_workbook_is_refused(tmp_path, content):
    code = "workbook_damaged" if content.startswith(b"PK") else "workbook_not_xlsx"
    check_fault(write(tmp_path, content, "a.xlsx"), code)


def test_a_zip_archive_without_a_workbook_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    check_fault(tmp_path / "a.xlsx", "workbook_damaged")


def test_a_truncated_workbook_is_refused(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    path.write_bytes(path.read_bytes()[:-100])
    check_fault(path, "workbook_damaged")


@pytest.mark.parametrize("part", [SHEET, "xl/workbook.xml", "[Content_Types].xml"])
def test_a_workbook_with_a_broken_part_is_refused(tmp_path, part):
    path = rewrite(write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"]), part, lambda xml: xml[:-30])
    check_fault(path, "workbook_damaged")


def test_an_old_or_protected_workbook_is_called_so(tmp_path):
    path = write(tmp_path, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "a.xlsx")
    check_fault(path, "workbook_old_format")


def test_a_workbook_that_would_unpack_to_an_absurd_size_is_refused(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zeros.bin", bytes(70 << 20))
    problem = only_fault(path)
    assert problem.code == "workbook_unpacked_large"
    assert problem.values["n_bytes"] // 1_000_000 == 73


def test_a_workbook_over_the_absolute_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook, "LARGEST", 1000)
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    check_fault(path, "workbook_unpacked_large")


def test_entities_that_blow_up_are_refused(tmp_path):
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    rewrite(path, SHEET, lambda xml: bomb + xml.replace(b">w1<", b">&b;<"))
    check_fault(path, "workbook_damaged")


def with_shared_strings(path, strings):
    """The workbook as spreadsheets write it: a table of strings, cells pointing to it."""
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    entry = b'<Override PartName="/xl/sharedStrings.xml" ContentType="' + kind + b'"/></Types>'
    namespace = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rewrite(path, "[Content_Types].xml", lambda xml: xml.replace(b"</Types>", entry))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", b'<sst xmlns="' + namespace + b'">' + strings)
    inline = b't="inlineStr"><is><t>a</t></is>'
    return rewrite(path, SHEET, lambda xml: xml.replace(inline, b't="s"><v>1</v>'))


def test_shared_strings_are_read_with_all_their_runs(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    strings = b"<si><t>no</t></si><si><r><t>rich </t></r><r><t>text_x000D_</t></r></si></sst>"
    with_shared_strings(path, strings)
    assert texts(path) == [("w1", "q1", "rich text\r")]


@pytest.mark.parametrize("strings", [b"<si><t>no</t></si></sst>", b"<si><t>cut"])
def test_shared_strings_that_lack_what_a_cell_points_to_are_refused(tmp_path, strings):
    path = with_shared_strings(write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"]), strings)
    check_fault(path, "workbook_damaged")


def test_a_formula_without_a_stored_value_is_named_with_its_row(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"], ["w2", "q1", '="b"&"c"'])
    check_fault(path, "formula_without_value", line=3, column="answer")


def test_a_row_of_nothing_but_such_formulas_is_not_skipped(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["=A1", "=A1", "=A1"])
    assert [p.column for p in fault(path).problems] == ["worker", "question", "answer"]


def test_a_formula_with_a_stored_value_is_that_value_even_if_it_is_empty(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "=A1"], ["w2", "q1", "=A2"], ["=A3"])

    def store(xml):
        # With lxml, openpyxl writes an empty element in another form.
        xml = re.sub(rb"<v ?/>", b"<v></v>", xml)
        for cell, formula, value in [
            (b"C2", b"A1", b"yes"),
            (b"C3", b"A2", b""),
            (b"A4", b"A3", b""),
        ]:
            content = b"<f>" + formula + b"</f><v>"
            xml = xml.replace(
                b'<c r="' + cell + b'">' + content,
                b'<c r="' + cell + b'" t="str">' + content + value,
            )
        return xml

    rewrite(path, SHEET, store)
    assert texts(path) == [("w1", "q1", "yes"), ("w2", "q1", "")]


def test_a_formula_in_a_column_nobody_wants_does_not_matter(tmp_path):
    path = write_xlsx(tmp_path, [*HEADER, "x"], ["w1", "q1", "a", "=A1"])
    assert read_answers(path).records[0].extra == ("",)


def test_an_error_value_is_named_with_its_row(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["#N/A", "q1", "a"])
    check_fault(path, "cell_with_error", line=2, column="worker", text="#N/A")


def test_escaped_control_characters_are_restored_and_nul_is_refused(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "one_x000D_\ntwo_x0041_"])
    assert texts(path) == [("w1", "q1", "one\r\ntwo_x0041_")]
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "one_x0000_two"])
    check_fault(path, "nul_in_cell", line=2, column="answer")


def test_a_sheet_without_a_row_is_an_empty_file(tmp_path):
    check_fault(write_xlsx(tmp_path), "file_empty")


@pytest.mark.parametrize(
    ("sheet", "index"),
    [
        *(("", 0), ("answers", 0), (" Notes ", 1), ("1", 0), ("2", 1), ("٣", 2)),
        # The third sheet has a name that is a number: the name goes first.
        *(("2024", 2), ("0", None), ("4", None), ("-1", None), ("Other", None), ("1" * 5000, None)),
    ],
)
def test_a_sheet_is_found_by_its_name_in_any_case_or_by_its_number(sheet, index):
    assert unpacking._find_sheet_index(sheet, ["Answers", "notes", "2024"]) == index
    assert unpacking._find_sheet_index(sheet, []) is None


def test_a_sheet_of_charts_in_front_is_passed_over(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    book = openpyxl.load_workbook(path)
    book.create_chartsheet("Charts", 0).add_chart(BarChart())
    book.save(path)
    assert texts(path) == [("w1", "q1", "a")]


def test_an_answer_beyond_the_limit_is_refused_in_a_workbook_too(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    rewrite(
        path,
        SHEET,
        lambda xml: xml.replace(b"<t>a</t>", b"<t>" + b"a" * 100_001 + b"</t>"),
    )
    check_fault(path, "answer_too_long", line=2, column="answer", size=100_001)


# A workbook cannot hold control characters, and XML turns \r into \n.
WRITABLE = st.characters(
    min_codepoint=32, exclude_characters="\ufffe\uffff", exclude_categories=["Cs", "Cc"]
)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.text(WRITABLE | st.sampled_from("\n\t")).filter(lambda t: not t.startswith(("=", "#"))),
        min_size=1,
        max_size=5,
    )
)
def test_any_text_written_as_a_workbook_comes_back(tmp_path_factory, answers):
    folder = tmp_path_factory.mktemp("xlsx")
    path = write_xlsx(folder, HEADER, *([f"w{i}", "q", text] for i, text in enumerate(answers)))
    assert [t for _, _, t in texts(path)] == ["" if is_blank(t) else t for t in answers]


def elsewhere(monkeypatch):
    """Let a process of its own unpack even small workbooks."""
    monkeypatch.setattr(workbook, "UNPACKED_HERE", -1)


def rows_of_xml(path, rows):
    return rewrite(path, SHEET, lambda xml: xml.replace(b"</sheetData>", rows + b"</sheetData>"))


def test_cells_far_to_the_right_of_the_header_are_not_filled_up_to(tmp_path):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    rows_of_xml(path, b'<row r="3"><c r="A3"><v>2</v></c><c r="ZZZ3"><v>9</v></c></row>')
    with path.open("rb") as opened:
        rows = [row for row in unpacking.unpack_sheet(opened) if hasattr(row, "texts")]
    assert [row.texts for row in rows] == [HEADER, ["w1", "q1", "a"], ["2", "", ""]]


def test_a_header_wider_than_is_read_is_refused(tmp_path):
    names = [*HEADER, *(f"c{n}" for n in range(4_094))]
    path = write_xlsx(tmp_path, [], names, ["w1", "q1", "a"])
    check_too_large(path, "4,096")


def test_a_row_of_more_cells_than_a_sheet_has_is_refused_before_they_are_made(
    tmp_path, monkeypatch
):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    rows_of_xml(path, b'<row r="3">' + b"<c/>" * 16_385 + b"</row>")
    monkeypatch.setattr(unpacking, "_open_worksheets", None)  # whoever calls it finds a damaged one
    check_too_large(path, "16,384")


@pytest.mark.parametrize(
    ("rows", "cells", "refused"), [(1, 16_384, 0), (1, 16_385, 1), (3, 9_000, 0)]
)
def test_cells_of_a_row_are_counted_where_blocks_of_a_part_meet(tmp_path, rows, cells, refused):
    # 100 bytes a cell: 1.6 MB a row, which ends in another block than it began.
    row = b"<x:row >" + b'<x:c r="%090d"/>' % 7 * cells + b"</x:row>"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(SHEET, row * rows)
        part = archive.infolist()[0]
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        try:
            unpacking._refuse_wide_rows(archive, part)
        except unpacking.TooMuchError:
            refused -= 1
    assert refused == 0


def test_more_cells_than_are_read_are_refused_also_where_they_are_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_CELLS", 33)  # a header and ten rows of three
    path = write_xlsx(tmp_path, HEADER, *[["w1", f"q{n}", "a"] for n in range(10)])
    assert len(texts(path)) == 10
    rows_of_xml(path, b'<row r="12"/>')
    check_too_large(path, "33")


def read_cells(monkeypatch):
    """Return a list that grows by each cell that is read."""
    read, parse = [], WorkSheetParser.parse_cell

    def counted(self, element):
        read.append(element.get("r"))
        return parse(self, element)

    monkeypatch.setattr(WorkSheetParser, "parse_cell", counted)
    return read


def rows_in(path):
    with path.open("rb") as opened:
        return [row for row in unpacking.unpack_sheet(opened) if hasattr(row, "texts")]


@pytest.mark.parametrize("to_a_row", [1, 4_000])
def test_blank_cells_are_not_read_one_by_one(tmp_path, monkeypatch, to_a_row):
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    columns = [get_column_letter(n + 1) for n in range(to_a_row)]
    blank = "".join(
        f'<row r="{n}">' + "".join(f'<c r="{one}{n}" s="0"/>' for one in columns) + "</row>"
        for n in range(3, 3 + 200_000 // to_a_row)
    )
    last = 3 + 200_000 // to_a_row
    rows_of_xml(path, f'{blank}<row r="{last}"><c r="A{last}"><v>2</v></c></row>'.encode())
    read = read_cells(monkeypatch)
    found = rows_in(path)
    assert [(row.number, row.texts) for row in found] == [
        (1, HEADER),
        (2, ["w1", "q1", "a"]),
        (last, ["2", "", ""]),
    ]
    # Three rows, of which the first is read once more to find the header.
    assert len(read) <= 4 * len(HEADER)


BLANK = (
    *(b'<c r="B%d"/>', b'<c r="B%d" s="1"></c>', b'<c s="1" r="B%d" />', b""),
    *(b'<c r="B%d" t="e"/>', b'<c r="B%d" t="n"><v>7</v></c>', b'<c r="B%d"><f>1+1</f></c>'),
)


@pytest.mark.parametrize("block", [1 << 20, 7, 64, 301])
@pytest.mark.parametrize("prefix", [b"", b"x:"])
def test_without_blank_cells_the_same_rows_are_read(tmp_path, monkeypatch, block, prefix):
    """Of rows with every kind of second cell, and of empty rows between them."""
    rows = []
    for n in range(2, 30):
        cell = BLANK[n % len(BLANK)]
        middle = cell % n if b"%d" in cell else cell
        first = b'<c r="A%d"><v>%d</v></c>' % (n, n) if n % 3 else b'<c r="A%d" s="1"/>' % n
        rows.append(b'<row r="%d" spans="1:3"> %b%b<c r="C%d"/></row>' % (n, first, middle, n))
    rows.append(b'<row r="31"/><row r="40" ht="9"></row><row r="41"><c r="C41"><v>1</v></c></row>')
    path = write_xlsx(tmp_path, HEADER)
    written = b"".join(rows)
    if prefix:
        written = re.sub(rb"<(/?)(?=[a-z])", rb"<\1x:", written)
        space = b'xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
        rewrite(path, SHEET, lambda xml: xml.replace(b"<worksheet ", b"<worksheet " + space))
    rows_of_xml(path, written)
    expected = rows_in(path)
    monkeypatch.setattr(blank_cells, "MANY", 0)
    monkeypatch.setattr(sheet_parts, "BLOCK", block)
    read = read_cells(monkeypatch)
    assert rows_in(path) == expected
    assert len(expected) > 20
    if block == 1 << 20:
        # Only those of which something may be told.
        assert not [at for at in read if at.startswith("C") and at not in ("C1", "C41")]


def test_a_sheet_whose_cells_do_not_say_their_places_is_read_as_it_is(tmp_path, monkeypatch):
    path = write_xlsx(tmp_path, HEADER)
    rows_of_xml(path, b'<row r="2"><c r="A2" s="1"/><c><v>2</v></c><c><v>3</v></c></row>')
    expected = rows_in(path)
    monkeypatch.setattr(blank_cells, "MANY", 0)
    assert rows_in(path) == expected
    assert expected[-1].texts == ["", "2", "3"]


@pytest.mark.parametrize("tag", [b"<si/>", b"<x:si/>", b"<si ><t/></si>"])
def test_a_table_of_more_texts_than_are_read_is_refused(tmp_path, monkeypatch, tag):
    monkeypatch.setattr(unpacking, "MOST_STRINGS", 40)
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    with_shared_strings(path, tag * 41 + b"</sst>")
    check_too_large(path, "40")


def test_texts_are_counted_once_where_blocks_of_a_part_meet(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("xl/strings.xml", b"<s>" + b"<si/>" * 500_000)
        part = archive.infolist()[0]
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        # 2.5 MB: three blocks of 1 MiB, and tags that lie across their borders.
        assert unpacking.count_matches(archive, part, unpacking.STRING, 10**9) == 500_000


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "iso-8859-1"])
def test_parts_in_another_encoding_hide_nothing(tmp_path, encoding):
    def change(xml):
        text = xml.decode().replace("<?xml version='1.0'?>", "")
        return f"<?xml version='1.0' encoding='{encoding}'?>{text}".encode(encoding)

    path = rewrite(write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"]), SHEET, change)
    check_too_large(path, "UTF-8")


def test_a_process_of_its_own_reads_the_same(tmp_path, monkeypatch):
    rows = [HEADER, [], ["w1", "q1", "one_x000D_\ntwo"], ["w2", "q1", "=A1"], ["w3", "#N/A", "c"]]
    path = write_xlsx(tmp_path, *rows)
    with path.open("rb") as opened:
        here = list(unpacking.unpack_sheet(opened))
        assert here == list(workbook._unpack_in_process(opened, "a.xlsx"))
    assert [row.uncomputed for row in here[1:]] == [[], [], [2], []]
    assert [row.errors for row in here[1:]] == [[], [], [], [1]]


def test_a_process_of_its_own_takes_bytes_from_memory(tmp_path, monkeypatch):
    elsewhere(monkeypatch)
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    given = make_bytes_source("a.xlsx", path.read_bytes())
    assert [r.text for r in read_answers(given).records] == ["a"]


@pytest.mark.long
@pytest.mark.parametrize(("limits", "bound"), [((1, 1 << 32), "1 s"), ((60, 200 << 20), "200 MiB")])
def test_a_workbook_that_asks_for_too_much_ends_alone(tmp_path, monkeypatch, limits, bound):
    elsewhere(monkeypatch)
    monkeypatch.setattr(
        workbook, "compute_unpacking_bounds", lambda size: bounded_process.Bounds(*limits)
    )
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    with_shared_strings(path, b"<si><t>abcdefghijklmnopqrst</t></si>" * 900_000 + b"</sst>")
    check_too_large(path, bound)


def test_more_workbooks_at_once_than_there_are_turns_are_told_to_wait(tmp_path, monkeypatch):
    elsewhere(monkeypatch)
    monkeypatch.setattr(bounded_process, "SECONDS_TO_WAIT", 0.01)
    monkeypatch.setattr(bounded_process, "_turns", threading.BoundedSemaphore(1))
    path = write_xlsx(tmp_path, HEADER, ["w1", "q1", "a"])
    with bounded_process._hold_process_slot("b.xlsx"):
        check_fault(path, "files_busy")
    assert len(texts(path)) == 1


def test_a_reader_that_stops_early_leaves_no_process_and_no_turn(tmp_path, monkeypatch):
    path = write_xlsx(tmp_path, HEADER, *[["w1", f"q{n}", "a" * 500] for n in range(2000)])
    monkeypatch.setattr(bounded_process, "_turns", threading.BoundedSemaphore(1))
    with path.open("rb") as opened:
        rows = workbook._unpack_in_process(opened, "a.xlsx")
        next(rows)
        rows.close()
    assert bounded_process._turns.acquire(timeout=0)
