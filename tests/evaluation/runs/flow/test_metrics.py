from dataclasses import dataclass

from annotations.exchange import OutputFolder
from evaluation.core.options import Parameters, Whole, declare_option
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.runs.files.metrics import (
    build_study_summary,
    refuse_to_replace_inputs,
    write_metrics,
)
from evaluation.runs.flow.metrics import Exclusions, MetricRow, build_group_name
from tests.problems import raises_problem


@dataclass(frozen=True)
class Options(Parameters):
    draws: int = declare_option(400, Whole(label="Draws", help="How many."))


def test_metrics_are_written_with_the_overall_rows_first(tmp_path):
    rows = [
        MetricRow.from_estimate(
            "b", build_group_name("item", "0,1"), "sum", SampleEstimate(3.0, None, None, 1, "few")
        ),
        MetricRow.from_estimate("b", "", "sum", SampleEstimate(0.5, 0.25, 1.0, 2)),
        MetricRow.from_estimate("a", "", "sum", SampleEstimate(None, None, None, 0, "no_estimate")),
    ]
    with OutputFolder(tmp_path) as folder:
        write_metrics(folder, rows)
    assert (tmp_path / "metrics.csv").read_text() == (
        "system,group,metric,value,low,high,n,reason\n"
        "b,,sum,0.5,0.25,1.0,2,\n"
        "a,,sum,,,,0,no_estimate\n"
        'b,"item:0,1",sum,3.0,,,1,few\n'
    )


def test_exclusions_count_all_and_name_a_thousand():
    left_out = Exclusions()
    assert not left_out
    left_out.add("unknown_item", {"item": "x", "line": 3})
    left_out.add_all("unknown_item", range(1500))
    left_out.add_all("no_replies", ["a", "b"], count=7)
    (unknown, without) = left_out.as_list()
    assert (unknown["reason"], unknown["count"], len(unknown["named"])) == (
        "unknown_item",
        1501,
        1000,
    )
    assert without == {"reason": "no_replies", "count": 7, "named": ["a", "b"]}
    assert (left_out.count("no_replies"), left_out.count("other")) == (7, 0)
    assert left_out


def test_the_summary_says_how_the_numbers_were_made_and_what_was_left_out():
    left_out = Exclusions()
    left_out.add("unknown_item", "x")
    summary = build_study_summary(
        "some-study",
        Options(draws=9),
        {"items": "a" * 64, "replies": "b" * 64},
        {"items": 2},
        left_out,
        made={"embedder": "minilm"},
        more={"systems": ["model"]},
    )
    method, draws, embedder, inputs, version = summary["signature"].split("|")
    assert (method, draws, embedder) == ("some-study", "draws:9", "embedder:minilm")
    assert inputs == f"inputs:{summary['input_hash'][:12]}"
    assert version == f"version:{summary['versions']['crowdgrade']}"
    assert summary["exclusions"] == [{"reason": "unknown_item", "count": 1, "named": ["x"]}]
    assert (summary["counts"], summary["systems"]) == ({"items": 2}, ["model"])
    other = build_study_summary("some-study", Options(draws=9), {"items": "c" * 64}, {}, left_out)
    assert other["input_hash"] != summary["input_hash"]


def test_an_input_is_not_written_over(tmp_path):
    given = tmp_path / "items.csv"
    given.write_text("item\n")
    with raises_problem("file_replaced", file=str(given), output=tmp_path):
        refuse_to_replace_inputs(tmp_path, ["items.csv"], [None, given])
    refuse_to_replace_inputs(tmp_path / "elsewhere", ["items.csv"], [given])
