"""Ask a model the questions of a file: the flow behind ``manage.py ask``, told once.

Read the questions (and passages), make a conversation of each, ask what the folder does not hold
yet, and write its tables anew. The folder holds whatever came, however the asking ended.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotations.exchange import AnswerStatus, InputError
from annotations.exchange.reading.answers import cleaned
from annotations.exchange.reading.questions import (
    PassageRecord,
    QuestionRecord,
    read_passages,
    read_questions,
)
from evaluation.backends.chat.contract import ChatModel
from evaluation.backends.chat.registry import get_chat
from evaluation.files.asked import ANSWERS, SUMMARY, is_cut_short, write_asked
from evaluation.files.batches import read_batch, write_batch
from evaluation.files.journal import NAME, Configuration, Journal
from evaluation.files.problem_messages import file_error
from evaluation.flow.asking.asker import End, Outcome, Progress, Settings, ask
from evaluation.flow.asking.budget import Budget, Prices, most_completion_tokens, prompt_tokens
from evaluation.flow.asking.plan import Item, Planned, plan, together
from evaluation.flow.asking.prompts import (
    CLOSED,
    PASSAGE,
    SYSTEM,
    TEMPLATES,
    Prompt,
    TemplateError,
    item_fields,
)
from evaluation.flow.asking.store import Store

LONGEST_NAME = 255


@dataclass(frozen=True)
class Asking:
    """Which model is asked, how it is sampled, how fast, and for how much.

    Attributes
    ----------
    model : a SPEC; `name` what it is called in the tables, None for that in the SPEC.
    parameters : sent with every request; one that is None is left out.
    seed : of the first sample; None sends none.
    budget : the most that may be spent on it; needs `prices`.
    key_variable : name of the environment variable with the key.
    keep_thinking : whether answers have their thinking before them.
    """

    model: str
    name: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = 0
    settings: Settings = field(default_factory=Settings)
    prices: Prices | None = None
    budget: float | None = None
    key_variable: str = "OPENAI_API_KEY"
    keep_thinking: bool = False

    def chat(self) -> ChatModel:
        """Return the model. Raises ChatError: the SPEC or a package, InputError: its file."""
        return get_chat(self.model, api_key_env=self.key_variable, patience=self.settings.patience)

    def name_of(self, model: ChatModel) -> str:
        """Return what it is called in tables. Raises InputError for a name that is none."""
        name = cleaned(self.name if self.name is not None else model.name)
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise InputError.single(
                "--name", f"a name has 1 to {LONGEST_NAME} printable characters", "Choose another."
            )
        return name

    def sent(self, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the parameters that are sent, with `more` over them; None leaves one out."""
        both = {**self.parameters, **(more or {})}
        return {name: value for name, value in both.items() if value is not None}


@dataclass(frozen=True)
class AskRequest:
    """What to ask whom, how, and where the replies go; see ``manage.py ask --help``."""

    questions: Path
    asking: Asking
    output: Path
    passages: Path | None = None
    strategy: str | None = None
    template: Path | None = None
    system: str = SYSTEM
    samples: int = 1


@dataclass(frozen=True)
class Asked:
    """What came of it. `name` is that of the model in the tables.

    Attributes
    ----------
    rows : of the table. problem : why there is no table.
    n_cut_off, n_cut_short, n_thinking : replies of the model in this asking, earlier ones too,
        that were cut off before an answer came, whose answer was, and that held thinking.
    adaptations : what was changed in requests, as the server wants it.
    """

    name: str
    outcome: Outcome
    rows: int
    problem: str = ""
    n_cut_off: int = 0
    n_cut_short: int = 0
    n_thinking: int = 0
    adaptations: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every question has an answer, empty or refused, and the tables are written."""
        done = self.outcome.complete and self.outcome.end is End.DONE
        return done and not self.n_cut_off and not self.problem


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
    asking = request.asking
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
            None if asking.prices is None else asking.prices.cost(read, written),
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
    asking = request.asking
    with Journal(request.output) as journal:
        prepared = _prepared(request, journal)
        store = journal.store(prepared.model, prepared.configuration)
        budget = Budget(
            asking.prices or Prices(), asking.budget, journal.spent(prepared.configuration)
        )
        if batch is not None:
            outcome = read_batch(batch, prepared.planned, store, budget)
        else:
            outcome = ask_until_signal(
                prepared.model, prepared.planned, store, asking.settings, budget, progress
            )
        problem = ""
        try:
            rows = write_asked(
                request.output,
                journal,
                prepared.configuration,
                outcome,
                asking.keep_thinking,
                prepared.model.adaptations,
            )
        except InputError as error:
            # What came is in the journal; the next run writes the tables.
            rows, problem = len(journal.rows), str(error)
        of_model = [
            row for row in journal.rows.values() if row.configuration == prepared.configuration.id
        ]
    return Asked(
        prepared.configuration.name,
        outcome,
        rows,
        problem,
        sum(row.status is AnswerStatus.CUT_OFF for row in of_model),
        sum(map(is_cut_short, of_model)),
        sum(bool(row.thinking) for row in of_model),
        prepared.model.adaptations,
    )


def ask_until_signal(
    model: ChatModel,
    planned: Sequence[Planned],
    store: Store,
    settings: Settings,
    budget: Budget,
    progress: Progress | None,
) -> Outcome:
    """Ask what the store does not hold; Ctrl-C and SIGTERM end it in good order."""

    async def asked() -> Outcome:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stop.set)
        return await ask(model, planned, store, settings, budget, progress, stop)

    return asyncio.run(asked())


def _prepared(request: AskRequest, journal: Journal) -> _Prepared:
    prompt = _prompt(request)
    items = _items(request, prompt)
    asking, model = request.asking, request.asking.chat()
    parameters = asking.sent()
    wanted = Configuration.of(model, prompt, parameters, asking.seed, asking.name_of(model))
    return _Prepared(model, journal.named(wanted), plan(model, items, parameters, asking.seed))


def _prompt(request: AskRequest) -> Prompt:
    strategy = request.strategy or (CLOSED if request.passages is None else PASSAGE)
    if strategy == PASSAGE and request.passages is None:
        raise file_error("--strategy passage", "passages_missing")
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
    beside = {"passage": passage.text, "title": passage.title} if passage else {}
    return item_fields(one.text, one.choices, one.category, one.language, **beside)


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
