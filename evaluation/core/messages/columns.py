"""Describe the columns of result tables, for the README of a download.

A column has one meaning in all tables, unless this module or the run type describes it with the
table before it: "items.score".
"""

from __future__ import annotations

from collections.abc import Mapping

COLUMNS: Mapping[str, str] = {
    # Who and what
    "system": "the model",
    "model": "the model",
    "model_a": "the first of two models",
    "model_b": "the second of two models",
    "worker": "the worker's id",
    "panel": "where the worker's id comes from",
    "question": "the question's id",
    "item": "the item's id",
    "language": "language tag; empty for an item as a whole",
    "variation": "in what the wordings differ",
    "variant": "number of the wording among those of its item, from 1",
    "group": "part that the number is of; empty for all",
    "metric": "name of the number",
    "measure": "by what models are compared",
    "judge": "who judged; people are human:NAME",
    "other": "the other one of two who judged",
    "stratum": "part of all answers that it was drawn from: people, low, middle or high (thirds of "
    "the workers by grade), or models",
    "audit.weight": "how many of all answers this one represents",
    "audit.settles": "1 where this grade settles what the other experts disagree on, else 0",
    "audit.grade": "what the expert gave it, 0 (wrong) to 5 (right)",
    "audit.score": "its score in the run, of a worker's answer without the worker's own part",
    "repeat": "number of the judgement by the same judge, from 1",
    "judged_at": "when it was given or last changed, ISO 8601",
    # Numbers
    "value": "the number",
    "low": "lower end of the 95% interval",
    "high": "upper end of the 95% interval",
    "n": "how many it is of",
    "reason": "code of why a number is missing; empty where none is",
    "score": "score; its range is that of the table",
    "score_low": "lower end of the 95% interval of the score",
    "score_high": "upper end of the 95% interval of the score",
    "sum": "sum of the scores",
    "mean": "mean of the scores",
    "spread": "standard deviation of repeats",
    "rank": "1 for the best; those alike share one",
    "rank_low": "lower end of the 95% interval of the rank",
    "rank_high": "upper end of the 95% interval of the rank",
    "difference": "the first less the second",
    "absolute_difference": "mean difference without its sign",
    "p_value": "probability of such a difference by chance alone",
    "adjusted_p_value": "the same, corrected for the number of comparisons",
    "smallest_detectable": "the smallest difference that the data show in 4 of 5 cases",
    "mid_p_value": "the p-value by which the test errs as often as it should, not corrected",
    "test": "how the p-value was computed",
    "correction": "how p-values were corrected",
    "kappa": "Cohen's kappa: 1 for full agreement, 0 for that of chance",
    "pearson": "Pearson's correlation, -1 to 1",
    "spearman": "Spearman's rank correlation, -1 to 1",
    "percentile": "share of the workers below, in percent",
    "similarity": "mean cosine of all pairs of replies, no answer counting 0",
    "similarity_answered": "the same among answers alone",
    "similarity_across_languages": "mean cosine of answers in different languages",
    "similarity_reason": "code of why there is no similarity",
    "human_score": "mean score by people, 0 to 5",
    "language_range": "highest less lowest score of a language",
    "languages": "languages with two wordings or more",
    "n_prompts": "wordings",
    "n_replies": "replies, errors left out",
    "n_no_answer": "replies that are empty or refused",
    "n_answered": "replies that are answers",
    "n_answers": "answers",
    "n_judges": "judges with a score",
    "n_scores": "scores in all",
    # Facts
    "slot": "what kind of thing a value is of, such as year or duration",
    "facts.value": "a value that workers state",
    "facts.state": "agreed, contested, open (no majority) or too_few (fewer than 3 say anything)",
    "mentions": "how many of them state this value",
    "of": "how many workers state a value of the slot",
    "answer-facts.value": "the value that the answer states; of a missing one the crowd's",
    "answer-facts.kind": "worker or model",
    "answer-facts.name": "the worker's id, or the model",
    "answer-facts.of": "how many others state a value of the slot",
    "verdict": "agrees, contradicts (the crowd), contested, missing, extra, open or too_few",
    "workers.facts": "facts of the answers that agree with the crowd or contradict it",
    "models.facts": "facts of the answers that agree with the crowd or contradict it",
    "fact_agreement": "share of these facts that agrees; in no grade, empty below 5 facts",
    "fact_questions": "answered questions on which the crowd agrees on a fact",
    "fact_contradicted": "those of them on which an answer contradicts the crowd; in no score",
    "fact_agreement_low": "lower end of its 95% interval",
    "fact_agreement_high": "upper end of its 95% interval",
    # Texts
    "prompt": "as it was put to the model",
    "reply": "what the model replied; of several turns all answers",
    "status": "text, empty, refused or error",
    "changed": "whether the prompt is another one than the set has",
    "change_reason": "why it was changed",
    "turns": "turns of the conversation",
    "follow_ups": "questions after the first, one on each line",
    "notes": "the judge's words before its score",
    "judge_reply": "all of the judge's words",
    "asked": "how often the judge was asked; 0 for a person",
    "text": "its text",
    "answer": "the text of the answer",
    # Grades of workers
    "grade": "grade, 0 to 1 within this run",
    "grade_low": "lower end of the 95% interval of the grade",
    "grade_high": "upper end of the 95% interval of the grade",
    "raw": "in-sample score: the worker's mean similarity to the consensus, the worker's own "
    "answers in it; the grade is stretched from it. The raw score where the run left each worker "
    "out",
    "raw_low": "lower end of the 95% interval of raw",
    "raw_high": "upper end of the 95% interval of raw",
    "leave_one_out": "raw score: the worker's mean similarity to the consensus of the others; "
    "compare runs by this",
    "raw_leave_one_out": "the same as leave_one_out: the raw score, by which limits on the pages "
    "of pay, bonuses and invitations are set",
    "contrast": "question contrast: leave-one-out score less the mean cosine to the exemplary "
    "answers of the other questions",
    "contrast_low": "lower end of the 95% interval of contrast",
    "contrast_high": "upper end of the 95% interval of contrast",
    "weight": "how much say the worker has",
    "support": "whether there are answers enough for a rank",
    "dispersion": "how far answers differ, 0 for none",
    "iteration": "pass of the estimation",
}


def find_column_description(table: str, column: str, own: Mapping[str, str] | None = None) -> str:
    """Return the description of a result table's column; "" without one."""
    for words in (own or {}, COLUMNS):
        for name in (f"{table}.{column}", column):
            if name in words:
                return words[name]
    return ""
