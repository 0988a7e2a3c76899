from contextlib import nullcontext

import pytest
from django.db import connection

from annotations.exchange.importing import answers
from tests.benchmarks import exchange


@pytest.mark.django_db
def test_a_small_case_measures_everything_its_table_shows(monkeypatch):
    monkeypatch.setattr(exchange, "scratch_database", nullcontext)
    before = answers.open_transaction_unless_dry_run
    found = exchange.measure(runs=2, workers=3, questions=4)
    assert answers.open_transaction_unless_dry_run is before
    assert (found.n, found.same_file) == (12, True)
    rows = {row.what: row for row in exchange._rows("small", found)}
    assert rows[exchange.IMPORT].runs == rows[exchange.LOCK].runs == 2
    # The transaction is a part of the import.
    assert rows[exchange.LOCK].median < rows[exchange.IMPORT].median
    assert rows[exchange.BULK].ratio > 0
    # On SQLite also for how long nobody else writes.
    kept_out = rows[exchange.LOCK].claim is not None
    assert kept_out == (connection.vendor == "sqlite")
    assert sum(row.claim is not None for row in rows.values()) == 4 + kept_out
