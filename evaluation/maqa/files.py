"""MAQA on files: evaluate a file of replies, or ask a model first; write the result tables."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotations.exchange import AnswerStatus, OutputFolder
from annotations.exchange.reading.several_answers import (
    FirstTokenScores,
    SeveralAnswersQuestion,
    SeveralAnswersReply,
    read_several_answers,
    read_several_answers_replies,
)
from evaluation.consensus.inputs import Progress
from evaluation.core.backends.chat.contract import Message, TokenLogprob, parse_tokens
from evaluation.core.backends.chat.local import LocalChat
from evaluation.core.options import TERMINAL
from evaluation.maqa.methods.uncertainty import NOT_FINITE
from evaluation.maqa.options import MaqaParameters
from evaluation.maqa.run.confidence import (
    OTHER_POSITION,
    AnswerStart,
    build_distribution,
    find_answer_starts,
    is_same_position,
)
from evaluation.maqa.run.judging import RightAnswers, read_reply
from evaluation.maqa.run.replies import ALL, INSTRUCTION, MOST_TOP, NONE, build_conversation
from evaluation.maqa.run.result_tables import STUDY_TABLES
from evaluation.maqa.run.study import MaqaStudy, evaluate_replies
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.files.journal import ReplyRow
from evaluation.runs.files.metrics import (
    FILES,
    SUMMARY,
    build_study_summary,
    refuse_to_replace_inputs,
    write_result_table,
)
from evaluation.runs.files.study import Step, StudyFolder
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.stored import list_file_names

MAQA_FILES = tuple(dict.fromkeys((*FILES, *list_file_names(STUDY_TABLES))))
Pictures = Callable[[MaqaStudy], Mapping[str, bytes]]
"""Function that returns the charts of a study as files, by name."""


def draw_nothing(_: MaqaStudy) -> Mapping[str, bytes]:
    """Return an empty mapping of chart files, for a study written without charts."""
    return {}


@dataclass(frozen=True)
class MaqaRequest:
    """Input files, options and output folder of ``evaluate maqa``."""

    questions: Path
    replies: Path
    parameters: MaqaParameters
    output: Path
    pictures: Pictures = draw_nothing
    keep_thinking: bool = False


def evaluate_maqa(request: MaqaRequest, progress: Progress | None = None) -> MaqaStudy:
    """Evaluate a file of replies, write the tables, and return the study.

    Raises `InputError` if a file is invalid.
    """
    refuse_to_replace_inputs(request.output, MAQA_FILES, (request.questions, request.replies))
    with _pause_garbage_collection():
        questions = read_several_answers(request.questions)
        replies = read_several_answers_replies(request.replies, request.keep_thinking)
        study = evaluate_replies(request.parameters, questions.questions, replies.replies, progress)
        study.notes += replies.warnings
        hashes = {"questions": questions.sha256, "replies": replies.sha256}
        counts = {"reply_lines": replies.n_rows, "repeated": replies.n_repeated}
        with OutputFolder(request.output) as folder:
            warnings = [*questions.warnings, *replies.warnings]
            write_maqa(folder, study, hashes, counts, warnings, pictures=request.pictures)
    return study


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Turn Python's search for reference cycles off within the block.

    None of the millions of records is in a cycle, and the search takes a third of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def write_maqa(
    folder: OutputFolder,
    study: MaqaStudy,
    hashes: Mapping[str, str],
    counts: Mapping[str, int],
    warnings: Sequence[str],
    more: Mapping[str, Any] | None = None,
    pictures: Pictures = draw_nothing,
) -> None:
    """Write a study's result tables, charts and summary.json into a folder.

    `hashes` (of the input files), `counts`, `warnings` and `more` become parts of the summary.
    """
    for table in STUDY_TABLES:
        if table.file:
            write_result_table(folder, table, table.rows(study))
    for name, content in pictures(study).items():
        with folder.open(name) as file:
            file.write(content)
    summary = build_study_summary(
        "maqa",
        study.parameters,
        hashes,
        {**study.counts, **counts},
        study.exclusions,
        made=study.describe_methods(),
        warnings=[*warnings, *TERMINAL.format_all(study.list_warnings())],
        more={
            "complete": study.complete,
            "embedding": study.clusters.info and study.clusters.info.as_dict(),
            "meaning_threshold": study.clusters.threshold and study.clusters.threshold.as_dict(),
            **(more or {}),
        },
    )
    folder.write_json(SUMMARY, summary)


REPLIES, REPLIES_AS_READ = "replies.csv", "replies.jsonl"
COLUMNS = ("system", "item", "sample", "reply", "status")
# More tokens than any model has, to request all of them.
EVERY_TOKEN = 300_000


@dataclass(frozen=True)
class MaqaStudyRequest:
    """Question file, options and output folder of ``study maqa``, which asks a model.

    Attributes
    ----------
    samples : replies to each question.
    first : ask only so many questions; None for all.
    first_tokens : tokens to request at the first token of each answer. "none"; "top" for the `top`
        likeliest; "all", for a server that continues an unfinished reply. None means "all" for the
        packaged model and "none" for others.
    vocabulary : number of tokens of the model; None if unknown.
    """

    questions: Path
    samples: int
    first: int | None
    parameters: MaqaParameters
    output: Path
    first_tokens: str | None = None
    top: int = MOST_TOP
    vocabulary: int | None = None
    pictures: Pictures = draw_nothing


def execute_study(
    request: MaqaStudyRequest, asking: AskSettings, progress: Progress
) -> tuple[MaqaStudy, bool]:
    """Ask a model, evaluate its replies, write the tables; return the study and whether complete.

    Stored replies of an earlier call are used; only missing ones are requested.

    Returns
    -------
    The study, and whether every request has a reply.

    Raises
    ------
    InputError
        A file is invalid.
    EndedEarlyError
        Some requests were not sent; the same command continues.
    """
    written = (*MAQA_FILES, REPLIES, REPLIES_AS_READ)
    refuse_to_replace_inputs(request.output, written, (request.questions,))
    file = read_several_answers(request.questions)
    questions = {question.id: question for question in file.questions[: request.first]}
    with StudyFolder(request.output, asking, progress) as folder:
        mode = request.first_tokens or (
            ALL if asking.get_chat_model().kind == LocalChat.kind else NONE
        )
        collector = _ReplyCollector(request, folder, mode)
        replies = collector.collect(questions)
        study = evaluate_replies(request.parameters, list(questions.values()), replies, progress)
        for code, entry in collector.faults:
            study.exclusions.add(code, entry)
        with OutputFolder(request.output) as tables:
            rows = (
                (reply.system, reply.item, reply.sample, reply.text, reply.status.value)
                for reply in replies
            )
            tables.write_csv(REPLIES, COLUMNS, rows)
            tables.write_lines(REPLIES_AS_READ, map(_format_line, replies))
            hashes = {"questions": file.sha256}
            more = {"asked": folder.summarise_steps(), "first_tokens": mode}
            write_maqa(tables, study, hashes, {}, file.warnings, more, request.pictures)
        return study, folder.complete


@dataclass
class _ReplyCollector:
    """Asks the model all questions and returns the replies with token probabilities.

    Attributes
    ----------
    mode : tokens to request at the first token of each answer: "none", "top" or "all".
    faults : codes of distributions that were not usable, with the reply of each.
    """

    request: MaqaStudyRequest
    folder: StudyFolder
    mode: str
    faults: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def collect(self, questions: Mapping[str, SeveralAnswersQuestion]) -> list[SeveralAnswersReply]:
        """Ask every question; request first-token distributions if the mode needs them."""
        sent = {} if self.mode == NONE else {"logprobs": True, "top_logprobs": self.request.top}
        conversations = {
            item: build_conversation(INSTRUCTION, question.text)
            for item, question in questions.items()
        }
        items = [
            Item(item, messages, self.request.samples) for item, messages in conversations.items()
        ]
        rows = self.folder.ask_step(Step("answers", "{question}", INSTRUCTION, sent), items)
        replies = {
            (item, sample): SeveralAnswersReply(
                0, self.folder.system, item, sample, row.status, row.answer, None, None, ()
            )
            for (item, sample), row in rows.items()
        }
        if self.mode == NONE:
            return list(replies.values())
        answer_starts = {
            key: self._find_starts(questions[key[0]], reply, rows[key])
            for key, reply in replies.items()
        }
        complete = {}
        if self.mode == ALL:
            complete = self._request_all_tokens(conversations, answer_starts)
        return [
            self._add_distributions(reply, rows[key], answer_starts[key], complete)
            for key, reply in replies.items()
        ]

    def _find_starts(
        self, question: SeveralAnswersQuestion, reply: SeveralAnswersReply, row: ReplyRow
    ) -> list[AnswerStart]:
        """Return the first token of each answer that can be located in a reply's tokens."""
        tokens = self._read_tokens(row)
        if reply.status is not AnswerStatus.TEXT:
            return []
        if tokens is None:
            # The journal stores a response that is not valid JSON (with NaN) as a text.
            if isinstance(self.folder.find_raw_reply(row), str):
                self.faults.append((NOT_FINITE, {"item": reply.item, "sample": reply.sample}))
            return []
        right = RightAnswers(question, self.request.parameters.rules)
        answers = [str(answer) for answer in read_reply(right, reply).answers]
        answer_starts, faults = find_answer_starts(reply.text, answers, tokens)
        self.faults += [(code, {"item": reply.item, "sample": reply.sample}) for code in faults]
        return answer_starts

    def _request_all_tokens(
        self,
        conversations: Mapping[str, tuple[Message, ...]],
        answer_starts: Mapping[tuple[str, int], Sequence[AnswerStart]],
    ) -> dict[str, TokenLogprob]:
        """Request the probabilities of the whole vocabulary at the start of each answer.

        A request contains the reply up to the answer, and asks for one token more.
        """
        items = [
            Item(
                _build_start_id(item, sample, number),
                (*conversations[item], *_build_beginning(start.before)),
            )
            for (item, sample), reply_starts in answer_starts.items()
            for number, start in enumerate(reply_starts)
        ]
        if not items:
            return {}
        # One token, because only its distribution is read.
        sent = {"max_tokens": 1, "logprobs": True, "top_logprobs": EVERY_TOKEN}
        step = Step("first tokens", "{question}", INSTRUCTION, {**sent, "temperature": 0.0})
        rows = self.folder.ask_step(step, items)
        tokens_by_id = {name: self._read_tokens(row) for (name, _), row in rows.items()}
        return {name: tokens[0] for name, tokens in tokens_by_id.items() if tokens}

    def _add_distributions(
        self,
        reply: SeveralAnswersReply,
        row: ReplyRow,
        answer_starts: Sequence[AnswerStart],
        complete: Mapping[str, TokenLogprob],
    ) -> SeveralAnswersReply:
        """Return a reply with its token probabilities and first-token distributions."""
        distributions = []
        for number, start in enumerate(answer_starts):
            again = complete.get(_build_start_id(reply.item, reply.sample, number))
            # A server that did not continue the reply: use the likeliest tokens instead.
            if again is not None and not is_same_position(start.token, again):
                entry = {"item": reply.item, "sample": reply.sample, "answer": start.answer}
                self.faults.append((OTHER_POSITION, entry))
                again = None
            token = again or start.token
            distribution = build_distribution(start.answer, token, self.request.vocabulary)
            if distribution is not None:
                distributions.append(distribution)
        logs = tuple(token.logprob for token in self._read_tokens(row) or ())
        return replace(reply, first_token=tuple(distributions), logprobs=logs or None)

    def _read_tokens(self, row: ReplyRow) -> list[TokenLogprob] | None:
        """Return a stored reply's tokens with probabilities; None if the server sent none."""
        return parse_tokens(read_logprobs(self.folder.find_raw_reply(row)))


def read_logprobs(raw: Any) -> Any:
    """Return the "logprobs" value of a raw chat completion; None if there is none."""
    try:
        return raw["choices"][0]["logprobs"]
    except (KeyError, IndexError, TypeError):
        return None


def _build_beginning(text: str) -> tuple[Message, ...]:
    """Return an assistant message with the beginning of a reply; empty for an empty text.

    A server that gets no beginning starts the reply itself, which is the same position.
    """
    return ({"role": "assistant", "content": text},) if text else ()


def _build_start_id(item: str, sample: int, number: int) -> str:
    """Return the id of the request for the token probabilities at an answer's start."""
    return f"{item}|{sample}|{number}"


def _format_line(reply: SeveralAnswersReply) -> str:
    """Return a reply as a JSON line that ``evaluate maqa`` reads, without empty keys."""
    values = {
        "system": reply.system,
        "item": reply.item,
        "sample": reply.sample,
        "reply": reply.text,
        "status": reply.status.value,
    }
    if reply.first_token:
        values["first_token"] = [_convert_to_json(each) for each in reply.first_token]
    if reply.logprobs:
        values["logprobs"] = list(reply.logprobs)
    return json.dumps(values, ensure_ascii=False) + "\n"


def _convert_to_json(distribution: FirstTokenScores) -> dict[str, Any]:
    """Return a first-token distribution as an entry of a reply's JSON line."""
    values: dict[str, Any] = {
        "answer": distribution.answer,
        "top_logprobs": list(distribution.numbers),
    }
    if distribution.vocabulary is not None:
        values["vocabulary"] = distribution.vocabulary
    if distribution.others is not None:
        names = ("tokens", "probability", "entropy")
        values["others"] = dict(zip(names, distribution.others, strict=True))
    return values
