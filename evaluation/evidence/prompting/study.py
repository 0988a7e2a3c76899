"""Ask models by two prompts and score their replies against a crowd (Yahav et al. 2025, app. L).

Every model is asked every question once by each prompt, in conversations of their own. All workers
of the crowd vote. Both replies are scored by AQER and by the baselines on the questions to which
the model gave a text by both prompts, so that a difference is one of the prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from annotations.exchange import AnswerStatus, ColumnNames, InputError, OutputFolder
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.questions import read_questions
from evaluation.consensus import AQER
from evaluation.consensus.inputs import Progress
from evaluation.consensus.parameters import SEED_OF_DRAWS, AqerParameters, build_draws_option
from evaluation.core.options import Parameters, declare_option
from evaluation.core.stats.cells import convert_nan_to_none
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.inference.comparison import compare_models
from evaluation.core.stats.inference.significance import CORRECTIONS
from evaluation.core.stats.statistics.descriptive import pearson, spearman
from evaluation.evidence.baselines import Corpus, Crowd, UnavailableError, list_methods
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.tables import write_table
from evaluation.runs.files.answers import AS_TYPED, read_worker_answers
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.files.metrics import build_study_summary, refuse_to_replace_inputs
from evaluation.runs.files.study import Step, StudyFolder
from evaluation.runs.flow.asking.plan import (
    CLOSED,
    TEMPLATES,
    Item,
    Prompt,
    TemplateError,
    build_item_fields,
)
from evaluation.runs.flow.metrics import Exclusions


@dataclass(frozen=True)
class PromptingParameters(Parameters):
    """Options of the study: embedder, and bootstrap of the differences between two prompts."""

    embedder: str = declare_option("minilm", AqerParameters.get_options()["embedder"])
    bootstrap: int = declare_option(400, build_draws_option("questions"))
    seed: int = declare_option(0, SEED_OF_DRAWS)

    sentences: ClassVar = {
        **Parameters.sentences,
        "unreadable": AqerParameters.sentences["unreadable"],
    }


PROMPTS = ("first", "second")
SCORES, AGREEMENT, REPLIES, SUMMARY = "prompting", "agreement", "model_answers.csv", "summary.json"
FILES = (f"{SCORES}.csv", f"{AGREEMENT}.csv", REPLIES, SUMMARY)
NOT_BOTH = "no_text_by_both_prompts"
NO_WORKER = "no_answers"
AQER_METHOD = "aqer"

# With 2 models a correlation is 1 or -1.
FEWEST_MODELS = 3


@dataclass(frozen=True)
class PromptingRequest:
    """Input files, prompts, models and output folder of ``study prompting``.

    Attributes
    ----------
    templates, systems : the two prompts; None is the template of ``manage.py ask``.
    models : SPECs of further models, in addition to the one in the server settings.
    first : number of questions to ask; None for all.
    """

    questions: Path
    answers: Path
    columns: ColumnNames
    templates: tuple[Path | None, Path]
    systems: tuple[str, str]
    models: tuple[str, ...]
    first: int | None
    parameters: PromptingParameters
    output: Path


class ScoreRow(NamedTuple):
    """A row of prompting.csv: one model's scores by one method under both prompts.

    `difference` is second minus first, over the same `n` questions. Interval and p-values come from
    resampling questions, for AQER only; adjusted p-values are corrected over models by Holm.
    """

    model: str
    method: str
    first: float | None
    second: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p_value: float | None
    n: int
    reason: str | None


class PromptTest(NamedTuple):
    """Interval and p-values of one model's AQER difference between the prompts."""

    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    adjusted_p_value: float | None = None


class AgreementRow(NamedTuple):
    """A row of agreement.csv: correlation of the models' scores under the two prompts."""

    method: str
    models: int
    pearson: float | None
    spearman: float | None
    reason: str | None


@dataclass(frozen=True)
class PromptingResult:
    """Result of the study: score rows, agreement of the prompts by method, and completeness."""

    scores: list[ScoreRow]
    agreement: list[AgreementRow]
    exclusions: Exclusions
    complete: bool


# Text replies by (model, number of the prompt, question).
Replies = Mapping[tuple[str, int, str], str]


def study_prompting(
    request: PromptingRequest, asking: AskSettings, progress: Progress
) -> PromptingResult:
    """Ask the models what has no reply yet, score all replies, write the tables; return the result.

    Raises
    ------
    InputError
        A file, a template or the folder cannot be used; nothing was asked.
    BackendError
        A model is not available, or the texts cannot be embedded.
    EndedEarlyError
        Not everything was asked; stored replies are not requested again.
    """
    inputs = (request.questions, request.answers, *request.templates)
    refuse_to_replace_inputs(request.output, FILES, inputs)
    prompts = [
        read_prompt(template, system)
        for template, system in zip(request.templates, request.systems, strict=True)
    ]
    if prompts[0].hash == prompts[1].hash:
        raise InputError.single(
            str(request.templates[1]), "both prompts are the same", "Write another template."
        )
    questions = read_questions(request.questions)
    asked = questions.records[: request.first]
    answers = read_worker_answers(request.answers, request.columns, Duplicates.FIRST, **AS_TYPED)
    workers = [
        (record.worker, record.question, record.text)
        for record in answers.records
        if record.text and not record.is_rejected
    ]
    with StudyFolder(request.output, asking, progress) as folder:
        replies: dict[tuple[str, int, str], tuple[str, AnswerStatus]] = {}
        models = _collect_settings_by_model(request, asking)
        for name, settings in models.items():
            for number, prompt in enumerate(prompts):
                items = [
                    Item(
                        f"{PROMPTS[number]}-{question_record.question}",
                        prompt.build_messages(
                            build_item_fields(
                                question_record.text,
                                question_record.choices,
                                question_record.category,
                                question_record.language,
                            )
                        ),
                    )
                    for question_record in asked
                ]
                step = Step(f"{PROMPTS[number]} prompt", prompt.template, prompt.system)
                for (item, _), row in folder.ask_step(step, items, settings).items():
                    question = item.removeprefix(f"{PROMPTS[number]}-")
                    replies[name, number, question] = (row.answer, row.status)
        exclusions = Exclusions()
        texts = select_answered_replies(
            replies, {question for _, question, _ in workers}, exclusions
        )
        vectors = CorpusVectors([*texts.values(), *(text for _, _, text in workers)], progress)
        scores = score_prompts(
            list(models), texts, workers, vectors.embed_texts, request.parameters
        )
        prompting = PromptingResult(scores, compare_rankings(scores), exclusions, folder.complete)
        with OutputFolder(request.output) as tables:
            write_table(tables, SCORES, ScoreRow._fields, prompting.scores)
            write_table(tables, AGREEMENT, AgreementRow._fields, prompting.agreement)
            tables.write_csv(
                REPLIES,
                ("model", "question", "answer", "status"),
                [
                    (f"{model}, {PROMPTS[number]} prompt", question, text, status.value)
                    for (model, number, question), (text, status) in replies.items()
                ],
            )
            tables.write_json(
                SUMMARY,
                build_study_summary(
                    "prompting",
                    request.parameters,
                    {"questions": questions.sha256, "answers": answers.sha256},
                    {
                        "questions": len(asked),
                        "workers": len({worker for worker, _, _ in workers}),
                        "answers": len(workers),
                        "models": len(models),
                        "replies": len(replies),
                    },
                    exclusions,
                    more={
                        "prompts": {
                            name: {"system": one.system, "template": one.template}
                            for name, one in zip(PROMPTS, prompts, strict=True)
                        },
                        "embedders": vectors.describe(),
                        "complete": prompting.complete,
                        "asked": folder.summarise_steps(),
                    },
                ),
            )
    return prompting


def read_prompt(path: Path | None, system: str) -> Prompt:
    """Return the prompt of a template file, or that of ``manage.py ask``; raises `InputError`."""
    if path is None:
        return Prompt(CLOSED, TEMPLATES[CLOSED], system)
    try:
        return Prompt(CLOSED, path.read_text(encoding="utf-8-sig").rstrip("\r\n"), system)
    except (OSError, UnicodeError) as error:
        cause = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError.single(str(path), f"it cannot be read: {cause}", "Check it.") from error
    except TemplateError as error:
        raise InputError.single(str(path), str(error)) from error


def _collect_settings_by_model(
    request: PromptingRequest, asking: AskSettings
) -> dict[str, AskSettings]:
    """Return the ask settings of each model by its name; `InputError` for equal names."""
    settings = [asking, *(replace(asking, model=spec, name=None) for spec in request.models)]
    named = {setting.get_table_name(setting.get_chat_model()): setting for setting in settings}
    if len(named) < len(settings):
        raise InputError.single("--also", "two models have the same name", "Name each model once.")
    return named


def select_answered_replies(
    replies: Mapping[tuple[str, int, str], tuple[str, AnswerStatus]],
    answered: set[str],
    exclusions: Exclusions,
) -> dict[tuple[str, int, str], str]:
    """Return the replies to questions that the same model answered under both prompts.

    The others are counted in `exclusions`, also those to questions that no worker answered, which
    are not in `answered`.
    """
    texts: dict[tuple[str, int, str], str] = {}
    for model, number, question in replies:
        # Each question is handled once, with its reply by the first prompt.
        if number:
            continue
        both = [replies[model, each, question] for each in range(len(PROMPTS))]
        key = {"model": model, "question": question}
        if question not in answered:
            exclusions.add(NO_WORKER, key)
        elif any(status is not AnswerStatus.TEXT for _, status in both):
            exclusions.add(NOT_BOTH, key)
        else:
            texts |= {(model, each, question): text for each, (text, _) in enumerate(both)}
    return texts


def score_prompts(
    models: Sequence[str],
    texts: Replies,
    workers: Sequence[tuple[str, str, str]],
    embed_texts: Callable[[str], Vectors],
    parameters: PromptingParameters,
) -> list[ScoreRow]:
    """Return each model's scores under both prompts, by each method.

    Parameters
    ----------
    texts : replies to score. workers : worker, question and text of each answer of the crowd.
    embed_texts : from the SPEC of an embedder to vectors of the replies and then the answers.
    """
    # A model is two workers without a vote, one for each prompt.
    codes = {name: len(PROMPTS) * code for code, name in enumerate(models)}
    names = dict.fromkeys(worker for worker, _, _ in workers)
    voters = {name: len(PROMPTS) * len(models) + code for code, name in enumerate(names)}
    owners = np.array(
        [codes[model] + number for model, number, _ in texts]
        + [voters[worker] for worker, _, _ in workers],
        dtype=np.int64,
    )
    labels = [*(question for _, _, question in texts), *(question for _, question, _ in workers)]
    corpus = Corpus(
        [*texts.values(), *(text for _, _, text in workers)],
        labels,
        embed_texts,
        parameters.embedder,
    )
    voting = np.arange(len(PROMPTS) * len(models) + len(voters)) >= len(PROMPTS) * len(models)
    crowd = Crowd(corpus, np.arange(len(owners)), owners, voting, parameters.seed)
    compared = _compare_by_aqer(models, crowd, parameters)
    counts = {
        name: sum(model == name for model, number, _ in texts if not number) for name in models
    }
    rows = []
    for method in list_methods(core=True):
        try:
            scores, reason = method.score(crowd), None
        except UnavailableError as error:
            scores, reason = np.full(len(voting), np.nan), error.reason
        for name in models:
            both = [convert_nan_to_none(float(scores[codes[name] + k])) for k in range(2)]
            first, second = both
            difference = None if first is None or second is None else second - first
            tested = compared[name] if method.name == AQER_METHOD else PromptTest()
            why = reason or (None if difference is not None else NOT_BOTH)
            rows.append(
                ScoreRow(name, method.name, first, second, difference, *tested, counts[name], why)
            )
    return rows


def _compare_by_aqer(
    models: Sequence[str], crowd: Crowd, parameters: PromptingParameters
) -> dict[str, PromptTest]:
    """Return each model's tested difference of AQER scores between the prompts, by model."""
    x = crowd.corpus.compact_vectors(parameters.embedder)[crowd.rows]
    votes = crowd.votes
    aqer = AQER(n_draws=0, seed=parameters.seed).fit(
        x[votes], crowd.workers[votes], crowd.questions[votes]
    )
    replies = np.flatnonzero(~votes)
    scores = aqer.score_models(x[replies], crowd.workers[replies], crowd.questions[replies])
    table = np.full((len(PROMPTS) * len(models), crowd.corpus.n_questions), np.nan)
    table[crowd.workers[replies], crowd.questions[replies]] = scores.answer_scores
    tests = []
    for code in range(len(models)):
        # The second prompt first, because a comparison is first less second.
        pair = table[[2 * code + 1, 2 * code]]
        tests += compare_models(pair, PROMPTS, n_draws=parameters.bootstrap, seed=parameters.seed)
    p_values = np.array([np.nan if test.p_value is None else test.p_value for test in tests])
    adjusted = CORRECTIONS["holm"](p_values)
    return {
        name: PromptTest(test.low, test.high, test.p_value, convert_nan_to_none(float(corrected)))
        for name, test, corrected in zip(models, tests, adjusted, strict=True)
    }


def compare_rankings(rows: Sequence[ScoreRow]) -> list[AgreementRow]:
    """Return the correlation of the models' scores under the two prompts, by method."""
    rankings = []
    for method in dict.fromkeys(row.method for row in rows):
        pairs = [
            (row.first, row.second)
            for row in rows
            if row.method == method and row.first is not None and row.second is not None
        ]
        if len(pairs) < FEWEST_MODELS:
            rankings.append(AgreementRow(method, len(pairs), None, None, "fewer_than_3_models"))
            continue
        first, second = zip(*pairs, strict=True)
        rankings.append(
            AgreementRow(method, len(pairs), pearson(first, second), spearman(first, second), None)
        )
    return rankings
