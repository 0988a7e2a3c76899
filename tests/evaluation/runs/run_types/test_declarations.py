"""The parts of kinds that are declared by their dotted names."""

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from evaluation.core.options import Parameters
from evaluation.models.runs import GRADING
from evaluation.runs.flow.stored import MeasureSource, RunSummary
from evaluation.runs.judging import Judging
from evaluation.runs.run_types import Evaluation, Kind, Page, Start, Study, list_kinds
from evaluation.runs.run_types.kind import LazyField, LazyFields, list_part_names
from tests.features import folder_of

ROOT = Path(__file__).resolve().parents[4]
PARTS = tuple(list_part_names(next(iter(list_kinds().values()))))
CALLED = ("run", "files", "report", "text", "named", "check", "counts")


def layers_of_evaluation():
    """The layers of the package, the lowest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contracts = [one for one in settings["contracts"] if one.get("containers") == ["evaluation"]]
    layers = [{room.strip() for room in one.split("|")} for one in contracts[0]["layers"]]
    return layers[::-1]


def names(kind):
    """The dotted names that a kind declares, those of its commands with them."""
    commands = [one for one in (kind.evaluate, kind.study) if one is not None]
    return [
        name for one in (kind, *commands) for each in list_part_names(one).values() for name in each
    ]


@pytest.fixture(params=list_kinds())
def kind(request):
    return list_kinds()[request.param]


def test_every_dotted_name_of_a_kind_names_a_part_of_its_type(kind):
    assert len(names(kind)) > 1
    for name in PARTS:
        getattr(kind, name)
    assert issubclass(kind.options, Parameters)
    assert issubclass(kind.summary, RunSummary)
    assert isinstance(kind.start, Start)
    assert kind.standing is None or isinstance(kind.standing, Page)
    assert kind.evaluate is None or isinstance(kind.evaluate, Evaluation)
    assert kind.study is None or isinstance(kind.study, Study)
    assert all(callable(command.run) for command in (kind.evaluate, kind.study) if command)
    for each, of in ((kind.pages, Page), (kind.judging, Judging), (kind.views, MeasureSource)):
        assert all(isinstance(one, of) for one in each)
    for each in (kind.tables, kind.charts):
        assert isinstance(each, Mapping)
        assert all(map(callable, each.values()))
    assert all(isinstance(text, str) for text in kind.columns.values())
    assert all(part is None or callable(part) for part in (getattr(kind, one) for one in CALLED))


def test_a_kind_that_asks_models_counts_its_requests_before_it_starts(kind):
    # "Ask models" has a page of its own, which counts them; "judge" asks after it has computed.
    counts = kind.start is not None and kind.start.foreseen is not None
    assert counts == ((kind.asks and not kind.start.address) or kind.name == "judge")


def test_what_a_list_asks_of_a_kind_is_what_its_parts_say(kind):
    assert kind.has_runs == (kind.run is not None)
    assert kind.has_evaluate_command == (kind.evaluate is not None)
    assert kind.has_study_command == (kind.study is not None)
    assert kind.has_measures == bool(kind.views)


# Features above a grading that add tables to its download.
ADDED_TABLES = {"experts", "model_comparison"}


def test_no_kind_names_a_module_above_it(kind):
    layers = layers_of_evaluation()
    room = folder_of(kind.name)[0]
    height = next(place for place, rooms in enumerate(layers) if room in rooms)
    below = set().union(*layers[:height])
    added = ADDED_TABLES if kind.name == GRADING else set()
    assert {name.split(".")[1] for name in names(kind)} <= below | {room} | added
    assert {name.split(".")[0] for name in names(kind)} == {"evaluation"}


@dataclass(frozen=True)
class Box:
    lid: LazyField[type] = LazyField()
    tools: LazyFields[dict] = LazyFields({})
    label: LazyField[str | None] = LazyField(
        None, finish=lambda box, label: f"{label} {box.lid.__name__}"
    )


def test_a_part_is_imported_when_it_is_first_read():
    sys.modules.pop("this", None)
    box = Box("this.d", {"c": "this.c"})
    assert "this" not in sys.modules
    assert list_part_names(box) == {"lid": ("this.d",), "tools": ("this.c",), "label": ()}
    assert isinstance(box.lid, dict)
    assert box.tools == {"c": sys.modules["this"].c}


def test_a_wrong_dotted_name_is_an_error_where_the_part_is_read():
    box = Box("evaluation.runs.run_types.kind.Nothing", ("evaluation.nowhere.at_all",))
    with pytest.raises(ImportError):
        _ = box.lid
    with pytest.raises(ImportError):
        _ = box.tools


def test_a_part_may_be_given_as_it_is_or_left_to_its_default():
    box = Box(int, (len, str))
    assert (box.lid, box.tools, box.label) == (int, (len, str), "None int")
    assert Box(int).tools == {}
    assert replace(box, lid=str).lid is str
    with pytest.raises(TypeError):
        Box()


def test_a_kind_without_options_is_refused():
    with pytest.raises(TypeError):
        Kind(name="none", title="None", words="Has no options.")
