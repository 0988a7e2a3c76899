"""Store the replies of a study's run as `RunData`, apart from the answers of question sets.

Each reply is a row of `RunData` named by the key of its request, so that no turn sends the request
again. The reply to an identical request of an earlier run of the same owner is reused.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from annotations.exchange import AnswerStatus
from annotations.exchange.model_replies import split_model_reply
from evaluation.core.backends.chat.openai import UNWRITABLE
from evaluation.models import LanguageModel, Run, RunData
from evaluation.runs.flow.asking.plan import PlannedRequest, RecordedReply
from evaluation.runs.flow.asking.summary import Usage
from evaluation.runs.steps.asking.replies import REPLACED, convert_to_storable

PREFIX = "reply:"
# Names of `RunData` have 50 characters; 160 bits of the key are more than enough.
DIGITS = 40
# Older runs of judges kept theirs under these names, and called the text answer.
JUDGE, JUDGE_DIGITS = "judge-", 44
QUERIED = 300


@dataclass(frozen=True)
class StoredReply:
    """A model's reply to one request of a study, as stored.

    Attributes
    ----------
    status : status of the reply; an ERROR is final within its run, and requested again in another.
    cost : cost in this run; 0 for a `reused` reply, which an earlier run asked for.
    error, message : code of the fault of an ERROR, and its text for people.
    step, model : step of the study, and public id of the model.
    logprobs : log-probabilities in the server's own form, if requested and offered.
    thinking : the thinking part that was separated from the reply.
    rejected : the reply could not be used, so that no later run reuses it.
    """

    text: str
    status: AnswerStatus
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    message: str = ""
    reused: bool = False
    step: str = ""
    model: str = ""
    seconds: float = 0.0
    finish_reason: str = ""
    logprobs: Any = None
    thinking: str = ""
    rejected: bool = False
    error: str = ""

    @property
    def answer(self) -> str:
        """Text of the reply, under the name that the protocol `Reply` gives it."""
        return self.text

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StoredReply:
        """Return a reply from its stored JSON, also of earlier versions of the platform.

        Replies stored before thinking was separated are parsed again.
        """
        known = {name: value for name, value in data.items() if name in _FIELDS}
        text, status = data.get("text", data.get("answer", "")), AnswerStatus(data["status"])
        # Runs from before thinking was separated stored it within the text.
        read = split_model_reply(text, status, data.get("finish_reason", ""))
        thinking = read.thinking or data.get("thinking", "")
        return cls(**{**known, "text": read.text, "status": read.status, "thinking": thinking})

    @classmethod
    def from_recorded(cls, kept: RecordedReply, step: str, model: str) -> StoredReply:
        """Return the stored form of a new reply, for a step and a model's public id."""
        reply = kept.reply
        return cls(
            reply.text,
            reply.status,
            reply.prompt_tokens or 0,
            reply.completion_tokens or 0,
            kept.cost,
            UNWRITABLE.sub(REPLACED, reply.fault.message) if reply.fault else "",
            step=step,
            model=model,
            seconds=round(kept.seconds, 4),
            finish_reason=UNWRITABLE.sub(REPLACED, reply.finish_reason),
            logprobs=None if reply.logprobs is None else convert_to_storable(reply.logprobs),
            thinking=UNWRITABLE.sub(REPLACED, reply.thinking),
            error=reply.fault.code if reply.fault else "",
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the reply as JSON values, without empty fields."""
        values = {**self.__dict__, "status": self.status.value}
        return {
            name: value
            for name, value in values.items()
            if name in ("text", "status")
            or (value not in ("", None) and (name != "rejected" or value))
        }


_STATES = {
    AnswerStatus.TEXT: "answered",
    AnswerStatus.EMPTY: "empty",
    AnswerStatus.CUT_OFF: "cut_off",
    AnswerStatus.ERROR: "failed",
}
STATES = ("answered", "empty", "refused", "cut_off")
"""Fields of `Usage` that count replies by status."""
_FIELDS = {field.name for field in fields(StoredReply)}


def build_reply_name(planned: PlannedRequest) -> str:
    """Return the name under which `RunData` stores the reply to a request."""
    return PREFIX + planned.key[:DIGITS]


def read_run_replies(run_id: int) -> Iterator[StoredReply]:
    """Yield the replies that are stored with a run, in the order of writing."""
    rows = RunData.objects.filter(run_id=run_id, name__startswith=PREFIX).order_by("pk")
    yield from map(StoredReply.from_json, rows.values_list("data", flat=True).iterator())


def read_own_and_other_replies(
    run: Run, planned: Iterable[PlannedRequest]
) -> tuple[dict[str, StoredReply], dict[str, StoredReply]]:
    """Return two mappings of stored replies by name: the run's own, and reusable ones of others."""
    names = {build_reply_name(entry): f"{JUDGE}{entry.key[:JUDGE_DIGITS]}" for entry in planned}
    own: dict[str, StoredReply] = {}
    others: dict[str, StoredReply] = {}
    listed = list(names.items())
    for first in range(0, len(listed), QUERIED):
        some = listed[first : first + QUERIED]
        known_as = {alias: name for name, older in some for alias in (name, older)}
        rows = RunData.objects.filter(name__in=list(known_as), run__owner=run.owner_id)
        # In the order of writing, so that a rejection drops the replies before it, and a later
        # reply to the same request counts again.
        for run_id, alias, data in rows.order_by("pk").values_list("run_id", "name", "data"):
            reply, name = StoredReply.from_json(data), known_as[alias]
            if run_id == run.pk:
                own[name] = reply
            elif reply.rejected:
                others.pop(name, None)  # and what it was taken over from
            elif reply.status is not AnswerStatus.ERROR:
                others[name] = reply
    return own, {name: reply for name, reply in others.items() if name not in own}


def find_answered_names(owner_id: int, planned: Iterable[PlannedRequest]) -> set[str]:
    """Return the reply names of those requests that a run of the owner has a usable reply to."""
    names = list(dict.fromkeys(build_reply_name(entry) for entry in planned))
    answered_names: set[str] = set()
    for first in range(0, len(names), QUERIED):
        rows = RunData.objects.filter(
            name__in=names[first : first + QUERIED], run__owner=owner_id
        ).exclude(data__status=AnswerStatus.ERROR.value)
        # In the order of writing: a rejection cancels earlier replies, a later reply counts again.
        for name, rejected in rows.order_by("pk").values_list("name", "data__rejected"):
            if rejected:
                answered_names.discard(name)
            else:
                answered_names.add(name)
    return answered_names


def mark_replies_rejected(run_id: int, planned: Iterable[PlannedRequest]) -> None:
    """Mark a run's replies to requests as rejected; call it in a transaction."""
    names = [build_reply_name(entry) for entry in planned]
    for first in range(0, len(names), QUERIED):
        rows = list(RunData.objects.filter(run=run_id, name__in=names[first : first + QUERIED]))
        for row in rows:
            row.data = {**row.data, "rejected": True}
        RunData.objects.bulk_update(rows, ["data"])


def convert_to_reused_reply(reply: StoredReply, step: str, model: str) -> StoredReply:
    """Return another run's reply as this run stores it: marked as reused, with cost 0."""
    return replace(reply, cost=0.0, reused=True, step=step, model=model)


def store_replies(run_id: int, replies: Mapping[str, StoredReply]) -> None:
    """Store replies with a run under their names, inside a transaction; existing ones stay."""
    rows = [RunData(run_id=run_id, name=n, data=reply.as_dict()) for n, reply in replies.items()]
    RunData.objects.bulk_create(rows, ignore_conflicts=True, batch_size=QUERIED)


def compute_model_usage(run_id: int, models: Sequence[LanguageModel]) -> tuple[Usage, ...]:
    """Return a run's requests, tokens and cost by step and model, in order of first replies."""
    by_id = {str(language_model.public_id): language_model for language_model in models}
    counts: dict[tuple[str, str], Counter[str]] = {}
    costs: dict[tuple[str, str], float] = defaultdict(float)
    codes: dict[tuple[str, str], Counter[str]] = {}
    for reply in read_run_replies(run_id):
        counter = counts.setdefault((reply.step, reply.model), Counter())
        costs[reply.step, reply.model] += reply.cost
        counter[_STATES.get(reply.status, "refused")] += 1
        counter["with_thinking"] += bool(reply.thinking)
        if reply.status is AnswerStatus.ERROR:
            codes.setdefault((reply.step, reply.model), Counter())[reply.error] += 1
        if reply.reused:
            counter["reused"] += 1
            continue
        counter["requests"] += 1
        counter["errors"] += reply.status is AnswerStatus.ERROR
        counter["prompt_tokens"] += reply.prompt_tokens
        counter["completion_tokens"] += reply.completion_tokens
    return tuple(
        Usage(
            step,
            by_id[model].name if model in by_id else model,
            requests=counter["requests"],
            reused=counter["reused"],
            errors=counter["errors"],
            prompt_tokens=counter["prompt_tokens"],
            completion_tokens=counter["completion_tokens"],
            cost=costs[step, model] if model in by_id and by_id[model].has_prices else None,
            **{name: counter[name] for name in STATES},
            with_thinking=counter["with_thinking"],
            error_codes=dict(codes.get((step, model), {})),
        )
        for (step, model), counter in counts.items()
    )
