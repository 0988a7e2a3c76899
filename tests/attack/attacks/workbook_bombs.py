"""Small workbooks that unpack to very much."""

from __future__ import annotations

import io
import zipfile
from concurrent.futures import ThreadPoolExecutor

import httpx
import openpyxl

from tests.attack.declaration import Attack, Finding, Scale, exactly
from tests.attack.sending import upload
from tests.attack.site import Site
from tests.attack.watching import visitor

SHEET, STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"


def workbook(part: str, before: bytes, more: bytes) -> bytes:
    """Return a workbook of two answers with `more` put in before a tag of one of its parts."""
    book = openpyxl.Workbook()
    for row in (["worker", "question", "answer"], ["w1", "q0", "a"], ["w2", "q0", "b"]):
        book.active.append(row)
    plain, bomb = io.BytesIO(), io.BytesIO()
    book.save(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            xml = source.read(name)
            out.writestr(name, xml.replace(before, more + before) if name == part else xml)
    return bomb.getvalue()


def wide_rows(rows: int) -> bytes:
    """A cell in the last column of every row: 18,278 cells each where they are filled up."""
    more = b"".join(b'<row r="%d"><c r="ZZZ%d"/></row>' % (n, n) for n in range(4, rows + 4))
    return workbook(SHEET, b"</sheetData>", more)


def empty_texts(texts: int) -> bytes:
    """A table of empty texts."""
    return workbook(STRINGS, b"</sst>", b"<si/>" * texts)


def run(site: Site, scale: Scale) -> list[Finding]:
    """Send eight at once while somebody else looks at pages."""
    bombs = {
        "wide rows": wide_rows(scale.of(2_000, 20_000)),
        "empty texts": empty_texts(4_000_000),
    }
    findings = []
    for name, content in bombs.items():
        with visitor(site) as other, ThreadPoolExecutor(8) as several:
            said = list(several.map(lambda _, it=content: _sent(site, it), range(8)))
        size = f"{len(content) / 1000:,.0f} kB"
        broken = sum(status == 0 or status >= 500 for status in said)
        findings.append(exactly(f"8 files of {size}, {name}: broken answers", broken, 0))
        findings += other.findings(15, f"another visitor's page meanwhile ({name})")
    return findings


def _sent(site: Site, content: bytes) -> int:
    try:
        browser = site.browser("rana", timeout=240)
        return upload(browser, site.people["rana"]["set"], "answers.xlsx", content).status_code
    except httpx.HTTPError:
        return 0


ATTACK = Attack(
    "workbook-bombs", "eight requesters' uploads at once of workbooks that unpack to much", run
)
