"""MAQA of all replies: rows of metrics, a row for each item, each answer, each position.

Precision, recall, F1 and the exact set are means over questions; of a question that a system was
asked several times, over its replies. Right and sure are compared over answers (distributions),
replies (verbalised confidence) or questions (consistency), and whole questions are drawn for the
intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from annotations.exchange.reading.several_answers import (
    SeveralAnswersQuestion,
    SeveralAnswersReply,
)
from annotations.exchange.records import MISSING, AnswerStatus
from evaluation.flow.maqa.columns import (
    SETS,
    TOKENS,
    Columns,
    columns_of,
    mean_score,
    semantic_entropies,
)
from evaluation.flow.maqa.judging import (
    JudgedAnswer,
    JudgedReply,
    RightAnswers,
    judge,
    with_confidences,
)
from evaluation.flow.maqa.meaning import Clusters, cluster_replies
from evaluation.flow.maqa.parameters import MaqaParameters
from evaluation.flow.maqa.rows import (
    AnswerRow,
    GoldCountRow,
    ItemRow,
    PositionRow,
    answer_rows,
    mean_of,
)
from evaluation.flow.maqa.sure_and_right import (
    SHARES,
    BinRow,
    CurveRow,
    PairRow,
    bin_rows,
    calibrated,
    curve_rows,
    pair_rows,
)
from evaluation.flow.metrics import OVERALL, Exclusions, MetricRow, group_name
from evaluation.methods.inference.clustered import Estimate, means
from evaluation.methods.maqa.consistency import consistency
from evaluation.methods.maqa.sureness import NO_CASES, telling_apart
from evaluation.words.message import Message

NO_GOLD = "no_right_answer"
REPLY_LEFT_OUT = "reply_to_question_without_right_answer"
NO_REPLY = "no_reply"
ERROR = "error"
UNKNOWN = "unknown_item"
OF_THE_FILE = "of_the_file"
SINGLE, SEVERAL = "single_answer", "several_answers"
REFUSED = (
    AnswerStatus.REFUSED,
    AnswerStatus.REFUSED_PROMPT,
    AnswerStatus.REFUSED_GENERATION,
)

Progress = Callable[[str, int, int], None]


@dataclass
class MaqaStudy:
    """All replies, judged.

    Attributes
    ----------
    right : the questions with a right answer, by id, in order. judged : their replies by system
        and id. exclusions : what does not count. clusters : of replies that say the same.
        counts : what there was. notes : what the file of replies has to say.
    """

    parameters: MaqaParameters
    questions: Sequence[SeveralAnswersQuestion]
    right: dict[str, RightAnswers]
    judged: dict[str, dict[str, list[JudgedReply]]]
    errors: dict[tuple[str, str], str]
    exclusions: Exclusions
    clusters: Clusters
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def systems(self) -> list[str]:
        """The systems, in the order in which they come first."""
        return list(self.judged)

    @property
    def complete(self) -> bool:
        """Whether every system has a reply to every question that counts."""
        return not any(self.exclusions.count(why) for why in (*MISSING, NO_REPLY))

    def warnings(self) -> list[Message]:
        """Return what to know of the numbers."""
        found = []
        if number := self.counts.get("divided_by_commas"):
            found.append(Message("divided_by_commas", {"count": number}))
        if not self.complete:
            found.append(Message("not_every_reply"))
        return [*found, *self.clusters.warnings]

    def made(self) -> dict[str, str]:
        """Return the parts of a signature that tell how replies of one meaning were found."""
        parameters, info = self.parameters, self.clusters.info
        if self.clusters.entailment:
            return {
                "nli": self.clusters.entailment.replace("|", "/"),
                "entailment": f"{parameters.entailment:g}",
            }
        if info is None:
            return {}
        return {
            "embedder": info.model,
            "revision": info.revision,
            "precision": info.precision,
            "same_cosine": f"{parameters.same_cosine:g}",
        }

    @cached_property
    def columns(self) -> dict[str, Columns]:
        """Return the replies of each system as columns of numbers."""
        found = {}
        for system, replies in self.judged.items():
            clusters = [self.clusters.of.get((system, item)) for item in replies]
            found[system] = columns_of(list(replies.values()), self.parameters.similarity, clusters)
        return found

    @cached_property
    def curves(self) -> list[CurveRow]:
        """Return the ROC curves of all systems over all questions."""
        return [
            row
            for system, columns in self.columns.items()
            for row in curve_rows(system, columns, self.parameters)
        ]

    @cached_property
    def bins(self) -> list[BinRow]:
        """Return how often what is said with so much confidence is right."""
        return [
            row
            for system, columns in self.columns.items()
            for row in bin_rows(system, columns, self.parameters)
        ]

    @cached_property
    def comparisons(self) -> list[PairRow]:
        """Return every two systems compared, over the questions of both."""
        systems = {name: (of, list(self.judged[name])) for name, of in self.columns.items()}
        return list(pair_rows(systems, list(self.right), self.parameters))

    @cached_property
    def metrics(self) -> list[MetricRow]:
        """Return the rows of metrics.csv, intervals included."""
        return list(self._metrics())

    def _metrics(self) -> Iterator[MetricRow]:
        groups = self._groups()
        for system, replies in self.judged.items():
            columns = self.columns[system]
            place = {item: number for number, item in enumerate(replies)}
            for group, items in groups.items():
                chosen = np.array([place[item] for item in items if item in place], dtype=np.int64)
                if len(chosen) or group == OVERALL:
                    yield from _metrics(system, group, columns.of_items(chosen), self.parameters)

    def items(self) -> Iterator[ItemRow]:
        """Yield a row for each question and system."""
        for question in self.questions:
            for system in self.systems:
                yield self._item(question, system)

    def answers(self) -> Iterator[AnswerRow]:
        """Yield a row for each answer that was read."""
        for system, replies in self.judged.items():
            for item, judged in replies.items():
                gold = [spellings[0] for spellings in self._spellings(item)]
                for reply in judged:
                    yield from answer_rows(system, item, reply, gold)

    def positions(self) -> Iterator[PositionRow]:
        """Yield how right and how sure answers are by where they stand."""
        for system, replies in self.judged.items():
            by_place: dict[int, list[JudgedAnswer]] = {}
            for judged in replies.values():
                for reply in judged:
                    for place, answer in enumerate(reply.answers, 1):
                        if reply.score is not None:
                            by_place.setdefault(place, []).append(answer)
            for place in sorted(by_place):
                answers = by_place[place]
                sure = [answer.token for answer in answers if answer.token]
                yield PositionRow(
                    system,
                    place,
                    len(answers),
                    float(np.mean([answer.right for answer in answers])),
                    len(sure),
                    *(mean_of(getattr(token, name) for token in sure) for name in TOKENS),
                )

    def gold_counts(self) -> Iterator[GoldCountRow]:
        """Yield the scores by how many right answers a question has."""
        for system, replies in self.judged.items():
            by_count: dict[int, list[tuple[float, ...]]] = {}
            for item, judged in replies.items():
                score = mean_score(judged)
                if score is not None:
                    by_count.setdefault(len(self.right[item].keys), []).append(score)
            for count in sorted(by_count):
                found = np.mean(by_count[count], axis=0)
                yield GoldCountRow(system, count, len(by_count[count]), *map(float, found))

    def _spellings(self, item: str) -> list[tuple[object, ...]]:
        """Return the spellings of the right answers as they were counted: each answer once."""
        right = self.right[item]
        first: dict[object, tuple[object, ...]] = {}
        for spellings, keys in zip(right.question.answers, right.all_keys, strict=True):
            first.setdefault(keys, spellings)
        return [first[keys] for keys in right.keys]

    def _groups(self) -> dict[str, list[str]]:
        """Return the items of each group, all of them first."""
        found: dict[str, list[str]] = {OVERALL: list(self.right)}
        for item, right in self.right.items():
            for key, value in right.question.groups:
                found.setdefault(group_name(key, value), []).append(item)
        for item, right in self.right.items():
            if not right.keys:
                continue
            number = SINGLE if len(right.keys) == 1 else SEVERAL
            found.setdefault(group_name("kind", number), []).append(item)
        return {group: list(dict.fromkeys(items)) for group, items in found.items()}

    def _item(self, question: SeveralAnswersQuestion, system: str) -> ItemRow:
        item = question.id
        judged = self.judged[system].get(item, [])
        n_gold = len(self.right[item].keys) if item in self.right else 0
        if not judged:
            failed = self.errors.get((system, item), NO_REPLY)
            known = n_gold or item in self.right
            return ItemRow(item, system, gold_answers=n_gold, reason=failed if known else NO_GOLD)
        precision, recall, f1, exact = mean_score(judged) or (None,) * 4
        answers = [answer for reply in judged for answer in reply.answers]
        tokens = [answer.token for answer in answers if answer.token]
        clusters = self.clusters.of.get((system, item))
        return ItemRow(
            item,
            system,
            len(judged),
            len(answers),
            n_gold,
            precision,
            recall,
            f1,
            exact,
            mean_of(token.max_softmax for token in tokens),
            mean_of(token.entropy for token in tokens),
            mean_of(token.margin for token in tokens),
            mean_of(reply.confidence for reply in judged),
            consistency([reply.keys for reply in judged], self.parameters.similarity),
            NO_GOLD if precision is None else None,
            *semantic_entropies(judged, clusters),
            None if clusters is None else int(clusters.max()) + 1,
        )


def study_replies(
    parameters: MaqaParameters,
    questions: Sequence[SeveralAnswersQuestion],
    replies: Sequence[SeveralAnswersReply],
    progress: Progress | None = None,
    *,
    open_too: bool = False,
) -> MaqaStudy:
    """Judge all replies.

    With `open_too` questions without a right answer are kept: of replies to them it is told how
    sure the system is, and nothing of how right.

    Left out and counted: questions without a right answer, replies to unknown questions and to
    those, replies that failed; systems that have no reply to a question; confidences and
    distributions that are none.

    Raises `BackendError`: the replies to a question differ, and the model that tells which of them
    say the same cannot be had.
    """
    exclusions = Exclusions()
    right = {
        question.id: RightAnswers(question, parameters.rules)
        for question in questions
        if question.answers or open_too
    }
    without = {question.id for question in questions if question.id not in right}
    if without:
        exclusions.add_all(NO_GOLD, [one.id for one in questions if one.id in without])
    judged: dict[str, dict[str, list[JudgedReply]]] = {}
    errors: dict[tuple[str, str], str] = {}
    forms: Counter[str] = Counter()
    n_divided = n_empty = n_refused = 0
    ordered = sorted(range(len(replies)), key=lambda at: replies[at].sample)
    for done, at in enumerate(ordered):
        reply = replies[at]
        if progress and done % 10_000 == 0:
            progress("judging", done, len(replies))
        named = {"system": reply.system, "item": reply.item, "line": reply.line}
        of_system = judged.setdefault(reply.system, {})
        if reply.item not in right:
            exclusions.add(REPLY_LEFT_OUT if reply.item in without else UNKNOWN, named)
            continue
        if reply.status.is_missing:
            exclusions.add(reply.status.value, named)
            errors.setdefault((reply.system, reply.item), reply.status.value)
            continue
        found = judge(right[reply.item], reply)
        of_system.setdefault(reply.item, []).append(found)
        for code in found.faults:
            exclusions.add(code, named)
        forms[found.form] += 1
        n_divided += found.divided
        n_empty += reply.status is AnswerStatus.EMPTY
        n_refused += reply.status in REFUSED
    if progress:
        progress("judging", len(replies), len(replies))
    judged = {system: with_confidences(of_system) for system, of_system in judged.items()}
    judged = _in_order(judged, replies, right)
    for system, of_system in judged.items():
        missing = [item for item in right if item not in of_system and (system, item) not in errors]
        if missing:
            exclusions.add_all(NO_REPLY, [{"system": system, "item": item} for item in missing])
    counts = {
        "questions": len(questions),
        "questions_with_an_answer": sum(bool(question.answers) for question in questions),
        "systems": len(judged),
        "replies": len(replies),
        "judged_replies": sum(map(len, (one for by in judged.values() for one in by.values()))),
        "empty_replies": n_empty,
        "refused_replies": n_refused,
        "replies_without_answers": sum(
            not one.answers for by in judged.values() for many in by.values() for one in many
        ),
        **{f"replies_in_{form}": times for form, times in sorted(forms.items()) if form},
        "divided_by_commas": n_divided,
    }
    clusters = cluster_replies(judged, right, parameters, progress)
    return MaqaStudy(parameters, questions, right, judged, errors, exclusions, clusters, counts)


def _in_order(
    judged: Mapping[str, dict[str, list[JudgedReply]]],
    replies: Iterable[SeveralAnswersReply],
    right: Iterable[str],
) -> dict[str, dict[str, list[JudgedReply]]]:
    """Return systems in the order of the file, and their items in that of the questions."""
    systems = dict.fromkeys(reply.system for reply in replies)
    items = list(right)
    return {
        system: {item: judged[system][item] for item in items if item in judged[system]}
        for system in systems
    }


def _metrics(
    system: str, group: str, columns: Columns, parameters: MaqaParameters
) -> Iterator[MetricRow]:
    draws = (parameters.bootstrap, parameters.seed)
    for name, estimate in zip(SETS, means(columns.scores, *draws), strict=True):
        yield MetricRow.of(system, group, name, estimate)
    for name, cases in columns.cases.items():
        area, average = telling_apart(cases.sureness, cases.right, cases.items, *draws)
        yield MetricRow.of(system, group, f"auroc_{name}", area)
        yield MetricRow.of(system, group, f"average_precision_{name}", average)
        base_rate = _share(int(cases.right.sum()), len(cases.right))
        yield MetricRow.of(system, group, f"base_rate_{name}", base_rate)
        yield MetricRow.of(system, group, f"coverage_{name}", _share(len(cases.right), cases.of))
    for name in SHARES:
        error = calibrated(columns.cases[name], name, parameters).error
        yield MetricRow.of(system, group, f"calibration_error_{name}", error)


def _share(part: int, whole: int) -> Estimate:
    """Return a share of what is in the file: a fact about it, and no estimate."""
    if not whole:
        return Estimate(None, None, None, 0, NO_CASES)
    return Estimate(part / whole, None, None, whole, OF_THE_FILE)
