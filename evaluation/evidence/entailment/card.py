"""Figures of an entailment model on held-out questions, and the model card with them."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.core.stats.inference.clustered import ClusteredEstimate
from evaluation.evidence.entailment.pairs import LabelledAnswers
from evaluation.evidence.entailment.training import TrainedModel, TrainingSchedule

BASE = "all-MiniLM-L6-v2"


@dataclass(frozen=True)
class HeldOutFigures:
    """Figures on how well a model separates held-out answers, with 95% intervals over questions.

    Attributes
    ----------
    accuracy : share of answers whose most probable class is right; majority : share of the most
        frequent class. right : AUC of correct over other answers by the probability of entailment;
        cosine : the same by the packaged encoder's cosine. contradictory : AUC of contradictory
        answers over those with the label `lower` by the probability of contradiction.
    """

    n_answers: int
    n_questions: int
    accuracy: float
    majority: float
    right: ClusteredEstimate
    contradictory: ClusteredEstimate
    lower: str
    cosine: float | None = None

    def describe(self) -> dict[str, object]:
        """Return the figures for training.json."""
        return {
            "answers": self.n_answers,
            "questions": self.n_questions,
            "accuracy": self.accuracy,
            "accuracy_of_the_commonest_class": self.majority,
            "auc_correct_over_others": _describe_estimate(self.right),
            "auc_correct_over_others_by_cosine": self.cosine,
            f"auc_contradictory_over_{self.lower}": _describe_estimate(self.contradictory),
        }


def format_figures(figures: HeldOutFigures) -> str:
    """Return the figures as the end of a sentence: no capital, but a full stop."""
    parts = [
        f"on {figures.n_answers:,} answers to {figures.n_questions:,} held-out questions: AUC of "
        f"correct answers over others {format_estimate(figures.right)}",
        f"accuracy {figures.accuracy:.2f} (the commonest class {figures.majority:.2f})",
        f"AUC of contradictory answers over {figures.lower.replace('_', ' ')} ones "
        f"{format_estimate(figures.contradictory)}",
    ]
    if figures.cosine is not None:
        parts.insert(1, f"by cosine {figures.cosine:.2f}")
    return f"{', '.join(parts)}."


def format_estimate(estimate: ClusteredEstimate) -> str:
    """Return "0.70 (95% 0.61 to 0.78)", or that it was not measured, with the reason."""
    if estimate.value is None:
        return f"not measured ({(estimate.reason or 'undefined').replace('_', ' ')})"
    if estimate.low is None:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} (95% {estimate.low:.2f} to {estimate.high:.2f})"


def _describe_estimate(estimate: ClusteredEstimate) -> dict[str, object]:
    """Return an estimate as an entry of training.json."""
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "reason": estimate.reason,
    }


def build_model_card(
    figures: HeldOutFigures,
    trained: TrainedModel,
    answers: LabelledAnswers,
    source: str,
    n_trained: int,
    schedule: TrainingSchedule,
) -> str:
    """Return the card of a trained model as Markdown: its data, training and figures."""
    n_with_reference = sum(question in answers.references for question in set(answers.questions))
    used = (
        f"{n_with_reference} of {len(set(answers.questions))} questions have a reference answer; "
        "otherwise the right answer of a pair is another person's correct answer."
    )
    minutes, processor_minutes = trained.seconds / 60, trained.processor_seconds / 60
    lower, right = figures.lower.replace("_", " "), format_estimate(figures.right)
    contradictory = format_estimate(figures.contradictory)
    knows = "contradiction" in trained.model.labels.values()
    blind = (
        "The probability of contradiction separates contradictory answers from "
        f"{lower} ones with AUC {contradictory}. "
        ".5 is chance. Do not use it to reject an answer unless the interval is far above .5."
        if knows
        else "The data have no label for contradictory answers, so the model has no class for "
        "contradiction."
    )
    return f"""---
language: en
license: other
base_model: sentence-transformers/{BASE}
pipeline_tag: text-classification
---

# Entailment model trained on graded answers

This model reads a right answer and another answer, and estimates whether the second means the same
(entailment){", contradicts it (contradiction)" if knows else ""} or neither (neutral). Use it with
the option `--nli` of Crowdgrade. It was made by `manage.py train_entailment`.

## Data

- Layout: {source}. {n_trained:,} answers were used for training.
- {used}
- Questions are either trained on or held out, never both. `training.json` lists the held-out ones.

## Training

All weights of {BASE} except the word embeddings were trained: {trained.steps:,} of
{trained.planned:,} planned steps, {minutes:.1f} minutes ({processor_minutes:.1f} of processor
time), seed {schedule.seed}. The same command gives the same model only if the time limit did not
end the training and the library versions are the same.

## Figures on held-out questions

- Answers: {figures.n_answers:,} to {figures.n_questions:,} questions.
- AUC of correct answers over others, by the probability of entailment: {right}.
- The same by the cosine of {BASE}: {_format_number(figures.cosine)}.
- Accuracy of the class: {figures.accuracy:.2f}. The commonest class alone: {figures.majority:.2f}.
- AUC of contradictory answers over {lower} ones: {contradictory}.

The intervals are for other questions of the same kind. They say nothing about another subject.

## What it cannot see

- {blind}
- It reads neither the question nor the passage.
- It knows the subject and the language of its training data only.
- It reads the first 512 tokens of a pair.
- A fact that the right answer does not mention has no influence.

## Licence

{BASE} is under Apache-2.0. The licence of the graded answers may extend to this model (Beetle: CC
BY-SA 3.0). Check it before you give the model to others. `training.json` holds hashes of the
answers that were used for training. Delete it before you publish the model if the answers are
confidential; evidence can then no longer leave these answers out.
"""


def _format_number(value: float | None) -> str:
    """Return a number with two decimals; "not measured" for None."""
    return "not measured" if value is None else f"{value:.2f}"
