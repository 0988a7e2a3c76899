"""What pages say was measured stands in the evidence."""

from pathlib import Path

import pytest

from evaluation.trust.report import PROVEN

EVIDENCE = Path(__file__).resolve().parents[3] / "platform" / "docs" / "evidence.md"
FIGURES = [figure for proof in PROVEN for figure in proof.figures]


def tables() -> dict[str, list[list[str]]]:
    """The rows of all tables under each heading of the document."""
    found, heading = {}, ""
    for line in EVIDENCE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            found.setdefault(heading, []).append(cells)
    return found


@pytest.mark.parametrize(
    "figure", FIGURES, ids=lambda figure: "-".join((*figure.row, figure.column))
)
def test_a_figure_on_a_page_stands_in_the_evidence(figure):
    rows = tables()[figure.section]
    header = next(row for row in rows if figure.column in row)
    # A section may hold several tables: a row of this one has as many cells as its header.
    same = [row for row in rows if len(row) == len(header)]
    found = [row for row in same if tuple(row[: len(figure.row)]) == figure.row]
    assert len(found) == 1
    assert found[0][header.index(figure.column)] == figure.value


def test_where_it_broke_is_told_too():
    assert {proof.holds for proof in PROVEN} == {"yes", "partly", "no"}
