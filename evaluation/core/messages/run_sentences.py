"""Sentences on runs: failures, warnings, trends, and methods on graded answers.

Failures are those whose cause the requester can fix. Trends state whether a worker's or model's
scores rise or fall across question sets. The last part states which scoring method agrees best with
graded answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from evaluation.core.messages.message import Message, Sentence, format_count
from evaluation.core.messages.reasons import describe_missing_choice, describe_reason


def _format_no_reply(values: Mapping[str, Any]) -> str:
    """Return the sentence on a run in which no model gave a reply."""
    reason = values["reason"]
    return f"No model replied at all. {f'The first reason: {reason}' if reason else ''}"


def _format_unknown_workers(values: Mapping[str, Any]) -> str:
    """Return the sentence on ids in a run's options that name no worker, or several."""
    more = f" and {values['more']} more" if values["more"] else ""
    return (
        "Ids in the settings that are not those of one worker who answered here: "
        f"{values['ids']}{more}."
    )


def _format_no_rewording(values: Mapping[str, Any]) -> str:
    """Return the sentences on a run without usable rewordings; by count only for older runs."""
    reasons, silent = _get_counts(values, "reasons"), _get_counts(values, "silent")
    parts = [f"The rewriter gave no usable rewording: 0 of {values['rewordings']:,} used."]
    if reasons:
        told = (f"{count:,} ({describe_reason(reason)})" for reason, count in reasons.items())
        parts.append(f"Rejected: {', '.join(told)}.")
    if silent:
        told = (f"{count:,} ({_STATUSES.get(status, status)})" for status, count in silent.items())
        parts.append(f"Replies without a rewording: {', '.join(told)}.")
    if "cut_off" in silent:
        parts.append(f"Raise {values['option']['rewriter_tokens']}.")
    if reasons:
        parts += [
            f"For example, question {example['question']}: “{example['text']}” "
            f"({describe_reason(example['reason'])})."
            for example in values["examples"]
        ]
    parts.append(
        "Start it again: the rewriter is asked anew. Or choose another rewriter, or type other "
        "wordings."
    )
    return " ".join(parts)


def _get_counts(values: Mapping[str, Any], name: str) -> Mapping[str, int]:
    """Return the counts stored under a name in a failure's values; {} for older runs."""
    counts = values.get(name)
    return counts if isinstance(counts, Mapping) else {}


_STATUSES = {
    "cut_off": "cut off before an answer came",
    "refused": "refused",
    "refused_prompt": "refused",
    "refused_generation": "refused",
    "empty": "empty",
    "error": "failed",
}


FAILURES: Mapping[str, Sentence] = {
    "run.unknown_parameters": "unknown parameters: {names}",
    "run.other_embedder": "Two background processes have different versions of the embedder: "
    "{wanted} and {found}. Install the same version everywhere, then run it again.",
    "run.no_answer": "There is no answer: import answers, or wait for some to be submitted.",
    "run.no_answer_to_grade": "There is no answer to grade: import answers, or wait for some to be "
    "submitted.",
    "run.all_answers_rejected": "There is no answer to grade: {rejected} were rejected where they "
    "were collected.",
    "run.unknown_workers": _format_unknown_workers,
    "run.too_few_workers": "Fewer than {fewest} workers answered: there are no smaller crowds to "
    "try.",
    "run.no_question_with_text": "No question of the set has a text.",
    "run.no_problem_with_text": "The version has no question with a text: upload the questions "
    "first.",
    "run.no_two_wordings": "No question has two wordings in one language: upload prompts that ask "
    "for the same in other words, or add variants to the questions.",
    "run.changed_prompts_do_not_fit": "The changed prompts do not fit: {reason}.",
    "run.judge_instructions_do_not_fit": "The instructions to judges do not fit: {reason}.",
    "run.no_model_to_ask": "Choose a model to ask.",
    "run.no_models_to_ask": "Choose the models to ask.",
    "run.no_model_that_answers": "Choose a model that answers.",
    "run.no_model_to_compare": "Choose a model whose replies are compared.",
    "run.models_missing": "{missing} of the {what}s are not there, or not yours to ask.",
    "run.model_named_as_people": "A model has the name “{name}”, which the row of people has: "
    "rename the model.",
    "run.no_model_replied": _format_no_reply,
    "run.no_answer_of_a_model": "No language model has answered a question with a text: upload "
    "answers of models first.",
    "run.budget_used_up": "The budget is used up: {left} requests were not sent. Start the run "
    "again with a higher budget: stored replies are not requested again.",
    "run.no_prices": "A budget needs prices: without them the cost of {model} is unknown.",
    "run.rewriter_not_asked": "The rewriter could not be asked: {reason}",
    "run.no_usable_rewording": _format_no_rewording,
    "run.judge_not_asked": "The judge could not be asked: {reason}",
    "run.judge_not_registered": "The judge is no registered model of yours.",
    "run.nothing_to_view": "No run of this version has results about a model's answers: grade "
    "it with models' answers, or start another kind of run that compares models.",
    "run.no_graded_answers": "There are no graded answers: upload a file of them.",
}
"""By the code of a `RunInputError`; those of remedies are in `evaluation.grading.remedies`."""


def build_language_warning_formatter(choose: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that formats the warning that an English model reads other languages.

    `choose` is the template of the remedy.
    """

    def sentence(values: Mapping[str, Any]) -> str:
        """Return the warning, with the share of another script or of another language."""
        if "script" in values:
            share, script = values["share"], values["script"]
            finding = f"{share:.0%} of the letters are of another script (mostly {script})"
        else:
            finding = (
                f"{values['foreign']} of {values['sentences']} checked sentences are in another "
                "language "
                f"(mostly '{values['language']}')"
            )
        return (
            f"THE MODEL {values['model']} KNOWS ENGLISH ONLY, but {finding}: similarities and "
            "grades "
            f"mean little. Choose {choose.format_map(values)}."
        )

    return sentence


def _format_cut_off_replies(values: Mapping[str, Any]) -> str:
    """Return the warning that models' replies were cut off, with the option to raise."""
    option = values["option"][values["raise"]] if values["raise"] else "max_tokens"
    where = "" if values["raise"] else " in the parameters of the registered model"
    return (
        f"Replies that were cut off before an answer came, because their length was used up: "
        f"{values['count']} ({values['names']}). They count in no number. Raise {option}{where} "
        "and start "
        "the run again"
    )


WARNINGS: Mapping[str, Sentence] = {
    "truncated": "Answers that are longer than what {model} reads ({tokens} tokens, a token is "
    "about three quarters of a word) and whose ends were ignored: {answers}",
    "english_only": build_language_warning_formatter(
        "a multilingual model ({option[embedder]} sentence-transformers:NAME) or tfidf-char"
    ),
    "language_not_checked": "The language of the answers was not checked: {why}.",
    "reranked_without_question": "Questions without a text, for which the most typical of "
    "several replies with the same meaning was chosen instead of the one that fits the question "
    "best: {count}",
    "reranked_nothing": "No replies are compared by their meaning here, so the model that chooses "
    "among replies with the same meaning (the re-ranker) was not used",
    "too_few_workers": "Too few workers ({workers}): grades and ranks need at least 3 who answered",
    "equal_scores": "All {workers:worker} have the same score, so grades of 1 and equal ranks do "
    "not tell them apart. Check whether all answers are the same, or each question has a single "
    "answer",
    "not_converged": "Grades still changed after {iterations:round}: allow more "
    "({option[max_iterations]}), and do not rely on close ranks",
    "disconnected": "Some workers share no question with the others, not even through a third "
    "worker. Their questions may be easier or harder, so no worker is ranked. "
    "Grade without {option[difficulty]}, or give some questions to everybody",
    "unlinked_groups": "Groups of workers that share no question, not even through other workers: "
    "{groups} (their sizes: {sizes}). Ranks are within each group, and grades of different groups "
    "cannot be compared: one group may have had easier questions. Give some questions to everybody",
    "excluded_workers": "Excluded workers, who have no vote, no grade and no rank: {count}",
    "single_answers": "Questions with a single answer, which is compared with itself alone: "
    "{count}",
    "repeated_rows": "Rows that repeat an earlier answer and were left out: {count}",
    "rejected_answers": "Answers rejected where they were collected, which were left out: {count}",
    "empty_answers": "Empty answers, which count as unanswered: {count}",
    "unranked_workers": "Workers without a rank (fewer than 5 answers to questions that 3 workers "
    "share): {count}",
    "short_answers": "Most answers are short or numeric ({share:.0%}), and the comparison hardly "
    "sees one wrong fact: shown a right answer and the same one with a wrong fact, {embedder} "
    "prefers the right one in {auc:.0%} of cases; a coin would in 50%. Check such answers "
    "against right ones that you know",
    "short_answers_unmeasured": "Most answers are short or numeric ({share:.0%}). Such an answer "
    "is right or wrong by a single fact, and whether the vectors of this run see one wrong fact "
    "was not measured. Check such answers against right ones that you know",
    "length_explains": "The ranking is mostly one by length: raw scores correlate "
    "{correlation:.2f} with the logarithm of the number of words ({workers:worker}; notice above "
    ".7), so length explains {share:.0%} of their differences. Read short answers of low rank and "
    "long ones of high rank before you decide about people",
    "model_answers_to_nobody": "Answers of models to questions that no worker answered: {count}",
    "models_with_errors": "Models with an answer that could not be fetched, not ranked until asked "
    "again: {count}",
    "model_replies_cut_off": "Replies of models that were cut off before an answer came, because "
    "their length was used up: {count} of {models:model}. These models are not ranked until asked "
    "again with a longer reply (max_tokens)",
    "study_replies_cut_off": _format_cut_off_replies,
    "model_replies_empty": "Empty replies of models, each of which scores as no answer: {count}. "
    "Check whether these models answered any question",
    "anchors_changed_nothing": lambda values: (
        f"The graded answers (anchors) changed nothing: {describe_missing_choice(values['reason'])}"
    ),
    "no_anchors_suggested": lambda values: (
        f"No answers are suggested as anchors: {describe_missing_choice(values['reason'])}"
    ),
    "several_rankings": "The crowd falls into camps, and {count} rankings are possible; the one "
    "shown is only the usual one until an expert has graded the suggested answers",
    "groups_not_collapsed": "Groups of workers with very similar answers that were not made one "
    "voter: {count}; each is a camp of the crowd and may be right, which graded answers "
    "(anchors) can show",
    "no_copies": "No group of copies was found, so no workers were merged into one voter",
    "no_copies_of_workers": "None of the workers named in {option[collapse_workers]} is in a group "
    "of copies, so no workers were merged into one voter",
    "no_question_camps": "No question has two camps of answers: {option[camps]} changed nothing",
    "divided_by_commas": "Replies that divide their answers by commas where right answers hold "
    "commas: {count:,}. Ask for a JSON list, or for a line for each answer.",
    "meaning_not_calibrated": "Two answers have the same meaning above a cosine of {cosine:.2f}, "
    "which is not calibrated on the spellings of this set's right answers.",
    "meaning_calibrated": "Two answers have the same meaning above a cosine of {threshold:.2f}, "
    "calibrated on half of the questions' spellings. On the other half it takes {taken:.0%} of "
    "{n_wrong:pair} of different right answers for one meaning and misses {missed:.0%} of "
    "{n_right:pair} of spellings (AUC {auc:.2f}).",
    "not_every_reply": "Not every system has a reply to every question (exclusions, error and "
    "no_reply): their numbers are over different questions.",
}


# Smaller ones depend on the number of sets more than on the size of a trend.
LEAST = 0.001


class TrendTest(Protocol):
    """Protocol of a tested trend, as `evaluation.core.stats.inference.significance` returns it."""

    @property
    def direction(self) -> str:
        """Result of the test: rises, falls, unclear, too_few or all_equal."""

    @property
    def n(self) -> int:
        """Number of scores in the trend."""

    @property
    def p_value(self) -> float | None:
        """p-value of the test for a trend; None if undefined."""

    @property
    def slope(self) -> float | None:
        """Median change of the score from one question set to the next; None if undefined."""

    @property
    def low(self) -> float | None:
        """Lower end of the slope's interval; None if undefined."""

    @property
    def high(self) -> float | None:
        """Upper end of the slope's interval; None if undefined."""


def _build_trend_sentence(words: str) -> Sentence:
    """Return the sentence template of a significant trend; `words` is "rise" or "fall"."""
    return (
        f"The scores {words} over {{n}} sets: by {{change:.3f}} from one to the next (95% interval "
        "{low:+.3f} to {high:+.3f}). Chance alone would make their order as clear in at most "
        "{p_value:.1%} of cases."
    )


def _format_too_few(values: Mapping[str, Any]) -> str:
    """Return the sentence that there are too few scores to test for a trend."""
    have = {0: "There is no score yet", 1: "There is one score"}.get(
        values["n"], f"There are {values['n']} scores"
    )
    return (
        f"{have}: a trend needs {values['fewest']} or more, because chance alone puts four in "
        "rising "
        f"or "
        "falling order once in 12 times."
    )


ACROSS: Mapping[str, Sentence] = {
    "trend.rises": _build_trend_sentence("rise"),
    "trend.falls": _build_trend_sentence("fall"),
    "trend.unclear": "These {n} sets do not show whether the scores rise or fall: chance alone "
    "makes an order as clear as theirs in {p_value:.0%} of cases.",
    "trend.too_few": _format_too_few,
    "trend.all_equal": "All {n} scores are the same: they neither rise nor fall.",
    "standing.with": "The place among the others who answered the same sets goes the same way.",
    "standing.unclear": "The place among the others who answered the same sets does not clearly "
    "change with them: the later sets may have been easier, or harder, for everybody.",
    "standing.against": "The place among the others who answered the same sets goes the other way: "
    "the later sets were easier, or harder, for everybody.",
    "standing.rises": "The place among the others who answered the same sets rises all the same.",
    "standing.falls": "The place among the others who answered the same sets falls all the same.",
}
"""By code; `fewest` is how many scores a trend needs."""

FEWEST = 5
CLEAR = ("rises", "falls")


def build_trend_messages(scores: TrendTest, standing: TrendTest) -> tuple[Message, ...]:
    """Return the messages on the trends of a worker's or model's scores and rank.

    `scores` and `standing` are the tested trends of the score and of the rank.
    """
    values = {
        "n": scores.n,
        "fewest": FEWEST,
        "p_value": None if scores.p_value is None else max(LEAST, scores.p_value),
        "change": None if scores.slope is None else abs(scores.slope),
        "low": scores.low,
        "high": scores.high,
    }
    messages = [Message(f"trend.{scores.direction}", values)]
    if scores.direction in CLEAR:
        same = standing.direction == scores.direction
        other = standing.direction in CLEAR and not same
        messages.append(
            Message(f"standing.{'with' if same else 'against' if other else 'unclear'}")
        )
    elif standing.direction in CLEAR:
        messages.append(Message(f"standing.{standing.direction}"))
    return tuple(messages)


def _format_number(value: float) -> str:
    """Return a number with two decimals, without a minus sign for 0.00."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text


def _format_interval(
    value: float | None, low: float | None, high: float | None, most: str = ""
) -> str:
    """Return a number with its interval, and with the upper limit `most` if one is given."""
    if value is None:
        return "undefined"
    if low is None or high is None:
        return f"{_format_number(value)}{most}, without an interval"
    return f"{_format_number(value)}{most} (95% {_format_number(low)} to {_format_number(high)})"


def _format_agreement(values: Mapping[str, Any]) -> str:
    """Return as text a method's correlation with experts' grades, with its interval."""
    return _format_interval(values["r"], values["low"], values["high"], " of at most 1")


def _format_lead(values: Mapping[str, Any]) -> str:
    """Return as text the difference of two methods' correlations, with its interval."""
    return _format_interval(values["lead"], values["lead_low"], values["lead_high"])


def format_better_method(values: Mapping[str, Any]) -> str:
    """Return the sentence that a method agrees significantly better than the default method."""
    return (
        f"Trust {values['method']} here: on the {format_count(values['held'], 'question')} that "
        "it was not "
        f"chosen by, its scores of workers agree with their grades at {_format_agreement(values)}, "
        f"and its lead over {values['default']}, the default, is {_format_lead(values)}."
    )


def format_default_method(values: Mapping[str, Any]) -> str:
    """Return the sentence that the default method agrees significantly better than the others."""
    return (
        f"Trust {values['method']}, the default, here: on the "
        f"{format_count(values['held'], 'question')} "
        "held "
        f"out its scores of workers agree with their grades at {_format_agreement(values)}, and "
        "its "
        f"lead over {values['rival']}, the next best, is {_format_lead(values)}."
    )


def format_undecided_methods(values: Mapping[str, Any]) -> str:
    """Return the sentence that the methods do not differ significantly."""
    stay = (
        f"stay with {values['default']}, the default, "
        "whose scores of workers agree with their grades"
    )
    if values["best"] == values["default"]:
        why = f"its lead over {values['rival']}, the next best, is {_format_lead(values)}"
        return (
            f"The methods do not differ significantly here, so {stay} at "
            f"{_format_agreement(values)} "
            f"on the "
            f"{format_count(values['held'], 'question')} held out: {why}."
        )
    return (
        f"The methods do not differ significantly here, so {stay} at {_format_agreement(values)} "
        "on "
        f"the "
        f"{format_count(values['held'], 'question')} held out: {values['best']} was best on the "
        "others, "
        f"but its lead there is {_format_lead(values)}."
    )


def format_too_little_data(values: Mapping[str, Any]) -> str:
    """Return the sentence that there are too few workers or questions to compare methods."""
    return (
        f"The methods do not differ significantly here: with fewer than 5 workers to compare, or "
        f"fewer "
        f"than 4 questions, nothing is shown to be better than {values['default']}, the default, "
        "whose "
        f"scores of workers agree with their grades at {_format_agreement(values)}."
    )


_DEALT = (
    "The authors of these {answers:answer} to {questions:question} are not known, so crowds of "
    "{workers} were drawn from them {repetitions} times, "
)

GRADED: Mapping[str, Sentence] = {
    "graded.better": format_better_method,
    "graded.default": format_default_method,
    "graded.apart": format_undecided_methods,
    "graded.small": format_too_little_data,
    "graded.run": "A run computes {method} with these settings: {options}.",
    "graded.no_run": "No run of the site computes {method}: the table shows it for comparison.",
    "graded.best_run": lambda values: (
        f"Of those that a run computes {values['method']} was best on the questions that were "
        "chosen "
        f"by: {_format_agreement(values)} on the others, with these settings: {values['options']}."
    ),
    "graded.by_workers": "Data: {answers:answer} of {workers:worker} to {questions:question}, "
    "with workers and grades from the file. Compared are each worker's score and the mean of "
    "their grades, for the {compared:worker} with enough grades. The intervals hold for other "
    "workers at the same kind of questions, not for other domains.",
    "graded.by_best": _DEALT + "from the best answer to each question downwards. Drawn crowds "
    "are more regular than real ones: real workers get lower numbers.",
    "graded.by_random": _DEALT + "of answers drawn at random, from the best one downwards. "
    "Drawn crowds are more regular than real ones: real workers get lower numbers.",
    "graded.one_grade": "all answers have the same grade, so the methods cannot be compared: "
    "grade answers of different quality",
    "graded.few_workers": "{count:worker} of the file have {fewest} graded answers or more, and it "
    "takes 3 to compare any: grade more of them, or take out the column of the worker, so that "
    "workers are dealt from the answers",
    "graded.few_answers": "too few questions have {fewest} graded answers or more, from which "
    "workers could be dealt: grade more answers to each question, or name the authors in a "
    "column worker",
    "graded.no_spread": "all workers have the same mean grade, so the methods cannot be "
    "distinguished",
    "graded.sampled_workers": "Of {all:worker} {workers:worker} were drawn at random, so that no "
    "question has more than {most:answer} to compare with each other.",
    "graded.sampled_answers": "At most {most:answer} of each question were drawn at random.",
    "graded.left_out_questions": "Left out, with fewer than {crowd:answer}: {count:question}.",
}
