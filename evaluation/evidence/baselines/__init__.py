"""Register the methods that score workers: AQER, its variants and the baselines, by name.

A method is a function from a `Crowd` to (M,) scores of its workers: higher is better, NaN where a
worker has none, on a scale of its own (studies take correlations and ranks). Workers who do not
vote (`Crowd.voting`) are scored against those who do and change no other score, so that a held-out
worker or a language model can be scored by the same function.

    corpus = Corpus(texts, questions, vectors)      # vectors: from an embedder's SPEC to (R, d)
    crowd = Crowd(corpus, rows, workers)            # some of its answers, dealt to workers
    scores = METHODS["bleu4"].score(crowd)

A method that cannot be computed (no model, no key) raises `UnavailableError`, whose reason the
study writes into the empty row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluation.core.backends.chat.contract import Message
from evaluation.core.backends.chat.registry import get_chat_model
from evaluation.core.backends.errors import ChatError
from evaluation.core.backends.server import RetryRules
from evaluation.core.stats.cells import Floats
from evaluation.evidence.baselines import entailment, overlap, weighting
from evaluation.evidence.baselines.corpus import Corpus, Crowd, MeanAnswerScore, UnavailableError
from evaluation.evidence.baselines.weighting import VARIANTS, AqerVariant, StandardisedScores
from evaluation.llm_judge.options import SCORE
from evaluation.llm_judge.run import read_score as read_score
from evaluation.runs.flow.asking.asker import RequestSettings, ask_model
from evaluation.runs.flow.asking.plan import Item, MemoryStore, plan_requests

AGAIN = SCORE.again
# Letters enough for a number and a word or two around it.
PARAMETERS = {"temperature": 0, "max_tokens": 16}
AT_ONCE = 8

Progress = Callable[[int, int], None]


@MeanAnswerScore
def score_by_judge(crowd: Crowd) -> Floats:
    """Return a language model's score of each answer, 0 to 5 (Zheng et al. 2023).

    NaN for an answer without a score. Adapted: the prompt is our own; the judge sees the
    question and one answer, and no other answer.
    """
    if crowd.corpus.judged is None:
        raise UnavailableError("no_judge")
    return crowd.corpus.judged[crowd.rows]


class Judge:
    """Chat model that scores answers as a judge, at temperature 0.

    `spec` has the form openai:MODEL@URL, else `ChatError` is raised. The key is read from the
    environment variable `api_key_env`.
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
        patience = RetryRules(attempts, timeout, first_wait, longest_wait)
        self._chat = get_chat_model(spec, what="judge", api_key_env=api_key_env, patience=patience)
        self.name, self.model = spec.strip(), self._chat.model
        self._settings = RequestSettings(AT_ONCE, patience, stop_at_error=True)

    def score_answers(
        self, questions: Sequence[str], answers: Sequence[str], progress: Progress | None = None
    ) -> Floats:
        """Return one score, 0 to 5, per question and answer; NaN without a score in the reply.

        A reply without one number in the range is requested once more. ChatError: the server
        cannot be reached, refuses, or sends no chat completion.
        """
        pairs = zip(questions, answers, strict=True)
        prompts = [SCORE.build_messages({"question": q, "answer": a}) for q, a in pairs]
        replies = self._request_replies(prompts, progress)
        scores = [parse_judge_score(reply) for reply in replies]
        missing = [index for index, score in enumerate(scores) if score is None]
        retry_prompts = [
            SCORE.build_second_request(prompts[index], replies[index]) for index in missing
        ]
        for index, reply in zip(missing, self._request_replies(retry_prompts), strict=True):
            scores[index] = parse_judge_score(reply)
        return np.array([np.nan if score is None else score for score in scores])

    def _request_replies(
        self, conversations: Sequence[Sequence[Message]], progress: Progress | None = None
    ) -> list[str]:
        """Return the judge's reply to each conversation; ChatError for the first failed request."""
        items = [Item(str(n), tuple(messages)) for n, messages in enumerate(conversations)]
        store = MemoryStore()
        planned = plan_requests(self._chat, items, PARAMETERS, seed=None)
        asyncio.run(ask_model(self._chat, planned, store, self._settings, progress=progress))
        replies = [store.kept[index, 0].reply for index in range(len(items))]
        for fault in (reply.fault for reply in replies):
            # After the first failure nothing more is sent: the failure is the reason, not what was
            # skipped.
            if fault is not None and fault.code != "not_asked":
                raise ChatError(f"judge {self.name!r}: {fault.message}", fault.code)
        return [reply.text for reply in replies]


def parse_judge_score(reply: str) -> float | None:
    """Return the score in the judge's reply, 0 to 5; None without exactly one number."""
    return read_score(reply)[0]


__all__ = [
    "CONTRADICTION",
    "METHODS",
    "WITH_ENTAILMENT",
    "AqerVariant",
    "Corpus",
    "Crowd",
    "Method",
    "UnavailableError",
    "list_methods",
]

Kind = Literal["aqer", "baseline", "control", "supervised"]


@dataclass(frozen=True)
class Method:
    """Method that scores the workers of a crowd, with its name and kind.

    Attributes
    ----------
    name : as in the tables.
    score : function from a crowd to (M,) scores of its workers.
    kind : "aqer" for AQER and its variants, "baseline" for published methods of others, "control"
        for a method that ignores the texts' content, "supervised" for one that uses an answer key.
    core : whether it is also computed with ``--core``; the others take long or need a model.
    """

    name: str
    score: Callable[[Crowd], Floats]
    kind: Kind = "baseline"
    core: bool = True

    @property
    def score_answers(self) -> Callable[[Crowd], Floats] | None:
        """Function from a crowd to (N,) scores of its answers; None if it scores workers only."""
        return getattr(self.score, "score_answers", None)


_ALL = (
    Method("frequent", overlap.score_by_modal_answer),
    Method("mean_vote", overlap.score_by_mean_vote),
    Method("bleu1", overlap.score_by_bleu1),
    Method("bleu4", overlap.score_by_bleu4),
    Method("f1", overlap.score_by_token_f1),
    Method("bertscore", overlap.score_by_bertscore),
    Method("rasa", weighting.score_by_rasa),
    Method("hrrasa", weighting.score_by_hrrasa, core=False),
    Method("chai2022", weighting.score_by_error_consistency),
    Method("roy2016", overlap.score_by_shared_patterns),
    Method("judge", score_by_judge, core=False),
    *(
        Method(name, variant, "aqer", core=name != "aqer_entailment_init")
        for name, variant in VARIANTS.items()
    ),
    Method("tfidf_char+standardised", StandardisedScores(("tfidf-char",)), "aqer"),
    Method("hybrid+standardised", StandardisedScores(("tfidf-char", None)), "aqer"),
    Method("length", overlap.score_by_length, "control"),
    Method("reference_answer", overlap.score_by_reference, "supervised"),
)
METHODS: dict[str, Method] = {method.name: method for method in _ALL}
# Not in `METHODS`: only studies of contradiction have a row of it.
CONTRADICTION = Method("contradiction", entailment.score_contradiction, core=False)
# Nor are these: they are rows of the table of an entailment model.
WITH_ENTAILMENT = (
    METHODS["aqer"],
    Method("entailment", entailment.score_entailment),
    Method("aqer+entailment", entailment.score_aqer_and_entailment),
    Method("entailment_reference", entailment.score_entailment_by_reference, "supervised"),
    Method("aqer+entailment_reference", entailment.score_aqer_and_reference, "supervised"),
    CONTRADICTION,
)


def list_methods(*, core: bool = False) -> list[Method]:
    """Return the registered methods in table order; with `core` only the quick ones."""
    return [method for method in _ALL if method.core or not core]
