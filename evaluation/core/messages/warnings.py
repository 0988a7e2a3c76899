"""Build the warnings on a grading, in sentences that all interfaces share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.core.messages.message import Sentence
from evaluation.core.messages.reasons import describe_not_chosen


def build_english_warning(choose: str) -> Callable[[Mapping[str, Any]], str]:
    """Return the warning for texts that an English model does not know; `choose` is the advice."""

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


def _format_cut_off_replies(of: Mapping[str, Any]) -> str:
    """Return the warning that models' replies were cut off."""
    option = of["option"][of["raise"]] if of["raise"] else "max_tokens"
    where = "" if of["raise"] else " in the parameters of the registered model"
    return (
        f"Replies that were cut off before an answer came, because their length was used up: "
        f"{of['count']} ({of['names']}). They count in no number. Raise {option}{where} and start "
        "the run again"
    )


WARNINGS: Mapping[str, Sentence] = {
    "truncated": "Answers that are longer than what {model} reads ({tokens} tokens, a token is "
    "about three quarters of a word) and whose ends were ignored: {answers}",
    "english_only": build_english_warning(
        "a multilingual model ({option[embedder]} sentence-transformers:NAME) or tfidf-char"
    ),
    "language_not_checked": "The language of the answers was not checked: {why}.",
    "reranked_without_question": "Questions of which only the id is known: of several replies "
    "that say the same the most typical one was taken there, not the one that fits the question "
    "best: {count}",
    "reranked_nothing": "No replies are compared by their meaning here, so the model that chooses "
    "among replies that say the same (the re-ranker) was not used",
    "too_few_workers": "Too few workers ({workers}): grades and ranks need at least 3 who answered",
    "not_converged": "Grades still changed after {iterations:round}: allow more "
    "({option[max_iterations]}), and do not rely on close ranks",
    "disconnected": "Some workers share no question with the others, not even by way of somebody "
    "who shares one with both. Theirs may be easier or harder questions, so nobody is ranked. "
    "Grade without {option[difficulty]}, or give some questions to everybody",
    "unlinked_groups": "Groups of workers that share no question, not even by way of others: "
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
    "Look whether these models answered at all",
    "anchors_changed_nothing": lambda of: (
        f"The graded answers (anchors) changed nothing: {describe_not_chosen(of['reason'])}"
    ),
    "no_anchors_suggested": lambda of: (
        f"No answers are suggested as anchors: {describe_not_chosen(of['reason'])}"
    ),
    "several_rankings": "The crowd falls into camps, and {count} rankings are possible; the one "
    "shown is only the usual one until an expert has graded the suggested answers",
    "groups_not_collapsed": "Groups of workers with very similar answers that were not made one "
    "voter: {count}; each is a camp of the crowd and may be right, which graded answers (anchors) "
    "can tell",
    "no_copies": "No group of copies was found, so nobody was made one voter with others",
    "no_copies_of_workers": "None of the workers named in {option[collapse_workers]} is in a group "
    "of copies, so nobody was made one voter with others",
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
