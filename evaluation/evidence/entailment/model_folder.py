"""Train an entailment model into a folder: figures on held-out questions, card and record.

The folder can be given to each option ``--nli``. `training.json` records the answers that the model
was trained on, by hash, so that evidence is measured on other questions (`find_trained_answers`).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from annotations.exchange import InputError
from annotations.exchange.graded import get_layout, read_marked
from annotations.exchange.reading.answers import normalise_text
from evaluation.consensus.inputs import Progress
from evaluation.core.backends.cross_encoder import EntailmentModel
from evaluation.core.backends.embedding import sentences
from evaluation.core.backends.embedding.contract import find_versions
from evaluation.core.stats.cells import Booleans, Floats, Integers, encode_labels
from evaluation.core.stats.inference.clustered import ClusteredEstimate, compute_clustered_interval
from evaluation.core.stats.statistics.descriptive import auc
from evaluation.evidence.entailment.pairs import (
    CLASSES,
    LabelledAnswers,
    Split,
    build_held_out_pairs,
    select_labelled_answers,
    split_by_question,
)
from evaluation.evidence.entailment.training import (
    CHECKPOINT,
    Schedule,
    Trained,
    Training,
    compute_class_shares,
    read_checkpoint_identity,
)

RECORD = "training.json"
CARD = "README.md"
# Held-out answers of the early report: some seconds on one core.
EARLY_ANSWERS = 150
DRAWS = 400
PARTLY_RIGHT = "partially_correct_incomplete"
BASE = "all-MiniLM-L6-v2"

SayLine = Callable[[str], None]


@dataclass(frozen=True)
class TrainingRequest:
    """Arguments of ``manage.py train_entailment``.

    Attributes
    ----------
    data : graded answers. columns : names of its columns. output : folder for the model.
    schedule : how long, and the seed. held_out : share of the questions that are not trained on.
    limit : most answers to train on; None for all.
    """

    data: Path
    output: Path
    schedule: Schedule
    held_out: float = 0.25
    limit: int | None = None
    columns: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Figures:
    """How well a model separates held-out answers, with 95% intervals over questions.

    Attributes
    ----------
    accuracy : share of answers whose most probable class is theirs; majority : of the commonest
        class. right : AUC of correct over other answers by the probability of entailment; cosine :
        the same by the packaged encoder's cosine. contradictory : AUC of contradictory over partly
        right answers by the probability of contradiction, or over all incorrect ones where `lower`
        says so.
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


def train_model(
    request: TrainingRequest, say_line: SayLine, progress: Progress | None = None
) -> Figures:
    """Train a model, write it into the folder with its card and record, and return its figures.

    Continues an interrupted training of the same data and options. Raises `InputError` and
    `BackendError`.
    """
    marked = read_marked(request.data, dict(request.columns or {}))
    answers = select_labelled_answers(marked)
    schedule = request.schedule
    split = split_by_question(answers, request.held_out, schedule.seed, request.limit)
    identity = json.dumps(
        [marked.sha256, request.held_out, request.limit, schedule.epochs, schedule.minutes]
        + [schedule.seed, sentences.HASHES["model.safetensors"]]
    )
    _prepare_folder(request.output, identity)
    training = Training(answers, split, schedule, identity)

    def report_early(model: EntailmentModel, share: float) -> None:
        some = np.random.default_rng([schedule.seed, 4]).permutation(split.held_out)
        figures = measure_model(model, answers, np.sort(some[:EARLY_ANSWERS]), schedule.seed)
        say_line(f"After {share:.0%} of the training, {format_figures(figures)}")

    trained = training.run(request.output, report_early, progress)
    figures = measure_model(
        trained.model,
        answers,
        split.held_out,
        schedule.seed,
        progress and (lambda done, total: progress("held-out questions", done, total)),
        with_cosine=True,
    )
    with sentences.hide_progress_bars():
        training.model.save_pretrained(request.output)
        training.tokenizer.save_pretrained(request.output)
    source = get_layout(marked.layout).title
    n_trained = len(split.training)
    card = build_card(figures, trained, answers, source, n_trained, schedule)
    (request.output / CARD).write_text(card, encoding="utf-8")
    record = {
        "data": {"file": marked.name, "sha256": marked.sha256, "layout": marked.layout},
        "base": {"model": BASE, "sha256": sentences.HASHES["model.safetensors"]},
        "options": {
            "epochs": schedule.epochs,
            "minutes": schedule.minutes,
            "seed": schedule.seed,
            "held_out": request.held_out,
            "limit": request.limit,
        },
        "steps": trained.steps,
        "steps_planned": trained.planned,
        "seconds": round(trained.seconds, 1),
        "answers": n_trained,
        "answers_without_a_pair": answers.n_unpaired,
        "labels": dict(Counter(answers.labels[row] for row in split.training.tolist())),
        "held_out_questions": sorted({answers.questions[row] for row in split.held_out.tolist()}),
        "held_out": figures.describe(),
        "versions": find_versions("crowdgrade", "torch", "transformers"),
        "trained_answers": sorted(_list_trained_digests(answers, split)),
    }
    # Last: a folder with this file is complete.
    (request.output / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (request.output / CHECKPOINT).unlink()
    return figures


def _prepare_folder(output: Path, identity: str) -> None:
    """Create the folder; `InputError` if it has files but no checkpoint of this training."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        is_empty = not any(output.iterdir())
    except OSError as error:
        raise InputError.single(
            str(output), f"the folder cannot be used: {error.strerror}", "Name another folder."
        ) from error
    if is_empty:
        return
    found = read_checkpoint_identity(output)
    if found is None:
        raise InputError.single(
            str(output), "the folder is not empty", "Name a new folder with --output."
        )
    if found != identity:
        raise InputError.single(
            str(output),
            "the folder holds an interrupted training of other data or options",
            "Repeat the command with the data and options of before, or name a new folder.",
        )


def measure_model(
    model: EntailmentModel,
    answers: LabelledAnswers,
    rows: Integers,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
    *,
    with_cosine: bool = False,
) -> Figures:
    """Return the figures of a model on held-out answers.

    An answer's probability is the mean over its pairs, the right answer first.
    """
    pairs, places = build_held_out_pairs(answers, rows, seed)
    counts = np.bincount(places, minlength=len(rows))
    shares = {
        name: np.bincount(places, found, minlength=len(rows)) / counts
        for name, found in compute_class_shares(model, pairs, progress).items()
    }
    labels = np.array([answers.labels[row] for row in rows.tolist()])
    true = np.array([CLASSES[label] for label in labels.tolist()])
    questions, _ = encode_labels([answers.questions[row] for row in rows.tolist()])
    names = sorted(shares)
    guessed = np.array(names)[np.argmax([shares[name] for name in names], axis=0)]
    lower = PARTLY_RIGHT if (labels == PARTLY_RIGHT).any() else "incorrect"
    if "contradiction" in shares:
        of_contradiction = _estimate_auc(
            shares["contradiction"], labels == "contradictory", labels == lower, questions, seed
        )
    else:
        of_contradiction = ClusteredEstimate(reason="no_class_for_contradiction")
    is_right = true == "entailment"
    return Figures(
        len(rows),
        int(questions.max()) + 1,
        float((guessed == true).mean()),
        max(Counter(true.tolist()).values()) / len(true),
        _estimate_auc(shares["entailment"], is_right, ~is_right, questions, seed),
        of_contradiction,
        lower,
        _compute_cosine_auc(pairs, places, counts, is_right) if with_cosine else None,
    )


def _estimate_auc(
    scores: Floats, higher: Booleans, lower: Booleans, questions: Integers, seed: int
) -> ClusteredEstimate:
    """Return the AUC of the scores of `higher` over those of `lower` rows."""
    used = np.flatnonzero(higher | lower)

    def statistic(drawn: Integers) -> float | None:
        rows = used[drawn]
        return auc(scores[rows[higher[rows]]], scores[rows[~higher[rows]]])

    if not higher.any() or not lower.any():
        return ClusteredEstimate(reason="no_answers_of_a_label")
    return compute_clustered_interval(statistic, questions[used], DRAWS, seed)


def _compute_cosine_auc(
    pairs: list[tuple[str, str]], places: Integers, counts: Integers, is_right: Booleans
) -> float | None:
    """Return the AUC of correct answers by the encoder's mean cosine to the same right answers."""
    texts = [text for pair in pairs for text in pair]
    vectors = sentences.load_minilm().embed(texts).astype(np.float64)
    cosines = np.einsum("nd,nd->n", vectors[::2], vectors[1::2])
    scores = np.bincount(places, cosines, minlength=len(counts)) / counts
    return auc(scores[is_right], scores[~is_right])


def format_figures(figures: Figures) -> str:
    """Return the figures as a sentence, without a capital and with a full stop."""
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


def format_estimate(found: ClusteredEstimate) -> str:
    """Return "0.70 (95% 0.61 to 0.78)", or that it was not measured, with the reason."""
    if found.value is None:
        return f"not measured ({(found.reason or 'undefined').replace('_', ' ')})"
    if found.low is None:
        return f"{found.value:.2f}"
    return f"{found.value:.2f} (95% {found.low:.2f} to {found.high:.2f})"


def _describe_estimate(found: ClusteredEstimate) -> dict[str, object]:
    return {"value": found.value, "low": found.low, "high": found.high, "reason": found.reason}


def build_card(
    figures: Figures,
    trained: Trained,
    answers: LabelledAnswers,
    source: str,
    n_trained: int,
    schedule: Schedule,
) -> str:
    """Return the model card as Markdown."""
    n_with_reference = sum(one in answers.references for one in set(answers.questions))
    used = (
        f"{n_with_reference} of {len(set(answers.questions))} questions have a reference answer; "
        "otherwise the right answer of a pair is another person's correct answer."
    )
    knows = "contradiction" in trained.model.labels.values()
    blind = (
        "The probability of contradiction separates contradictory answers from "
        f"{figures.lower.replace('_', ' ')} ones with AUC {format_estimate(figures.contradictory)}. "
        ".5 is chance. Do not use it to reject an answer unless the interval is far above .5."
        if knows
        else "The data have no label for contradictory answers, so the model has no class for "
        "contradiction."
    )
    minutes = trained.seconds / 60
    return f"""---
language: en
license: other
base_model: sentence-transformers/{BASE}
pipeline_tag: text-classification
---

# Entailment model trained on graded answers

This model reads a right answer and another answer, and estimates whether the second says the same
(entailment){", contradicts it (contradiction)" if knows else ""} or neither (neutral). Use it with
the option `--nli` of Crowdgrade. It was made by `manage.py train_entailment`.

## Data

- Layout: {source}. {n_trained:,} answers were used for training.
- {used}
- Questions are either trained on or held out, never both. `training.json` lists the held-out ones.

## Training

All weights of {BASE} except the word embeddings were trained: {trained.steps:,} of {trained.planned:,}
planned steps, {minutes:.1f} minutes, seed {schedule.seed}. The same command gives the same model
only if the time limit did not end the training and the library versions are the same.

## Figures on held-out questions

- Answers: {figures.n_answers:,} to {figures.n_questions:,} questions.
- AUC of correct answers over others, by the probability of entailment: {format_estimate(figures.right)}.
- The same by the cosine of {BASE}: {_format_number(figures.cosine)}.
- Accuracy of the class: {figures.accuracy:.2f}. The commonest class alone: {figures.majority:.2f}.
- AUC of contradictory answers over {figures.lower.replace("_", " ")} ones: {format_estimate(figures.contradictory)}.

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
    return "not measured" if value is None else f"{value:.2f}"


def digest_answer(text: str) -> str:
    """Return a hash of an answer, regardless of case and outer spaces."""
    return hashlib.sha256(normalise_text(text).casefold().encode()).hexdigest()[:16]


def _list_trained_digests(answers: LabelledAnswers, split: Split) -> set[str]:
    """Return the hashes of all answers to the questions that were trained on."""
    held = {answers.questions[row] for row in split.held_out.tolist()}
    return {
        digest_answer(text)
        for text, question in zip(answers.texts, answers.questions, strict=True)
        if question not in held
    }


def find_trained_answers(name: str | None) -> frozenset[str]:
    """Return the hashes of the answers that a model was trained on; empty if nothing is recorded.

    Raises `InputError` for a damaged record.
    """
    path = Path(name or "").expanduser() / RECORD
    if not name or not path.is_file():
        return frozenset()
    try:
        return frozenset(map(str, json.loads(path.read_text(encoding="utf-8"))["trained_answers"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError.single(
            str(path), "the record of the training is damaged", "Train the model again."
        ) from error


def flag_trained_questions(
    texts: Iterable[str], questions: Iterable[str], trained: frozenset[str]
) -> frozenset[str]:
    """Return the questions of which most different answers are among those trained on.

    By the answers and not by ids, which differ between the files of one data set. Short answers are
    shared by questions, so a single one decides nothing.
    """
    known: dict[str, dict[str, bool]] = {}
    for text, question in zip(texts, questions, strict=True):
        digest = digest_answer(text)
        known.setdefault(question, {})[digest] = digest in trained
    return frozenset(
        question for question, found in known.items() if 2 * sum(found.values()) > len(found)
    )
