"""Headings and cells of result tables on pages come from one declaration."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.template import Context, Template

from evaluation.runs.run_types.data_sheets import HEADINGS, find_column_description

TEMPLATES = Path(__file__).resolve().parents[4] / "templates"
TAG = re.compile(r"""{% heading "(\w+)"(?: "([\w-]+)")? %}""")
TABLE = re.compile(r"""{% result_table \S+ "([\w ]+)"(?: table="([\w-]+)")?""")


def render(source, **context):
    """Return what a template with the tags gives."""
    return Template("{% load result_tables %}" + source).render(Context(context))


def used_headings():
    """Yield (table, column) of each heading that a template names; "" for no table."""
    for path in TEMPLATES.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for column, table in TAG.findall(text):
            yield table, column
        for columns, table in TABLE.findall(text):
            for column in columns.split():
                yield table, column


def test_a_heading_has_the_standard_term_and_its_description_as_tooltip():
    made = render('{% heading "auroc" %}')
    assert made.startswith('<th scope="col" class="cg-number" title="How often')
    assert made.endswith(">AUROC</th>")


def test_a_table_may_have_a_heading_of_its_own_for_a_column():
    assert ">Questions</th>" in render('{% heading "n" %}')
    assert ">Answers</th>" in render('{% heading "n" "positions" %}')


def test_a_column_without_a_heading_is_an_error():
    with pytest.raises(KeyError):
        render('{% heading "no_such_column" %}')


def test_cells_have_the_decimals_of_their_column_and_a_dash_where_a_number_is_missing():
    rows = [
        SimpleNamespace(system="<a>", n=12, precision=0.125, low=0.5, high=2 / 3),
        SimpleNamespace(system="b", n=0, precision=None, low=None, high=None),
    ]
    columns = "system n precision interval"
    made = render(f'{{% result_table rows "{columns}" label="A table" %}}', rows=rows)
    assert 'aria-label="A table"' in made
    assert re.findall("<th scope=.col.[^>]*>([^<]*)<", made) == [
        *("Model", "Questions", "Precision", "95% interval"),
    ]
    # Half of the last decimal is rounded up: .125 is .13.
    assert re.findall("<t[dh](?: scope=.row.)?[^>]*>([^<]*)</t[dh]>", made)[4:] == [
        *("&lt;a&gt;", "12", "0.13", "0.50 to 0.67"),
        *("b", "0", "–", "–"),
    ]


def test_each_heading_of_a_template_is_declared_and_each_declared_one_is_used():
    used = {
        f"{table}.{column}" if f"{table}.{column}" in HEADINGS else column
        for table, column in used_headings()
    }
    assert used == set(HEADINGS)


def test_numbers_on_pages_are_described():
    described = {"position", "max_softmax", "gold_answers", "accuracy", "compared"}
    undescribed = [
        name
        for name, heading in HEADINGS.items()
        if heading.digits is not None
        and not find_column_description(*(name.split(".") if "." in name else ("", name)))
    ]
    # The run type describes these, for its own tables.
    assert set(undescribed) <= described
