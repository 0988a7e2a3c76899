"""Tables of a study kept with its run, and read back as they were."""

from contextlib import nullcontext
from dataclasses import dataclass

import pytest

from annotations.exchange.records import AnswerStatus
from evaluation.models import RunData
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.steps import checkpoints
from evaluation.runs.steps.checkpoints import (
    Turn,
    read_rows_of_tables,
    read_table_rows,
    store_table_rows,
)
from tests.annotations import world
from tests.evaluation.runs.steps.test_turn import running

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Said:
    """A reply, as a study has one."""

    item: str
    status: AnswerStatus
    tokens: tuple[int, ...] = ()


@pytest.fixture
def run():
    return running(world.version(world.user("rana")))


def turn_of(run):
    return Turn(run.pk, nullcontext, lambda: None, float("inf"))


def metric(number):
    return MetricRow("small", f"item:{number}", "accuracy", number / 4, None, None, 3, "why")


def test_rows_come_back_with_their_types_in_the_order_of_writing(run, monkeypatch):
    monkeypatch.setattr(checkpoints, "ROWS", 2)
    rows = [metric(number) for number in range(5)]
    assert store_table_rows(turn_of(run), "metrics", MetricRow, iter(rows)) == 5
    assert RunData.objects.filter(run=run).count() == 3
    assert list(read_table_rows(run, "metrics", MetricRow)) == rows
    said = [Said("a", AnswerStatus.REFUSED, (1, 2)), Said("b", AnswerStatus.TEXT)]
    store_table_rows(turn_of(run), "metrics-2", Said, said)
    found = list(read_table_rows(run, "metrics-2", Said))
    assert found == said
    assert found[0].status is AnswerStatus.REFUSED
    assert list(read_table_rows(run, "metrics", MetricRow)) == rows


def test_several_tables_come_back_by_one_query(run, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(checkpoints, "ROWS", 2)
    rows = [metric(number) for number in range(5)]
    said = [Said("a", AnswerStatus.REFUSED, (1, 2))]
    store_table_rows(turn_of(run), "metrics", MetricRow, rows)
    store_table_rows(turn_of(run), "metrics-2", Said, said)
    store_table_rows(turn_of(run), "others", MetricRow, rows)
    with django_assert_num_queries(1):
        found = read_rows_of_tables(run, {"metrics-2": Said, "metrics": MetricRow, "none": Said})
    assert found == {"metrics-2": said, "metrics": rows, "none": []}


def test_a_table_is_kept_in_the_place_of_what_it_was(run):
    store_table_rows(turn_of(run), "metrics", MetricRow, [metric(1), metric(2)])
    store_table_rows(turn_of(run), "metrics", MetricRow, [])
    assert list(read_table_rows(run, "metrics", MetricRow)) == []
    assert RunData.objects.filter(run=run).count() == 1
