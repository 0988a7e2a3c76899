"""What speaks for and against a run: of each fact what is so, why it matters, what to do.

Facts are called by name and case; the meaning that a case does not have is that of its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.words.message import Sentence

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
    "experts": "Did an expert check a sample?",
    "changes": "Are these still the answers that were graded?",
}
MEANINGS: Mapping[str, str] = {
    "answers": "The consensus of a question is made of its answers. With fewer than {fewest} it is "
    "hardly more than one person's view; the real crowds on which the method was tried had {usual} "
    "to 10.",
    "support": "With fewer than {fewest} answers to questions that others answered too, a grade is "
    "mostly luck.",
    "convergence": "Grades and consensus are computed in turns until they no longer change. If "
    "they still move, close ranks are accidents of when it stopped.",
    "stability": "The questions are drawn again and again at random out of those that were asked, "
    "and everybody is ranked anew. 1 is the same order every time, 0 an order by chance. It says "
    "nothing about whether the order is right: a wrong one can be very steady.",
    "alarms": "Agreement is taken for quality. Whoever agrees for another reason gains votes, and "
    "a large group of them turns the ranking upside down, which no grade shows.",
    "language": "Answers are compared as vectors. A model that does not know the language compares "
    "letters it has never seen, and its numbers mean little.",
    "truncation": "What stands behind the cut earns nothing and costs nothing.",
    "shortness": "Vectors see what an answer is about, and hardly see a single wrong year, name or "
    "number. “Guilty” and “not guilty” are nearly the same to them.",
    "experts": "This is the only check from outside: whether answers that score high here are also "
    "those that somebody who knows the subject grades high, without seeing the scores.",
    "changes": "The grades stand for the answers as they were when the run began.",
}
ALWAYS = (
    "No check can prove a grade right: a grade says how near somebody is to what this crowd agrees "
    "on, not to the truth."
)


@dataclass(frozen=True)
class FactWords:
    """The words of one case; `todo` is "" where there is nothing to do."""

    said: Sentence
    todo: str = ""
    meaning: str = ""


def _answers(of: Mapping[str, Any]) -> str:
    median, thin = of["median"], of["thin"]
    said = f"The typical question has {median} answer{'' if median == 1 else 's'}"
    if thin:
        said += f"; {thin:,} of {of['count']:,} questions have fewer than {of['fewest']}"
    return f"{said}."


def _graded(rest: str) -> Sentence:
    def said(of: Mapping[str, Any]) -> str:
        n = of["count"]
        graded = f"{n:,} answer{'' if n == 1 else 's'} graded by experts"
        return f"{graded}{rest.format_map(of)}"

    return said


def _plural(one: str, many: str) -> Sentence:
    """Return the words for a `count` of one, and for any other."""
    return lambda of: (one if of["count"] == 1 else many).format_map(of)


_SAMPLE = "Let an expert grade {fewest} answers or more without seeing their scores."
_CORRELATE = ": their grades correlate {correlation:.2f} with the scores (1 is perfect)."
_RANKLESS = "Take no decision about people without a rank; ask them more questions."
_UNSTEADY = "Do not rely on close ranks: look at the intervals, and ask more questions."
_AGREES = "In the typical draw the order agrees with this one by {agreement:.2f}."

FACTS: Mapping[str, FactWords] = {
    "workers.nobody_to_compare": FactWords(
        "{people}.",
        "Ask more people.",
        "With two people nobody can say who is right when they disagree: no grades.",
    ),
    "workers.few": FactWords(
        "{people}.",
        "Ask more people, or grade with {option[leave_one_out]}, which mended it in simulations.",
        "In so small a crowd everybody is a large part of the consensus they are compared with. In "
        "simulations three workers of different quality were ranked upside down.",
    ),
    "workers.some": FactWords(
        "{people}.",
        "Twelve or more people make it steadier; {option[leave_one_out]} helps in small crowds.",
        "Enough for an order, but each single person still moves the consensus.",
    ),
    "workers.enough": FactWords(
        "{people}.",
        meaning="Crowds of this size kept their order in simulations, if people err independently.",
    ),
    "answers.thin": FactWords(
        _answers, "Give the same questions to more people rather than asking more questions."
    ),
    "answers.enough": FactWords(_answers),
    "support.all": FactWords("Everybody answered enough to be ranked."),
    "support.some": FactWords("{people} of {all:,} answered too little to be ranked.", _RANKLESS),
    "convergence.one_pass": FactWords("There was one pass only, because there are too few people."),
    "convergence.settled": FactWords(_plural("Yes, after 1 round.", "Yes, after {count} rounds.")),
    "convergence.moving": FactWords(
        "No: after {count} rounds the weights still moved.",
        "Grade again with more iterations ({option[max_iterations]}).",
    ),
    "stability.no_draws": FactWords(
        "Not known: this run drew no questions anew.", "Grade again with 400 bootstrap draws."
    ),
    "stability.steady": FactWords(_AGREES),
    "stability.unsteady": FactWords(_AGREES, _UNSTEADY),
    "alarms.not_looked": FactWords(
        "Not known: the run was computed before Crowdgrade looked for it.", "Grade again."
    ),
    "alarms.ring": FactWords(
        _plural("1 alarm rings.", "{count} alarms ring."),
        "Read the evidence of each alarm before you pay, reject or publish anything.",
    ),
    "alarms.notices": FactWords(
        _plural(
            "No alarm rings; 1 notice to look at.", "No alarm rings; {count} notices to look at."
        ),
        "Look at the evidence.",
    ),
    "alarms.dismissed": FactWords(
        _plural(
            "1 alarm was dismissed, with a reason that stands beside it; no other is open.",
            "{count} alarms were dismissed, with reasons that stand beside them; no other is open.",
        )
    ),
    "alarms.silent": FactWords(
        "No alarm rings. That does not prove that nobody copied: see what cannot be seen below."
    ),
    "language.foreign": FactWords(
        "", "Grade again with a multilingual model or with groups of letters (TF-IDF)."
    ),
    "language.unchecked": FactWords(""),
    "language.untold": FactWords(
        "Nobody told which languages {model} knows.", "See what its makers say about it."
    ),
    "language.untold_model": FactWords(
        "Nobody told which languages the model knows.", "See what its makers say about it."
    ),
    "language.known": FactWords("Nothing speaks against {model}."),
    "language.of_words": FactWords(
        "Nothing speaks against a comparison of words or letters, which works in any language but "
        "knows no synonyms."
    ),
    "truncation.cut": FactWords(
        "", "Ask for shorter answers, or choose a model that reads longer ones."
    ),
    "shortness.short": FactWords(
        "", "Check such answers against a key: these grades cannot tell right from wrong there."
    ),
    "shortness.long": FactWords("Most answers are longer than a name or a number."),
    "experts.nobody": FactWords("No answer was graded by an expert.", _SAMPLE),
    "experts.chose": FactWords(
        _graded(". They chose this ranking, so they cannot confirm it as well."), _SAMPLE
    ),
    "experts.no_spread": FactWords(
        _graded(", but their grades or scores are all the same."), _SAMPLE
    ),
    "experts.too_few": FactWords(_graded(f"{_CORRELATE} Too few to say."), _SAMPLE),
    "experts.agree": FactWords(_graded(_CORRELATE)),
    "experts.differ": FactWords(
        _graded(_CORRELATE),
        "Read the answers on which the experts and the scores differ most.",
    ),
    "changes.since": FactWords(
        "No: answers were added, changed or withdrawn since.", "Grade again."
    ),
}


def _facts() -> Iterator[tuple[str, Sentence]]:
    for name, words in FACTS.items():
        meaning = words.meaning or MEANINGS[name.partition(".")[0]]
        yield f"{name}.said", words.said
        yield f"{name}.meaning", meaning
        yield f"{name}.todo", words.todo


TRUST: Mapping[str, Sentence] = {
    **dict(_facts()),
    "verdict.bad.headline": "Not as it stands.",
    "verdict.bad.text": "{count} of {all} checks say stop. Do not pay, reject or publish by these "
    f"grades before you have done what stands there. {ALWAYS}",
    "verdict.care.headline": "Usable with care.",
    "verdict.care.text": "{count} of {all} checks ask you to look closer before you decide about "
    f"people. {ALWAYS}",
    "verdict.unknown.headline": "Nothing was found against it, but not everything was checked.",
    "verdict.unknown.text": f"{{count}} of {{all}} checks could not be made. {ALWAYS}",
    "verdict.good.headline": "Nothing that was checked speaks against it.",
    "verdict.good.text": f"All {{all}} checks are good. {ALWAYS}",
}
"""Of facts what is said, meant and to be done; of verdicts headline and text."""
