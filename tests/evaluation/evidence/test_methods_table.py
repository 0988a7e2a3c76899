import numpy as np
import pytest

from annotations.exchange import OutputFolder
from evaluation.evidence.baselines import Crowd, Method, UnavailableError
from evaluation.evidence.labelled_crowd import Trial, compare_methods, find_best_baselines
from evaluation.evidence.method_comparison import (
    build_method_chart,
    choose_method,
    draw_choosing_half,
    write_choice_table,
)
from evaluation.evidence.tables import write_evidence
from tests.evaluation.commands.crowd import summary_of, table
from tests.evaluation.evidence.baselines.world import corpus

TRUTH = np.arange(8.0)


def trials(n=3):
    of = corpus(["x"] * 8, [1] * 8, np.eye(8))
    crowd = Crowd(of, np.arange(8), np.arange(8))
    return [Trial(crowd, TRUTH) for _ in range(n)]


def giving(name, scores, kind="baseline"):
    return Method(name, lambda crowd: np.array(scores, dtype=float), kind)


def missing(crowd):
    raise UnavailableError("no_such_model")


GOOD = giving("aqer", TRUTH**2, "aqer")
FAIR = giving("f1", [0, 2, 1, 3, 5, 4, 7, 6])
POOR = giving("bleu1", [7, 6, 5, 4, 3, 2, 0, 1])
FLAT = giving("bleu4", [1] * 8)
KEY = giving("reference_answer", TRUTH, "supervised")
ABSENT = Method("judge", missing, core=False)


def test_rows_hold_the_mean_correlation_and_p_against_the_best_baseline():
    rows = {row.method: row for row in compare_methods("s", trials(), [GOOD, FAIR, POOR, KEY])}
    assert rows["aqer"].pearson_mean == pytest.approx(np.corrcoef(TRUTH, TRUTH**2)[0, 1])
    assert rows["aqer"].spearman_mean == pytest.approx(1)
    assert rows["aqer"].pearson_sd == pytest.approx(0)
    assert rows["aqer"].repetitions == 3
    assert find_best_baselines(list(rows.values())) == {"s": "f1"}
    assert rows["f1"].p_value is None
    assert rows["f1"].get_reason("p_value") == "best_baseline"
    assert rows["bleu1"].p_value < 0.05
    assert 0 < rows["reference_answer"].p_value <= 1


def test_a_supervised_method_is_no_baseline_however_good():
    rows = compare_methods("s", trials(), [KEY, GOOD])
    assert find_best_baselines(rows) == {}
    assert {row.get_reason("p_value") for row in rows} == {"no_baseline"}


def test_what_cannot_be_computed_is_a_row_of_nothing_with_its_reason(tmp_path):
    rows = compare_methods("s", trials(), [FAIR, FLAT, ABSENT])
    with OutputFolder(tmp_path / "out") as folder:
        write_evidence(folder, rows, {})
    flat, absent = table(tmp_path / "out/table.csv")[1:]
    for row in (flat, absent):
        assert [row[name] for name in ("pearson_mean", "pearson_sd", "p_value")] == [""] * 3
    reasons = {
        (entry["column"], entry["reason"]): entry["rows"]
        for entry in summary_of(tmp_path / "out")["undefined"]
    }
    assert reasons["pearson_mean", "no_such_model"] == [["s", "judge"]]
    assert reasons["pearson_mean", "no_correlation"] == [["s", "bleu4"]]
    assert reasons["p_value", "best_baseline"] == [["s", "f1"]]
    assert reasons["paper", "published_figure_not_verified"] == [
        ["s", "f1"],
        ["s", "bleu4"],
        ["s", "judge"],
    ]


def test_a_worker_without_a_score_is_left_out_of_the_correlation():
    gap = giving("f1", [np.nan, 1, 2, 3, 4, 5, 7, 6])
    (row,) = compare_methods("s", trials(1), [gap])
    assert row.pearson_mean == pytest.approx(np.corrcoef([1, 2, 3, 4, 5, 7, 6], TRUTH[1:])[0, 1])


def test_halves_are_seeded_and_share_no_question():
    half = draw_choosing_half(87, 0)
    assert half.sum() == 43
    assert (half == draw_choosing_half(87, 0)).all()
    assert (half != draw_choosing_half(87, 1)).any()


def test_the_best_mean_over_settings_is_chosen_and_no_answer_key_is(tmp_path):
    first = compare_methods("10x2", trials(), [GOOD, FAIR, KEY, ABSENT])
    second = compare_methods("5x4", trials(), [GOOD, FAIR, KEY, ABSENT])
    choice = choose_method([*first, *second], [GOOD, FAIR, KEY, ABSENT], ["q1"], 0)
    assert choice.method == "aqer"
    assert set(choice.means) == {"aqer", "f1"}
    with OutputFolder(tmp_path / "out") as folder:
        write_choice_table(folder, choice)
    rows = table(tmp_path / "out/choosing.csv")
    assert [(row["method"], row["chosen"]) for row in rows[:2]] == [("aqer", "yes"), ("f1", "no")]
    assert choice.describe()["chosen"] == "aqer"


def test_the_picture_has_a_row_for_each_method_that_could_be_computed():
    rows = compare_methods("s", trials(), [FAIR, GOOD, ABSENT])
    drawn = build_method_chart("s", rows, "r").build_standalone_svg()
    assert drawn.index("aqer") < drawn.index("f1")  # the best on top
    assert "judge" not in drawn
    assert "Open dots: baselines." in drawn
