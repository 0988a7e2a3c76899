"""Pairs of a right answer and a graded answer, with a class, split by question.

The right answer is the question's reference answer, or another person's answer that the graders
called correct.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from annotations.exchange import InputError
from annotations.exchange.graded import MarkedFile
from annotations.exchange.graded.labels import normalise_label, parse_finite_number
from evaluation.core.stats.cells import Booleans, Integers

Class = Literal["contradiction", "entailment", "neutral"]
# The labels of SemEval 2013 Task 7, in two, three or five ways.
CLASSES: dict[str, Class] = {
    "correct": "entailment",
    "contradictory": "contradiction",
    "incorrect": "neutral",
    "partially_correct_incomplete": "neutral",
    "irrelevant": "neutral",
    "non_domain": "neutral",
}
FEWEST_ANSWERS = 100
FEWEST_QUESTIONS = 4
# Right answers with which a held-out answer is compared where there is no reference answer.
PREMISES = 3
REMEDY = (
    "Give answers with the labels of SemEval 2013 Task 7: correct, contradictory and incorrect, or "
    "its five-way labels."
)


@dataclass(frozen=True)
class LabelledAnswers:
    """Graded answers that can be paired with a right answer to their question.

    Attributes
    ----------
    texts, questions, labels : (N,) answer, id of its question, and the graders' label.
    references : reference answer by question, if the file has one.
    correct : texts of the correct answers by question.
    n_unpaired : number of answers left out because their question has no other right answer.
    """

    texts: list[str]
    questions: list[str]
    labels: list[str]
    references: dict[str, str]
    correct: dict[str, list[str]]
    n_unpaired: int

    @property
    def classes(self) -> list[Class]:
        """Entailment class of each answer, a value of `CLASSES`."""
        return [CLASSES[label] for label in self.labels]

    def list_premises(self, row: int) -> list[str]:
        """Return the right answers to the question of answer `row` whose text differs from it."""
        return [one for one in self.correct.get(self.questions[row], ()) if one != self.texts[row]]

    def draw_pairs(self, rows: Iterable[int], rng: np.random.Generator) -> list[tuple[str, str]]:
        """Return a pair of texts for each row: a right answer and the row's answer, shuffled.

        With a reference answer half of the pairs have it, the others another person's correct
        answer, because a model is used with both. In random order, because it is used both ways.
        """
        pairs = []
        for row in rows:
            reference = self.references.get(self.questions[row])
            others = self.list_premises(row)
            if reference is not None and (not others or rng.random() < 0.5):
                premise = reference
            else:
                premise = others[int(rng.integers(len(others)))]
            pair = (premise, self.texts[row])
            pairs.append(pair if rng.random() < 0.5 else pair[::-1])
        return pairs


def select_labelled_answers(marked: MarkedFile) -> LabelledAnswers:
    """Return the graded answers of a file that can be paired with a right answer.

    Raises `InputError`: labels that are numbers or unknown, fewer than 100 answers or 4 questions,
    answers of one class only.
    """
    labels = [_read_label(marked, answer.line, answer.marks) for answer in marked.answers]
    correct: dict[str, list[str]] = {}
    for answer, label in zip(marked.answers, labels, strict=True):
        if CLASSES[label] == "entailment":
            texts = correct.setdefault(answer.question, [])
            if answer.text not in texts:
                texts.append(answer.text)
    labelled_answers = LabelledAnswers([], [], [], dict(marked.references), correct, 0)
    n_unpaired = 0
    for answer, label in zip(marked.answers, labels, strict=True):
        others = [one for one in correct.get(answer.question, ()) if one != answer.text]
        if answer.question not in labelled_answers.references and not others:
            n_unpaired += 1
            continue
        labelled_answers.texts.append(answer.text)
        labelled_answers.questions.append(answer.question)
        labelled_answers.labels.append(label)
    n_questions = len(set(labelled_answers.questions))
    if len(labelled_answers.texts) < FEWEST_ANSWERS or n_questions < FEWEST_QUESTIONS:
        raise InputError.single(
            marked.name,
            f"{len(labelled_answers.texts)} answers to {n_questions} questions can be paired "
            "with a right "
            f"answer; {FEWEST_ANSWERS} answers to {FEWEST_QUESTIONS} questions are needed",
            "Add graded answers, or reference answers for questions without a right answer.",
        )
    if len(set(labelled_answers.classes)) < 2:
        raise InputError.single(
            marked.name, f"all answers have the label {labelled_answers.labels[0]}", REMEDY
        )
    return LabelledAnswers(
        labelled_answers.texts,
        labelled_answers.questions,
        labelled_answers.labels,
        labelled_answers.references,
        correct,
        n_unpaired,
    )


def _read_label(marked: MarkedFile, line: int, marks: Sequence[str]) -> str:
    """Return the label of an answer, a key of `CLASSES`. Raises `InputError` for another mark."""
    label = normalise_label(marks[0])
    if len(marks) == 1 and label in CLASSES:
        return label
    kind = "grade" if parse_finite_number(marks[0]) is not None else "label"
    raise InputError.single(
        marked.name, f"line {line}: the {kind} {', '.join(marks)[:60]} says no class", REMEDY
    )


@dataclass(frozen=True)
class QuestionSplit:
    """Split of answers by question: rows to train on, and rows on held-out questions."""

    training: Integers
    held_out: Integers


def split_by_question(
    answers: LabelledAnswers, share: float, seed: int, limit: int | None = None
) -> QuestionSplit:
    """Split the answers by question: a random share of the questions, at least 1, is held out.

    With a `limit`, so many training answers are drawn. Raises `InputError` if all answers of a part
    have the same class.
    """
    names = sorted(set(answers.questions))
    rng = np.random.default_rng(seed)
    n_held = min(len(names) - 1, max(1, round(share * len(names))))
    held = set(rng.permutation(names)[:n_held].tolist())
    flags: Booleans = np.array([name in held for name in answers.questions])
    training = np.flatnonzero(~flags)
    if limit is not None and limit < len(training):
        training = np.sort(rng.permutation(training)[:limit])
    split = QuestionSplit(training, np.flatnonzero(flags))
    is_right = np.array([one == "entailment" for one in answers.classes])
    for rows, part in ((split.training, "to train on"), (split.held_out, "held out")):
        if len(rows) == 0 or is_right[rows].all() or not is_right[rows].any():
            raise InputError.single(
                "DATA",
                f"the answers {part} are all right or all wrong",
                "Give another --seed, a greater --held-out or --limit, or more answers.",
            )
    return split


def build_held_out_pairs(
    answers: LabelledAnswers, rows: Integers, seed: int
) -> tuple[list[tuple[str, str]], Integers]:
    """Return the pairs by which held-out answers are measured, and each pair's index in `rows`.

    One pair with the reference answer, or up to 3 with other people's correct answers.
    """
    rng = np.random.default_rng([seed, 1])
    pairs: list[tuple[str, str]] = []
    places: list[int] = []
    for place, row in enumerate(rows.tolist()):
        reference = answers.references.get(answers.questions[row])
        premises = [reference] if reference is not None else answers.list_premises(row)
        chosen = rng.permutation(len(premises))[:PREMISES]
        pairs += [(premises[index], answers.texts[row]) for index in chosen.tolist()]
        places += [place] * len(chosen)
    return pairs, np.array(places, dtype=np.int64)
