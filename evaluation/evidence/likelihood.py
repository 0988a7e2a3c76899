"""Score answers by the gain of log-probability from another answer to the same question (GEM).

The generative estimator of mutual information (GEM, Xu et al. 2025) needs no right answer: an
answer earns log p(answer | question, another answer) - log p(answer | question), in nats. An answer
that could be given without knowing what others know earns about 0.

A server computes log p of a text where a grammar forces the text as the reply and the
log-probabilities are those without the grammar, as llama.cpp does. Each reply is checked: its
tokens have to be the text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.consensus.inputs import Progress
from evaluation.core.backends.chat.contract import parse_token_logprobs
from evaluation.core.backends.errors import ChatError
from evaluation.core.stats.cells import Floats, Integers
from evaluation.evidence.entailment.card import format_estimate
from evaluation.evidence.entailment.table import EntailmentRow
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.files.study import Step, StudyFolder
from evaluation.runs.flow.asking.plan import Item

ALONE = "Question: {question}\nWrite the answer of a student."
BESIDE = (
    "Question: {question}\nThe answer of a student: {other}\n"
    "Write the answer of another student to the same question."
)
STEP = "likelihood"
# The first requests show whether the server can be used at all.
TRIED_FIRST = 1
REMEDY = (
    "Use local:smollm2, or a llama.cpp server, which takes a grammar and gives log-probabilities."
)
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class Likelihoods:
    """Likelihood scores of answers, with the requests' failures and cost.

    Attributes
    ----------
    scores : (N,) gain of log-probability in nats; NaN without another answer or without a reply.
    n_failed : number of requests without a usable reply. asked : summary entry on the requests.
    """

    scores: Floats
    n_failed: int
    asked: Mapping[str, Any] = field(default_factory=dict)


def draw_other_answers(questions: Sequence[str], workers: Sequence[str], seed: int) -> Integers:
    """Return for each answer the row of a random other worker's answer to the same question.

    -1 without one.
    """
    rng = np.random.default_rng([seed, 7])
    found = np.full(len(questions), -1, dtype=np.int64)
    rows: dict[str, list[int]] = {}
    for row, question in enumerate(questions):
        rows.setdefault(question, []).append(row)
    for row, question in enumerate(questions):
        others = [one for one in rows[question] if workers[one] != workers[row]]
        if others:
            found[row] = others[int(rng.integers(len(others)))]
    return found


def measure_likelihoods(
    spec: str,
    texts: Sequence[str],
    asked: Sequence[str],
    others: Integers,
    output: Path,
    progress: Progress,
) -> Likelihoods:
    """Return the likelihood scores of answers; replies are stored in `output`/requests.jsonl.

    Parameters
    ----------
    asked : text of each answer's question. others : row of the other answer, -1 for none.

    Raises
    ------
    ChatError : the model cannot be asked, or gives no log-probabilities of a forced reply.
    InputError : the folder cannot be used. EndedEarlyError : not all requests were sent.
    """
    items: dict[str, Item] = {}
    for row in np.flatnonzero(others >= 0).tolist():
        for name, prompt in (("alone", ALONE), ("beside", BESIDE)):
            content = prompt.format(question=asked[row], other=texts[others[row]])
            items[f"{name}-{row}"] = _build_item(f"{name}-{row}", content, texts[row])
    settings = AskSettings(spec, parameters={"temperature": 0}, seed=None)
    step = Step(STEP, f"{ALONE}\n\n{BESIDE}")
    logs: dict[str, float] = {}
    with StudyFolder(output, settings, progress) as folder:
        ordered = list(items.values())
        for part in (ordered[:TRIED_FIRST], ordered[TRIED_FIRST:]):
            for (name, _), reply in folder.ask_step(step, part).items():
                text = texts[int(name.partition("-")[2])]
                logs[name] = _sum_logprobs(folder.find_raw_reply(reply), text)
                if len(logs) <= TRIED_FIRST and math.isnan(logs[name]):
                    raise _build_refusal(spec, reply.error, folder.find_raw_reply(reply))
        asked_summary = next(iter(folder.summarise_steps()), {})
    scores = np.full(len(texts), np.nan)
    for row in np.flatnonzero(others >= 0).tolist():
        scores[row] = logs[f"beside-{row}"] - logs[f"alone-{row}"]
    return Likelihoods(scores, sum(map(math.isnan, logs.values())), asked_summary)


def describe_likelihoods(likelihoods: Likelihoods | None, rows: Sequence[EntailmentRow]) -> str:
    """Return a sentence on the likelihood scores and their cost; "" without a model."""
    if likelihoods is None:
        return ""
    asked = likelihoods.asked
    cost = (
        f"{asked.get('requests', 0):,} requests, {asked.get('prompt_tokens', 0):,} tokens read and "
        f"{asked.get('completion_tokens', 0):,} written, {likelihoods.n_failed:,} without a score"
    )
    values = [f"{row.method} r {format_estimate(row.agreement)}" for row in rows]
    on = f", {rows[0].n_questions} questions" if rows else ""
    return f"Likelihood scores{on}: {'; '.join(values) or 'none'} ({cost})."


def _build_item(name: str, content: str, answer: str) -> Item:
    """Return the request for the log-probabilities of an answer as the reply to `content`."""
    parameters = {
        "grammar": f'root ::= "{"".join(_ESCAPES.get(one, one) for one in answer)}"',
        "logprobs": True,
        "top_logprobs": 1,
        # A token has at least one byte; one more ends the reply.
        "max_tokens": len(answer.encode()) + 1,
    }
    return Item(name, ({"role": "user", "content": content},), parameters=parameters)


def _sum_logprobs(raw: Any, answer: str) -> float:
    """Return the log-probability of a reply's tokens; NaN if they are not the answer's."""
    try:
        tokens = parse_token_logprobs(raw["choices"][0]["logprobs"])
    except (KeyError, IndexError, TypeError):
        return math.nan
    wanted, found, total = answer.encode(), b"", 0.0
    for token in tokens or ():
        # What ends the reply is no part of the answer.
        if found == wanted:
            break
        found += token.data
        total += token.logprob
    return total if found == wanted else math.nan


def _build_refusal(spec: str, error: str, raw: Any) -> ChatError:
    """Return the error that a model cannot be used, with the cause that its first reply shows."""
    if error:
        code, cause = "first_reply", f"its first reply is an error ({error})"
    elif "logprobs" not in str(raw) or "'logprobs': None" in str(raw):
        code, cause = "no_logprobs", "it gives no log-probabilities"
    else:
        code, cause = "not_forced", "it does not keep to a grammar that forces the reply"
    return ChatError(f"likelihood model {spec!r}: {cause}. {REMEDY}", code)
