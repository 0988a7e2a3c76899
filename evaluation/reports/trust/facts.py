"""What is so in one run: plain values in, a fact with a level out.

The limits are those at which something broke or was never tried in the measurements of
platform/docs/evidence.md, or the thresholds of the alarms; where neither gives one, a rule of thumb
is used and called so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.methods.alarms.ranking import STABLE
from evaluation.methods.aqer.estimator import FEWEST_WORKERS
from evaluation.methods.aqer.scale import FEWEST_ANSWERERS, FEWEST_QUESTIONS

Level = Literal["bad", "care", "unknown", "good"]
WORST_FIRST: tuple[Level, ...] = ("bad", "care", "unknown", "good")
WORDS: Mapping[Level, str] = {
    "bad": "Stop",
    "care": "Take care",
    "unknown": "Not known",
    "good": "Good",
}

# Crowds of 6 simulated workers and more kept their order, of 12 nearly exactly; 3 turned around.
FEW_WORKERS, ENOUGH_WORKERS = 6, 12
# Answers a question had in the real crowds that were tried: 6 to 10.
USUAL_ANSWERS = 6
# Parts of all workers or questions beyond which something concerns the crowd and not a few.
SOME, MOST = 0.1, 0.5
STEADY = 0.9
# Fewer graded answers say nothing about agreement with experts; the levels are a rule of thumb.
FEWEST_JUDGED = 20
AGREES, DISAGREES = 0.5, 0.2


@dataclass(frozen=True)
class Fact:
    """One thing that bears on trust.

    Attributes
    ----------
    name : a slug. title : what it is about, as a question.
    said : what is so in this run. meaning : why that matters. todo : what to do; "" for nothing.
    """

    name: str
    level: Level
    title: str
    said: str
    meaning: str
    todo: str = ""

    @property
    def word(self) -> str:
        """The level in a word."""
        return WORDS[self.level]


def of_workers(n_workers: int, leave_one_out: bool) -> Fact:
    """Judge the number of people who answered."""
    level: Level = "good"
    meaning = "Crowds of this size kept their order in simulations, if people err independently."
    todo = ""
    if n_workers < FEWEST_WORKERS:
        level = "bad"
        meaning = "With two people nobody can say who is right when they disagree: no grades."
        todo = "Ask more people."
    elif n_workers < FEW_WORKERS:
        level = "care" if leave_one_out else "bad"
        meaning = (
            "In so small a crowd everybody is a large part of the consensus they are compared "
            "with. In simulations three workers of different quality were ranked upside down."
        )
        todo = "Ask more people, or grade with “Leave one out”, which mended it in simulations."
    elif n_workers < ENOUGH_WORKERS:
        level = "care"
        meaning = "Enough for an order, but each single person still moves the consensus."
        todo = "Twelve or more people make it steadier; “Leave one out” helps in small crowds."
    return Fact(
        "workers", level, "Did enough people answer?", f"{_workers(n_workers)}.", meaning, todo
    )


def of_answers(questions: Mapping[int, int]) -> Fact:
    """Judge how many answers each question has; `questions` counts them by their answers."""
    n = sum(questions.values())
    answered = sorted(questions.items())
    median = _median(answered, n)
    thin = sum(count for answers, count in answered if answers < FEWEST_ANSWERERS)
    level: Level = "good"
    todo = ""
    if not n or median < FEWEST_ANSWERERS or thin > MOST * n:
        level = "bad"
    elif median < USUAL_ANSWERS or thin > SOME * n:
        level = "care"
    if level != "good":
        todo = "Give the same questions to more people rather than asking more questions."
    said = f"The typical question has {median} answer{'' if median == 1 else 's'}"
    said += f"; {thin:,} of {n:,} questions have fewer than {FEWEST_ANSWERERS}." if thin else "."
    return Fact(
        "answers",
        level,
        "Are there enough answers to each question?",
        said,
        "The consensus of a question is made of its answers. With fewer than "
        f"{FEWEST_ANSWERERS} it is hardly more than one person's view; the real crowds on which "
        f"the method was tried had {USUAL_ANSWERS} to 10.",
        todo,
    )


def of_support(n_workers: int, n_supported: int) -> Fact:
    """Judge how many workers answered enough to be ranked."""
    without = n_workers - n_supported
    level: Level = "good"
    if not n_supported or without > MOST * n_workers:
        level = "bad"
    elif without > SOME * n_workers:
        level = "care"
    said = "Everybody answered enough to be ranked."
    if without:
        said = f"{_workers(without)} of {n_workers:,} answered too little to be ranked."
    return Fact(
        "support",
        level,
        "Did each of them answer enough?",
        said,
        f"With fewer than {FEWEST_QUESTIONS} answers to questions that others answered too, a "
        "grade is mostly luck.",
        "Take no decision about people without a rank; ask them more questions." if without else "",
    )


def of_convergence(converged: bool | None, iterations: int) -> Fact:
    """Judge whether the weights settled; None where too few people were graded."""
    title = "Did the computation settle?"
    meaning = (
        "Grades and consensus are computed in turns until they no longer change. If they still "
        "move, close ranks are accidents of when it stopped."
    )
    if converged is None:
        said = "There was one pass only, because there are too few people."
        return Fact("convergence", "unknown", title, said, meaning)
    if converged:
        said = f"Yes, after {iterations} round{'' if iterations == 1 else 's'}."
        return Fact("convergence", "good", title, said, meaning)
    return Fact(
        "convergence",
        "care",
        title,
        f"No: after {iterations} rounds the weights still moved.",
        meaning,
        "Grade again with more iterations (“Most iterations”).",
    )


def of_stability(agreement: float | None) -> Fact:
    """Judge the median rank correlation of the draws with the run."""
    title = "Would other questions give the same ranking?"
    meaning = (
        "The questions are drawn again and again at random out of those that were asked, and "
        "everybody is ranked anew. 1 is the same order every time, 0 an order by chance. It says "
        "nothing about whether the order is right: a wrong one can be very steady."
    )
    if agreement is None:
        said = "Not known: this run drew no questions anew."
        todo = "Grade again with 400 bootstrap draws."
        return Fact("stability", "unknown", title, said, meaning, todo)
    said = f"In the typical draw the order agrees with this one by {agreement:.2f}."
    if agreement >= STEADY:
        return Fact("stability", "good", title, said, meaning)
    return Fact(
        "stability",
        "care" if agreement >= STABLE else "bad",
        title,
        said,
        meaning,
        "Do not rely on close ranks: look at the intervals, and ask more questions.",
    )


def of_alarms(counts: Mapping[str, int] | None) -> Fact:
    """Judge the alarms by severity; None for a run that did not look for any."""
    title = "Is there a group that copies, or a camp that errs together?"
    meaning = (
        "Agreement is taken for quality. Whoever agrees for another reason gains votes, and a "
        "large group of them turns the ranking upside down, which no grade shows."
    )
    if counts is None:
        said = "Not known: the run was computed before Crowdgrade looked for it."
        return Fact("alarms", "unknown", title, said, meaning, "Grade again.")
    alarms, notices = counts.get("alarm", 0), counts.get("notice", 0)
    if alarms:
        said = f"{alarms} alarm{' rings' if alarms == 1 else 's ring'}."
        todo = "Read the evidence of each alarm before you pay, reject or publish anything."
        return Fact("alarms", "bad", title, said, meaning, todo)
    if notices:
        said = f"No alarm rings; {notices} notice{'' if notices == 1 else 's'} to look at."
        return Fact("alarms", "care", title, said, meaning, "Look at the evidence.")
    said = "No alarm rings. That does not prove that nobody copied: see what cannot be seen below."
    return Fact("alarms", "good", title, said, meaning)


def of_language(model: str, wrong: str, unchecked: str, is_known: bool) -> Fact:
    """Judge whether the vectors know the language; `wrong`, `unchecked`: warnings of the run."""
    title = "Does the model understand the language of the answers?"
    meaning = (
        "Answers are compared as vectors. A model that does not know the language compares "
        "letters it has never seen, and its numbers mean little."
    )
    if wrong:
        todo = "Grade again with a multilingual model or with groups of letters (TF-IDF)."
        return Fact("language", "bad", title, wrong, meaning, todo)
    if unchecked:
        return Fact("language", "unknown", title, unchecked, meaning)
    if not is_known:
        said = f"Nobody told which languages {model or 'the model'} knows."
        todo = "See what its makers say about it."
        return Fact("language", "unknown", title, said, meaning, todo)
    return Fact("language", "good", title, f"Nothing speaks against {model}.", meaning)


def of_truncation(warning: str) -> Fact | None:
    """Judge answers that were cut; None if none was."""
    if not warning:
        return None
    return Fact(
        "truncation",
        "care",
        "Were the answers read to their end?",
        warning,
        "What stands behind the cut earns nothing and costs nothing.",
        "Ask for shorter answers, or choose a model that reads longer ones.",
    )


def of_shortness(warning: str) -> Fact:
    """Judge whether answers are too short for vectors; `warning` of the run, "" for none."""
    title = "Are the answers long enough to be compared by meaning?"
    meaning = (
        "Vectors see what an answer is about, and hardly see a single wrong year, name or number. "
        "“Guilty” and “not guilty” are nearly the same to them."
    )
    if warning:
        todo = "Check such answers against a key: these grades cannot tell right from wrong there."
        return Fact("shortness", "bad", title, warning, meaning, todo)
    said = "Most answers are longer than a name or a number."
    return Fact("shortness", "good", title, said, meaning)


def of_experts(
    pairs: Sequence[tuple[float, float]], correlation: float | None, chose: bool
) -> Fact:
    """Judge the agreement with experts.

    Parameters
    ----------
    pairs : score and mean expert's grade of each judged answer. correlation : Pearson's, of them.
    chose : whether these grades also chose this ranking, so that they cannot confirm it.
    """
    title = "Did an expert check a sample?"
    meaning = (
        "This is the only check from outside: whether answers that score high here are also those "
        "that somebody who knows the subject grades high, without seeing the scores."
    )
    n = len(pairs)
    todo = f"Let an expert grade {FEWEST_JUDGED} answers or more without seeing their scores."
    if not n:
        return Fact(
            "experts", "unknown", title, "No answer was graded by an expert.", meaning, todo
        )
    graded = f"{n:,} answer{'' if n == 1 else 's'} graded by experts"
    if chose:
        said = f"{graded}. They chose this ranking, so they cannot confirm it as well."
        return Fact("experts", "unknown", title, said, meaning, todo)
    if correlation is None:
        said = f"{graded}, but their grades or scores are all the same."
        return Fact("experts", "unknown", title, said, meaning, todo)
    said = f"{graded}: their grades correlate {correlation:.2f} with the scores (1 is perfect)."
    if n < FEWEST_JUDGED:
        return Fact("experts", "unknown", title, f"{said} Too few to say.", meaning, todo)
    if correlation >= AGREES:
        return Fact("experts", "good", title, said, meaning)
    level: Level = "bad" if correlation < DISAGREES else "care"
    todo = "Read the answers on which the experts and the scores differ most."
    return Fact("experts", level, title, said, meaning, todo)


def of_changes(has_changed: bool) -> Fact | None:
    """Judge whether the data is still that of the run; None if it is."""
    if not has_changed:
        return None
    return Fact(
        "changes",
        "care",
        "Are these still the answers that were graded?",
        "No: answers were added, changed or withdrawn since.",
        "The grades stand for the answers as they were when the run began.",
        "Grade again.",
    )


def _workers(n: int) -> str:
    return f"{n:,} worker{'' if n == 1 else 's'}"


def _median(answered: Sequence[tuple[int, int]], n: int) -> int:
    """Return the lower median of answers, out of (answers, number of questions), ascending."""
    seen = 0
    for answers, count in answered:
        seen += count
        if 2 * seen >= n:
            return answers
    return 0
