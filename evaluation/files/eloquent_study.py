"""ELOQUENT as a study: prompts are put to a model, its replies to judges, all in one folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotations.exchange import AnswerStatus, InputError
from annotations.exchange.reading.changed_prompts import ChangedPrompt, read_changed_prompts
from annotations.exchange.reading.prompt_replies import NO_ANSWER
from annotations.exchange.reading.prompts import PromptFile, read_prompts
from evaluation.files.asking import Asking
from evaluation.files.eloquent import TABLES, Evaluated
from evaluation.files.journal import NAME as JOURNAL
from evaluation.files.journal import Row
from evaluation.files.metrics import refuse_to_replace
from evaluation.files.study import Progress, Step, StudyFolder
from evaluation.files.submissions import Submitter
from evaluation.flow.asking.plan import Item
from evaluation.flow.eloquent.conversations import Conversations, Said
from evaluation.flow.eloquent.evaluating import evaluate, sets_to_judge
from evaluation.flow.eloquent.judging import (
    AGAIN,
    SYSTEM,
    TEMPLATE,
    Judgement,
    judged,
    question_again,
    question_of,
)
from evaluation.flow.eloquent.matching import Reply
from evaluation.flow.eloquent.parameters import EloquentParameters
from evaluation.flow.metrics import Exclusions
from evaluation.options import TERMINAL
from evaluation.texts.similarity_scores import read_score


@dataclass(frozen=True)
class StudyRequest:
    """What is asked of whom.

    Attributes
    ----------
    system : what the model is told first; "" for nothing, as the task has it.
    follow_ups : questions that go on with every conversation, one after the other.
    changed : a table of prompts that are put otherwise than the file has them.
    judges : SPECs; each is asked `repeats` times of every set of replies, at
        `judge_temperature`, with the key of `judge_key_variable`; prices and budget are those of
        the asking, for each model by itself.
    """

    prompts: Path
    output: Path
    parameters: EloquentParameters
    repair: bool = False
    system: str = ""
    follow_ups: tuple[str, ...] = ()
    changed: Path | None = None
    judges: tuple[str, ...] = ()
    repeats: int = 1
    judge_temperature: float = 0.0
    judge_max_tokens: int = 512
    judge_key_variable: str = "OPENAI_API_KEY"
    submitter: Submitter = field(default_factory=Submitter)


@dataclass(frozen=True)
class StudyDone:
    """What came of it, and whether every request has a reply."""

    evaluated: Evaluated
    complete: bool


def study_files(request: StudyRequest, asking: Asking, progress: Progress) -> StudyDone:
    """Ask what the folder does not hold yet, and evaluate all of it; writes only the journal.

    Raises
    ------
    InputError
        A file or the folder cannot be used; nothing was asked.
    BackendError
        A model cannot be had, or the replies cannot be embedded.
    EndedEarlyError
        Not everything was asked; what came is kept.
    """
    inputs = [request.prompts, request.changed]
    refuse_to_replace(request.output, TABLES, inputs)
    _refuse_a_folder_of_others(request.output)
    prompts = read_prompts(request.prompts, repair=request.repair)
    hashes = {"prompts": prompts.sha256}
    changed: Mapping[tuple[str, int], ChangedPrompt] = {}
    if request.changed is not None:
        table = read_changed_prompts(request.changed, prompts.items)
        changed = table.prompts
        hashes["changed_prompts"] = table.sha256
    judges = _judges(request, asking)
    exclusions = Exclusions()
    with StudyFolder(request.output, asking, progress) as folder:
        replies = _asked(folder, request, prompts, changed)
        judgements = [
            judgement
            for name, judge in judges.items()
            for judgement in _judged(folder, request, prompts, replies, name, judge)
        ]
        steps, complete = folder.steps(), folder.complete
    findings = evaluate(
        prompts.items, replies, judgements, request.parameters, exclusions, progress
    )
    evaluated = Evaluated(
        prompts,
        request.parameters,
        findings,
        exclusions,
        hashes,
        [*prompts.warnings, *TERMINAL.all_said(findings.warnings)],
        {
            "asked": steps,
            "study": {
                "system_text": request.system,
                "follow_ups": list(request.follow_ups),
                "judge_repeats": request.repeats if request.judges else 0,
                "judge_temperature": request.judge_temperature if request.judges else None,
            },
        },
    )
    return StudyDone(evaluated, complete)


def _refuse_a_folder_of_others(output: Path) -> None:
    """Tables that no journal stands beside are of another command."""
    if (output / JOURNAL).exists():
        return
    for name in TABLES:
        if (output / name).exists():
            raise InputError.single(
                str(output / name),
                f"it is there without {JOURNAL}, so another command wrote it",
                "Choose another folder with --output.",
            )


def _judges(request: StudyRequest, asking: Asking) -> dict[str, Asking]:
    """Return how each judge is asked, by its name in the tables; equal SPECs are numbered."""
    parameters = {"temperature": request.judge_temperature, "max_tokens": request.judge_max_tokens}
    found: dict[str, Asking] = {}
    for spec in request.judges:
        judge = replace(
            asking,
            model=spec,
            name=None,
            parameters=parameters,
            key_variable=request.judge_key_variable,
        )
        name = own = judge.name_of(judge.chat())
        number = 1
        while name in found:
            number += 1
            name = f"{own} #{number}"
        found[name] = replace(judge, name=name)
    return found


def _asked(
    folder: StudyFolder,
    request: StudyRequest,
    prompts: PromptFile,
    changed: Mapping[tuple[str, int], ChangedPrompt],
) -> list[Reply]:
    """Put every prompt in a conversation of its own, then the follow-ups to those that replied."""
    conversations = Conversations(prompts.items, changed, request.system)
    step = Step("answer", "{prompt}", request.system)
    conversations.take(_said(folder.ask(step, conversations.begin())))
    for number, question in enumerate(request.follow_ups, 1):
        step = Step(f"follow-up {number}", question, request.system)
        came = folder.ask(step, conversations.follow_up(question))
        conversations.take(_said(came), question)
    return conversations.replies(folder.system)


def _said(rows: Mapping[tuple[str, int], Row]) -> dict[str, Said]:
    return {name: (row.answer, row.status) for (name, _), row in rows.items()}


def _judged(
    folder: StudyFolder,
    request: StudyRequest,
    prompts: PromptFile,
    replies: Sequence[Reply],
    name: str,
    judge: Asking,
) -> list[Judgement]:
    """Ask a judge about every set of replies, and once more where its reply has no score."""
    sets = sets_to_judge(prompts.items, replies)
    ids = {f"{item}/{language}": (system, item, language) for system, item, language in sets}
    items = [Item(at, question_of(sets[key]), request.repeats) for at, key in ids.items()]
    first = folder.ask(Step("judge", TEMPLATE, SYSTEM), items, judge)
    again = {
        f"{at}/{sample + 1}": (at, sample)
        for (at, sample), row in first.items()
        if row.status is not AnswerStatus.ERROR and read_score(row.answer).score is None
    }
    second: dict[tuple[str, int], Row] = {}
    if again:
        items = [
            Item(own, question_again(sets[ids[at]], first[at, sample].answer or NO_ANSWER))
            for own, (at, sample) in again.items()
        ]
        asked = folder.ask(Step("judge again", AGAIN, SYSTEM), items, judge)
        second = {again[own]: row for (own, _), row in asked.items()}
    return [
        judged(
            ids[at],
            name,
            sample,
            [(one.answer, one.status) for one in (row, second.get((at, sample))) if one],
        )
        for (at, sample), row in first.items()
    ]
