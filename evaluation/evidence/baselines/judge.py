"""Grade answers one by one with a language model and no answer key (LLM as a judge)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from evaluation.core.backends.chat.contract import Message
from evaluation.core.backends.chat.registry import get_chat
from evaluation.core.backends.errors import ChatError
from evaluation.core.backends.server import Patience
from evaluation.core.stats.cells import Floats
from evaluation.evidence.baselines.corpus import Crowd, MeanAnswer, UnavailableError
from evaluation.llm_judge.options import SCORE
from evaluation.llm_judge.options import read_score as read_score
from evaluation.runs.flow.asking.asker import Settings, ask
from evaluation.runs.flow.asking.plan import Item, MemoryStore, plan_requests

AGAIN = SCORE.again
# Letters enough for a number and a word or two around it.
PARAMETERS = {"temperature": 0, "max_tokens": 16}
AT_ONCE = 8

Progress = Callable[[int, int], None]


@MeanAnswer
def score_by_judge(crowd: Crowd) -> Floats:
    """Return a language model's score of each answer, 0 to 5 (Zheng et al. 2023).

    NaN for an answer without a score. Adapted: the prompt is our own; the judge sees the
    question and one answer, and no other answer.
    """
    if crowd.corpus.judged is None:
        raise UnavailableError("no_judge")
    return crowd.corpus.judged[crowd.rows]


class Judge:
    """Judge: a chat model that scores answers at temperature 0.

    `spec` is of the form openai:MODEL@URL; the key is read from the environment variable
    `api_key_env`. ChatError: the SPEC is of another form.
    """

    def __init__(
        self,
        spec: str,
        *,
        api_key_env: str = "OPENAI_API_KEY",
        timeout: float = 120.0,
        attempts: int = 5,
        longest_wait: float = 60.0,
        first_wait: float = 0.5,
    ) -> None:
        patience = Patience(attempts, timeout, first_wait, longest_wait)
        self._chat = get_chat(spec, what="judge", api_key_env=api_key_env, patience=patience)
        self.name, self.model = spec.strip(), self._chat.model
        self._settings = Settings(AT_ONCE, patience, stop_at_error=True)

    def score_answers(
        self, questions: Sequence[str], answers: Sequence[str], progress: Progress | None = None
    ) -> Floats:
        """Return one score, 0 to 5, per question and answer; NaN without a score in the reply.

        A reply without one number in the range is requested once more. ChatError: the server
        cannot be reached, refuses, or sends no chat completion.
        """
        pairs = zip(questions, answers, strict=True)
        prompts = [SCORE.messages({"question": q, "answer": a}) for q, a in pairs]
        replies = self._request_replies(prompts, progress)
        scores = [parse_score(reply) for reply in replies]
        missing = [index for index, score in enumerate(scores) if score is None]
        retry_prompts = [SCORE.asked_again(prompts[index], replies[index]) for index in missing]
        for index, reply in zip(missing, self._request_replies(retry_prompts), strict=True):
            scores[index] = parse_score(reply)
        return np.array([np.nan if score is None else score for score in scores])

    def _request_replies(
        self, conversations: Sequence[Sequence[Message]], progress: Progress | None = None
    ) -> list[str]:
        """Return the reply text of each conversation; raise ChatError for the first failed one."""
        items = [Item(str(n), tuple(messages)) for n, messages in enumerate(conversations)]
        store = MemoryStore()
        planned = plan_requests(self._chat, items, PARAMETERS, seed=None)
        asyncio.run(ask(self._chat, planned, store, self._settings, progress=progress))
        replies = [store.kept[index, 0].reply for index in range(len(items))]
        for fault in (reply.fault for reply in replies):
            # After the first failure nothing more is sent: the failure is the reason, not what was
            # skipped.
            if fault is not None and fault.code != "not_asked":
                raise ChatError(f"judge {self.name!r}: {fault.message}", fault.code)
        return [reply.text for reply in replies]


def parse_score(reply: str) -> float | None:
    """Return the score in a judge's reply, 0 to 5; None without exactly one score."""
    return read_score(reply)[0]
