"""XLSX workbooks, written in pieces.

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
from annotations.exchange.writing.archive import dated
from annotations.exchange.writing.pipe import Pipe

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


def xlsx_chunks(rows: Rows) -> Iterator[bytes]:
    """A workbook with these rows, the first of which is the header.

    A str is a text, an int or float a number, None and "" an empty cell. Raises `InputError` for
    a text that is too long for a cell and for too many rows. Texts hold no NUL.
    """
    return workbook_chunks({"Sheet1": lambda: rows})


def workbook_chunks(sheets: Mapping[str, Callable[[], Rows]]) -> Iterator[bytes]:
    """A workbook with a sheet of each name, whose rows are read when it is its turn.

    Names are of letters, digits, blanks and dashes; what is beyond 31 characters is left out. Rows
    and errors as `xlsx_chunks`.
    """
    pipe = Pipe()
    names = list(enumerate((name[:LONGEST_NAME] for name in sheets), 1))
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        types = "".join(_SHEET_TYPE.format(number=number) for number, _ in names)
        archive.writestr(dated("[Content_Types].xml"), _TYPES.format(sheets=types))
        archive.writestr(
            dated("_rels/.rels"), _relations({1: ("officeDocument", "xl/workbook.xml")})
        )
        archive.writestr(
            dated("xl/_rels/workbook.xml.rels"),
            _relations({at: ("worksheet", f"worksheets/sheet{at}.xml") for at, _ in names}),
        )
        listed = "".join(_SHEET.format(name=escape(name), number=number) for number, name in names)
        archive.writestr(dated("xl/workbook.xml"), _WORKBOOK.format(sheets=listed))
        for (number, _), rows_of in zip(names, sheets.values(), strict=True):
            sheet = dated(f"xl/worksheets/sheet{number}.xml")
            with archive.open(sheet, "w", force_zip64=True) as part:
                piece, size = [_BEGIN], 0
                for at, row in enumerate(rows_of(), 1):
                    line = _row(at, row)
                    piece.append(line)
                    size += len(line)
                    if size >= PIECE:
                        part.write("".join(piece).encode())
                        piece, size = [], 0
                        if data := pipe.taken():
                            yield data
                part.write("".join([*piece, _END]).encode())
    yield pipe.taken()


def _relations(targets: Mapping[int, tuple[str, str]]) -> str:
    return _RELATIONS.format(
        relations="".join(
            _ONE_RELATION.format(number=number, relation=_RELATION, kind=kind, target=target)
            for number, (kind, target) in targets.items()
        )
    )


def _row(number: int, row: Sequence[object]) -> str:
    if number > LAST_ROW:
        raise InputError.from_code("export", "sheet_full", most=LAST_ROW)
    cells = []
    for cell in row:
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
            text = f'<t xml:space="preserve">{_escaped(cell)}</t>'
            cells.append(f'<c t="inlineStr"><is>{text}</is></c>')
        else:
            cells.append(f"<c><v>{cell!r}</v></c>")
    return f'<row r="{number}">{"".join(cells)}</row>'


def _escaped(text: str) -> str:
    if _SUSPICIOUS.search(text) is None:
        return text
    text = _LOOKS_ESCAPED.sub("_x005F_", text)
    return escape(_UNWRITABLE.sub(lambda found: f"_x{ord(found.group()):04X}_", text))
