"""Write XLSX workbooks in pieces, much faster than openpyxl.

openpyxl takes a minute for what this does in seconds, and refuses control characters; the part of
ISO/IEC 29500 that is needed is small: a text is an inline string, characters that XML does not
hold are written _xHHHH_, and a text that looks like such an escape has its underscore escaped.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

from annotations.exchange.problems import InputError
from annotations.exchange.writing.archive import ByteCollector, make_zip_part

Rows = Iterable[Sequence[object]]

LONGEST_CELL = 32_767
LAST_ROW = 1_048_576
PIECE = 1 << 16

_TYPES = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships'
    '+xml"/><Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.spreadsheetml.sheet.main+xml"/>{sheets}</Types>'
)
_SHEET_TYPE = (
    '<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="application/vnd.'
    'openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
)
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    "{relations}</Relationships>"
)
_ONE_RELATION = '<Relationship Id="rId{number}" Type="{relation}/{kind}" Target="{target}"/>'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_WORKBOOK = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}"><sheets>{{sheets}}</sheets></workbook>'
)
_SHEET = '<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
# Of a sheet's name, by the limits of spreadsheets.
LONGEST_NAME = 31
_BEGIN = (
    f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="{_MAIN}">'
    "<sheetData>"
)
_END = "</sheetData></worksheet>"

_ODD = "\x01-\x1f\ufffe\uffff"
_LOOKS_ESCAPED = re.compile(f"_(?=x[0-9A-Fa-f]{{4}}[_{_ODD}])")
_UNWRITABLE = re.compile(f"[{_ODD}]")
_SUSPICIOUS = re.compile(f"_x|[&<>{_ODD}]")


def write_xlsx(rows: Rows) -> Iterator[bytes]:
    """Yield the bytes of a workbook with one sheet of these rows, the header first.

    A str is a text, an int or float a number, None and "" an empty cell. Raises `InputError` for
    a text that is too long for a cell and for too many rows. Texts hold no NUL.
    """
    return write_workbook({"Sheet1": lambda: rows})


def write_workbook(sheets: Mapping[str, Callable[[], Rows]]) -> Iterator[bytes]:
    """Yield the bytes of a workbook with one sheet per name; rows are built when written.

    Names consist of letters, digits, blanks and dashes, and are cut after 31 characters. Rows and
    errors as in `write_xlsx`.
    """
    pipe = ByteCollector()
    names = list(enumerate((name[:LONGEST_NAME] for name in sheets), 1))
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        types = "".join(_SHEET_TYPE.format(number=number) for number, _ in names)
        archive.writestr(make_zip_part("[Content_Types].xml"), _TYPES.format(sheets=types))
        archive.writestr(
            make_zip_part("_rels/.rels"),
            _build_relations_xml({1: ("officeDocument", "xl/workbook.xml")}),
        )
        archive.writestr(
            make_zip_part("xl/_rels/workbook.xml.rels"),
            _build_relations_xml(
                {
                    position: ("worksheet", f"worksheets/sheet{position}.xml")
                    for position, _ in names
                }
            ),
        )
        listed = "".join(_SHEET.format(name=escape(name), number=number) for number, name in names)
        archive.writestr(make_zip_part("xl/workbook.xml"), _WORKBOOK.format(sheets=listed))
        for (number, _), build_rows in zip(names, sheets.values(), strict=True):
            sheet = make_zip_part(f"xl/worksheets/sheet{number}.xml")
            # The size is unknown in advance: without this, zipfile fails at the end of a part
            # above 2 GiB.
            with archive.open(sheet, "w", force_zip64=True) as part:
                piece, size = [_BEGIN], 0
                for position, row in enumerate(build_rows(), 1):
                    line = _build_row_xml(position, row)
                    piece.append(line)
                    size += len(line)
                    if size >= PIECE:
                        part.write("".join(piece).encode())
                        piece, size = [], 0
                        if data := pipe.take_bytes():
                            yield data
                part.write("".join([*piece, _END]).encode())
    yield pipe.take_bytes()


def _build_relations_xml(targets: Mapping[int, tuple[str, str]]) -> str:
    """Return the XML of a workbook part's relations, from (kind, target) by number."""
    return _RELATIONS.format(
        relations="".join(
            _ONE_RELATION.format(number=number, relation=_RELATION, kind=kind, target=target)
            for number, (kind, target) in targets.items()
        )
    )


def _build_row_xml(number: int, row: Sequence[object]) -> str:
    """Return the XML of a row; `InputError` for too many rows or a too long text."""
    if number > LAST_ROW:
        raise InputError.from_code("export", "sheet_full", most=LAST_ROW)
    cells = []
    for cell in row:
        # An empty cell keeps its place: cells have no references, so they count from the left.
        if cell is None or cell == "":
            cells.append("<c/>")
        elif isinstance(cell, str):
            # Counted as spreadsheets do: a character outside the first plane is two.
            if len(cell) > LONGEST_CELL // 2 and len(cell.encode("utf-16-le")) > 2 * LONGEST_CELL:
                raise InputError.from_code(
                    "export",
                    "sheet_cell_long",
                    number=number,
                    size=len(cell),
                    most=LONGEST_CELL,
                )
            text = f'<t xml:space="preserve">{_escape_xml(cell)}</t>'
            cells.append(f'<c t="inlineStr"><is>{text}</is></c>')
        else:
            cells.append(f"<c><v>{cell!r}</v></c>")
    return f'<row r="{number}">{"".join(cells)}</row>'


def _escape_xml(text: str) -> str:
    """Return a text escaped for XML, with control characters as _xHHHH_."""
    if _SUSPICIOUS.search(text) is None:
        return text
    text = _LOOKS_ESCAPED.sub("_x005F_", text)
    return escape(_UNWRITABLE.sub(lambda found: f"_x{ord(found.group()):04X}_", text))
