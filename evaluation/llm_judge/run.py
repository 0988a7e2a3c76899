"""Ask an LLM judge for scores and verdicts; compute its agreement and corrected means.

Files and the database differ only in `ask`. It gets the name of a step, the prompt and the items,
and returns their replies; stored replies are reused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Floats, convert_nan_to_none
from evaluation.core.stats.inference.clustered import ClusteredEstimate
from evaluation.core.stats.inference.prediction_powered import PoweredMean
from evaluation.core.stats.statistics.agreement import compare_experts
from evaluation.llm_judge.methods import BETTER, TIE, WORSE, JudgeAnalysis, PairVerdicts
from evaluation.llm_judge.options import (
    COMPARE,
    HIGHEST,
    LOWEST,
    SCORE,
    JudgeParameters,
)
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.reading import (
    AnswerColumns,
    Ask,
    PromptWithReminder,
    ask_and_parse_replies,
)
from evaluation.runs.flow.metrics import MetricRow

NO_NUMBER, SEVERAL_NUMBERS, OUT_OF_RANGE = "no_number", "several_numbers", "out_of_range"
NO_VERDICT, SEVERAL_VERDICTS = "no_verdict", "several_verdicts"

# "/5" and "out of 5" name the scale and are no second number.
_OUT_OF_FIVE = re.compile(
    r"(?<=\d)\W{0,4}(?:/|\bout of\b|\bof\b)\s*5(?:[.,]0+)?(?![\w.,]*\d)", re.I
)
_NUMBER = re.compile(r"(?<![\w.,])[-−]?\d+(?:[.,]\d+)?(?!\w|[.,]\d)")

# A lower-case "a" is an article, unless it is the whole reply.
_VERDICT = re.compile(r"(?<![\w'])(?:A|B|[Tt]ie|TIE|[Ee]qual)(?![\w'])")
_VERDICTS = {"a": BETTER, "b": WORSE, "tie": TIE, "equal": TIE}


def read_score(reply: str) -> tuple[float | None, str | None]:
    """Return the judge's score in a reply, 0 to 5, and None; or None and the reason.

    The reply must have one number: "4", "4.5", "**4**", "Score: 4", "4/5" or "4 out of 5". The same
    number may occur twice. Two different numbers, such as the range "3-4", give no score.
    """
    text = _OUT_OF_FIVE.sub("", reply)
    # Many languages write a decimal comma, and some models U+2212 as the minus sign.
    matches = {match.replace(",", ".").replace("−", "-") for match in _NUMBER.findall(text)}
    numbers = {float(match) for match in matches}
    if not numbers:
        return None, NO_NUMBER
    if len(numbers) > 1:
        return None, SEVERAL_NUMBERS
    (score,) = numbers
    if not LOWEST <= score <= HIGHEST:
        return None, OUT_OF_RANGE
    return score, None


def read_verdict(reply: str) -> tuple[float | None, str | None]:
    """Return the judge's verdict in a reply: 1 for answer A, 0 for B, 0.5 for a tie.

    Without a verdict return None and the reason.
    """
    bare = reply.strip().strip("*_`\"'.()[] ").lower()
    if bare in _VERDICTS:
        return _VERDICTS[bare], None
    verdicts = {_VERDICTS[match.lower()] for match in _VERDICT.findall(reply)}
    if not verdicts:
        return None, NO_VERDICT
    if len(verdicts) > 1:
        return None, SEVERAL_VERDICTS
    return verdicts.pop(), None


@dataclass(frozen=True)
class JudgeReplies:
    """Scores of answers and verdicts on pairs that were read from the judge's replies.

    Attributes
    ----------
    scores : (N, R) scores of N answers in R repetitions; NaN without a score.
    reasons : N lists of R reasons for missing scores.
    pairs : verdicts on P pairs in both orders.
    pair_reasons : P pairs of reasons for missing verdicts, one for each order.
    n_again : number of replies that needed a second request.
    """

    scores: Floats
    reasons: list[list[str | None]]
    pairs: PairVerdicts
    pair_reasons: list[tuple[str | None, str | None]]
    n_again: int


def judge_answers(
    answers: AnswerColumns,
    parameters: JudgeParameters,
    ask: Ask,
    score: PromptWithReminder = SCORE,
    compare: PromptWithReminder = COMPARE,
) -> JudgeReplies:
    """Ask the judge to score every answer and to compare pairs; return scores and verdicts."""
    rows, repeats = range(len(answers)), parameters.repeats
    items = [
        Item(
            f"score/{answers.build_answer_name(row)}",
            score.build_messages(
                {**answers.build_prompt_fields(row), "answer": answers.texts[row]}
            ),
            repeats,
        )
        for row in rows
    ]
    replies, n_again = ask_and_parse_replies(ask, "score", score, items, read_score, NO_NUMBER)
    scores = np.full((len(answers), repeats), np.nan)
    reasons: list[list[str | None]] = [[None] * repeats for _ in rows]
    for row in rows:
        for repetition in range(repeats):
            value, reasons[row][repetition] = replies[items[row].id, repetition]
            scores[row, repetition] = np.nan if value is None else value
    pairs = draw_pairs(answers, parameters.pairs, parameters.seed)
    # Both orders of a pair are neighbours: even positions show the left answer first.
    ordered = [order for left, right in pairs for order in ((left, right), (right, left))]
    comparisons = [_build_comparison(answers, compare, *order) for order in ordered]
    verdicts, n_compared_again = ask_and_parse_replies(
        ask, "compare", compare, comparisons, read_verdict, NO_VERDICT
    )
    results = [verdicts[item.id, 0] for item in comparisons]
    first = np.array([_convert_to_float(value) for value, _ in results[::2]], dtype=np.float64)
    # In the swapped order the verdict is on the right answer.
    second = 1.0 - np.array(
        [_convert_to_float(value) for value, _ in results[1::2]], dtype=np.float64
    )
    pair_verdicts = PairVerdicts(
        np.array([left for left, _ in pairs], dtype=np.int64),
        np.array([right for _, right in pairs], dtype=np.int64),
        first,
        second,
    )
    pair_reasons = [
        (results[index][1], results[index + 1][1]) for index in range(0, len(results), 2)
    ]
    return JudgeReplies(scores, reasons, pair_verdicts, pair_reasons, n_again + n_compared_again)


def draw_pairs(answers: AnswerColumns, most: int, seed: int) -> list[tuple[int, int]]:
    """Return up to `most` random pairs of answers with different texts for each question.

    The random numbers depend on the seed and the question's id. So other questions do not change
    the pairs of a question.
    """
    question_rows: dict[str, list[int]] = {}
    for row, question in enumerate(answers.questions):
        question_rows.setdefault(question, []).append(row)
    pairs = []
    for question, rows in question_rows.items():
        digest = hashlib.sha256(f"{seed}:{question}".encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
        drawn: list[tuple[int, int]] = []
        n = len(rows)
        # A code is a pair of rows in one number. Random codes may repeat, but need no list of all
        # pairs, whose length grows with the square of the answers.
        for code in rng.permutation(n * n).tolist() if n * n <= MOST_PAIRS else _draw_codes(rng, n):
            if len(drawn) == most:
                break
            left, right = rows[code // n], rows[code % n]
            pair = (left, right)
            # Equal texts have no better answer.
            if left == right or answers.texts[left].strip() == answers.texts[right].strip():
                continue
            if pair not in drawn and pair[::-1] not in drawn:
                drawn.append(pair)
        pairs += drawn
    return pairs


# Up to this number all pairs of a question are permuted; of more, so many are drawn.
MOST_PAIRS = 40_000


def _draw_codes(rng: np.random.Generator, n: int) -> list[int]:
    """Return random integers, each of which encodes a pair of `n` answers; pairs may repeat."""
    codes: list[int] = rng.integers(0, n * n, size=MOST_PAIRS).tolist()
    return codes


def _build_comparison(
    answers: AnswerColumns, prompt: PromptWithReminder, first: int, second: int
) -> Item:
    """Return the request to compare two answers, shown in the order `first`, `second`."""
    texts = {"first": answers.texts[first], "second": answers.texts[second]}
    messages = prompt.build_messages({**answers.build_prompt_fields(first), **texts})
    _, kind, author = answers.build_answer_name(second).split("/")
    return Item(f"compare/{answers.build_answer_name(first)}/{kind}/{author}", messages)


def _convert_to_float(value: float | None) -> float:
    """Return the value, or NaN for None."""
    return np.nan if value is None else value


OVERALL, WORKER, MODEL = "workers", "worker", "model"
# Share of missing scores above which a warning is given.
MANY_UNREAD = 0.1


@dataclass(frozen=True)
class CorrectedRow:
    """Mean grades of all workers, one worker or one model: judge's, experts', and corrected.

    Attributes
    ----------
    of : "workers" (all), "worker" or "model".
    name : of the author; "" for all workers.
    judge : mean score of the judge.
    n, n_judged : number of answers that the judge scored, and of these that experts graded.
    graded : mean of the experts' grades alone.
    powered : mean corrected by the judge's error (PPI).
    tuned : the same with an estimated reliance on the judge (PPI++).
    """

    of: str
    name: str
    judge: float | None
    n: int
    n_judged: int
    graded: PoweredMean
    powered: PoweredMean
    tuned: PoweredMean


@dataclass(frozen=True)
class Grades:
    """The experts' grades: mean of each answer, and grades by expert.

    Attributes
    ----------
    mean : (N,) mean grade of each answer; NaN without a grade.
    by_expert : each expert's grades by row, for the agreement among experts.
    """

    mean: Floats
    by_expert: dict[str, dict[int, float]]


@dataclass(frozen=True)
class Findings:
    """Results of an LLM judge: agreement and corrected means, computed on first use.

    Attributes
    ----------
    system : name of the judge.
    answers : the N judged answers.
    replies : scores and verdicts of the judge.
    aqer : (N,) AQER's leave-one-out scores; NaN without a score.
    """

    system: str
    answers: AnswerColumns
    replies: JudgeReplies
    grades: Grades
    aqer: Floats
    parameters: JudgeParameters

    @cached_property
    def analysis(self) -> JudgeAnalysis:
        """Statistics of the judge, built from its scores, verdicts and the experts' grades."""
        questions, authors, people = self.answers.encode_answers()
        return JudgeAnalysis(
            self.replies.scores,
            questions,
            authors,
            people,
            self.grades.mean,
            self.aqer,
            self.replies.pairs,
            (LOWEST, HIGHEST),
            self.parameters.bootstrap,
            self.parameters.seed,
        )

    @cached_property
    def metrics(self) -> list[MetricRow]:
        """Metric rows: the judge's agreement with itself, with experts and with AQER."""
        analysis = self.analysis
        parts = {
            "repetition": analysis.compare_repetitions(),
            "order": analysis.compare_orders(),
            "experts": analysis.compare_with_experts(),
            "aqer": analysis.compare_with_aqer(),
            "against_aqer": analysis.compare_gain_over_aqer(),
        }
        rows = [
            _build_metric_row(self.system, f"{part}_{name}", estimate)
            for part, estimates in parts.items()
            for name, estimate in estimates.items()
        ]
        return [*rows, *self._compute_expert_agreement()]

    def _compute_expert_agreement(self) -> Iterator[MetricRow]:
        """Yield kappa of each pair of experts, the upper limit of a judge's agreement."""
        for pair in compare_experts(self.grades.by_expert):
            names = f"expert:{pair.one} and {pair.other}"
            reason = None if pair.kappa is not None else "no_estimate"
            yield MetricRow(
                self.system, names, "experts_kappa", pair.kappa, None, None, pair.n, reason
            )

    @cached_property
    def corrected(self) -> list[CorrectedRow]:
        """Mean grades of all workers together, then of each worker and each model."""
        _, authors, people = self.answers.encode_answers()
        overall = self._build_corrected_row(OVERALL, "", None, people)
        rows = []
        for author, row in zip(*np.unique(authors, return_index=True), strict=True):
            subject = WORKER if people[row] else MODEL
            name = str(self.answers.authors[row])
            corrected = self._build_corrected_row(subject, name, int(author), authors == author)
            rows.append((int(row), corrected))
        rows.sort(key=lambda pair: (pair[1].of == MODEL, pair[0]))
        return [overall, *(row for _, row in rows)]

    def _build_corrected_row(
        self, subject: str, name: str, author: int | None, rows: np.ndarray
    ) -> CorrectedRow:
        """Return the means of the answers in the mask `rows`; author None means all workers."""
        analysis = self.analysis
        score, grade = analysis.score[rows], self.grades.mean[rows]
        known = ~np.isnan(score)
        # Weights: the experts alone, PPI, and PPI++ with an estimated weight.
        means = [
            analysis.correct_mean(weight)
            if author is None
            else analysis.correct_author_mean(author, weight)
            for weight in (0.0, 1.0, None)
        ]
        return CorrectedRow(
            subject,
            name,
            convert_nan_to_none(score[known].mean()) if known.any() else None,
            int(known.sum()),
            int((known & ~np.isnan(grade)).sum()),
            *means,
        )

    @property
    def n_unread(self) -> int:
        """Number of scores that were requested from the judge but are missing."""
        return int(np.isnan(self.replies.scores).sum())

    @property
    def warnings(self) -> list[Message]:
        """Warnings about missing scores of the judge and missing grades of experts."""
        warnings = []
        if self.n_unread > MANY_UNREAD * self.replies.scores.size:
            share = self.n_unread / self.replies.scores.size
            warnings.append(Message("judge.unread", {"count": self.n_unread, "share": share}))
        if not self.grades.by_expert:
            warnings.append(Message("judge.no_judgements"))
        return warnings


def _build_metric_row(system: str, metric: str, estimate: ClusteredEstimate) -> MetricRow:
    """Return the row of metrics.csv for an estimate."""
    return MetricRow(
        system,
        "",
        metric,
        *(estimate.value, estimate.low, estimate.high),
        estimate.n,
        estimate.reason,
    )


def collect_grades(
    n: int, judgements: Sequence[tuple[int, str, float]], settled: Mapping[int, float] | None = None
) -> Grades:
    """Return the experts' grades of `n` answers: the mean by answer, and by expert.

    Parameters
    ----------
    judgements : (row, expert, grade).
    settled : grades by row that replace the mean, after an adjudication.
    """
    total, count = np.zeros(n), np.zeros(n)
    by_expert: dict[str, dict[int, float]] = {}
    for row, expert, grade in judgements:
        total[row] += grade
        count[row] += 1
        by_expert.setdefault(expert, {})[row] = grade
    mean = np.divide(total, count, out=np.full(n, np.nan), where=count > 0)
    for row, grade in (settled or {}).items():
        mean[row] = grade
    return Grades(mean, by_expert)


PAIRS = (
    *("question", "kind", "first", "other_kind", "second"),
    *("verdict", "verdict_swapped", "same", "reason", "reason_swapped"),
)
CORRECTED = (
    *("of", "name", "judge", "n", "n_judged", "graded", "graded_low", "graded_high"),
    *("ppi", "ppi_low", "ppi_high", "tuned", "tuned_low", "tuned_high", "weight", "reason"),
)


def build_scores_header(findings: Findings) -> tuple[str, ...]:
    """Return the column names of the score table, with one column per repetition."""
    repetitions = range(1, findings.replies.scores.shape[1] + 1)
    return (
        *("worker", "model", "question", "score", *(f"score_{number}" for number in repetitions)),
        *("grade", "aqer", "reason"),
    )


class Tables:
    """Yields the rows of each result table of an LLM judge."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def list_scores(self) -> Iterator[tuple[object, ...]]:
        """Yield a row of scores for each answer, with the columns of `build_scores_header`."""
        findings, answers = self.findings, self.findings.answers
        for row in range(len(answers)):
            author, person = answers.authors[row], answers.people[row]
            reasons = list(dict.fromkeys(filter(None, findings.replies.reasons[row])))
            yield (
                author if person else None,
                None if person else author,
                answers.questions[row],
                convert_nan_to_none(findings.analysis.score[row]),
                *map(convert_nan_to_none, findings.replies.scores[row]),
                convert_nan_to_none(findings.grades.mean[row]),
                convert_nan_to_none(findings.aqer[row]),
                ";".join(reasons) or None,
            )

    def list_pairs(self) -> Iterator[tuple[object, ...]]:
        """Yield a row for each compared pair; the verdicts are on the left answer."""
        answers, replies = self.findings.answers, self.findings.replies
        pairs = replies.pairs
        for index, (left, right) in enumerate(
            zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
        ):
            verdicts = (
                convert_nan_to_none(pairs.shown_first[index]),
                convert_nan_to_none(pairs.shown_second[index]),
            )
            same = None if None in verdicts else verdicts[0] == verdicts[1]
            kinds = ["worker" if answers.people[row] else "model" for row in (left, right)]
            yield (
                answers.questions[left],
                *(kinds[0], answers.authors[left], kinds[1], answers.authors[right]),
                *verdicts,
                None if same is None else int(same),
                *replies.pair_reasons[index],
            )

    def list_corrected(self) -> Iterator[tuple[object, ...]]:
        """Yield a row of mean grades for all workers, each worker and each model."""
        for row in self.findings.corrected:
            yield (
                *(row.of, row.name or None, row.judge, row.n, row.n_judged),
                *_list_interval(row.graded),
                *_list_interval(row.powered),
                *_list_interval(row.tuned),
                row.tuned.weight,
                row.tuned.reason,
            )


def _list_interval(mean: PoweredMean) -> tuple[float | None, float | None, float | None]:
    """Return a mean and the ends of its interval."""
    return mean.mean, mean.low, mean.high
