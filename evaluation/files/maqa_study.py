"""MAQA as a study: questions with several right answers are put to a model several times."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotations.exchange import AnswerStatus, OutputFolder
from annotations.exchange.reading.several_answers import (
    FirstTokenOf,
    SeveralAnswersQuestion,
    SeveralAnswersReply,
    read_several_answers,
)
from evaluation.backends.chat.contract import Message
from evaluation.backends.chat.distributions import TokenLogprob, tokens_of
from evaluation.backends.chat.local import LocalChat
from evaluation.files.asking import Asking
from evaluation.files.journal import Row
from evaluation.files.maqa import MAQA_FILES, Pictures, no_pictures, write_maqa
from evaluation.files.metrics import refuse_to_replace
from evaluation.files.study import Progress, Step, StudyFolder
from evaluation.flow.asking.plan import Item
from evaluation.flow.maqa.asking import TOLD, conversation
from evaluation.flow.maqa.first_tokens import (
    OF_ANOTHER_PLACE,
    AnswerStart,
    are_of_one_place,
    distribution_of,
    starts,
)
from evaluation.flow.maqa.judging import RightAnswers, read_reply
from evaluation.flow.maqa.parameters import MaqaParameters
from evaluation.flow.maqa.study import MaqaStudy, study_replies
from evaluation.methods.maqa.first_token import NOT_FINITE

REPLIES, REPLIES_AS_READ = "replies.csv", "replies.jsonl"
COLUMNS = ("system", "item", "sample", "reply", "status")
NONE, TOP, ALL = "none", "top", "all"
# As many as most servers give; and more than any model has.
MOST_TOP, EVERY_TOKEN = 20, 300_000


@dataclass(frozen=True)
class MaqaStudyRequest:
    """What to ask: the first `first` questions (None for all), `samples` times each.

    `first_tokens` is what is asked for of the distribution at the first token of each answer:
    "none", "top" for the `top` likeliest tokens, "all" for every token of a server that goes on
    where a reply breaks off; None for all of the packaged model, and none of another.
    `vocabulary` is how many tokens the model has, None if that is not known.
    """

    questions: Path
    samples: int
    first: int | None
    parameters: MaqaParameters
    output: Path
    first_tokens: str | None = None
    top: int = MOST_TOP
    vocabulary: int | None = None
    pictures: Pictures = no_pictures


def study_maqa(
    request: MaqaStudyRequest, asking: Asking, progress: Progress
) -> tuple[MaqaStudy, bool]:
    """Ask what is not stored yet, evaluate, write the tables; whether every request has a reply.

    Raises
    ------
    InputError
        A file will not do. EndedEarlyError: not all was asked; the same command goes on.
    """
    written = (*MAQA_FILES, REPLIES, REPLIES_AS_READ)
    refuse_to_replace(request.output, written, (request.questions,))
    file = read_several_answers(request.questions)
    questions = {one.id: one for one in file.questions[: request.first]}
    with StudyFolder(request.output, asking, progress) as folder:
        mode = request.first_tokens or (ALL if asking.chat().kind == LocalChat.kind else NONE)
        asked = _Asked(request, folder, mode)
        replies = asked.replies(questions)
        study = study_replies(request.parameters, list(questions.values()), replies, progress)
        for code, named in asked.faults:
            study.exclusions.add(code, named)
        with OutputFolder(request.output) as tables:
            tables.write_csv(
                REPLIES,
                COLUMNS,
                ((one.system, one.item, one.sample, one.text, one.status.value) for one in replies),
            )
            tables.write_lines(REPLIES_AS_READ, map(_line, replies))
            hashes = {"questions": file.sha256}
            more = {"asked": folder.steps(), "first_tokens": mode}
            write_maqa(tables, study, hashes, {}, file.warnings, more, request.pictures)
        return study, folder.complete


@dataclass
class _Asked:
    """The replies of a study, with the probabilities that were asked for beside them."""

    request: MaqaStudyRequest
    folder: StudyFolder
    mode: str
    faults: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def replies(self, questions: Mapping[str, SeveralAnswersQuestion]) -> list[SeveralAnswersReply]:
        """Ask every question, and for distributions where they are wanted."""
        sent = {} if self.mode == NONE else {"logprobs": True, "top_logprobs": self.request.top}
        conversations = {name: conversation(TOLD, one.text) for name, one in questions.items()}
        items = [Item(name, said, self.request.samples) for name, said in conversations.items()]
        rows = self.folder.ask(Step("answers", "{question}", TOLD, sent), items)
        replies = {
            (item, sample): SeveralAnswersReply(
                0, self.folder.system, item, sample, row.status, row.answer, None, None, ()
            )
            for (item, sample), row in rows.items()
        }
        if self.mode == NONE:
            return list(replies.values())
        found = {
            place: self._starts(questions[place[0]], reply, rows[place])
            for place, reply in replies.items()
        }
        whole = self._whole(conversations, found) if self.mode == ALL else {}
        return [
            self._with(reply, rows[place], found[place], whole) for place, reply in replies.items()
        ]

    def _starts(
        self, question: SeveralAnswersQuestion, reply: SeveralAnswersReply, row: Row
    ) -> list[AnswerStart]:
        """Return where the answers of a reply begin, as far as its tokens tell."""
        tokens = self._tokens(row)
        if reply.status is not AnswerStatus.TEXT:
            return []
        if tokens is None:
            if isinstance(self.folder.raw(row), str):  # so the journal keeps what is no JSON: NaN
                self.faults.append((NOT_FINITE, {"item": reply.item, "sample": reply.sample}))
            return []
        right = RightAnswers(question, self.request.parameters.rules)
        answers = [str(one) for one in read_reply(right, reply).answers]
        found, faults = starts(reply.text, answers, tokens)
        self.faults += [(code, {"item": reply.item, "sample": reply.sample}) for code in faults]
        return found

    def _whole(
        self,
        conversations: Mapping[str, tuple[Message, ...]],
        found: Mapping[tuple[str, int], Sequence[AnswerStart]],
    ) -> dict[str, TokenLogprob]:
        """Ask for all tokens at each first one, with the reply up to there; by name."""
        # Without anything before it the server begins the reply, which needs no beginning of ours.
        items = [
            Item(_name(item, sample, number), (*conversations[item], *_begun(start.before)))
            for (item, sample), many in found.items()
            for number, start in enumerate(many)
        ]
        if not items:
            return {}
        wanted = {"max_tokens": 1, "logprobs": True, "top_logprobs": EVERY_TOKEN}
        step = Step("first tokens", "{question}", TOLD, {**wanted, "temperature": 0.0})
        rows = self.folder.ask(step, items)
        told = {
            name: tokens_of(logprobs_of(self.folder.raw(row))) for (name, _), row in rows.items()
        }
        return {name: tokens[0] for name, tokens in told.items() if tokens}

    def _with(
        self,
        reply: SeveralAnswersReply,
        row: Row,
        found: Sequence[AnswerStart],
        whole: Mapping[str, TokenLogprob],
    ) -> SeveralAnswersReply:
        """Return a reply with its distributions, and the probabilities of its own tokens."""
        first = []
        for number, start in enumerate(found):
            again = whole.get(_name(reply.item, reply.sample, number))
            if again is not None and not are_of_one_place(start.token, again):
                named = {"item": reply.item, "sample": reply.sample, "answer": start.answer}
                self.faults.append((OF_ANOTHER_PLACE, named))
                again = None
            told = distribution_of(start.answer, again or start.token, self.request.vocabulary)
            if told is not None:
                first.append(told)
        logs = tuple(token.logprob for token in self._tokens(row) or ())
        return replace(reply, first_token=tuple(first), logprobs=logs or None)

    def _tokens(self, row: Row) -> list[TokenLogprob] | None:
        return tokens_of(logprobs_of(self.folder.raw(row)))


def logprobs_of(raw: Any) -> Any:
    """Return what a chat completion says of its tokens; None if it says nothing."""
    try:
        return raw["choices"][0]["logprobs"]
    except (KeyError, IndexError, TypeError):
        return None


def _begun(text: str) -> tuple[Message, ...]:
    return ({"role": "assistant", "content": text},) if text else ()


def _name(item: str, sample: int, number: int) -> str:
    return f"{item}|{sample}|{number}"


def _line(reply: SeveralAnswersReply) -> str:
    """Return a line that ``evaluate maqa`` reads; what says nothing is left out."""
    values = {
        "system": reply.system,
        "item": reply.item,
        "sample": reply.sample,
        "reply": reply.text,
        "status": reply.status.value,
    }
    if reply.first_token:
        values["first_token"] = [_distribution(one) for one in reply.first_token]
    if reply.logprobs:
        values["logprobs"] = list(reply.logprobs)
    return json.dumps(values, ensure_ascii=False) + "\n"


def _distribution(one: FirstTokenOf) -> dict[str, Any]:
    values: dict[str, Any] = {"answer": one.answer, "top_logprobs": list(one.numbers)}
    if one.vocabulary is not None:
        values["vocabulary"] = one.vocabulary
    if one.others is not None:
        values["others"] = dict(zip(("tokens", "probability", "entropy"), one.others, strict=True))
    return values
