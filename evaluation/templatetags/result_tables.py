"""Template tags for result tables: headings and cells from one declaration of the columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from django import template
from django.template.defaultfilters import floatformat
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation.runs.run_types.data_sheets import HEADINGS, Heading, find_column_description

register = template.Library()
MISSING = "–"


class Cell(NamedTuple):
    """Text of a table's cell, with its column's heading."""

    heading: Heading
    text: str


@register.simple_tag(name="heading")
def render_heading(column: str, table: str = "") -> SafeString:
    """Return a table's header cell for a column: its heading, with the description as tooltip.

    Raises KeyError for a column without a heading.
    """
    column_heading = _find_heading(table, column)
    number = SafeString(' class="cg-number"') if _is_number(column_heading) else ""
    words = find_column_description(table, column)
    title = format_html(' title="{}"', f"{words[:1].upper()}{words[1:]}.") if words else ""
    return format_html('<th scope="col"{}{}>{}</th>', number, title, column_heading.title)


@register.inclusion_tag("evaluation/result_table.html", name="result_table")
def build_result_table(
    rows: Iterable[Any], columns: str, table: str = "", labelled: str = "", label: str = ""
) -> dict[str, Any]:
    """Return the template context of a table: a heading and a cell for each named column.

    Parameters
    ----------
    rows : objects with the columns as attributes.
    columns : their names, divided by spaces; the first column heads its row.
    table : name of the result table, where its columns have descriptions of their own.
    labelled, label : id of the element that names the table on the page, or its name.
    """
    names = columns.split()
    headings = [_find_heading(table, name) for name in names]
    cells = [
        [Cell(one, _format_cell(row, name, one)) for name, one in zip(names, headings, strict=True)]
        for row in rows
    ]
    return {"names": names, "table": table, "rows": cells, "labelled": labelled, "label": label}


def _find_heading(table: str, column: str) -> Heading:
    """Return the heading that the table declares for a column, else the common one."""
    return HEADINGS.get(f"{table}.{column}") or HEADINGS[column]


def _is_number(heading: Heading) -> bool:
    """Return whether a column's cells are aligned as numbers."""
    return heading.digits is not None and heading.ends is None


def _format_cell(row: Any, column: str, heading: Heading) -> str:
    """Return a cell's text: numbers with the column's decimals, an interval, or a text as it is."""
    if heading.ends is not None:
        digits = heading.digits or 0
        low, high = (_format_number(getattr(row, end), digits) for end in heading.ends)
        return MISSING if MISSING in (low, high) else f"{low} to {high}"
    value = getattr(row, column)
    return _format_number(value, heading.digits) if heading.digits is not None else str(value)


def _format_number(value: float | None, digits: int) -> str:
    """Return a number with this many decimals; a dash for None."""
    return MISSING if value is None else str(floatformat(value, digits))
