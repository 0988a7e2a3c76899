"""A run of a judge: told as a flow, from answers to what the judge is worth."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from importlib import metadata

import numpy as np

from annotations.exchange.records import AnswerStatus
from annotations.models import QuestionSetVersion
from annotations.models.access import Anybody
from evaluation.flow.asking.plan import Item
from evaluation.flow.asking.summary import Usage, cut_off_warnings
from evaluation.flow.judge.findings import Findings, grades_of
from evaluation.flow.judge.judging import Replies, judge_answers
from evaluation.flow.judge.parameters import JudgeParameters
from evaluation.flow.judge.prompts import COMPARE, SCORE, JudgePrompt
from evaluation.flow.judge.reference import aqer_scores
from evaluation.flow.judge.summary import JudgeSummary
from evaluation.flow.judge.tables import Tables
from evaluation.models import LanguageModel, Run
from evaluation.options import signed
from evaluation.options.parameters import SHORT
from evaluation.steps.asking.foreseen import Foreseen, takes_of
from evaluation.steps.asking.in_turns import Answered, AskedInTurns, Round
from evaluation.steps.asking.kept import StoredReply
from evaluation.steps.asking.registered import chosen, ids_of
from evaluation.steps.cache import embed_texts
from evaluation.steps.checkpoints import Ending, Lane, RunInputError, Turn
from evaluation.steps.judge.loading import Loaded, judge_of, load
from evaluation.words.message import Message

# Rows of the tables are put aside under these names.
SCORES, PAIRS, CORRECTED = "result-scores", "result-pairs", "result-corrected"
# Sent where the model's own parameters say nothing.
SENT = {"temperature": 0, "max_tokens": 256}
STEPS = {"score": "Scoring", "compare": "Comparing pairs"}
"""What the judge is asked for, for people."""


def judge_set(turn: Turn) -> None:
    """Judge a claimed run's answers, or as many of them as the turn has time for."""
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    parameters = parameters_of(run)
    model = judge_of(run, parameters)
    loaded = load(run.version, parameters)
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
    usage = asked.usage()
    warnings += cut_off_warnings(usage, dict.fromkeys((one.step for one in usage), ""))
    summary = JudgeSummary.of_findings(findings, str(model.public_id), n_judged, usage)
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


def foreseen(version: QuestionSetVersion, user: Anybody, options: JudgeParameters) -> Foreseen:
    """Return what the judge will be asked; nothing is sent."""
    try:
        to_judge = load(version, options).to_judge
    except RunInputError:
        return Foreseen(())
    steps: dict[str, Sequence[Item]] = {}

    def note(step: str, _prompt: JudgePrompt, items: Sequence[Item]) -> Replies:
        steps[STEPS[step]] = items
        nothing = StoredReply("", AnswerStatus.ERROR)
        return {(one.id, sample): nothing for one in items for sample in range(one.samples)}

    judge_answers(to_judge, options, note)
    takes = [
        takes_of(user, step, Round(model, items, SENT, options.seed))
        for model in chosen(user, ids_of(options.judge))
        for step, items in steps.items()
    ]
    shown = {f"{step}: the first request": items[0].messages for step, items in steps.items()}
    return Foreseen(
        tuple(takes),
        shown,
        ("Not counted: a reply without a score or a verdict is asked for once more.",),
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

    def usage(self) -> tuple[Usage, ...]:
        """Return what the judge was used for by step, in all turns of this run."""
        return self.asked.usage()


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
