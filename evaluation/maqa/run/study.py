"""MAQA of all replies: the study, which computes the rows of each result table.

Precision, recall, F1 and exact set are means over questions; for repeated questions first over the
replies to each. The bootstrap of all intervals resamples whole questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from annotations.exchange.reading.several_answers import SeveralAnswersQuestion, SeveralAnswersReply
from annotations.exchange.records import MISSING, AnswerStatus
from evaluation.consensus.inputs import Progress
from evaluation.core.backends import Embedder
from evaluation.core.messages.message import Message
from evaluation.core.stats.inference.clustered import compute_means
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.maqa.methods.calibration import NO_CASES, compute_discrimination
from evaluation.maqa.methods.uncertainty import (
    compute_consistency,
    compute_coverage_entropy,
    compute_kernel_entropy,
    estimate_meaning_count,
)
from evaluation.maqa.options import MaqaParameters
from evaluation.maqa.run.judging import (
    JudgedAnswer,
    JudgedReply,
    RightAnswers,
    judge_reply,
    rescale_confidences,
)
from evaluation.maqa.run.meaning import MeaningClusters, cluster_replies
from evaluation.maqa.run.small_samples import SampleRow, build_sample_rows
from evaluation.maqa.run.tables import (
    SETS,
    SHARES,
    TOKENS,
    AnswerRow,
    BinRow,
    CurveRow,
    GoldCountRow,
    ItemRow,
    PairRow,
    PositionRow,
    SystemColumns,
    build_answer_rows,
    build_bin_rows,
    build_curve_rows,
    build_pair_rows,
    build_system_columns,
    compute_calibration,
    compute_mean,
    compute_mean_score,
    compute_semantic_entropies,
)
from evaluation.runs.flow.metrics import OVERALL, Exclusions, MetricRow, build_group_name

NO_GOLD = "no_right_answer"
REPLY_LEFT_OUT = "reply_to_question_without_right_answer"
NO_REPLY = "no_reply"
ERROR = "error"
UNKNOWN = "unknown_item"
FROM_FILE = "of_the_file"
SINGLE, SEVERAL = "single_answer", "several_answers"
REFUSED = (
    AnswerStatus.REFUSED,
    AnswerStatus.REFUSED_PROMPT,
    AnswerStatus.REFUSED_GENERATION,
)


@dataclass
class MaqaStudy:
    """Judged replies of all systems, and the result tables computed from them.

    Attributes
    ----------
    questions : all questions.
    right : the right answers of the questions that count, by question id, in order.
    judged : the replies by system and question id.
    errors : reason of the first failed reply, by (system, question id).
    exclusions : what was left out, by reason.
    clusters : of replies with the same meaning.
    counts : numbers of questions and replies, for the summary.
    notes : warnings of the reader of the replies file.
    """

    parameters: MaqaParameters
    questions: Sequence[SeveralAnswersQuestion]
    right: dict[str, RightAnswers]
    judged: dict[str, dict[str, list[JudgedReply]]]
    errors: dict[tuple[str, str], str]
    exclusions: Exclusions
    clusters: MeaningClusters
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def systems(self) -> list[str]:
        """Names of the systems, in the order of their first replies."""
        return list(self.judged)

    @property
    def complete(self) -> bool:
        """Whether every system has a reply to every evaluated question."""
        return not any(self.exclusions.count(reason) for reason in (*MISSING, NO_REPLY))

    def list_warnings(self) -> list[Message]:
        """Return warnings: answers split at commas, missing replies, clustering."""
        warnings = []
        if number := self.counts.get("divided_by_commas"):
            warnings.append(Message("divided_by_commas", {"count": number}))
        if not self.complete:
            warnings.append(Message("not_every_reply"))
        return [*warnings, *self.clusters.warnings]

    def list_signature_parts(self) -> dict[str, str]:
        """Return the parts of the signature on labels and clustering, by name.

        The label is left out if it is the default, the clustering if no model was needed.
        """
        parameters = self.parameters
        names = ("label", "label_above")
        if all(getattr(parameters, name) == getattr(MaqaParameters, name) for name in names):
            return self._describe_clustering()
        label = {"label": parameters.label, "label_above": f"{parameters.label_above:g}"}
        return label | self._describe_clustering()

    def _describe_clustering(self) -> dict[str, str]:
        """Return the embedding or entailment model and thresholds of the clustering, by name."""
        parameters, info = self.parameters, self.clusters.info
        if self.clusters.entailment:
            return {
                # "|" separates the parts of a signature.
                "nli": self.clusters.entailment.replace("|", "/"),
                "entailment": f"{parameters.entailment:g}",
            }
        if info is None or self.clusters.threshold is None:
            return {}
        return {
            "embedder": info.model,
            "revision": info.revision,
            "precision": info.precision,
            "same_cosine": f"{self.clusters.threshold.cosine:g}",
        }

    @cached_property
    def columns(self) -> dict[str, SystemColumns]:
        """Numeric scores and confidence of each system's replies, by system."""
        columns = {}
        for system, replies in self.judged.items():
            clusters = [self.clusters.labels.get((system, item)) for item in replies]
            columns[system] = build_system_columns(
                list(replies.values()), self.parameters, clusters
            )
        return columns

    @cached_property
    def curves(self) -> list[CurveRow]:
        """ROC curve points of every system and measure, over all questions."""
        return [
            row
            for system, columns in self.columns.items()
            for row in build_curve_rows(system, columns, self.parameters)
        ]

    @cached_property
    def bins(self) -> list[BinRow]:
        """Calibration bins of every system and measure, over all questions."""
        return [
            row
            for system, columns in self.columns.items()
            for row in build_bin_rows(system, columns, self.parameters)
        ]

    @cached_property
    def comparisons(self) -> list[PairRow]:
        """Comparisons of each pair of systems, over their common questions."""
        systems = {
            name: (columns, list(self.judged[name])) for name, columns in self.columns.items()
        }
        return list(build_pair_rows(systems, list(self.right), self.parameters))

    @cached_property
    def small_samples(self) -> list[SampleRow]:
        """Measures of semantic entropy of every system at 3, 5 and 10 replies."""
        rows: list[SampleRow] = []
        for system, replies in self.judged.items():
            keys = [(system, item) for item in replies]
            clusters = [self.clusters.labels.get(key) for key in keys]
            kernels = [self.clusters.kernels.get(key) for key in keys]
            rows += build_sample_rows(
                system, list(replies.values()), clusters, kernels, self.parameters
            )
        return rows

    @cached_property
    def metrics(self) -> list[MetricRow]:
        """Rows of metrics.csv: each metric of a system and question group, with interval."""
        return list(self._compute_metrics())

    def _compute_metrics(self) -> Iterator[MetricRow]:
        """Yield the metrics of each system over each group of questions."""
        groups = self._group_questions()
        for system, replies in self.judged.items():
            columns = self.columns[system]
            index = {item: number for number, item in enumerate(replies)}
            for group, items in groups.items():
                chosen = np.array([index[item] for item in items if item in index], dtype=np.int64)
                # A system without any reply still gets its overall rows, with reasons.
                if len(chosen) or group == OVERALL:
                    selected = columns.select_items(chosen)
                    yield from _compute_group_metrics(system, group, selected, self.parameters)

    def build_item_rows(self) -> Iterator[ItemRow]:
        """Yield the row of items.csv for each question and system."""
        for question in self.questions:
            for system in self.systems:
                yield self._build_item_row(question, system)

    def build_answer_rows(self) -> Iterator[AnswerRow]:
        """Yield the row of answers.csv for each answer of each reply."""
        for system, replies in self.judged.items():
            for item, judged in replies.items():
                gold = [spellings[0] for spellings in self._list_distinct_spellings(item)]
                for reply in judged:
                    yield from build_answer_rows(system, item, reply, gold)

    def build_position_rows(self) -> Iterator[PositionRow]:
        """Yield accuracy and mean confidence of answers by their position in the reply."""
        for system, replies in self.judged.items():
            by_position: dict[int, list[JudgedAnswer]] = {}
            for judged in replies.values():
                for reply in judged:
                    for position, answer in enumerate(reply.answers, 1):
                        if reply.score is not None:
                            by_position.setdefault(position, []).append(answer)
            for position in sorted(by_position):
                answers = by_position[position]
                tokens = [answer.token for answer in answers if answer.token]
                yield PositionRow(
                    system,
                    position,
                    len(answers),
                    float(np.mean([answer.right for answer in answers])),
                    len(tokens),
                    *(compute_mean(getattr(token, name) for token in tokens) for name in TOKENS),
                )

    def build_gold_count_rows(self) -> Iterator[GoldCountRow]:
        """Yield each system's mean scores by the number of right answers of a question."""
        for system, replies in self.judged.items():
            by_count: dict[int, list[tuple[float, ...]]] = {}
            for item, judged in replies.items():
                score = compute_mean_score(judged)
                if score is not None:
                    by_count.setdefault(len(self.right[item].keys), []).append(score)
            for count in sorted(by_count):
                means_of_scores = np.mean(by_count[count], axis=0)
                yield GoldCountRow(
                    system, count, len(by_count[count]), *map(float, means_of_scores)
                )

    def _list_distinct_spellings(self, item: str) -> list[tuple[object, ...]]:
        """Return the accepted spellings of each distinct right answer of a question."""
        right = self.right[item]
        first: dict[object, tuple[object, ...]] = {}
        for spellings, keys in zip(right.question.answers, right.all_keys, strict=True):
            first.setdefault(keys, spellings)
        return [first[keys] for keys in right.keys]

    def _group_questions(self) -> dict[str, list[str]]:
        """Return the question ids of each question group, the group of all questions first."""
        groups: dict[str, list[str]] = {OVERALL: list(self.right)}
        for item, right in self.right.items():
            for key, value in right.question.groups:
                groups.setdefault(build_group_name(key, value), []).append(item)
        for item, right in self.right.items():
            if not right.keys:
                continue
            number = SINGLE if len(right.keys) == 1 else SEVERAL
            groups.setdefault(build_group_name("kind", number), []).append(item)
        # The file may have a "kind" of the same name, which would list a question twice.
        return {group: list(dict.fromkeys(items)) for group, items in groups.items()}

    def _build_item_row(self, question: SeveralAnswersQuestion, system: str) -> ItemRow:
        """Return the result row of a question and system; without replies, only the reason."""
        item = question.id
        judged = self.judged[system].get(item, [])
        n_gold = len(self.right[item].keys) if item in self.right else 0
        if not judged:
            reason = self.errors.get((system, item), NO_REPLY) if item in self.right else NO_GOLD
            return ItemRow(item, system, gold_answers=n_gold, reason=reason)
        precision, recall, f1, exact = compute_mean_score(judged) or (None,) * 4
        answers = [answer for reply in judged for answer in reply.answers]
        tokens = [answer.token for answer in answers if answer.token]
        clusters = self.clusters.labels.get((system, item))
        kernel = self.clusters.kernels.get((system, item))
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
            compute_mean(token.max_softmax for token in tokens),
            compute_mean(token.entropy for token in tokens),
            compute_mean(token.margin for token in tokens),
            compute_mean(reply.confidence for reply in judged),
            compute_consistency([reply.keys for reply in judged], self.parameters.similarity),
            NO_GOLD if precision is None else None,
            *compute_semantic_entropies(judged, clusters),
            None if clusters is None else int(clusters.max()) + 1,
            None if clusters is None else compute_coverage_entropy(clusters),
            None if clusters is None else estimate_meaning_count(clusters),
            None if kernel is None else compute_kernel_entropy(kernel),
        )


def evaluate_replies(
    parameters: MaqaParameters,
    questions: Sequence[SeveralAnswersQuestion],
    replies: Sequence[SeveralAnswersReply],
    progress: Progress | None = None,
    *,
    include_open: bool = False,
    embedder: Embedder | None = None,
) -> MaqaStudy:
    """Judge all replies, cluster them by meaning, and return the study.

    `exclusions` counts what is left out. These are questions without a right answer and replies to
    them, replies to unknown questions, and failed or missing replies. It also counts invalid
    confidences and distributions.

    Parameters
    ----------
    include_open : keep questions without a right answer; only confidence is measured for them.
    embedder : used in place of that of the parameters, such as one with stored vectors.

    Raises
    ------
    BackendError : the replies to a question differ, and the model that compares their meanings is
        not available.
    """
    exclusions = Exclusions()
    right = {
        question.id: RightAnswers(question, parameters.rules)
        for question in questions
        if question.answers or include_open
    }
    without = {question.id for question in questions if question.id not in right}
    if without:
        exclusions.add_all(
            NO_GOLD, [question.id for question in questions if question.id in without]
        )
    judged: dict[str, dict[str, list[JudgedReply]]] = {}
    errors: dict[tuple[str, str], str] = {}
    forms: Counter[str] = Counter()
    n_divided = n_empty = n_refused = 0
    # In the order of the repetitions, because `build_sample_rows` takes the first replies.
    for done, reply in enumerate(sorted(replies, key=lambda reply: reply.sample)):
        if progress and done % 10_000 == 0:
            progress("judging", done, len(replies))
        entry = {"system": reply.system, "item": reply.item, "line": reply.line}
        # Also without a usable reply, so that the system appears in the tables.
        system_replies = judged.setdefault(reply.system, {})
        if reply.item not in right:
            exclusions.add(REPLY_LEFT_OUT if reply.item in without else UNKNOWN, entry)
            continue
        if reply.status.is_missing:
            exclusions.add(reply.status.value, entry)
            errors.setdefault((reply.system, reply.item), reply.status.value)
            continue
        result = judge_reply(right[reply.item], reply)
        system_replies.setdefault(reply.item, []).append(result)
        for code in result.faults:
            exclusions.add(code, entry)
        forms[result.form] += 1
        n_divided += result.divided
        n_empty += reply.status is AnswerStatus.EMPTY
        n_refused += reply.status in REFUSED
    if progress:
        progress("judging", len(replies), len(replies))
    # Only now, because the scale is decided over all replies of a system.
    judged = {system: rescale_confidences(by_item) for system, by_item in judged.items()}
    # Back in the order of the files, which the sorting by repetition has changed.
    judged = _sort_replies(judged, replies, right)
    for system, by_item in judged.items():
        missing = [item for item in right if item not in by_item and (system, item) not in errors]
        if missing:
            exclusions.add_all(NO_REPLY, [{"system": system, "item": item} for item in missing])
    all_judged = [
        reply for by_item in judged.values() for results in by_item.values() for reply in results
    ]
    counts = {
        "questions": len(questions),
        "questions_with_an_answer": sum(bool(question.answers) for question in questions),
        "systems": len(judged),
        "replies": len(replies),
        "judged_replies": len(all_judged),
        "empty_replies": n_empty,
        "refused_replies": n_refused,
        "replies_without_answers": sum(not reply.answers for reply in all_judged),
        **{f"replies_in_{form}": count for form, count in sorted(forms.items()) if form},
        "divided_by_commas": n_divided,
    }
    clusters = cluster_replies(judged, right, parameters, progress, embedder)
    return MaqaStudy(parameters, questions, right, judged, errors, exclusions, clusters, counts)


def _sort_replies(
    judged: Mapping[str, dict[str, list[JudgedReply]]],
    replies: Iterable[SeveralAnswersReply],
    right: Iterable[str],
) -> dict[str, dict[str, list[JudgedReply]]]:
    """Return the judged replies with systems in reply order and items in question order."""
    systems = dict.fromkeys(reply.system for reply in replies)
    items = list(right)
    return {
        system: {item: judged[system][item] for item in items if item in judged[system]}
        for system in systems
    }


def _compute_group_metrics(
    system: str, group: str, columns: SystemColumns, parameters: MaqaParameters
) -> Iterator[MetricRow]:
    """Yield all metrics of one system over the questions of one group."""
    draws = (parameters.bootstrap, parameters.seed)
    for name, estimate in zip(SETS, compute_means(columns.scores, *draws), strict=True):
        yield MetricRow.from_estimate(system, group, name, estimate)
    for name, cases in columns.cases.items():
        area, average = compute_discrimination(cases.sureness, cases.right, cases.items, *draws)
        yield MetricRow.from_estimate(system, group, f"auroc_{name}", area)
        yield MetricRow.from_estimate(system, group, f"average_precision_{name}", average)
        base_rate = _build_share_estimate(int(cases.right.sum()), len(cases.right))
        yield MetricRow.from_estimate(system, group, f"base_rate_{name}", base_rate)
        coverage = _build_share_estimate(len(cases.right), cases.n_cases)
        yield MetricRow.from_estimate(system, group, f"coverage_{name}", coverage)
    for name in SHARES:
        error = compute_calibration(columns.cases[name], name, parameters).error
        yield MetricRow.from_estimate(system, group, f"calibration_error_{name}", error)


def _build_share_estimate(part: int, whole: int) -> SampleEstimate:
    """Return `part` divided by `whole` as an estimate without interval; undefined if `whole` is 0.

    It describes the file and estimates nothing, so it has no interval.
    """
    if not whole:
        return SampleEstimate(None, None, None, 0, NO_CASES)
    return SampleEstimate(part / whole, None, None, whole, FROM_FILE)
