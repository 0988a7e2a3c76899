"""Labels and explanations of MultiQ&A's metrics, messages, and table columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.core.messages.message import Sentence

SHARE, COEFFICIENT, SCORE = "share", "coefficient", "score"


@dataclass(frozen=True)
class NumberWords:
    """Label and explanation of a metric; `form` is share, coefficient or score."""

    label: str
    meaning: str
    form: str = SHARE


# In the order of the tables.
METRIC_DESCRIPTIONS: Mapping[str, NumberWords] = {
    "alpha": NumberWords(
        "Cronbach's alpha",
        "Internal consistency of the wordings: 1 if a question that is right in one wording is "
        "right in all others, 0 if wordings are independent.",
        COEFFICIENT,
    ),
    "accuracy": NumberWords(
        "Accuracy, original wording", "Share of questions that are right in their original wording."
    ),
    "worst_case": NumberWords(
        "Worst-case accuracy", "Share of questions that are right in every wording."
    ),
    "best_case": NumberWords(
        "Best-case accuracy", "Share of questions that are right in at least one wording."
    ),
    "plurality": NumberWords(
        "Plurality accuracy",
        "Share of questions whose most frequent answer is right. Of equally frequent answers, the "
        "one to the original wording counts.",
    ),
    "plurality_fractional": NumberWords(
        "Plurality accuracy, ties shared",
        "The same; equally frequent answers count in part.",
    ),
    "tie_rate": NumberWords(
        "Tie rate", "Share of questions with two or more equally frequent answers."
    ),
    "item_difficulty": NumberWords(
        "Item difficulty", "Mean share of a question's wordings that are right (1 is easy)."
    ),
    "certainty": NumberWords(
        "Certainty",
        "One minus the normalised entropy of the answers to a question's wordings: 1 where all "
        "answers are the same, 0 where all are equally frequent.",
        COEFFICIENT,
    ),
    "m2_certainty": NumberWords(
        "Certainty (Gibbs and Poston)",
        "The same by Gibbs and Poston's index M2, from pairs of answers.",
        COEFFICIENT,
    ),
    "fleiss_kappa": NumberWords(
        "Fleiss' kappa",
        "Agreement of the replies to two wordings beyond chance, with chance by the frequencies of "
        "the answers: 1 is full agreement, 0 is chance.",
        COEFFICIENT,
    ),
    "free_marginal_kappa": NumberWords(
        "Free-marginal kappa",
        "The same, with all possible answers equally likely by chance.",
        COEFFICIENT,
    ),
    "alpha_paper": NumberWords(
        "Alpha as in the paper",
        "Cronbach's alpha with questions and wordings exchanged: near 0 or below where all "
        "wordings are equally hard. For comparison with the paper only.",
        COEFFICIENT,
    ),
    "accuracy_answered": NumberWords(
        "Accuracy of answered questions",
        "Share of right answers among the answered original questions.",
    ),
    "refusal_rate": NumberWords("Refusal rate", "Share of replies that are refusals."),
    "refused_prompt_rate": NumberWords(
        "Refused prompts", "Share of replies that a content filter blocked at the prompt."
    ),
    "refused_generation_rate": NumberWords(
        "Refused generations", "Share of replies that a content filter blocked at the answer."
    ),
    "empty_rate": NumberWords("Empty replies", "Share of replies without text."),
}

CROWD_DESCRIPTIONS: Mapping[str, NumberWords] = {
    "crowd_score": NumberWords(
        "Crowd score",
        "Mean similarity of the replies to the exemplary answer of the workers.",
        SCORE,
    ),
    "crowd_score_original": NumberWords(
        "Crowd score, original wording", "The same for the original wording.", SCORE
    ),
    "crowd_worst": NumberWords(
        "Crowd score, worst wording", "The least similar reply to each question.", SCORE
    ),
    "crowd_best": NumberWords(
        "Crowd score, best wording", "The most similar reply to each question.", SCORE
    ),
    "spread_rewordings": NumberWords(
        "SD over wordings",
        "Standard deviation of the crowd score over a question's wordings.",
        SCORE,
    ),
    "spread_people": NumberWords(
        "SD over workers", "Standard deviation of the workers' own scores at a question.", SCORE
    ),
    "spread_ratio": NumberWords(
        "Ratio of the two SDs",
        "Below 1: the wording changes the model's answers less than workers differ.",
        SCORE,
    ),
}

COMPARED: Mapping[str, str] = {
    "accuracy": "accuracy, original wording",
    "plurality": "plurality accuracy",
    "worst_case": "worst-case accuracy",
    "best_case": "best-case accuracy",
    "item_difficulty": "item difficulty",
    "crowd_score": "crowd score",
}

# Labels of the groups by format; groups by data set have the name of the data set.
GROUPS: Mapping[str, str] = {
    "kind:choice": "Questions with choices",
    "kind:extractive": "Extractive questions",
    "kind:free": "Free text",
}

STEPS: Mapping[str, str] = {
    "rewording": "rewording",
    "asking models": "answering",
}

# Findings of a run by message code.
MULTIQA: Mapping[str, Sentence] = {
    "multiqa.cosine_errors": "A cosine above {threshold:.2f} takes {taken:.0%} of {n_wrong:,} "
    "wrong answers for right and misses {missed:.0%} of {n_right:,} right ones on the labelled "
    "pairs of {source} (AUC {area:.2f}).",
    "multiqa.right": "{system} answers {accuracy:.0%} of {n:question} correctly in the original "
    "wording and {worst:.0%} in every wording.",
    "multiqa.less_than_people": "Rewording changes the answers of {system} less than workers "
    "differ: on {n:question} the standard deviation of the crowd score is {of_wordings:.3f} over "
    "wordings and {of_people:.3f} over workers.",
    "multiqa.more_than_people": "Rewording changes the answers of {system} more than workers "
    "differ: on {n:question} the standard deviation of the crowd score is {of_wordings:.3f} over "
    "wordings and {of_people:.3f} over workers.",
    "multiqa.few_wordings": "Not enough data on rewording for {system}: {n:,} of {all:question} "
    "with workers' answers have replies in more than one wording; {fewest} are needed.",
    "multiqa.like_people": "No difference is shown between the effect of rewording on {system} and "
    "the differences between workers: the standard deviation of the crowd score is "
    "{of_wordings:.3f} over wordings and {of_people:.3f} over workers.",
}

WORDINGS: Mapping[str, str] = {
    "": "by the rewriter",
    "rewording": "typed or imported",
    "dialect": "dialect",
    "style": "another style",
}


COLUMNS: Mapping[str, str] = {
    "kind": "extractive, choice or free",
    "rewordings.kind": "rewording, dialect or style of typed wordings; empty for a rewriter's",
    "dataset": "the source of the question; empty if not given",
    "matcher": "by which rule replies are right: choice, exact, levenshtein or cosine",
    "variant": "number of the wording among those of its item; 0 is the question's own words",
    "rewordings.variant": "number of the wording; empty where it was dropped",
    "variant_text": "the wording",
    "n_replies": "replies to the wordings of the item, refused and empty ones too",
    "n_votes": "replies with a text",
    "n_refused": "replies that were refused",
    "n_empty": "replies without a text",
    "n_workers": "people who answered the question",
    "accuracy": "1 where the reply to the question's own words is right",
    "worst_case": "1 where every reply is right",
    "best_case": "1 where some reply is right",
    "plurality": "1 where the most frequent answer is right",
    "plurality_fractional": "share of the most frequent answers that are right",
    "tie_rate": "1 where several answers are most frequent",
    "item_difficulty": "share of the replies that are right",
    "certainty": "1 if all replies have the same meaning, 0 if all answers are equally frequent "
    "(entropy)",
    "m2_certainty": "the same by Gibbs and Poston's M2",
    "agreement": "share of pairs of replies with the same meaning",
    "free_marginal_kappa": "agreement beyond chance, all possible answers being equally likely",
    "original_reply": "reply to the question's own words",
    "modal_reply": "the representative reply of the most frequent answer",
    "right": "whether the reply is right; empty if unknown",
    "says": "the representative of all replies with the same meaning",
    "modal": "whether most replies to the item have this meaning",
    "crowd_score": "similarity to what the people who answered agree on",
    "crowd_score_original": "the same of the reply to the question's own words",
    "crowd_worst": "the least similar reply",
    "crowd_best": "the most similar reply",
    "spread_rewordings": "standard deviation of that similarity over the wordings",
    "spread_people": "standard deviation of people's own similarity to the others' consensus",
    "error": "why there is no reply",
    "context": "the text that the question is about",
    "choices": "JSON list of the choices",
    "answers": "JSON list of the accepted answers",
    "attempt": "the rewriter's call, from 1; 0 for a typed wording",
    "rewordings.reason": "code of why the wording was dropped; empty where it was asked",
    "cosine": "similarity of the wording's vector to its question's",
    "entailment": "the smaller probability of both ways that one entails the other",
    "system_a": "the first of two models",
    "system_b": "the second of two models",
    "step": "what the model was asked for",
    "requests": "requests that were sent and got a reply or an error",
    "reused": "replies of earlier runs, for nothing",
    "errors": "requests without a reply",
    "prompt_tokens": "tokens read, as the server counted them",
    "completion_tokens": "tokens written, as the server counted them",
    "cost": "money; empty where the model has no prices",
}
