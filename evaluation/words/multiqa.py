"""The numbers of MultiQ&A for people who lead a team: what each is called, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.words.message import Sentence

SHARE, COEFFICIENT, SCORE = "share", "coefficient", "score"


@dataclass(frozen=True)
class NumberWords:
    """A number: its label, what it says, and whether it is a share, a coefficient or a score."""

    label: str
    meaning: str
    form: str = SHARE


NUMBERS: Mapping[str, NumberWords] = {
    "alpha": NumberWords(
        "Consistency (alpha)",
        "Whether all wordings measure the same: 1 where a question that goes well in one wording "
        "goes well in every other, 0 where one wording says nothing about the next.",
        COEFFICIENT,
    ),
    "accuracy": NumberWords("Right as asked", "Questions answered rightly in their own words."),
    "worst_case": NumberWords(
        "Right in every wording", "Questions that go right however they are put."
    ),
    "best_case": NumberWords(
        "Right in some wording", "Questions that go right in at least one wording."
    ),
    "plurality": NumberWords(
        "Right by majority",
        "Questions where the answer that most wordings get is right; of equally frequent ones the "
        "answer to the question's own words counts.",
    ),
    "plurality_fractional": NumberWords(
        "Right by majority, ties shared",
        "The same, where equally frequent answers count in part.",
    ),
    "tie_rate": NumberWords(
        "No clear majority", "Questions where two answers or more are equally frequent."
    ),
    "item_difficulty": NumberWords(
        "Right over all wordings", "Mean share of a question's wordings that go right."
    ),
    "certainty": NumberWords(
        "Certainty",
        "How far a model says the same to all wordings of a question: 1 always the same, 0 every "
        "answer equally often (by entropy).",
        COEFFICIENT,
    ),
    "m2_certainty": NumberWords(
        "Certainty (Gibbs and Poston)",
        "The same by another formula, which looks at pairs of answers.",
        COEFFICIENT,
    ),
    "fleiss_kappa": NumberWords(
        "Agreement beyond chance (Fleiss)",
        "How far replies to two wordings agree beyond what the frequencies of answers would give: "
        "1 always, 0 no more than by chance.",
        COEFFICIENT,
    ),
    "free_marginal_kappa": NumberWords(
        "Agreement beyond chance (free)",
        "The same, where every answer that is possible counts as equally likely by chance.",
        COEFFICIENT,
    ),
    "alpha_paper": NumberWords(
        "Alpha as the paper words it",
        "Questions and wordings in exchanged parts: near 0 or below where wordings are as good as "
        "each other. For comparison with the paper only.",
        COEFFICIENT,
    ),
    "accuracy_answered": NumberWords(
        "Right as asked, of answers", "Of the questions in their own words that got an answer."
    ),
    "refusal_rate": NumberWords("Refused", "Replies that were refused, on either side."),
    "refused_prompt_rate": NumberWords(
        "Refused before it answered", "The question was stopped by a content filter."
    ),
    "refused_generation_rate": NumberWords(
        "Refused while it answered", "The answer was stopped by a content filter."
    ),
    "empty_rate": NumberWords("Empty", "Replies without any text."),
}
"""In the order in which they are shown."""

CROWD: Mapping[str, NumberWords] = {
    "crowd_score": NumberWords(
        "Nearness to people's consensus",
        "Mean similarity of the replies to what the people who answered agree on.",
        SCORE,
    ),
    "crowd_score_original": NumberWords(
        "Nearness as asked", "Of the replies to the questions' own words.", SCORE
    ),
    "crowd_worst": NumberWords(
        "Nearness in the worst wording", "The least near reply to each question.", SCORE
    ),
    "crowd_best": NumberWords(
        "Nearness in the best wording", "The nearest reply to each question.", SCORE
    ),
    "spread_rewordings": NumberWords(
        "Spread over wordings", "How far a question's replies differ in nearness.", SCORE
    ),
    "spread_people": NumberWords(
        "Spread over people", "How far people's own answers to a question differ in it.", SCORE
    ),
    "spread_ratio": NumberWords(
        "Spread over wordings against people",
        "Below 1: other words move the model less than people differ from each other.",
        SCORE,
    ),
}

COMPARED: Mapping[str, str] = {
    "accuracy": "right as asked",
    "plurality": "right by majority",
    "worst_case": "right in every wording",
    "best_case": "right in some wording",
    "item_difficulty": "right over all wordings",
    "crowd_score": "nearness to people's consensus",
}

GROUPS: Mapping[str, str] = {
    "kind:choice": "Questions with choices",
    "kind:extractive": "Answers that stand in a text",
    "kind:free": "Free text",
}
"""Groups of metrics by format; those of data sets are called by the names of these."""

STEPS: Mapping[str, str] = {
    "rewording": "putting the questions in other words",
    "asking models": "answering",
}

MULTIQA: Mapping[str, Sentence] = {
    "multiqa.right": "{system} answers {accuracy:.0%} of {n:question} rightly as asked, and "
    "{worst:.0%} of them however they are put.",
    "multiqa.less_than_people": "Asked in other words, {system} changes its answers less than "
    "people differ from each other: on {n:question} in several wordings, nearness to what people "
    "agree on varies by {of_wordings:.3f} from wording to wording, and by {of_people:.3f} from "
    "person to person.",
    "multiqa.more_than_people": "Asked in other words, {system} changes its answers more than "
    "people differ from each other: on {n:question} in several wordings, nearness to what people "
    "agree on varies by {of_wordings:.3f} from wording to wording, and by {of_people:.3f} from "
    "person to person.",
    "multiqa.few_wordings": "Whether {system} changes its answers when asked in other words cannot "
    "be told: {n:,} of {all:question} that people answered were put to it in more than one "
    "wording, and it takes {fewest}.",
    "multiqa.like_people": "Whether {system}, asked in other words, changes its answers more or "
    "less than people differ from each other cannot be told from these questions (nearness to what "
    "people agree on varies by {of_wordings:.3f} from wording to wording, and by {of_people:.3f} "
    "from person to person).",
}
"""What a run comes to, in sentences."""

WORDINGS: Mapping[str, str] = {
    "": "by the rewriter",
    "rewording": "typed or imported",
    "dialect": "dialect",
    "style": "another style",
}
