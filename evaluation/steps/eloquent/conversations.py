"""Asks a registered model within a turn, and keeps each reply with the run.

Replies come for some seconds, then are written in one transaction, and so on: what is written is
never asked again, and a turn that is over or lost ends between two such parts. A reply of another
run over the same version, to the very same request, is taken over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotations.exchange import AnswerStatus
from evaluation.backends.chat.contract import ChatModel
from evaluation.backends.server import Patience
from evaluation.flow.asking.asker import Settings, ask
from evaluation.flow.asking.budget import Budget, Prices
from evaluation.flow.asking.plan import MOST_SEEDS, Item, Planned, plan
from evaluation.flow.asking.store import Kept, MemoryStore
from evaluation.models import LanguageModel, Run, RunData
from evaluation.steps.asking.registration import chat_of
from evaluation.steps.checkpoints import Turn

AT_ONCE = 4
SECONDS = 10.0
PATIENCE = Patience(4, 120.0, 0.5, 60.0)
# Names of `RunData` have 50 characters; 160 bits of the key are more than enough.
PREFIX = "reply:"
DIGITS = 40
LOOKED_UP = 500


@dataclass(frozen=True)
class StoredReply:
    """A reply as it is kept; `reused` says that another run asked for it."""

    text: str
    status: AnswerStatus
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    message: str = ""
    reused: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> StoredReply:
        """Return what `as_dict` gave."""
        return cls(**{**data, "status": AnswerStatus(data["status"])})

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {**self.__dict__, "status": self.status.value}


class Conversations:
    """One registered model, asked for one run.

    Raises ChatError, InputError: the model cannot be had, or not by its owner any more.
    """

    def __init__(self, turn: Turn, run: Run, model: LanguageModel, stage: str) -> None:
        self.turn, self.run, self.model, self.stage = turn, run, model, stage
        self.chat: ChatModel = chat_of(model, PATIENCE)
        prices = (model.price_in, model.price_out)
        self.prices = None if None in prices else Prices(*map(float, prices))  # type: ignore[arg-type]

    def ask(
        self, items: Sequence[Item], parameters: Mapping[str, Any], seed: int
    ) -> dict[tuple[str, int], StoredReply]:
        """Return the replies by item and sample; the model's own parameters go over the given.

        Raises OutOfTimeError: the turn is over; what came by then is kept.
        """
        sent = {**parameters, **self.model.parameters}
        own = sent.pop("seed", seed % MOST_SEEDS)
        planned = plan(self.chat, items, sent, own if isinstance(own, int) else None)
        known = self._kept(planned)
        while missing := [one for one in planned if _name(one) not in known]:
            self.turn.between_parts()
            self.turn.report(self.stage, len(planned) - len(missing), len(planned))
            known |= self._some(missing)
        self.turn.report(self.stage, len(planned), len(planned))
        return {(one.request.id, one.request.sample): known[_name(one)] for one in planned}

    def _kept(self, planned: Sequence[Planned]) -> dict[str, StoredReply]:
        """Return what the run has, and what earlier runs of its owner over the version have."""
        names = [_name(one) for one in planned]
        found: dict[str, StoredReply] = {}
        others: dict[str, StoredReply] = {}
        for start in range(0, len(names), LOOKED_UP):
            rows = RunData.objects.filter(
                name__in=names[start : start + LOOKED_UP],
                run__version=self.run.version_id,
                run__owner=self.run.owner_id,
            )
            for run_id, name, data in rows.values_list("run_id", "name", "data"):
                reply = StoredReply.of(data)
                if run_id == self.run.pk:
                    found[name] = reply
                elif reply.status is not AnswerStatus.ERROR:
                    others[name] = replace(reply, cost=0.0, reused=True)
        fresh = {name: reply for name, reply in others.items() if name not in found}
        self._write(fresh)
        return found | fresh

    def _some(self, missing: Sequence[Planned]) -> dict[str, StoredReply]:
        """Ask for some seconds, and write what came."""
        store = MemoryStore()
        settings = Settings(at_once=AT_ONCE, patience=PATIENCE, seconds=SECONDS)
        budget = Budget(self.prices or Prices())
        asyncio.run(ask(self.chat, missing, store, settings, budget))
        came = {
            _name(one): _stored(store.kept[one.place, one.request.sample])
            for one in missing
            if (one.place, one.request.sample) in store.kept
        }
        self._write(came)
        return came

    def _write(self, replies: Mapping[str, StoredReply]) -> None:
        if not replies:
            return
        with self.turn.fenced():
            for name, reply in replies.items():
                self.turn.keep(name, reply.as_dict())


def _name(planned: Planned) -> str:
    return PREFIX + planned.key[:DIGITS]


def _stored(kept: Kept) -> StoredReply:
    reply = kept.reply
    return StoredReply(
        reply.text,
        reply.status,
        reply.prompt_tokens or 0,
        reply.completion_tokens or 0,
        kept.cost,
        reply.fault.message if reply.fault else "",
    )
