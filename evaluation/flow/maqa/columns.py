"""The judged replies of one system as columns of numbers.

Right and sure are compared over answers where distributions tell how sure, over replies where the
reply says so, and over questions where repeated replies do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.flow.maqa.judging import JudgedReply
from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.maqa.consistency import consistency
from evaluation.methods.maqa.semantic_entropy import discrete_entropy, weighted_entropy
from evaluation.methods.maqa.sets import SetScore

SETS = ("precision", "recall", "f1", "exact_set")
TOKENS = ("max_softmax", "entropy", "margin")
VERBALISED, CONSISTENCY = "verbalised", "consistency"
SEMANTIC = ("semantic_entropy", "semantic_entropy_weighted")
SURENESS = (*TOKENS, VERBALISED, CONSISTENCY, *SEMANTIC)
# A reply is right, where right and wrong are asked for, if more than half of its answers are.
RIGHT_ABOVE = 0.5


@dataclass(frozen=True)
class Cases:
    """What one measure of sureness is compared over.

    Attributes
    ----------
    sureness : (n,) greater for surer (the entropy with a minus). right : (n,). items : (n,) the
    place of the question. per_item : (items,) how many cases each question has, with a number or
    without.
    """

    sureness: Floats
    right: Booleans
    items: Integers
    per_item: Integers

    @property
    def of(self) -> int:
        """How many cases there are, with a number or without."""
        return int(self.per_item.sum())


@dataclass(frozen=True)
class Columns:
    """The replies of a system to n questions.

    Attributes
    ----------
    scores : (4, n) precision, recall, F1 and exact set, means over the replies to each question;
        NaN where nobody says what is right.
    cases : by the name of the measure.
    """

    scores: Floats
    cases: Mapping[str, Cases]

    def of_items(self, chosen: Integers) -> Columns:
        """Return the columns of some questions, by their places."""
        inside = np.zeros(self.scores.shape[1], dtype=np.bool_)
        inside[chosen] = True
        cases = {}
        for name, one in self.cases.items():
            kept = inside[one.items]
            parts = (one.sureness[kept], one.right[kept], one.items[kept], one.per_item[chosen])
            cases[name] = Cases(*parts)
        return Columns(self.scores[:, chosen], cases)


def mean_score(replies: Sequence[JudgedReply]) -> SetScore | None:
    """Return the mean scores of the replies to a question; None where nobody says what is right."""
    scores = [reply.score for reply in replies if reply.score is not None]
    if not scores:
        return None
    return SetScore(*(sum(column) / len(scores) for column in zip(*scores, strict=True)))


def semantic_entropies(
    replies: Sequence[JudgedReply], clusters: Integers | None
) -> tuple[float | None, float | None]:
    """Return the entropy over the meanings of the replies to a question, by shares and weighted.

    None for fewer than two replies; the second as well where one's probability is not known.
    """
    if clusters is None:
        return None, None
    logs = [reply.mean_logprob for reply in replies]
    known = [log for log in logs if log is not None]
    weighted = None
    if len(known) == len(logs):
        weighted = weighted_entropy(clusters, known, [reply.reply.text for reply in replies])
    return discrete_entropy(clusters), weighted


def columns_of(
    replies: Sequence[Sequence[JudgedReply]],
    similarity: str,
    clusters: Sequence[Integers | None],
) -> Columns:
    """Return the columns of a system's replies, a list of them for each question.

    `clusters` has the cluster of each reply; None for a question with fewer than two.
    """
    scores = np.full((len(SETS), len(replies)), np.nan)
    found: dict[str, list[tuple[float, bool, int]]] = {name: [] for name in SURENESS}
    n_answers, n_replies, n_items = np.zeros((3, len(replies)), dtype=np.int64)
    for place, many in enumerate(replies):
        score = mean_score(many)
        if score is None:  # nothing that sureness could be compared with
            continue
        scores[:, place] = score
        n_items[place] = 1
        n_replies[place] = len(many)
        n_answers[place] = sum(len(one.answers) for one in many)
        for one in many:
            _add_reply(found, one, place)
        same = consistency([one.keys for one in many], similarity)
        right = bool(scores[0, place] > RIGHT_ABOVE)
        if same is not None:
            found[CONSISTENCY].append((same, right, place))
        entropies = semantic_entropies(many, clusters[place])
        for name, entropy in zip(SEMANTIC, entropies, strict=True):
            if entropy is not None:
                found[name].append((-entropy, right, place))
    per_item = {
        **dict.fromkeys(TOKENS, n_answers),
        VERBALISED: n_replies,
        **dict.fromkeys((CONSISTENCY, *SEMANTIC), n_items),
    }
    return Columns(scores, {name: _cases(rows, per_item[name]) for name, rows in found.items()})


def _add_reply(
    found: Mapping[str, list[tuple[float, bool, int]]], reply: JudgedReply, place: int
) -> None:
    if reply.confidence is not None and reply.score is not None:
        right = reply.score.precision > RIGHT_ABOVE
        found[VERBALISED].append((reply.confidence, right, place))
    for answer in reply.answers:
        token = answer.token
        if token is None:
            continue
        found["max_softmax"].append((token.max_softmax, answer.right, place))
        found["entropy"].append((-token.entropy, answer.right, place))
        if token.margin is not None:
            found["margin"].append((token.margin, answer.right, place))


def _cases(rows: Sequence[tuple[float, bool, int]], per_item: Integers) -> Cases:
    sureness, right, items = zip(*rows, strict=True) if rows else ((), (), ())
    return Cases(
        np.array(sureness, dtype=np.float64),
        np.array(right, dtype=np.bool_),
        np.array(items, dtype=np.int64),
        per_item,
    )
