"""Look up stored replies of a run that asks, and store new ones as `LLMResponse` rows.

Requests run in a thread of their own; only the turn's thread uses the database. Replies
go through a `ReplyQueue`, and a request waits until its reply is committed: when the future that
`store_reply` returns is done, the reply is safe.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from django.db.models import Q, QuerySet
from django.utils import timezone

from annotations.exchange import AnswerStatus
from evaluation.core.backends.chat.openai import UNWRITABLE
from evaluation.models import LLMResponse, RawReply, compute_request_hash
from evaluation.runs.flow.asking.plan import PlannedRequest, RecordedReply
from evaluation.runs.steps.asking.conversation import PendingReply as AnyPendingReply
from evaluation.runs.steps.asking.conversation import ReplyQueue
from evaluation.runs.steps.asking.model_askings import ModelAsking

# Keys in one query: databases take only so many parameters.
QUERIED = 500
# Characters of JSON of a raw request or answer that are kept; what has more is cut.
LARGEST_RAW = 1_000_000
CUT = 100_000
REPLACED = "\N{REPLACEMENT CHARACTER}"
ERROR = AnswerStatus.ERROR.value


PendingReply = AnyPendingReply[ModelAsking]
"""A reply to a question of a set."""


@dataclass
class AnswerReplyStore:
    """Reply store of one model in a run (see `evaluation.runs.flow.asking.plan.ReplyStore`).

    Attributes
    ----------
    has_reply : (question index, sample) of the stored replies, which are not requested again.
    by_key : primary keys of stored responses, by the keys of their requests.
    """

    asking: ModelAsking
    mailbox: ReplyQueue[ModelAsking]
    answered_items: set[tuple[int, int]] = field(default_factory=set)
    by_key: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_asking(
        cls,
        asking: ModelAsking,
        mailbox: ReplyQueue[ModelAsking] | None = None,
        run_id: int | None = None,
    ) -> Self:
        """Return the reply store of one model in a run, with its stored replies looked up.

        A request with an ERROR of the run `run_id` is not sent again; one of another run is.
        """
        replies = cls(asking, mailbox or ReplyQueue())
        place = {question.pk: index for index, question in enumerate(asking.questions)}
        rows = select_stored_answers(asking).exclude(Q(status=ERROR) & ~Q(run=run_id))
        replies.answered_items = {
            (place[question], sample)
            for question, sample in rows.values_list("question_id", "sample")
        }
        replies.by_key = _find_stored_keys(
            [one.key for one in asking.planned if not replies.has_reply(one)], asking
        )
        return replies

    def has_reply(self, planned: PlannedRequest) -> bool:
        """Return whether the request has a stored reply."""
        return (planned.place, planned.request.sample) in self.answered_items

    def knows_key(self, key: str) -> bool:
        """Return whether a reply to this request key is stored for any question or model."""
        return key in self.by_key

    def copy_known_reply(self, planned: PlannedRequest) -> asyncio.Future[None]:
        """Queue a copy of the stored reply to the same key; the future ends when it is stored."""
        return self.mailbox.put_reply(self.asking, planned, None, self.by_key.get(planned.key))

    def store_reply(self, planned: PlannedRequest, kept: RecordedReply) -> asyncio.Future[None]:
        """Queue a reply for the thread that writes rows; the future is done when it is stored."""
        return self.mailbox.put_reply(self.asking, planned, kept)


def select_stored_answers(asking: ModelAsking) -> QuerySet[LLMResponse]:
    """Return the rows of a model's stored answers to the questions it is asked."""
    return LLMResponse.objects.filter(
        model=asking.model,
        asking=asking.hash,
        question__version=asking.questions[0].version_id,
        sample__lt=asking.options.samples,
    )


def write_answer_rows(posts: Sequence[PendingReply], run_id: int) -> None:
    """Write replies as rows, in a transaction; a reply only replaces an ERROR.

    A stored answer is never changed; a stored ERROR is replaced by any new reply.
    """
    for post_group in _group_by_asking(posts):
        asking = post_group[0].asking
        fresh = {
            _get_answer_key(post): _build_row(post, run_id)
            for post in post_group
            if post.kept is not None
        }
        copied = [post for post in post_group if post.kept is None]
        fresh |= _build_copied_rows(copied, fresh, run_id)
        _store_rows(asking, fresh)


def _find_stored_keys(keys: Sequence[str], asking: ModelAsking) -> dict[str, int]:
    """Return the row of a stored reply by request key, over all models of the owner."""
    stored_keys: dict[str, int] = {}
    for first in range(0, len(keys), QUERIED):
        rows = LLMResponse.objects.filter(
            key__in=keys[first : first + QUERIED], model__owner=asking.model.owner_id
        ).exclude(status=ERROR)
        # Newest first, so that the oldest row of a key stays in the dict: the reply itself, and not
        # a copy of it, which has the same key.
        stored_keys |= dict(rows.order_by("-pk").values_list("key", "pk"))
    return stored_keys


def _group_by_asking(posts: Sequence[PendingReply]) -> Iterator[list[PendingReply]]:
    """Yield the queued replies of each model separately."""
    groups: dict[str, list[PendingReply]] = {}
    for post in posts:
        groups.setdefault(post.asking.id, []).append(post)
    yield from groups.values()


Place = tuple[int, int]
"""Primary key of a question, and a sample."""


@dataclass
class _NewRow:
    """A new `LLMResponse` row with its raw request and raw reply."""

    response: LLMResponse
    request: Any
    reply: Any


def _get_answer_key(post: PendingReply) -> Place:
    """Return the question key and sample number of a queued reply."""
    return post.asking.questions[post.planned.place].pk, post.planned.request.sample


def _build_row(post: PendingReply, run_id: int) -> _NewRow:
    """Return a new row for a queued reply, with its raw request and raw reply."""
    assert post.kept is not None
    asking, result, reply = post.asking, post.kept, post.kept.reply
    extra: dict[str, Any] = {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "seconds": round(result.seconds, 4) if result.attempts else None,
        "attempts": result.attempts,
        "seed": post.planned.request.parameters.get("seed"),
        "cost": result.cost,
        "prompt_hash": asking.prompt.prompt.hash,
        "thinking": reply.thinking or None,
        "adapted": list(asking.chat.adaptations) or None if asking.chat else None,
    }
    if reply.fault is not None:
        extra |= {
            "error": reply.fault.code,
            "message": UNWRITABLE.sub(REPLACED, reply.fault.message),
        }
    response = _build_response(post, run_id, extra)
    response.text, response.status = reply.text, reply.status.value
    response.finish_reason = UNWRITABLE.sub(REPLACED, reply.finish_reason)
    assert asking.chat is not None
    request = asking.chat.build_request_body(post.planned.request) if result.attempts else None
    return _NewRow(response, convert_to_storable(request), convert_to_storable(reply.raw))


def _build_response(post: PendingReply, run_id: int, extra: dict[str, Any]) -> LLMResponse:
    """Return a new row for a queued reply, with only the columns that its request determines."""
    asking = post.asking
    question, sample = _get_answer_key(post)
    messages = [dict(message) for message in post.planned.request.messages]
    prompt = json.dumps(messages, ensure_ascii=False)
    return LLMResponse(
        model=asking.model,
        question_id=question,
        prompt=prompt,
        parameters=asking.stored_parameters,
        request=compute_request_hash(prompt, asking.stored_parameters),
        asking=asking.hash,
        key=post.planned.key,
        run_id=run_id,
        sample=sample,
        extra={name: value for name, value in extra.items() if value is not None},
        asked_at=timezone.now(),
    )


def _build_copied_rows(
    posts: Sequence[PendingReply], fresh: Mapping[Place, _NewRow], run_id: int
) -> dict[Place, _NewRow]:
    """Return new rows that copy stored replies to equal requests, at no cost."""
    if not posts:
        return {}
    fresh_by_key = {one.response.key: one for one in fresh.values()}
    wanted = [post.source for post in posts if post.source is not None]
    rows = LLMResponse.objects.select_related("raw").in_bulk(wanted)
    keys = [post.planned.key for post in posts if post.source is None]
    by_key = {
        row.key: row
        for row in LLMResponse.objects.filter(key__in=keys, model=posts[0].asking.model)
        .exclude(status=ERROR)
        .select_related("raw")
    }
    result = {}
    for post in posts:
        key = post.planned.key
        source = rows.get(post.source) if post.source is not None else by_key.get(key)
        if source is not None:
            raw = getattr(source, "raw", None)
            original = _NewRow(source, raw and raw.request, raw and raw.reply)
        elif key in fresh_by_key:
            original = fresh_by_key[key]
        else:
            continue  # withdrawn meanwhile: it is asked in the next turn
        extra = {**original.response.extra, "cost": 0.0, "copied": True}
        response = _build_response(post, run_id, extra)
        for name in ("text", "status", "finish_reason"):
            setattr(response, name, getattr(original.response, name))
        result[_get_answer_key(post)] = _NewRow(response, original.request, original.reply)
    return result


CHANGED = ("text", "status", "finish_reason", "extra", "run", "asked_at", "key")


def _store_rows(asking: ModelAsking, fresh: Mapping[Place, _NewRow]) -> None:
    """Insert new rows or replace rows that hold an ERROR; store raw requests and replies too."""
    questions = list({question for question, _ in fresh})
    stored = {}
    for first in range(0, len(questions), QUERIED):
        for row in LLMResponse.objects.filter(
            model=asking.model, asking=asking.hash, question__in=questions[first : first + QUERIED]
        ):
            stored[row.question_id, row.sample] = row
    changed, new, raw = [], [], []
    for place, one in fresh.items():
        old = stored.get(place)
        if old is None:
            new.append(one.response)
        elif old.status == ERROR:
            for name in CHANGED:
                setattr(old, name, getattr(one.response, name))
            changed.append(old)
            raw.append(RawReply(response=old, request=one.request, reply=one.reply))
    LLMResponse.objects.bulk_update(changed, CHANGED)
    # An ERROR may have a raw reply; a response has at most one.
    RawReply.objects.filter(response__in=changed).delete()
    # Another run may have asked the same in the meantime; its answers stand.
    # After a conflict the keys below are looked up by public id: a row that was not inserted has
    # none.
    LLMResponse.objects.bulk_create(new, ignore_conflicts=True)
    keys = dict(
        LLMResponse.objects.filter(
            public_id__in=[llmresponse.public_id for llmresponse in new]
        ).values_list("public_id", "pk")
    )
    raw += [
        RawReply(response_id=key, request=one.request, reply=one.reply)
        for one in fresh.values()
        if (key := keys.get(one.response.public_id)) is not None
    ]
    RawReply.objects.bulk_create(raw)


def convert_to_storable(value: Any) -> Any:
    """Return JSON values that every database accepts: no NUL, NaN or overlong text.

    JSON of more than `LARGEST_RAW` characters is cut and stored as text.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        clean = _clean_json(value)
    except (ValueError, RecursionError):  # NaN, or nested beyond reason
        text = clean = UNWRITABLE.sub(REPLACED, repr(value))
    if len(text) <= LARGEST_RAW:
        return clean
    return UNWRITABLE.sub(REPLACED, text[:CUT]) + " ... (cut)"


def _clean_json(value: Any) -> Any:
    """Return JSON values with characters replaced that databases refuse, in keys as well."""
    if isinstance(value, str):
        return UNWRITABLE.sub(REPLACED, value)
    if isinstance(value, Mapping):
        return {_clean_json(str(name)): _clean_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean_json(inner) for inner in value]
    return value
