"""Each module that opens a table of a user has a table of its columns (`tests.readers`)."""

import re
from importlib import import_module

from tests.conftest import ROOT

# Modules whose columns no table can name.
WITHOUT = {
    # It describes the columns of a batch and skips bad rows, which the import reports.
    "annotations.exchange.reading.mturk_columns",
    # A person says which column is what: tests/annotations/exchange/presets.
    "annotations.exchange.presets.table",
    # The columns are those of the tables that other evaluations write.
    "evaluation.model_overview.commands",
}


def name_module(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_each_module_that_opens_a_table_has_a_table_of_its_columns():
    opening = {
        name_module(path)
        for folder in ("annotations", "evaluation", "platform/crowdgrade")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"(?<!def )\bopen_table\(", path.read_text("utf-8"))
    }
    modules = [import_module(name_module(p)) for p in (ROOT / "tests").rglob("test_columns*.py")]
    readers = [one for module in modules for one in getattr(module, "READERS", {}).values()]
    tables = {one.module for one in readers if one.module}
    assert tables <= opening
    assert opening - tables == WITHOUT
