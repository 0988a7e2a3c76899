"""One declaration a result table: names, columns, files and rows follow from it."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest

from annotations.exchange import OutputFolder
from evaluation.eloquent.report.results import FINDINGS_TABLES
from evaluation.eloquent.run import findings
from evaluation.maqa.report import TABLES as MAQA_TABLES
from evaluation.maqa.run import result_tables as maqa
from evaluation.maqa.run_type import MAQA
from evaluation.runs.files.metrics import write_result_table
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.flow.stored import ResultTable, StudyTable, list_file_names
from evaluation.runs.run_types.data_sheets import find_column_description
from evaluation.umwp.report.results import TABLES as UMWP_TABLES
from evaluation.umwp.run import result_tables as umwp


class Length(NamedTuple):
    word: str
    length: int


@dataclass
class Share:
    word: str
    share: float | None = None


LENGTHS = StudyTable("lengths", Length, "lengths.csv", lambda words: [(w, len(w)) for w in words])
SHARES = ResultTable("shares", Share)


def test_columns_are_the_fields_of_the_row():
    assert LENGTHS.columns == ("word", "length")
    assert SHARES.columns == ("word", "share")


def test_a_table_that_only_runs_have_is_no_file():
    assert list(list_file_names([SHARES, LENGTHS])) == ["lengths.csv"]


def test_a_table_is_written_with_its_columns(tmp_path):
    with OutputFolder(tmp_path) as folder:
        write_result_table(folder, LENGTHS, LENGTHS.rows(["lake", "sea"]))
    assert (tmp_path / "lengths.csv").read_text().split() == ["word,length", "lake,4", "sea,3"]


def test_rows_of_a_dataclass_are_cells_in_the_order_of_the_columns():
    assert list(SHARES.build_cells([Share("sea", 0.5), Share("lake")])) == [
        ["sea", 0.5],
        ["lake", None],
    ]


def test_metrics_are_written_overall_first(tmp_path):
    table = ResultTable("metrics", MetricRow, "metrics.csv")
    rows = [MetricRow("m", group, "f1", 0.5, None, None, 2, None) for group in ("kind:single", "")]
    with OutputFolder(tmp_path) as folder:
        write_result_table(folder, table, rows)
    lines = (tmp_path / "metrics.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in lines] == ["group", "", "kind:single"]


DECLARED = {
    "maqa": (maqa.STUDY_TABLES, MAQA_TABLES),
    "umwp": (umwp.STORED_TABLES, UMWP_TABLES),
    "eloquent": (findings.STUDY_TABLES, FINDINGS_TABLES),
}


@pytest.mark.parametrize("kind", DECLARED)
def test_every_declared_table_of_a_kind_is_read_once(kind):
    declared, read = DECLARED[kind]
    assert [table.name for table in declared] == list(read)
    files = list(list_file_names(declared))
    assert len(files) == len(set(files))


def test_the_help_of_columns_is_of_columns_that_the_table_has():
    for table in (table for declared, _ in DECLARED.values() for table in declared):
        assert set(table.help) <= set(table.columns), table.name


def test_every_column_of_maqa_has_a_help_text():
    help_of = MAQA.columns
    assert help_of["items.f1"] == maqa.ITEMS.help["f1"]
    for table in maqa.STUDY_TABLES:
        for column in table.columns:
            assert find_column_description(table.name, column, help_of), f"{table.name}.{column}"
