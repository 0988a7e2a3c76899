from math import log10

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotations.exchange.reading.systems import System
from evaluation.runs.flow.metrics import MetricRow
from evaluation.umwp.run.tables import build_size_rows, build_trend_rows

F1 = {"a": 0.2, "b": 0.3, "c": 0.6, "d": 0.5, "e": 0.9}
SIZES = {"a": 1e8, "b": 1e9, "c": 1e10, "d": 1e9, "e": None}
TUNED = {"a": "base", "b": "base", "c": "base", "d": "chat", "e": "chat"}
SYSTEMS = {name: System(name, "", size, TUNED[name], "family") for name, size in SIZES.items()}


def metric(system, value, group="form:direct", name="f1"):
    return MetricRow(system, group, name, value, None, None, 10, None)


METRICS = [
    *(metric(name, value) for name, value in reversed(F1.items())),
    metric("a", 0.1, "form:instruction"),
    metric("a", 0.9, "category:1,form:direct"),
    metric("a", 0.9, "form:direct", "recall"),
    metric("stranger", 0.4),
]


def test_systems_stand_by_form_tuning_and_size_unknown_sizes_last():
    rows = build_size_rows(METRICS, SYSTEMS)
    assert [(row.form, row.tuning, row.system, row.f1, row.reason) for row in rows] == [
        ("direct", "", "stranger", 0.4, "size_unknown"),
        ("direct", "base", "a", 0.2, None),
        ("direct", "base", "b", 0.3, None),
        ("direct", "base", "c", 0.6, None),
        ("direct", "chat", "d", 0.5, None),
        ("direct", "chat", "e", 0.9, "size_unknown"),
        ("instruction", "base", "a", 0.1, None),
    ]


def test_the_trend_is_over_known_sizes_and_for_each_tuning():
    direct, base, chat, instruction = build_trend_rows(build_size_rows(METRICS, SYSTEMS))
    known = ["a", "b", "c", "d"]
    sizes, f1 = [log10(SIZES[name]) for name in known], [F1[name] for name in known]
    assert (direct.n, direct.spearman) == (4, pytest.approx(spearmanr(sizes, f1).statistic))
    # Sizes 8, 9, 10 and F1 .2, .3, .6: slope (.6 - .2) / 2.
    assert (base.tuning, base.n, base.spearman) == ("base", 3, 1.0)
    assert base.per_tenfold == pytest.approx(0.2)
    assert direct.per_tenfold == pytest.approx(np.polyfit(sizes, f1, 1)[0])
    assert (chat.n, chat.spearman, chat.reason) == (1, None, "fewer_than_3_sizes")
    assert (instruction.form, instruction.tuning, instruction.n) == ("instruction", "", 1)
