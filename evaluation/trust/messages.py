"""Messages of the trust report: for each fact the finding, why it matters, and what to do.

Facts are called by name and case; the meaning that a case does not have is that of its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.core.messages.message import Sentence, format_count
from evaluation.grading.alarms.messages import format_skipped_checks

LEVELS: Mapping[str, str] = {
    "bad": "Stop",
    "care": "Take care",
    "unknown": "Not known",
    "good": "Good",
}
TITLES: Mapping[str, str] = {
    "workers": "Did enough people answer?",
    "answers": "Are there enough answers to each question?",
    "support": "Did each of them answer enough?",
    "convergence": "Did the computation settle?",
    "stability": "Would other questions give the same ranking?",
    "alarms": "Is there a group that copies, or a camp that errs together?",
    "language": "Does the model understand the language of the answers?",
    "truncation": "Were the answers read to their end?",
    "shortness": "Are the answers long enough to be compared by meaning?",
    "length": "Is the ranking more than one by length?",
    "experts": "Did an expert check a sample?",
    "changes": "Are these still the people's answers that were graded?",
}
MEANINGS: Mapping[str, str] = {
    "answers": "What counts as right is what people's answers to a question agree on (the "
    "consensus). With fewer than {fewest} answers that is hardly more than one person's view; the "
    "real crowds on which the method was tried had {usual} to 10.",
    "support": "With fewer than {fewest} answers to questions that others answered too, a grade is "
    "mostly luck.",
    "convergence": "Who is good depends on what the crowd agrees on, and that on who is good: both "
    "are computed in turns until they no longer change. If they still change, people with close "
    "ranks may be in the wrong order.",
    "stability": "Everybody is ranked many times over, each time by a random choice of the "
    "questions that were asked. 1 is the same order every time, 0 an order by chance. It does "
    "not show that the order is right: a wrong one can be very stable.",
    "alarms": "Workers who agree with the others get good grades, also if they agree because they "
    "copied or share a mistake. A large group of them can reverse the ranking, and no grade shows "
    "it.",
    "language": "A model measures how similar two answers are. If it does not know their "
    "language, its similarities mean little.",
    "truncation": "The end of a long answer was not read and had no effect on a grade.",
    "shortness": "The comparison sees what an answer is about, and hardly sees a single wrong "
    "year, name or number. “Guilty” and “not guilty” are nearly the same to it.",
    "length": "Longer answers name more of what others name, so agreement can pay for length. That "
    "is right where good answers are long, and wrong where people pad theirs.",
    "experts": "This is the only external check: do answers with high scores also get high "
    "grades from an expert who does not see the scores?",
    "changes": "The grades are of the answers as they were when the run began.",
}
ALWAYS = (
    "No check can prove a grade right: a grade measures similarity to this crowd's consensus, "
    "not to the truth."
)


@dataclass(frozen=True)
class FactTemplates:
    """Message templates of one case of a fact; `todo` is "" if there is nothing to do."""

    finding: Sentence
    todo: str = ""
    meaning: str = ""


def _format_answers_per_question(values: Mapping[str, Any]) -> str:
    """Return the sentence on the median number of answers to a question."""
    median, thin = values["median"], values["thin"]
    text = f"The typical question has {median} answer{'' if median == 1 else 's'}"
    if thin:
        have = "has" if thin == 1 else "have"
        all_of = format_count(values["count"], "question")
        text += f"; {thin:,} of {all_of} {have} fewer than {values['fewest']}"
    return f"{text}."


def _format_answered_alarms(values: Mapping[str, Any]) -> str:
    """Return the sentence on alarms that a remedy of the run settles, and on dismissed ones."""
    n, dismissed = values["count"], values["dismissed"]
    one = "1 alarm or notice is" if n == 1 else f"{n:,} alarms and notices are"
    more = "" if not dismissed else f", {dismissed:,} dismissed with a reason"
    return f"{one} answered by a remedy of this run{more}; no other is open."


def _append_unchecked_alarms(sentence: Sentence) -> Sentence:
    """Return a message template: `sentence`, then the alarm checks that had too little data."""

    def format_both(values: Mapping[str, Any]) -> str:
        """Return the sentence and the list of unchecked alarms as text."""
        first = sentence.format_map(values) if isinstance(sentence, str) else sentence(values)
        checks = values.get("unchecked", ())
        if isinstance(checks, list | tuple):
            checks = format_skipped_checks(checks)
        # The page of all words has a name in place of the checks.
        return f"{first} {checks}".rstrip() if isinstance(checks, str) else first

    return format_both


def _build_experts_sentence(rest: str = "") -> Sentence:
    """Return the template of the sentence on experts' grades; `rest` is its end."""

    def format_sentence(values: Mapping[str, Any]) -> str:
        """Return the sentence with the run's numbers."""
        n, experts, kappa = values["count"], values["experts"], values["kappa"]
        drawn = " drawn at random," if values["sampled"] else ""
        by = "an expert" if experts == 1 else f"{experts} experts"
        graded = f"{n:,} answer{'' if n == 1 else 's'}{drawn} graded by {by}"
        if not rest.startswith(":"):
            return f"{graded}{rest.format_map(values)}"
        known = " (1 is perfect, 0 no relation)"
        if values["low"] is not None:
            known = (
                f" (95% interval {values['low']:.2f} to {values['high']:.2f}; 1 is perfect, 0 no "
            )
            known += "relation)"
        among = ""
        if kappa is not None:
            among = f" With each other they agree by {kappa:.2f} (kappa: 1 is fully, 0 by chance)."
            if values["apart"]:
                among += " Nothing can agree much with experts who agree so little."
        correlate = f": their grades correlate {values['correlation']:.2f} with the scores{known}."
        return f"{graded}{correlate}{rest[1:]}{among}"

    return format_sentence


def _format_length_effect(values: Mapping[str, Any]) -> str:
    """Return the sentence on the correlation of raw scores with the length of answers."""
    text = (
        f"Length explains {values['share']:.0%} of the differences between raw scores: they "
        "correlate "
        f"{values['correlation']:.2f} with the logarithm of the number of words "
        f"({format_count(values['workers'], 'worker')}; notice above .7)."
    )
    if values["partial"] is None:
        return text
    answers = format_count(values["count"], "graded answer")
    return (
        f"{text} Among answers of equal length experts' grades correlate {values['partial']:.2f} "
        "with "
        f"the scores ({answers})."
    )


def _build_counted_sentence(one: str, many: str) -> Sentence:
    """Return a message template: `one` if the value `count` is 1, else `many`."""
    return lambda values: (one if values["count"] == 1 else many).format_map(values)


def _build_checks_sentence(one: str, many: str, rest: str = "") -> Sentence:
    """Return a message template: the number of checks, and what no check can prove."""
    return _build_counted_sentence(f"{one}{rest} {ALWAYS}", f"{many}{rest} {ALWAYS}")


_SAMPLE = "Let an expert grade {fewest} answers or more without seeing their scores."
_RANKLESS = "Take no decision about people without a rank; ask them more questions."
_UNSTEADY = (
    "Do not rely on close ranks: two people are clearly apart only where the intervals of their "
    "grades do not overlap. Ask more questions."
)
_AGREES = (
    "By another choice of questions the order typically agrees with this one by {agreement:.2f}."
)

FACTS: Mapping[str, FactTemplates] = {
    "workers.nobody_to_compare": FactTemplates(
        "{people}.",
        "Ask more people.",
        "With two people it is unknown who is right when they disagree: no grades.",
    ),
    "workers.few": FactTemplates(
        "{people}.",
        "Ask more people, or grade with {option[leave_one_out]}, which compares everybody with "
        "the others only and mended it in simulations.",
        "In so small a crowd everybody is mostly compared with themselves. In simulations three "
        "workers of different quality were ranked upside down.",
    ),
    "workers.some": FactTemplates(
        "{people}.",
        "Twelve or more people make it steadier. In small crowds {option[leave_one_out]} helps, "
        "which compares everybody with the others only.",
        "Enough for an order, but each single person still moves what counts as right.",
    ),
    "workers.enough": FactTemplates(
        "{people}.",
        meaning="Crowds of this size had the right order in simulations, as long as people did not "
        "copy or make the same mistakes.",
    ),
    "answers.thin": FactTemplates(
        _format_answers_per_question,
        "Give the same questions to more people rather than asking more questions.",
    ),
    "answers.enough": FactTemplates(_format_answers_per_question),
    "support.all": FactTemplates("All workers answered enough questions to be ranked."),
    "support.some": FactTemplates(
        "{people} of {all:,} answered too little to be ranked.", _RANKLESS
    ),
    "convergence.one_pass": FactTemplates(
        "Nothing was computed in turns, because there are too few people."
    ),
    "convergence.settled": FactTemplates(
        _build_counted_sentence("Yes, after 1 round.", "Yes, after {count} rounds.")
    ),
    "convergence.moving": FactTemplates(
        _build_counted_sentence(
            "No: after 1 round the grades still changed.",
            "No: after {count} rounds the grades still changed.",
        ),
        "Grade again and allow more rounds ({option[max_iterations]}).",
    ),
    "stability.no_draws": FactTemplates(
        "Not known: this run did not try other choices of questions.",
        "Grade again with {option[bootstrap]} at 400.",
    ),
    "stability.steady": FactTemplates(_AGREES),
    "stability.unsteady": FactTemplates(_AGREES, _UNSTEADY),
    "alarms.not_looked": FactTemplates(
        "Not known: the run was computed before Crowdgrade looked for it.", "Grade again."
    ),
    "alarms.ring": FactTemplates(
        _append_unchecked_alarms(_build_counted_sentence("1 alarm.", "{count} alarms.")),
        "Read the evidence of each alarm before you pay, reject or publish anything.",
    ),
    "alarms.notices": FactTemplates(
        _append_unchecked_alarms(
            _build_counted_sentence(
                "No alarms; 1 notice to review.",
                "No alarms; {count} notices to review.",
            )
        ),
        "Review the evidence.",
    ),
    "alarms.unchecked": FactTemplates(
        _append_unchecked_alarms("No alarm was raised by the checks that ran."),
        "Ask the same people more questions, or more people. Until then read the answers of the "
        "best workers side by side.",
    ),
    "alarms.answered": FactTemplates(_append_unchecked_alarms(_format_answered_alarms)),
    "alarms.dismissed": FactTemplates(
        _append_unchecked_alarms(
            _build_counted_sentence(
                "1 alarm was dismissed, with a reason; no other is open.",
                "{count} alarms were dismissed, with reasons; no other is open.",
            )
        )
    ),
    "alarms.silent": FactTemplates("No alarms. That does not prove that no one copied."),
    "language.foreign": FactTemplates(
        "",
        "Grade again with a model for many languages, or with one that compares groups of "
        "letters, in any language (tfidf-char).",
    ),
    "language.unchecked": FactTemplates(""),
    "language.untold": FactTemplates(
        "The languages of {model} are not recorded.",
        "Look up whether its makers name the language of your answers.",
    ),
    "language.untold_model": FactTemplates(
        "The languages of the model are not recorded.",
        "Look up whether its makers name the language of your answers.",
    ),
    "language.known": FactTemplates(
        "No sign that {model} does not know the language of the answers."
    ),
    "language.of_words": FactTemplates(
        "Words or letters were compared. That works in any language, but two words of the same "
        "meaning count as different."
    ),
    "truncation.cut": FactTemplates(
        "", "Ask for shorter answers, or choose a model that reads longer ones."
    ),
    "shortness.short": FactTemplates(
        "",
        "Check such answers against right ones that you know: these grades cannot separate "
        "right from wrong there.",
    ),
    "shortness.long": FactTemplates("Most answers are longer than a name or a number."),
    "length.too_few": FactTemplates(
        "Not known: {workers:worker} with a rank, and {needed} are needed.", "Ask more people."
    ),
    "length.equal": FactTemplates("All raw scores are equal, or all answers equally long."),
    "length.much": FactTemplates(
        _format_length_effect,
        "Read short answers of low rank and long ones of high rank. Let an expert grade a sample: "
        "it shows what the scores are worth among answers of equal length.",
    ),
    "length.little": FactTemplates(_format_length_effect),
    "experts.nobody": FactTemplates("No answer was graded by an expert.", _SAMPLE),
    "experts.chose": FactTemplates(
        _build_experts_sentence(". They chose this ranking, so they cannot confirm it as well."),
        _SAMPLE,
    ),
    "experts.no_spread": FactTemplates(
        _build_experts_sentence(", but their grades or scores are all the same."), _SAMPLE
    ),
    "experts.too_few": FactTemplates(_build_experts_sentence(": Too few for a verdict."), _SAMPLE),
    "experts.agree": FactTemplates(_build_experts_sentence(":")),
    "experts.unsure": FactTemplates(
        _build_experts_sentence(
            ": That may be chance: the interval reaches down to hardly any agreement."
        ),
        "Let them grade more answers: four times as many halve the interval.",
    ),
    "experts.differ": FactTemplates(
        _build_experts_sentence(":"),
        "Read the answers on which the experts and the scores differ most.",
    ),
    "changes.since": FactTemplates(
        "No: people's answers were added, changed or withdrawn since.", "Grade again."
    ),
}


def _iterate_fact_sentences() -> Iterator[tuple[str, Sentence]]:
    """Yield (message code, sentence) of each fact: its finding, meaning and recommended action."""
    for name, words in FACTS.items():
        meaning = words.meaning or MEANINGS[name.partition(".")[0]]
        yield f"{name}.said", words.finding
        yield f"{name}.meaning", meaning
        yield f"{name}.todo", words.todo


TRUST: Mapping[str, Sentence] = {
    **dict(_iterate_fact_sentences()),
    "verdict.bad.headline": "Do not use these grades yet.",
    "verdict.bad.text": _build_checks_sentence(
        "{count} of {all} checks failed.",
        "{count} of {all} checks failed.",
        " Do not pay, reject or publish by these grades before you have resolved them.",
    ),
    "verdict.care.headline": "Usable with care.",
    "verdict.care.text": _build_checks_sentence(
        "{count} of {all} checks asks you to look closer before you decide about people.",
        "{count} of {all} checks ask you to look closer before you decide about people.",
    ),
    "verdict.unknown.headline": "No problem found, but some checks could not be made.",
    "verdict.unknown.text": f"{{count}} of {{all}} checks could not be made. {ALWAYS}",
    "verdict.good.headline": "All checks are good.",
    "verdict.good.text": f"All {{all}} checks are good. {ALWAYS}",
}
"""Messages on facts: finding, meaning and advice; messages on verdicts: headline and text."""


def _format_lead(values: Mapping[str, Any]) -> str:
    """Return the sentence on how many workers could be first on other similar questions."""
    if values["alike"] == 1:
        return "On other questions of the same kind the first would still lead."
    return (
        f"On other questions of the same kind the first {values['alike']} could change places: "
        "take "
        "them as equally good."
    )


def _format_unlisted_ranks(values: Mapping[str, Any]) -> str:
    """Return the sentence on the best ranks that are not listed because of alarms."""
    ranks = "Rank 1 is" if values["above"] == 1 else f"Ranks 1 to {values['above']} are"
    return f"{ranks} among the workers to review, because an alarm names them."


def _format_unranked_workers(values: Mapping[str, Any]) -> str:
    """Return the sentence on the number of workers who answered too little to be ranked."""
    if values["without_rank"] == 1:
        return "1 person answered too little to be ranked."
    return f"{values['without_rank']:,} people answered too little to be ranked."


DECISION: Mapping[str, Sentence] = {
    "best.lead": _format_lead,
    "best.above": _format_unlisted_ranks,
    "best.no_intervals": "How sure this order is was not computed: grade again with "
    "{option[bootstrap]} at 400 to learn it.",
    "best.nobody": "No one is ranked: ranks need 3 people with 5 answers each to questions that "
    "at least 3 people answered.",
    "best.all_marked": "An alarm names everybody at the top: review the evidence first.",
    "look.nobody": "No alarm names a worker, and no worker is clearly below the others.",
    "look.lowest": "in the lowest quarter, and would be there with other questions, too (rank "
    "{first} to {last} of {ranked})",
    "look.without_rank": _format_unranked_workers,
}
"""Messages by subject."""
