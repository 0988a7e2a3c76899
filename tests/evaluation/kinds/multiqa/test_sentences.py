"""What a run of MultiQ&A comes to, in sentences."""

from evaluation.flow.metrics import MetricRow
from evaluation.options import SITE
from evaluation.reports.multiqa.report import _cells, _messages


def _told(values):
    """The sentences of a run whose numbers are these: name to (value, low, high, n)."""
    rows = [
        MetricRow("Small", "", name, value, low, high, n, None)
        for name, (value, low, high, n) in values.items()
    ]
    return [SITE.said(one) for one in _messages(_cells(rows), ["Small"])]


def test_a_spread_over_too_few_questions_is_no_sentence_about_the_model():
    numbers = {
        "spread_ratio": (0.06, 0.0, 0.18, 4),
        "spread_rewordings": (0.02, 0.0, 0.06, 4),
        "spread_people": (0.3, 0.28, 0.31, 16),
    }
    assert _told(numbers) == [
        "Whether Small changes its answers when asked in other words cannot be told: 4 of 16 "
        "questions that people answered were put to it in more than one wording, and it takes 5."
    ]
    numbers["spread_ratio"] = (0.06, 0.0, 0.18, 5)
    assert _told(numbers) == [
        "Asked in other words, Small changes its answers less than people differ from each other: "
        "on 5 questions in several wordings, nearness to what people agree on varies by 0.020 from "
        "wording to wording, and by 0.300 from person to person."
    ]
