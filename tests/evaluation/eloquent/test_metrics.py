"""Systems compared on the same items: paired, over common languages, corrected group by group."""

import numpy as np
import pytest

from evaluation.core.stats.inference.paired import compute_bootstrap_mean_difference
from evaluation.core.stats.inference.significance import CORRECTIONS
from evaluation.eloquent.options import EloquentParameters
from evaluation.eloquent.run.findings import Findings, ItemRow, SetRow
from evaluation.eloquent.run.metrics import (
    build_comparison_rows,
    compare_systems_by_group,
    pair_values_by_item,
)

PARAMETERS = EloquentParameters(bootstrap=200, seed=3)


def set_row(system, item, score, language="en", variation="style", similarity=None):
    return SetRow(
        *(system, item, language, variation, 2, 2, 0, score, None, 1, 1, None),
        *(similarity, similarity, 2, None, None),
    )


def item_row(system, item, language_range=None, across=None):
    return ItemRow(
        *(item, system, "style", 2, 4, 4, 0, 3.0, 6.0, 2, None, None, None, None),
        *(across, language_range, None),
    )


def findings(sets, items=()):
    systems = tuple(dict.fromkeys(row.system for row in sets))
    return Findings(systems, tuple(sets), tuple(items), (), (), (), (), (), ())


def world(scores, **more):
    """A set for each number, items counted from 0; a row of numbers a system."""
    return [
        set_row(system, f"{at}", score, **more)
        for system, row in scores.items()
        for at, score in enumerate(row)
    ]


A, B = (4, 5, 3, 4, 5, 4), (2, 3, 3, 1, 4, 2)


def test_two_systems_are_compared_on_items_as_models_by_crowd_scores():
    (whole,) = compare_systems_by_group(findings(world({"a": A, "b": B})), PARAMETERS)
    (pair,) = whole.comparisons
    # Differences 2 2 0 3 1 2: their mean 10 / 6.
    assert (pair.model_a, pair.model_b, pair.n) == ("a", "b", 6)
    assert pair.difference == pytest.approx(10 / 6)
    # Five items differ, all to one side: 2 of 32 patterns of signs are as far apart.
    assert pair.p_value == pytest.approx(2 / 32)
    expected = compute_bootstrap_mean_difference(A, B, range(6), n_draws=200, seed=3)
    assert (pair.low, pair.high) == pytest.approx((expected.low, expected.high))
    assert whole.means == pytest.approx((25 / 6, 15 / 6))
    assert whole.ranks == (1, 1)  # .0625 is no difference


def test_an_item_is_the_mean_over_the_languages_in_which_all_have_a_number():
    rows = [
        ("1", "en", "a", 4.0),
        ("1", "en", "b", 2.0),
        ("1", "sv", "a", 2.0),
        ("1", "sv", "b", 1.0),
        ("1", "fi", "a", 0.0),  # b has none in Finnish
        ("1", "fi", "b", None),
        ("2", "en", "a", 5.0),  # b has none at all
    ]
    found = pair_values_by_item(("a", "b"), rows)
    assert {item: values.tolist() for item, values in found.items()} == {"1": [3.0, 1.5]}


def test_groups_of_one_kind_are_corrected_together():
    rng = np.random.default_rng(5)
    sets = []
    for variation, shift in (("style", 2.0), ("dialect", 0.5), ("spelling", 0.0)):
        for at in range(12):
            score = float(rng.uniform(2, 3))
            for system, more in (("a", shift), ("b", 0.0), ("c", -shift / 2)):
                value = score + more + float(rng.uniform(-0.5, 0.5))
                sets.append(set_row(system, f"{variation}{at}", value, variation=variation))
    groups = [one for one in compare_systems_by_group(findings(sets), PARAMETERS) if one.kind]
    assert [one.group for one in groups] == [
        "variation:style",
        "variation:dialect",
        "variation:spelling",
    ]
    pairs = [pair for group in groups for pair in group.comparisons]
    assert len(pairs) == 9
    expected = CORRECTIONS["holm"](np.array([pair.p_value for pair in pairs]))
    assert [pair.adjusted_p_value for pair in pairs] == pytest.approx(list(expected))
    by_name = {group.name: group for group in groups}
    assert by_name["style"].ranks == (1, 2, 3)
    assert by_name["spelling"].ranks == (1, 1, 1)


def test_of_how_far_languages_lie_apart_less_is_better():
    sets = world({"a": A * 2, "b": B * 2})
    items = [item_row("a", f"{at}", 0.5 + at / 100, 0.9) for at in range(12)]
    items += [item_row("b", f"{at}", 2.0 + at / 50, 0.3) for at in range(12)]
    across = [
        one
        for one in compare_systems_by_group(findings(sets, items), PARAMETERS)
        if one.kind == "across"
    ]
    assert [one.measure for one in across] == ["language_range", "similarity_across_languages"]
    assert across[0].comparisons[0].difference < 0
    assert across[0].ranks == (1, 2)
    assert across[1].ranks == (1, 2)


def test_where_nobody_judged_similarities_are_compared():
    sets = [row._replace(score=None, similarity=row.score / 5) for row in world({"a": A, "b": B})]
    (whole,) = compare_systems_by_group(findings(sets), PARAMETERS)
    assert whole.measure == "similarity"
    assert whole.comparisons[0].difference == pytest.approx(10 / 30)


def test_one_kind_of_variation_is_no_group_and_one_system_no_comparison():
    assert compare_systems_by_group(findings(world({"a": A})), PARAMETERS) == []
    groups = compare_systems_by_group(findings(world({"a": A, "b": B})), PARAMETERS)
    assert [one.kind for one in groups] == [""]


def test_without_common_items_there_is_no_pair():
    sets = [set_row("a", "1", 3.0), set_row("b", "2", 3.0)]
    (whole,) = compare_systems_by_group(findings(sets), PARAMETERS)
    assert (whole.n_items, whole.comparisons, whole.ranks) == (0, (), (None, None))
    assert list(build_comparison_rows([whole])) == []
