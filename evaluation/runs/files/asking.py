"""Ask a model the questions of a file: the steps of ``manage.py ask``.

Read the questions (and passages), make a conversation of each, send the requests that the folder
has no reply for, and rewrite its tables. All replies that arrived are in the folder, however the
command ended.
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
from annotations.exchange.reading.answers import normalise_text
from annotations.exchange.reading.questions import (
    PassageRecord,
    QuestionRecord,
    read_passages,
    read_questions,
)
from evaluation.core.backends.chat.contract import ChatModel
from evaluation.core.backends.chat.registry import get_chat_model
from evaluation.runs.files.journal import NAME, Configuration, Journal
from evaluation.runs.files.problem_messages import build_error
from evaluation.runs.files.reply_tables import (
    ANSWERS,
    SUMMARY,
    is_cut_short,
    read_batch,
    write_batch,
    write_reply_tables,
)
from evaluation.runs.flow.asking.asker import (
    EndReason,
    Outcome,
    Progress,
    RequestSettings,
    ask_model,
)
from evaluation.runs.flow.asking.plan import (
    CLOSED,
    PASSAGE,
    SYSTEM,
    TEMPLATES,
    Item,
    PlannedRequest,
    Prompt,
    ReplyStore,
    TemplateError,
    build_item_fields,
    group_by_key,
    plan_requests,
)
from evaluation.runs.flow.asking.summary import (
    Budget,
    Prices,
    estimate_prompt_tokens,
    get_reply_token_limit,
)

LONGEST_NAME = 255


@dataclass(frozen=True)
class AskSettings:
    """Model to ask, sampling parameters, request rates and budget of ``manage.py ask``.

    Attributes
    ----------
    model : a SPEC; `name` is its name in the tables, None for that in the SPEC.
    parameters : parameters of every request; those set to None are left out.
    seed : seed of the first sample; None sends no seed.
    budget : largest amount to spend, in the currency of `prices`, which it needs.
    key_variable : name of the environment variable that holds the API key.
    keep_thinking : whether the thinking precedes each answer in the tables.
    """

    model: str
    name: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = 0
    settings: RequestSettings = field(default_factory=RequestSettings)
    prices: Prices | None = None
    budget: float | None = None
    key_variable: str = "OPENAI_API_KEY"
    keep_thinking: bool = False

    def get_chat_model(self) -> ChatModel:
        """Return the back-end of the chat model to ask. Raises ChatError or InputError."""
        return get_chat_model(
            self.model, api_key_env=self.key_variable, patience=self.settings.patience
        )

    def get_table_name(self, model: ChatModel) -> str:
        """Return the name under which the tables list a model. Raises InputError if invalid."""
        name = normalise_text(self.name if self.name is not None else model.name)
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise InputError.single(
                "--name", f"a name has 1 to {LONGEST_NAME} printable characters", "Choose another."
            )
        return name

    def build_request_parameters(self, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the request parameters, overridden by `more`; those set to None are left out."""
        both = {**self.parameters, **(more or {})}
        return {name: value for name, value in both.items() if value is not None}


@dataclass(frozen=True)
class AskRequest:
    """Input of one ``manage.py ask``: questions, prompt, model settings, output folder."""

    questions: Path
    asking: AskSettings
    output: Path
    passages: Path | None = None
    strategy: str | None = None
    template: Path | None = None
    system: str = SYSTEM
    samples: int = 1


@dataclass(frozen=True)
class AskResult:
    """Result of ``manage.py ask``: the model's name, counts, and why the requests ended.

    Attributes
    ----------
    rows : number of rows of the table. problem : reason why there is no table.
    n_cut_off, n_cut_short, n_thinking : number of the model's replies, earlier ones included, that
        were cut off before the answer, were cut off within it, and had thinking.
    adaptations : changes made to requests because the server refused them.
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
        """Whether every question has a complete reply and the tables are written."""
        done = self.outcome.complete and self.outcome.end is EndReason.DONE
        return done and not self.n_cut_off and not self.problem


@dataclass(frozen=True)
class RequestEstimate:
    """Expected requests, tokens and cost of ``manage.py ask``, before anything is sent.

    `requests` counts all, `stored` those with a reply. The tokens are estimates; those of replies,
    and so the cost, are upper limits. `cost` is None without prices.
    """

    name: str
    requests: int
    stored: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(frozen=True)
class _PreparedRequest:
    """The model to ask, its configuration in the journal, and the planned requests."""

    model: ChatModel
    configuration: Configuration
    planned: list[PlannedRequest]


def estimate_requests(request: AskRequest) -> RequestEstimate:
    """Return the expected number of requests, tokens and cost, without sending anything."""
    asking = request.asking
    # An estimate must neither create the folder nor take its lock.
    with Journal(request.output, read_only=True) as journal:
        prepared = _prepare_requests(request, journal)
        store = journal.open_reply_store(prepared.model, prepared.configuration)
        unanswered = list(
            group_by_key([entry for entry in prepared.planned if not store.has_reply(entry)])
        )
        to_send = [group[0].request for group in unanswered if not store.knows_key(group[0].key)]
        n_prompt_tokens, n_completion_tokens = (
            sum(map(estimate_prompt_tokens, to_send)),
            sum(map(get_reply_token_limit, to_send)),
        )
        return RequestEstimate(
            prepared.configuration.name,
            len(prepared.planned),
            len(prepared.planned)
            - sum(len(g) for g in unanswered if not store.knows_key(g[0].key)),
            n_prompt_tokens,
            n_completion_tokens,
            None
            if asking.prices is None
            else asking.prices.compute_cost(n_prompt_tokens, n_completion_tokens),
        )


def write_batch_file(request: AskRequest, path: Path) -> int:
    """Write the missing requests as a provider's batch file; return their number."""
    with Journal(request.output, read_only=True) as journal:
        prepared = _prepare_requests(request, journal)
        store = journal.open_reply_store(prepared.model, prepared.configuration)
        unanswered = [entry for entry in prepared.planned if not store.has_reply(entry)]
        unanswered = [entry for entry in unanswered if not store.knows_key(entry.key)]
        return write_batch(path, prepared.model, unanswered)


def ask_questions(
    request: AskRequest,
    progress: Progress | None = None,
    batch: Path | None = None,
) -> AskResult:
    """Send the missing requests, or read a provider's batch, and write the reply tables.

    Raises
    ------
    InputError
        A file, an option or the folder cannot be used; no request was sent.
    ChatError
        The model's back-end cannot be opened; no request was sent.
    """
    _refuse_to_replace(request)
    asking = request.asking
    with Journal(request.output) as journal:
        prepared = _prepare_requests(request, journal)
        store = journal.open_reply_store(prepared.model, prepared.configuration)
        # What earlier commands spent on this model counts, or each repetition would begin anew.
        budget = Budget(
            asking.prices or Prices(), asking.budget, journal.sum_costs(prepared.configuration)
        )
        if batch is not None:
            outcome = read_batch(batch, prepared.planned, store, budget)
        else:
            outcome = ask_until_signal(
                prepared.model, prepared.planned, store, asking.settings, budget, progress
            )
        problem = ""
        try:
            rows = write_reply_tables(
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
        model_rows = [
            row for row in journal.rows.values() if row.configuration == prepared.configuration.id
        ]
    return AskResult(
        prepared.configuration.name,
        outcome,
        rows,
        problem,
        sum(row.status is AnswerStatus.CUT_OFF for row in model_rows),
        sum(map(is_cut_short, model_rows)),
        sum(bool(row.thinking) for row in model_rows),
        prepared.model.adaptations,
    )


def ask_until_signal(
    model: ChatModel,
    planned: Sequence[PlannedRequest],
    store: ReplyStore,
    settings: RequestSettings,
    budget: Budget,
    progress: Progress | None,
) -> Outcome:
    """Send the requests that have no stored reply; stop cleanly on Ctrl-C and SIGTERM."""

    async def run_until_signal() -> Outcome:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        # Python sets signal handlers in the main thread only.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stop.set)
        return await ask_model(model, planned, store, settings, budget, progress, stop)

    return asyncio.run(run_until_signal())


def _prepare_requests(request: AskRequest, journal: Journal) -> _PreparedRequest:
    """Return the model to ask, its journal configuration and all planned requests."""
    prompt = _build_prompt(request)
    items = _build_items(request, prompt)
    asking, model = request.asking, request.asking.get_chat_model()
    parameters = asking.build_request_parameters()
    wanted = Configuration.from_model(
        model, prompt, parameters, asking.seed, asking.get_table_name(model)
    )
    return _PreparedRequest(
        model,
        journal.find_or_name_configuration(wanted),
        plan_requests(model, items, parameters, asking.seed),
    )


def _build_prompt(request: AskRequest) -> Prompt:
    """Return the prompt from the chosen strategy or template. Raises InputError."""
    strategy = request.strategy or (CLOSED if request.passages is None else PASSAGE)
    if strategy == PASSAGE and request.passages is None:
        raise build_error("--strategy passage", "passages_missing")
    template, source_name = TEMPLATES[strategy], "--template"
    if request.template is not None:
        source_name = str(request.template)
        try:
            template = request.template.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeError) as error:
            cause = getattr(error, "strerror", None) or "it is not UTF-8"
            raise InputError.single(
                source_name, f"it cannot be read: {cause}", "Check it."
            ) from error
        # Editors end a file with a line break, which would be part of every prompt and of its hash.
        template = template.rstrip("\r\n")
    try:
        return Prompt(strategy, template, request.system)
    except TemplateError as error:
        raise InputError.single(source_name, str(error)) from error


def _build_items(request: AskRequest, prompt: Prompt) -> list[Item]:
    """Return one item per question, with the conversation to send."""
    questions = read_questions(request.questions).records
    passages: dict[str, PassageRecord] = {}
    if request.passages is not None:
        passages = {record.passage: record for record in read_passages(request.passages).records}
    if prompt.strategy == PASSAGE:
        _refuse_missing_passages(request.questions.name, questions, passages)
    return [
        Item(
            record.question, prompt.build_messages(_build_fields(record, passages)), request.samples
        )
        for record in questions
    ]


def _refuse_missing_passages(
    file: str, questions: Sequence[QuestionRecord], passages: dict[str, PassageRecord]
) -> None:
    """Raise InputError if a question has no passage, or one that is not in the file."""
    for question in questions:
        if not question.passage:
            reason = f"question {question.question} has no passage, which --strategy passage needs"
        elif question.passage not in passages:
            reason = f"the passage {question.passage} is not in the file of passages"
        else:
            continue
        remedy = "Add it, or ask these questions with --strategy closed."
        raise InputError.single(file, reason, remedy, line=question.line)


def _build_fields(question: QuestionRecord, passages: dict[str, PassageRecord]) -> dict[str, str]:
    """Return the template fields of a question, with its passage if there is one."""
    passage = passages.get(question.passage)
    passage_fields = {"passage": passage.text, "title": passage.title} if passage else {}
    return build_item_fields(
        question.text, question.choices, question.category, question.language, **passage_fields
    )


def _refuse_to_replace(request: AskRequest) -> None:
    """Raise InputError if the output folder holds tables of another command."""
    if not (request.output / NAME).exists():
        for name in (ANSWERS, SUMMARY):
            if (request.output / name).exists():
                raise InputError.single(
                    str(request.output / name),
                    f"it is there without {NAME}, so another command wrote it",
                    "Choose another folder with --output.",
                )
