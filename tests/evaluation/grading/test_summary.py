"""Summaries as runs store them, and as runs before the typed ones stored them."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from evaluation.consensus.methods.scale import Ceiling
from evaluation.grading.summary import AqerSummary, Counts, Mover, RankingSummary, read_summary

# Runs of the demo, written by the last version whose summary was a plain dictionary: a plain one,
# one with copies collapsed, capped votes and anchors looked for, one with camps and spelling.
STORED = json.loads((Path(__file__).parent / "stored_summaries.json").read_text())
# What runs with experts' grades and two camps stored beside.
ANCHORED = {
    "asked_for": ["anchors"],
    "excluded_workers": 1,
    "candidates": {
        "two_camps": {"statistic": 5.5, "threshold": 3.0, "rings": True, "reason": None},
        "camps": [6, 14],
        "found": [
            {
                "name": "from_camp_1",
                "correlation_with_expert": 0.9,
                "spearman_with_default": -0.5,
            }
        ],
        "same_as": {"only_camp_1": "from_camp_1"},
        "reason": None,
    },
    "anchors": {"graded": 6, "chosen": "from_camp_1", "reason": None},
    "suggested_anchors": {"count": 2, "reason": None, "responses": [7, 3]},
    "questions_with_camps": [{"question": "q1", "separation": 0.5, "answers": [9, 4]}],
    "compared_with_plain": {"spearman": None, "n": 1, "reason": "no_spread", "movers": []},
}


def without_nothing(found):
    """What is not None, in what is nested too."""
    if isinstance(found, dict):
        return {key: without_nothing(value) for key, value in found.items() if value is not None}
    return [without_nothing(value) for value in found] if isinstance(found, list) else found


@pytest.mark.parametrize("name", list(STORED))
def test_nothing_of_a_stored_summary_is_lost(name):
    stored = STORED[name]
    read = AqerSummary.from_json(stored)
    again = read.as_dict()
    assert read.version == again.pop("version") == 0
    remedies = again["remedies"]
    if remedies:  # what was not asked for had no key
        for key in remedies.keys() - stored["remedies"].keys():
            assert not remedies.pop(key), key
    assert without_nothing(again) == without_nothing(stored)
    assert AqerSummary.from_json(json.loads(json.dumps(read.as_dict()))) == read


def test_a_stored_summary_is_read_with_its_types():
    plain = AqerSummary.from_json(STORED["plain"])
    assert plain.counts == Counts(443, 21, 29, 16, 4, 64)
    assert (plain.iterations, plain.converged, len(plain.trace)) == (8, True, 8)
    assert isinstance(plain.ceiling, Ceiling)
    assert (plain.ceiling.n_workers, plain.ceiling.n_questions) == (8, 16)
    assert plain.map.iterations == tuple(range(9))
    assert plain.remedies is None
    remedied = AqerSummary.from_json(STORED["remedied"]).remedies
    assert [group.collapsed for group in remedied.groups] == [True] * 3
    assert remedied.suggested_anchors.reason == "no_camps"
    first = remedied.compared_with_plain.movers[0]
    assert isinstance(first, Mover)
    assert (first.plain_rank, first.rank, first.change) == (10, 18, -8)


def test_the_choice_of_experts_is_read():
    read = AqerSummary.from_json({"remedies": ANCHORED})
    remedies = read.remedies
    assert remedies.anchors.chosen == "from_camp_1"
    assert remedies.candidates.found == (RankingSummary("from_camp_1", 0.9, -0.5),)
    assert remedies.suggested_anchors.responses == (7, 3)
    written = read.as_dict()["remedies"]
    assert {key: written[key] for key in ANCHORED} == ANCHORED


def test_a_run_without_a_summary_has_an_empty_one():
    empty = read_summary(SimpleNamespace(summary={}))
    assert empty == AqerSummary()
    assert (empty.ceiling.score, empty.alarm_checks, empty.map) == (None, None, None)


def test_what_is_no_summary_is_refused():
    with pytest.raises(ValidationError, match="iterations"):
        AqerSummary.from_json({"iterations": "many"})
