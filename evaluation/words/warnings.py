"""What somebody should know before trusting a grading: the words that all doors share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.words.message import Sentence
from evaluation.words.reasons import why_not_chosen


def english_only(choose: str) -> Callable[[Mapping[str, Any]], str]:
    """Return the words for texts that an English model does not know, and what to `choose`."""

    def sentence(of: Mapping[str, Any]) -> str:
        if "script" in of:
            share, script = of["share"], of["script"]
            found = f"{share:.0%} of the letters are of another script (mostly {script})"
        else:
            found = (
                f"{of['foreign']} of {of['sentences']} sentences looked at are in another language "
                f"(mostly '{of['language']}')"
            )
        return (
            f"THE MODEL {of['model']} KNOWS ENGLISH ONLY, but {found}: similarities and grades "
            f"mean little. Choose {choose.format_map(of)}."
        )

    return sentence


WARNINGS: Mapping[str, Sentence] = {
    "truncated": "{answers} answers are longer than the {tokens} tokens that {model} reads; the "
    "rest of them was ignored",
    "english_only": english_only(
        "a multilingual model ({option[embedder]} sentence-transformers:NAME) or tfidf-char"
    ),
    "language_not_checked": "The language of the answers was not checked: {why}.",
    "reranked_without_question": "Items without a question, whose texts could not be re-ranked by "
    "it: the one nearest the centre stands for those that say the same: {count}",
    "reranked_nothing": "No reply goes by its meaning, so the re-ranker was not used",
    "too_few_workers": "Too few workers ({workers}): grades and ranks need at least 3 who answered",
    "not_converged": "The weights did not settle in {iterations} iterations: allow more of them, "
    "and do not rely on close ranks",
    "disconnected": "Some workers share no question with others, not even through third ones: with "
    "difficulty taken out there is no common scale, so nobody is ranked",
    "excluded_workers": "Excluded workers, who have no vote, no grade and no rank: {count}",
    "single_answers": "Questions with a single answer, which scores 1 by construction: {count}",
    "repeated_rows": "Rows that repeat an earlier answer and were left out: {count}",
    "rejected_answers": "Answers rejected where they were collected, which were left out: {count}",
    "empty_answers": "Empty answers, which count as unanswered: {count}",
    "unranked_workers": "Workers without a rank (fewer than 5 answers to questions that 3 workers "
    "share): {count}",
    "short_answers": "Most answers are short or numeric ({share:.0%}), and vectors hardly see one "
    "wrong fact: on minimal pairs {embedder} has an AUC of {auc:.2f}, a coin 0.50. Check such "
    "answers against a key",
    "model_answers_to_nobody": "Answers of models to questions that no worker answered: {count}",
    "models_with_errors": "Models with an answer of status error, not ranked until asked again: "
    "{count}",
    "anchors_changed_nothing": lambda of: (
        f"The graded answers (anchors) changed nothing: {why_not_chosen(of['reason'])}"
    ),
    "no_anchors_suggested": lambda of: (
        f"No answers are suggested as anchors: {why_not_chosen(of['reason'])}"
    ),
    "several_rankings": "The crowd falls into camps, and {count} rankings are possible: grades are "
    "those of the default until an expert has graded the suggested answers",
    "groups_not_collapsed": "Groups of very similar answers that were not collapsed: {count}; each "
    "is a camp of the crowd and may be right, which graded answers (anchors) can tell",
    "no_copies": "No group of copies was found: nothing was collapsed",
    "no_question_camps": "No question has two camps of answers: {option[camps]} changed nothing",
    "divided_by_commas": "{count:,} replies divide their answers by commas where right answers "
    "hold commas: ask for a JSON list, or for a line for each answer.",
    "not_every_reply": "Not every system has a reply to every question (exclusions, error and "
    "no_reply): their numbers are over different questions.",
}
