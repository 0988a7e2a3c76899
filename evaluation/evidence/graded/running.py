"""Trying all methods on a set's graded answers, in the background and over several turns."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import numpy as np
from django.utils.text import capfirst

from annotations.exchange import InputError
from annotations.exchange.graded import Labels
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import SHORT, combined_hash
from evaluation.consensus.vectors import Embedded
from evaluation.evidence.baselines import Corpus, methods
from evaluation.evidence.graded.crowds import GradedCrowds, TooLittleError
from evaluation.evidence.graded.summing import summary_of
from evaluation.evidence.graded.trust import Aside, try_methods
from evaluation.evidence.request import FIRST_SEED
from evaluation.flow.graded.options import GradedOptions
from evaluation.methods.grams import Vectors
from evaluation.models import Run, RunData
from evaluation.options import SITE, signed
from evaluation.steps.cache import embed_texts
from evaluation.steps.checkpoints import Ending, OutOfTimeError, RunInputError, Turn
from evaluation.steps.graded import marked_of

# Scores of methods, put aside under this name when a turn ends.
ASIDE = "tried-methods"


def try_on_graded(turn: Turn) -> None:
    """Try all methods of a claimed run, or as many as the turn has time for."""
    run = Run.objects.select_related("version").get(pk=turn.run_id)
    options = options_of(run)
    marked = marked_of(run.version.question_set_id)
    if marked is None:
        raise RunInputError("run.no_graded_answers")
    try:
        graded = marked.graded(Labels.parse(options.labels or ""))
        crowds = GradedCrowds.of(graded, options.seed)
        version = metadata.version("crowdgrade")
        input_hash = combined_hash([marked.sha256])
        signature = "|".join(
            [
                "graded",
                *(f"{name}:{value}" for name, value in signed(options).items()),
                f"inputs:{input_hash[:SHORT]}",
                f"version:{version}",
            ]
        )
        kept = turn.kept(ASIDE) or {}
        aside = _of_json(kept["scores"]) if kept.get("key") == signature else {}

        def told(done: int, total: int) -> None:
            turn.report("methods", done, total)
            if turn.is_over() and done < total:
                with turn.fenced():
                    turn.keep(ASIDE, {"key": signature, "scores": _as_json(aside)})
                raise OutOfTimeError(turn.run_id)

        seeds = range(FIRST_SEED + options.seed, FIRST_SEED + options.seed + options.repetitions)
        corpus = _corpus(turn, options, crowds, marked.references)
        tried = try_methods(
            *(crowds, corpus, methods(core=not options.slow), seeds, options.seed, told, aside)
        )
    except InputError as error:
        raise RunInputError.of_sentence(str(error.problems[0].reason)) from error
    except TooLittleError as error:
        said = SITE.said(error.message)
        raise RunInputError.of_sentence(f"{capfirst(said)}.") from error
    summary = summary_of(marked, crowds, tried, seeds, options.seed)
    with turn.fenced():
        RunData.objects.filter(run=run, name=ASIDE).delete()
        turn.end(Ending(signature, input_hash, summary, list(summary.notes)))


def options_of(run: Run) -> GradedOptions:
    """Return the options of a run; what an older run did not store has its default."""
    stored: dict[str, Any] = run.parameters
    try:
        return GradedOptions.of_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def _corpus(
    turn: Turn, options: GradedOptions, crowds: GradedCrowds, right: dict[str, str]
) -> Corpus:
    """The answers with their vectors, which are kept in the database as those of any run."""
    answers = crowds.answers
    labels = list(dict.fromkeys(answers.questions.tolist()))
    references = [right[label] for label in labels if label in right]
    complete = len(references) == len(labels)
    made: dict[str, Embedded] = {}

    def of(spec: str) -> Embedded:
        if spec not in made:
            parameters = AqerParameters(embedder=spec)
            others = references if complete else None
            made[spec] = embed_texts(parameters, turn, answers.texts, others)
        return made[spec]

    def of_references(spec: str) -> Vectors:
        found = of(spec).models
        assert found is not None
        return found

    return Corpus(
        *(answers.texts, answers.questions, lambda spec: of(spec).answers, options.embedder),
        references=of_references if complete else None,
    )


def _as_json(aside: Aside) -> dict[str, Any]:
    """Scores as JSON, which has no NaN."""
    return {
        key: found
        if isinstance(found, str)
        else [[None if np.isnan(x) else x for x in row] for row in found.tolist()]
        for key, found in aside.items()
    }


def _of_json(stored: dict[str, Any]) -> Aside:
    return {
        key: found if isinstance(found, str) else np.array(found, dtype=np.float64)
        for key, found in stored.items()
    }
