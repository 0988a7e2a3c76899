"""Messages of the model overview: questions about the views, answers, and findings by model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.messages.message import Sentence, format_count
from evaluation.core.messages.reasons import describe_reason

SIDES: Mapping[str, str] = {
    "crowd": "Near to people",
    "uncertainty": "Sure of itself",
    "robustness": "The same in other words",
    "answerability": "Notices what has no answer",
}
"""Labels of the sides (aspects) of models; each names the good end."""

QUESTIONS: Mapping[str, str] = {
    "uncertainty_distance": "Does a model's uncertainty predict how far it is from people?",
    "dispersion_distance": "Are models farther from people where people disagree?",
    "dispersion_uncertainty": "Are models less sure where people disagree?",
    "robustness_distance": "Are answers closer to people's where a model's replies keep their "
    "meaning in other wordings?",
}
CLAIMS: Mapping[str, str] = {
    "knows": "Does it know?",
    "knows_that_not": "Does it know that it does not know?",
    "says_the_same": "Does the meaning stay the same under rewording?",
}

_AFFIRMED = {
    "uncertainty_distance": (
        "where a model is less sure, its answer is farther from people's",
        "where a model is less sure, its answer is nearer to people's",
    ),
    "dispersion_distance": (
        "where people disagree more, models' answers are farther from their consensus",
        "where people disagree more, models' answers are nearer to their consensus",
    ),
    "dispersion_uncertainty": (
        "where people disagree more, models are less sure",
        "where people disagree more, models are surer",
    ),
    "robustness_distance": (
        "where a model's replies keep their meaning, its answer is closer to people's",
        "where a model's replies keep their meaning, its answer is farther from people's",
    ),
    "sure": (
        "it is less sure where its answers are farther from people's",
        "it is surer where its answers are farther from people's",
    ),
}


def _format_two_decimals(value: Any) -> str:
    """Return a number with two decimals, without a minus sign for 0.00."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text


def _format_interval(values: Mapping[str, Any], low: str = "low", high: str = "high") -> str:
    """Return a 95% interval as a phrase; `low` and `high` are the names of its ends in `values`."""
    if values[low] is None:
        return "without an interval"
    return (
        f"95% interval {_format_two_decimals(values[low])} to {_format_two_decimals(values[high])}"
    )


def _format_sample_size(values: Mapping[str, Any]) -> str:
    """Return the numbers of questions and models behind a correlation as a phrase."""
    models = "" if values["models"] == 1 else f" and {values['models']} models"
    return f"{format_count(values['questions'], 'question')}{models}"


def _format_correlation(values: Mapping[str, Any]) -> str:
    """Return a rank correlation with its interval and sample as a phrase."""
    correlation = _format_two_decimals(values["value"])
    interval, sample = _format_interval(values), _format_sample_size(values)
    return f"rank correlation {correlation}, {interval}, {sample}"


def _build_question_sentences(name: str) -> dict[str, Sentence]:
    """Return the sentences of all answers to a question about two measures, by message code."""
    yes, no = _AFFIRMED[name]

    def format_undecided(values: Mapping[str, Any]) -> str:
        """Return the sentence for an interval that contains 0."""
        shows = ""
        if values["smallest"] is not None and values["low"] is not None:
            shows = (
                f" So few questions of one model mostly cannot show a relation weaker than about "
                f"{values['smallest']:.2f}."
            )
        return f"Not decided by these answers ({_format_correlation(values)}).{shows}"

    return {
        f"views.{name}.yes": lambda values: f"Yes: {yes} ({_format_correlation(values)}).",
        f"views.{name}.no": lambda values: (
            f"No, the other way round: {no} ({_format_correlation(values)})."
        ),
        f"views.{name}.untold": format_undecided,
        f"views.{name}.few": lambda values: (
            f"Not enough data: both are known for {values['questions']} "
            f"question{'' if values['questions'] == 1 else 's'} only, and fewer than 10 prove "
            "nothing."
        ),
        f"views.{name}.undefined": lambda values: (
            f"Not enough data: {describe_reason(values['reason'])}."
        ),
    }


_SURE_UNTOLD = "Not decided: whether it is less sure where its answers are farther from people's"


def format_difference(values: Mapping[str, Any]) -> str:
    """Return the phrase on a model's difference from the other models' mean in one measure."""
    interval = _format_interval(values, "gain_low", "gain_high")
    n = format_count(values["n_gain"], "question")
    if values["against"] == "better":
        return f"{values['gain']:.2f} better than the other models' mean ({interval}, {n})"
    if values["against"] == "worse":
        return f"{-values['gain']:.2f} worse than the other models' mean " + (
            f"(95% interval {-values['gain_high']:.2f} to {-values['gain_low']:.2f}, {n})"
        )
    if values["against"] == "alike":
        gain = _format_two_decimals(values["gain"])
        return f"no difference from the other models' mean shows ({gain}, {interval})"
    if values["against"] == "few":
        return f"too few questions in common with other models to compare them ({values['n_gain']})"
    return "there is no other model to compare it with"


def format_answer_rank(side: str, place: float, *, best: bool) -> str:
    """Return the phrase on how an answer ranks in one aspect among all answers."""
    if best:
        return f"{SIDES[side]}: more so than {place:.0%} of all answers"
    return f"{SIDES[side]}: less so than {1 - place:.0%} of all answers"


def _format_mean(values: Mapping[str, Any]) -> str:
    """Return a mean with its range, interval and number of questions as a phrase."""
    top = "" if values["highest"] is None else f" of {values['highest']:g}"
    questions = format_count(values["questions"], "question")
    return f"{values['mean']:.2f}{top} ({_format_interval(values)}, {questions})"


def _format_share(values: Mapping[str, Any]) -> str:
    """Return a share with its interval and number of questions as a phrase."""
    if values["low"] is None:
        return f"{values['mean']:.0%} of {format_count(values['questions'], 'question')}"
    return (
        f"{values['mean']:.0%} of {format_count(values['questions'], 'question')} (95% interval "
        f"{values['low']:.0%} to "
        f"{values['high']:.0%})"
    )


VIEWS: Mapping[str, Sentence] = {
    **_build_question_sentences("uncertainty_distance"),
    **_build_question_sentences("dispersion_distance"),
    **_build_question_sentences("dispersion_uncertainty"),
    **_build_question_sentences("robustness_distance"),
    **_build_question_sentences("sure"),
    "views.sure.untold": lambda values: (
        f"{_SURE_UNTOLD} from these answers ({_format_correlation(values)})."
    ),
    "views.sure.few": lambda values: (
        f"{_SURE_UNTOLD}: both are known for {format_count(values['questions'], 'question')} "
        "only, and "
        "fewer than 10 prove nothing."
    ),
    "views.sure.undefined": f"{_SURE_UNTOLD}: it is as sure of one answer as of another, or too "
    "few have both numbers.",
    "views.mean_crowd": lambda values: (
        f"Its answers have a mean similarity of {_format_mean(values)} to the consensus of people; "
        f"{format_difference(values)}."
    ),
    "views.mean_robustness": lambda values: (
        f"Asked the same in other words, “{values['title']}” is {_format_mean(values)}; "
        f"{format_difference(values)}."
    ),
    "views.mean_answerability": lambda values: (
        f"It notices rightly of {_format_share(values)} whether there is an answer; "
        f"{format_difference(values)}."
    ),
    "views.crowd_percentile": "{value:.0f} of 100 people are less near to the consensus of the "
    "others than it is.",
}
