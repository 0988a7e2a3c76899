"""A language model that grades answers one by one, with no answer key (LLM as a judge)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np

from evaluation.backends import parse_spec
from evaluation.backends.errors import ChatError
from evaluation.backends.server import OpenAIServer, Patience
from evaluation.evidence.baselines.corpus import Crowd, UnavailableError
from evaluation.methods.cells import Floats

FORM = "openai:MODEL@URL"
HIGHEST = 5.0
PROMPT = (
    "Grade an answer to a question.\n\n"
    "Question: {question}\n\n"
    "Answer: {answer}\n\n"
    "How good is the answer, from 0 (wrong, or no answer) to 5 (right and complete)? "
    "Reply with one number and nothing else."
)
AGAIN = "Reply with one number from 0 to 5 and nothing else."
# Letters enough for a number and a word or two around it.
MOST_TOKENS = 16
AT_ONCE = 8
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])")

Progress = Callable[[int, int], None]


def judge(crowd: Crowd) -> Floats:
    """Return (M,) mean score, 0 to 5, that the judge gives a worker's answers (Zheng et al. 2023).

    Answers without a score are left out. Adapted: the prompt is our own; the judge sees the
    question and one answer, and no other answer.
    """
    if crowd.corpus.judged is None:
        raise UnavailableError("no_judge")
    return crowd.worker_means(crowd.corpus.judged[crowd.rows])


class Judge:
    """A chat model behind an OpenAI-compatible address, asked at temperature 0.

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
        parsed = parse_spec(spec)
        if parsed.kind != "openai":
            raise ChatError(f"judge {spec!r} is not of the form {FORM}")
        self.name, self.model = parsed.text, parsed.target
        self._server = OpenAIServer(
            "judge",
            self.name,
            parsed.url,
            "chat/completions",
            api_key_env=api_key_env,
            patience=Patience(attempts, timeout, first_wait, longest_wait),
            error=ChatError,
        )

    def scores(
        self, questions: Sequence[str], answers: Sequence[str], progress: Progress | None = None
    ) -> Floats:
        """Return (R,) scores from 0 to 5 of answers to questions; NaN where there is none.

        A reply without one number in the range is asked for once more. ChatError: the server
        cannot be reached, refuses, or answers what is no chat.
        """
        pairs = list(zip(questions, answers, strict=True))
        found = np.full(len(pairs), np.nan)
        with self._server.client() as client, ThreadPoolExecutor(AT_ONCE) as pool:
            replies = pool.map(lambda pair: self._score(client, *pair), pairs)
            for at, score in enumerate(replies):
                found[at] = np.nan if score is None else score
                if progress is not None:
                    progress(at + 1, len(pairs))
        return found

    def _score(self, client: httpx.Client, question: str, answer: str) -> float | None:
        asked = [
            {"role": "user", "content": PROMPT.format(question=question, answer=answer)},
        ]
        reply = self._reply(client, asked)
        score = score_in(reply)
        if score is None:
            asked += [
                {"role": "assistant", "content": reply},
                {"role": "user", "content": AGAIN},
            ]
            score = score_in(self._reply(client, asked))
        return score

    def _reply(self, client: httpx.Client, messages: list[dict[str, str]]) -> str:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": MOST_TOKENS,
        }
        answer = self._server.post(client, body)
        try:
            content = answer["choices"][0]["message"]["content"]
        except (KeyError, TypeError, IndexError):
            raise self._server.error(
                "the answer holds no reply", "check that the model is one for chats"
            ) from None
        return content if isinstance(content, str) else ""


def score_in(reply: str) -> float | None:
    """Return the score a reply gives: its first number, "4", "4.5", "4/5"; None outside 0 to 5."""
    found = NUMBER.search(reply)
    if found is None:
        return None
    score = float(found[0])
    return score if score <= HIGHEST else None
