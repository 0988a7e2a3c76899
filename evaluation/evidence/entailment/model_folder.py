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
from annotations.exchange.graded import get_graded_layout, read_marked_answers
from annotations.exchange.reading.answers import normalise_text
from evaluation.consensus.inputs import Progress
from evaluation.core.backends.cross_encoder import EntailmentModel
from evaluation.core.backends.embedding import sentences
from evaluation.core.backends.embedding.contract import find_package_versions
from evaluation.core.stats.cells import Booleans, Floats, Integers, encode_labels
from evaluation.core.stats.inference.clustered import ClusteredEstimate, compute_clustered_interval
from evaluation.core.stats.statistics.descriptive import auc
from evaluation.evidence.entailment.card import (
    BASE,
    HeldOutFigures,
    build_model_card,
    format_figures,
)
from evaluation.evidence.entailment.pairs import (
    CLASSES,
    LabelledAnswers,
    QuestionSplit,
    build_held_out_pairs,
    select_labelled_answers,
    split_by_question,
)
from evaluation.evidence.entailment.training import (
    CHECKPOINT,
    Training,
    TrainingSchedule,
    compute_probabilities_by_class,
    read_checkpoint_identity,
)

RECORD = "training.json"
CARD = "README.md"
# Held-out answers of the early report: some seconds on one core.
EARLY_ANSWERS = 150
# Held-out answers of the figures, so that they take a minute or two on one core.
MOST_HELD_OUT = 600
DRAWS = 400
PARTLY_RIGHT = "partially_correct_incomplete"

SayLine = Callable[[str], None]


@dataclass(frozen=True)
class TrainingRequest:
    """Arguments of ``manage.py train_entailment``.

    Attributes
    ----------
    data : file of graded answers. columns : names of its columns. output : folder for the model.
    schedule : length of the training, and the seed. held_out : share of held-out questions.
    limit : largest number of answers to train on; None for all.
    """

    data: Path
    output: Path
    schedule: TrainingSchedule
    held_out: float = 0.25
    limit: int | None = None
    columns: Mapping[str, str] | None = None


def train_model(
    request: TrainingRequest, say_line: SayLine, progress: Progress | None = None
) -> HeldOutFigures:
    """Train a model, write it into the output folder with card and record, and return its figures.

    Continues an interrupted training of the same data and options. Raises `InputError` and
    `BackendError`.
    """
    marked = read_marked_answers(request.data, dict(request.columns or {}))
    answers = select_labelled_answers(marked)
    schedule = request.schedule
    split = split_by_question(answers, request.held_out, schedule.seed, request.limit)
    options = [request.held_out, request.limit, schedule.epochs, schedule.minutes, schedule.seed]
    identity = json.dumps([marked.sha256, *options, sentences.HASHES["model.safetensors"]])
    _prepare_folder(request.output, identity)
    training = Training(answers, split, schedule, identity)

    drawn = np.random.default_rng([schedule.seed, 4]).permutation(split.held_out)

    def report_early(model: EntailmentModel, share: float) -> None:
        """Print the figures of the model during the training."""
        figures = compute_held_out_figures(
            model, answers, np.sort(drawn[:EARLY_ANSWERS]), schedule.seed
        )
        say_line(f"After {share:.0%} of the training, {format_figures(figures)}")

    trained = training.train(request.output, report_early, progress)
    figures = compute_held_out_figures(
        trained.model,
        answers,
        np.sort(drawn[:MOST_HELD_OUT]),
        schedule.seed,
        progress and (lambda done, total: progress("held-out questions", done, total)),
        with_cosine=True,
    )
    with sentences.hide_progress_bars():
        training.model.save_pretrained(request.output)
        training.tokenizer.save_pretrained(request.output)
    source = get_graded_layout(marked.layout).title
    n_trained = len(split.training)
    card = build_model_card(figures, trained, answers, source, n_trained, schedule)
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
        "processor_seconds": round(trained.processor_seconds, 1),
        "answers": n_trained,
        "answers_without_a_pair": answers.n_unpaired,
        "labels": dict(Counter(answers.labels[row] for row in split.training.tolist())),
        "held_out_questions": sorted({answers.questions[row] for row in split.held_out.tolist()}),
        "held_out": figures.describe(),
        "versions": find_package_versions("crowdgrade", "torch", "transformers"),
        "trained_answers": sorted(_list_trained_digests(answers, split)),
    }
    # Last: a folder with this file is complete.
    (request.output / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (request.output / CHECKPOINT).unlink()
    return figures


def _prepare_folder(output: Path, identity: str) -> None:
    """Create the output folder; `InputError` if it has files but no checkpoint of the training."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        is_empty = not any(output.iterdir())
    except OSError as error:
        raise InputError.single(
            str(output), f"the folder cannot be used: {error.strerror}", "Name another folder."
        ) from error
    if is_empty:
        return
    checkpoint_identity = read_checkpoint_identity(output)
    if checkpoint_identity is None:
        raise InputError.single(
            str(output), "the folder is not empty", "Name a new folder with --output."
        )
    if checkpoint_identity != identity:
        raise InputError.single(
            str(output),
            "the folder holds an interrupted training of other data or options",
            "Repeat the command with the data and options of before, or name a new folder.",
        )


def compute_held_out_figures(
    model: EntailmentModel,
    answers: LabelledAnswers,
    rows: Integers,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
    *,
    with_cosine: bool = False,
) -> HeldOutFigures:
    """Return a model's figures on held-out answers, the given rows.

    An answer's probability is the mean over its pairs, the right answer first.
    """
    pairs, places = build_held_out_pairs(answers, rows, seed)
    counts = np.bincount(places, minlength=len(rows))
    shares = {
        name: np.bincount(places, found, minlength=len(rows)) / counts
        for name, found in compute_probabilities_by_class(model, pairs, progress).items()
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
    return HeldOutFigures(
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
    """Return the AUC of the scores of `higher` over `lower` rows, with interval over questions."""
    used = np.flatnonzero(higher | lower)

    def statistic(drawn: Integers) -> float | None:
        """Return the AUC of a draw of the used rows."""
        rows = used[drawn]
        return auc(scores[rows[higher[rows]]], scores[rows[~higher[rows]]])

    if not higher.any() or not lower.any():
        return ClusteredEstimate(reason="no_answers_of_a_label")
    return compute_clustered_interval(statistic, questions[used], DRAWS, seed)


def _compute_cosine_auc(
    pairs: list[tuple[str, str]], places: Integers, counts: Integers, is_right: Booleans
) -> float | None:
    """Return the AUC of correct over other answers by the encoder's mean cosine in their pairs."""
    texts = [text for pair in pairs for text in pair]
    vectors = sentences.load_minilm().embed(texts).astype(np.float64)
    cosines = np.einsum("nd,nd->n", vectors[::2], vectors[1::2])
    scores = np.bincount(places, cosines, minlength=len(counts)) / counts
    return auc(scores[is_right], scores[~is_right])


def digest_answer(text: str) -> str:
    """Return a hash of an answer, the same regardless of case and outer spaces."""
    return hashlib.sha256(normalise_text(text).casefold().encode()).hexdigest()[:16]


def _list_trained_digests(answers: LabelledAnswers, split: QuestionSplit) -> set[str]:
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
    """Return the questions that a model was trained on, recognised by the hashes of answers.

    These are the questions of which most distinct answers have a hash in `trained`. Ids are not
    compared, because they differ between the files of one data set; a few equal answers do not
    suffice, because questions share short answers.
    """
    known: dict[str, dict[str, bool]] = {}
    for text, question in zip(texts, questions, strict=True):
        digest = digest_answer(text)
        known.setdefault(question, {})[digest] = digest in trained
    return frozenset(
        question for question, found in known.items() if 2 * sum(found.values()) > len(found)
    )
