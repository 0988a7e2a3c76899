"""Ask a model the questions of a file: the flow behind ``manage.py ask``, told once.

Read the questions (and passages), make a conversation of each, ask what the folder does not hold
yet, and write its tables anew. The folder holds whatever came, however the asking ended.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotations.exchange import InputError
from annotations.exchange.reading.answers import cleaned
from annotations.exchange.reading.questions import (
    PassageRecord,
    QuestionRecord,
    read_passages,
    read_questions,
)
from evaluation.backends.chat.contract import ChatModel
from evaluation.backends.chat.registry import get_chat
from evaluation.files.asked import ANSWERS, SUMMARY, write_asked
from evaluation.files.batches import read_batch, write_batch
from evaluation.files.journal import NAME, Configuration, Journal, JournalStore
from evaluation.flow.asking.asker import Outcome, Progress, Settings, ask
from evaluation.flow.asking.budget import Budget, Prices, most_completion_tokens, prompt_tokens
from evaluation.flow.asking.plan import Item, Planned, plan, together
from evaluation.flow.asking.prompts import CLOSED, PASSAGE, SYSTEM, TEMPLATES, Prompt, TemplateError

LONGEST_NAME = 255


@dataclass(frozen=True)
class AskRequest:
    """What to ask whom, how, and where the replies go; see ``manage.py ask --help``."""

    questions: Path
    model: str
    output: Path
    name: str | None = None
    passages: Path | None = None
    strategy: str | None = None
    template: Path | None = None
    system: str = SYSTEM
    samples: int = 1
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int | None = 0
    settings: Settings = field(default_factory=Settings)
    prices: Prices | None = None
    budget: float | None = None
    key_variable: str = "OPENAI_API_KEY"


@dataclass(frozen=True)
class Asked:
    """What came of it. `name` is that of the model in the tables."""

    name: str
    outcome: Outcome
    rows: int
    problem: str = ""


@dataclass(frozen=True)
class Estimate:
    """What asking would take: `requests` of which `stored` are there; `cost` None without prices.

    Tokens are reckoned; those of replies, and so the cost, are the most that they can be.
    """

    name: str
    requests: int
    stored: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(frozen=True)
class _Prepared:
    model: ChatModel
    configuration: Configuration
    planned: list[Planned]


def estimate(request: AskRequest) -> Estimate:
    """Count requests, tokens and money; nothing is sent or written. Raises as `ask_file`."""
    with Journal(request.output, read_only=True) as journal:
        prepared = _prepared(request, journal)
        store = journal.store(prepared.model, prepared.configuration)
        groups = list(together([one for one in prepared.planned if not store.has(one)]))
        open_ = [group[0].request for group in groups if not store.known(group[0].key)]
        read, written = sum(map(prompt_tokens, open_)), sum(map(most_completion_tokens, open_))
        return Estimate(
            prepared.configuration.name,
            len(prepared.planned),
            len(prepared.planned) - sum(len(g) for g in groups if not store.known(g[0].key)),
            read,
            written,
            None if request.prices is None else request.prices.cost(read, written),
        )


def write_batch_file(request: AskRequest, path: Path) -> int:
    """Write what would be asked as a provider's batch; the number of requests. Sends nothing."""
    with Journal(request.output, read_only=True) as journal:
        prepared = _prepared(request, journal)
        store = journal.store(prepared.model, prepared.configuration)
        waiting = [one for one in prepared.planned if not store.has(one)]
        waiting = [one for one in waiting if not store.known(one.key)]
        return write_batch(path, prepared.model, waiting)


def ask_file(
    request: AskRequest,
    progress: Progress | None = None,
    batch: Path | None = None,
) -> Asked:
    """Ask, or take the replies out of a provider's batch, and write the tables.

    Raises
    ------
    InputError
        A file, an option or the folder cannot be used; nothing was asked.
    ChatError
        The model cannot be had at all; nothing was asked.
    """
    _refuse_to_replace(request)
    with Journal(request.output) as journal:
        prepared = _prepared(request, journal)
        store = journal.store(prepared.model, prepared.configuration)
        budget = Budget(
            request.prices or Prices(), request.budget, journal.spent(prepared.configuration)
        )
        if batch is not None:
            outcome = read_batch(batch, prepared.planned, store, budget)
        else:
            outcome = asyncio.run(
                _until_signal(prepared, store, request.settings, budget, progress)
            )
        problem = ""
        try:
            rows = write_asked(request.output, journal, prepared.configuration, outcome)
        except InputError as error:
            # What came is in the journal; the next run writes the tables.
            rows, problem = len(journal.rows), str(error)
    return Asked(prepared.configuration.name, outcome, rows, problem)


async def _until_signal(
    prepared: _Prepared,
    store: JournalStore,
    settings: Settings,
    budget: Budget,
    progress: Progress | None,
) -> Outcome:
    """Ask; Ctrl-C and SIGTERM end it in good order."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
    return await ask(prepared.model, prepared.planned, store, settings, budget, progress, stop)


def _prepared(request: AskRequest, journal: Journal) -> _Prepared:
    prompt = _prompt(request)
    items = _items(request, prompt)
    model = get_chat(
        request.model, api_key_env=request.key_variable, patience=request.settings.patience
    )
    name = cleaned(request.name if request.name is not None else model.name)
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError.single(
            "--name", f"a name has 1 to {LONGEST_NAME} printable characters", "Choose another."
        )
    parameters = {k: v for k, v in request.parameters.items() if v is not None}
    wanted = Configuration.of(model, prompt, parameters, request.seed, name)
    return _Prepared(model, journal.named(wanted), plan(model, items, parameters, request.seed))


def _prompt(request: AskRequest) -> Prompt:
    strategy = request.strategy or (CLOSED if request.passages is None else PASSAGE)
    if strategy == PASSAGE and request.passages is None:
        raise InputError.single(
            "--strategy passage", "there are no passages", "Name their file with --passages FILE."
        )
    template, file = TEMPLATES[strategy], "--template"
    if request.template is not None:
        file = str(request.template)
        try:
            template = request.template.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeError) as error:
            cause = getattr(error, "strerror", None) or "it is not UTF-8"
            raise InputError.single(file, f"it cannot be read: {cause}", "Check it.") from error
        template = template.rstrip("\r\n")
    try:
        return Prompt(strategy, template, request.system)
    except TemplateError as error:
        raise InputError.single(file, str(error)) from error


def _items(request: AskRequest, prompt: Prompt) -> list[Item]:
    questions = read_questions(request.questions).records
    passages: dict[str, PassageRecord] = {}
    if request.passages is not None:
        passages = {one.passage: one for one in read_passages(request.passages).records}
    if prompt.strategy == PASSAGE:
        _refuse_without_passage(request.questions.name, questions, passages)
    return [
        Item(one.question, prompt.messages(_fields(one, passages)), request.samples)
        for one in questions
    ]


def _refuse_without_passage(
    file: str, questions: Sequence[QuestionRecord], passages: dict[str, PassageRecord]
) -> None:
    for one in questions:
        if not one.passage:
            reason = f"question {one.question} has no passage, which --strategy passage needs"
        elif one.passage not in passages:
            reason = f"the passage {one.passage} is not in the file of passages"
        else:
            continue
        remedy = "Add it, or ask these questions with --strategy closed."
        raise InputError.single(file, reason, remedy, line=one.line)


def _fields(one: QuestionRecord, passages: dict[str, PassageRecord]) -> dict[str, str]:
    passage = passages.get(one.passage)
    return {
        "question": one.text,
        "choices": "".join(
            ["\nChoices:", *(f"\n- {c}" for c in one.choices)] if one.choices else ""
        ),
        "category": one.category,
        "language": one.language,
        "passage": passage.text if passage else "",
        "title": passage.title if passage else "",
    }


def _refuse_to_replace(request: AskRequest) -> None:
    """Tables that no journal stands beside are somebody else's."""
    if not (request.output / NAME).exists():
        for name in (ANSWERS, SUMMARY):
            if (request.output / name).exists():
                raise InputError.single(
                    str(request.output / name),
                    f"it is there without {NAME}, so another command wrote it",
                    "Choose another folder with --output.",
                )
