"""Run the method comparison on graded answers in the background, over several turns."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import numpy as np
from django.utils.text import capfirst

from annotations.exchange import InputError
from annotations.exchange.graded import LabelGrades
from evaluation.consensus.inputs import Embedded
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import SHORT, combine_hashes
from evaluation.core.options import SITE, build_signature_parts
from evaluation.core.stats.grams import Vectors
from evaluation.evidence.baselines import Corpus, list_methods
from evaluation.evidence.graded.crowds import GradedCrowds, TooFewGradesError
from evaluation.evidence.graded.trust import Aside, build_summary, compare_on_grades
from evaluation.evidence.tables import FIRST_SEED
from evaluation.models import Run, RunData
from evaluation.runs.flow.graded import GradedOptions
from evaluation.runs.steps.answers import load_graded_answers
from evaluation.runs.steps.cache import embed_texts
from evaluation.runs.steps.checkpoints import OutOfTimeError, RunEnd, RunInputError, Turn

# Name under which scores of methods are stored between turns.
ASIDE = "tried-methods"


def compare_methods(turn: Turn) -> None:
    """Score the graded answers of a claimed run with all methods, within the turn's time.

    What one turn has scored is stored under `ASIDE`; the next turn continues there.
    """
    run = Run.objects.select_related("version").get(pk=turn.run_id)
    options = load_options(run)
    graded_file = load_graded_answers(run.version.question_set_id)
    if graded_file is None:
        raise RunInputError("run.no_graded_answers")
    try:
        graded = graded_file.compute_grades(LabelGrades.parse(options.labels or ""))
        crowds = GradedCrowds.from_answers(graded, options.seed)
        version = metadata.version("crowdgrade")
        input_hash = combine_hashes([graded_file.sha256])
        signature = "|".join(
            [
                "graded",
                *(f"{name}:{value}" for name, value in build_signature_parts(options).items()),
                f"inputs:{input_hash[:SHORT]}",
                f"version:{version}",
            ]
        )
        stored = turn.read_stored(ASIDE) or {}
        # The signature tells options, answers and program version: other scores are computed again.
        scores = _decode_scores(stored["scores"]) if stored.get("key") == signature else {}

        def save_progress(done: int, total: int) -> None:
            turn.report("methods", done, total)
            # After the last method the run ends in this turn, so nothing is stored.
            if turn.is_over() and done < total:
                with turn.open_fenced_transaction():
                    turn.keep(ASIDE, {"key": signature, "scores": _encode_scores(scores)})
                raise OutOfTimeError(turn.run_id)

        seeds = range(FIRST_SEED + options.seed, FIRST_SEED + options.seed + options.repetitions)
        corpus = _build_corpus(turn, options, crowds, graded_file.references)
        comparison = compare_on_grades(
            *(
                crowds,
                corpus,
                list_methods(core=not options.slow),
                seeds,
                options.seed,
                save_progress,
                scores,
            )
        )
    except InputError as error:
        raise RunInputError.from_sentence(str(error.problems[0].reason)) from error
    except TooFewGradesError as error:
        reason = SITE.format(error.message)
        raise RunInputError.from_sentence(f"{capfirst(reason)}.") from error
    summary = build_summary(graded_file, crowds, comparison, seeds, options.seed)
    with turn.open_fenced_transaction():
        # In the transaction that ends the run: a finished run keeps no intermediate scores.
        RunData.objects.filter(run=run, name=ASIDE).delete()
        turn.end(RunEnd(signature, input_hash, summary, list(summary.notes)))


def load_options(run: Run) -> GradedOptions:
    """Return the options of a run, with defaults for those that an older run lacks."""
    stored: dict[str, Any] = run.parameters
    try:
        return GradedOptions.from_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def _build_corpus(
    turn: Turn, options: GradedOptions, crowds: GradedCrowds, references_by_question: dict[str, str]
) -> Corpus:
    """Return the corpus of the answers; vectors come from the database's cache."""
    answers = crowds.answers
    labels = list(dict.fromkeys(answers.questions.tolist()))
    references = [
        references_by_question[label] for label in labels if label in references_by_question
    ]
    complete = len(references) == len(labels)
    embedded: dict[str, Embedded] = {}

    def embed_once(spec: str) -> Embedded:
        if spec not in embedded:
            parameters = AqerParameters(embedder=spec)
            others = references if complete else None
            embedded[spec] = embed_texts(parameters, turn, answers.texts, others)
        return embedded[spec]

    def embed_references(spec: str) -> Vectors:
        models = embed_once(spec).models
        assert models is not None
        return models

    return Corpus(
        *(
            answers.texts,
            answers.questions,
            lambda spec: embed_once(spec).answers,
            options.embedder,
        ),
        references=embed_references if complete else None,
    )


def _encode_scores(aside: Aside) -> dict[str, Any]:
    """Return the scores as JSON values, null for NaN."""
    return {
        key: found
        if isinstance(found, str)
        else [[None if np.isnan(x) else x for x in row] for row in found.tolist()]
        for key, found in aside.items()
    }


def _decode_scores(stored: dict[str, Any]) -> Aside:
    """Return the scores of `_encode_scores` as arrays."""
    return {
        key: found if isinstance(found, str) else np.array(found, dtype=np.float64)
        for key, found in stored.items()
    }
