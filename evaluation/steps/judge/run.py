"""A run of a judge: told as a flow, from answers to what the judge is worth."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from importlib import metadata

import numpy as np

from evaluation.flow.asking.plan import Item
from evaluation.flow.judge.findings import Findings, grades_of
from evaluation.flow.judge.judging import judge_answers
from evaluation.flow.judge.parameters import JudgeParameters
from evaluation.flow.judge.prompts import COMPARE, SCORE, JudgePrompt
from evaluation.flow.judge.reference import aqer_scores
from evaluation.flow.judge.summary import JudgeSummary
from evaluation.flow.judge.tables import Tables
from evaluation.models import LanguageModel, Run
from evaluation.options import signed
from evaluation.options.parameters import SHORT
from evaluation.steps.asking.in_turns import Answered, AskedInTurns, Round
from evaluation.steps.cache import embed_texts
from evaluation.steps.checkpoints import Ending, Lane, RunInputError, Turn
from evaluation.steps.judge.loading import Loaded, judge_of, load
from evaluation.words.message import Message

# Rows of the tables are put aside under these names.
SCORES, PAIRS, CORRECTED = "result-scores", "result-pairs", "result-corrected"
# Sent where the model's own parameters say nothing.
SENT = {"temperature": 0, "max_tokens": 256}


def judge_set(turn: Turn) -> None:
    """Judge a claimed run's answers, or as many of them as the turn has time for."""
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    parameters = parameters_of(run)
    model = judge_of(run, parameters)
    loaded = load(run, parameters)
    asked = _Asking(turn, run, model, parameters)
    judged = judge_answers(loaded.to_judge, parameters, asked)
    turn.go_on_in(Lane.COMPUTING)
    embed = partial(embed_texts, loaded.given.parameters, turn)
    of_workers, of_models, embedded = aqer_scores(loaded.given, embed, turn.report)
    findings = Findings(
        str(model),
        loaded.to_judge,
        judged,
        grades_of(len(loaded.to_judge), loaded.grades, loaded.settled),
        np.concatenate([of_workers, of_models[_with_text(loaded)]]),
        parameters,
    )
    input_hash = _hash(loaded)
    warnings = [*embedded.warnings, *findings.warnings]
    if loaded.chosen:
        warnings.append(Message("judge.chosen"))
    tables = Tables(findings)
    n_judged = int((~np.isnan(findings.grades.mean)).sum())
    summary = JudgeSummary.of_findings(findings, str(model.public_id), n_judged, asked.usage())
    with turn.fenced():
        for name, rows in (
            (SCORES, tables.scores()),
            (PAIRS, tables.pairs()),
            (CORRECTED, tables.corrected()),
        ):
            turn.keep(name, [list(row) for row in rows])
        turn.end(
            Ending(
                _signature(parameters, model, embedded.info.model, input_hash),
                input_hash,
                summary,
                [warning.as_dict() for warning in warnings],
            )
        )


def parameters_of(run: Run) -> JudgeParameters:
    """Return the parameters of a run; what an older run did not store has its default."""
    try:
        return JudgeParameters.of_dict(run.parameters)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


class _Asking:
    """The judge, asked step by step."""

    def __init__(
        self, turn: Turn, run: Run, model: LanguageModel, parameters: JudgeParameters
    ) -> None:
        self.model, self.seed = model, parameters.seed
        self.asked = AskedInTurns(turn, run, [model], parameters.budget)

    def __call__(self, step: str, prompt: JudgePrompt, items: Sequence[Item]) -> Answered:
        """Ask what is not kept yet. Raises `RunInputError` where the judge was given up."""
        (replies,) = self.asked.ask(step, [Round(self.model, items, SENT, self.seed)])
        if why := self.asked.reason_given_up(self.model):
            raise RunInputError("run.judge_not_asked", reason=why)
        return replies

    def usage(self) -> dict[str, float]:
        """Return requests, tokens and cost of what this run asked, in all its turns."""
        names = ("requests", "prompt_tokens", "completion_tokens", "cost")
        return {name: sum(getattr(one, name) or 0 for one in self.asked.usage()) for name in names}


def _with_text(loaded: Loaded) -> list[int]:
    """Return the rows of the models' answers that have a text."""
    models = loaded.given.models
    if models is None:
        return []
    kept = set(models.with_text().keys)
    return [row for row, key in enumerate(models.keys) if key in kept]


def _hash(loaded: Loaded) -> str:
    """Return the SHA-256 of answers, wordings and grades."""
    digest = hashlib.sha256(loaded.given.hash().encode())
    for question, text in sorted(loaded.to_judge.wordings.items()):
        digest.update(f"{question}\x1f{text}\x1e".encode())
    for row, expert, grade in loaded.grades:
        digest.update(f"{row}\x1f{expert}\x1f{grade!r}\x1e".encode())
    for row, grade in sorted(loaded.settled.items()):
        digest.update(f"{row}\x1fsettled\x1f{grade!r}\x1e".encode())
    return digest.hexdigest()


def _signature(
    parameters: JudgeParameters, model: LanguageModel, embedder: str, input_hash: str
) -> str:
    parts = {
        **signed(parameters),
        "judge": str(model),
        "prompts": f"{SCORE.hash[:SHORT]}+{COMPARE.hash[:SHORT]}",
        "embedder": embedder,
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["judge", *(f"{name}:{value}" for name, value in parts.items())])
