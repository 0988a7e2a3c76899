"""What a run of MultiQ&A comes to, in sentences."""

from evaluation.core.options import SITE
from evaluation.multiqa.report import _list_findings, index_metrics
from evaluation.runs.flow.metrics import MetricRow


def _told(values):
    """The sentences of a run whose numbers are these: name to (value, low, high, n)."""
    rows = [
        MetricRow("Small", "", name, value, low, high, n, None)
        for name, (value, low, high, n) in values.items()
    ]
    return [SITE.format_message(one) for one in _list_findings(index_metrics(rows), ["Small"])]


def test_a_spread_over_too_few_questions_is_no_sentence_about_the_model():
    numbers = {
        "spread_ratio": (0.06, 0.0, 0.18, 4),
        "spread_rewordings": (0.02, 0.0, 0.06, 4),
        "spread_people": (0.3, 0.28, 0.31, 16),
    }
    assert _told(numbers) == [
        "Not enough data on rewording for Small: 4 of 16 questions with workers' answers have "
        "replies in more than one wording; 5 are needed."
    ]
    numbers["spread_ratio"] = (0.06, 0.0, 0.18, 5)
    assert _told(numbers) == [
        "Rewording changes the answers of Small less than workers differ: on 5 questions the "
        "standard deviation of the crowd score is 0.020 over wordings and 0.300 over workers."
    ]
