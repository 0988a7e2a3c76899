"""Measure who pasted a language model's answers: the alarm `model_like` beside conditional rules.

In each repetition some random workers of a crowd are replaced by samples of a model: all their
answers become the model's. Other samples are held back as the collected answers that a requester
would know; so is, as a second case, another model of the file. Each rule scores every worker;
its AUC is the probability that a replaced worker is more suspicious than another one.

- alarm, in two numbers: `model_like`, z of the paired test (undefined is lowest), and `gap_closed`,
  the share of the gap to the model that a worker closes.
- conditional on the model: what an answer shares with the others' answers beyond the known model
  answers to its question. r is the answer's vector less its projection on these. `residual` is the
  mean inner product of r with the others' r, little is suspicious; `partial` the same of r at
  length 1 (the partial cosine); `residual_contrast` is `residual` less the same with the others' r
  to other questions; `explained_share` the share of a worker's agreement that the model explains.

A conditional rule is built into the product only if it beats the alarm. This was decided before
anything was measured: with samples of the pasted model known, at every share replaced, the paired
interval of its AUC less that of each of the alarm's two numbers is above 0. Intervals are by
Student's t over repetitions, and of differences at the level that four rules leave (Bonferroni).
They hold for the given crowd and model: other draws of workers and samples.

`agreement_before` is the correlation of the other workers' scores with their AQER scores before
the replacement; `agreement_truth` that with their mean expert grade, where the file has grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from annotations.exchange import AnswerStatus, InputError, OutputFolder, read_model_answers
from annotations.exchange.graded import LabelGrades, read_marked_answers
from annotations.exchange.reading.answers import DEFAULT_COLUMNS
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.records import ModelAnswerRecord
from evaluation.consensus import AQER
from evaluation.consensus.inputs import Progress
from evaluation.consensus.signatures import collect_versions, combine_hashes
from evaluation.core.stats.cells import (
    Booleans,
    Floats,
    Integers,
    divide_where_positive,
    encode_labels,
)
from evaluation.core.stats.grams import convert_to_dense
from evaluation.core.stats.inference.intervals import Interval, compute_t_interval
from evaluation.core.stats.statistics.descriptive import auc, pearson
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.tables import EvidenceRequest, StudyTable, write_table
from evaluation.grading.alarms.methods import survey
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.runs.files.answers import AS_TYPED, read_worker_answers
from evaluation.runs.files.metrics import refuse_to_replace_inputs

FILES = ("pasted.csv", "pasted.md", "summary.json")
SHARES = (0.05, 0.10, 0.20)
# Samples of the pasted model that are known.
KNOWN = (1, 3)
# As the alarm asks for.
FEWEST_ANSWERS = 5
AS_GRADED, Z, CLOSED = "no_rule", "model_like", "gap_closed"
ALARM = (Z, CLOSED)
EXPLAINED = "explained_share"
CONDITIONAL = ("residual", "partial", "residual_contrast", EXPLAINED)
HEADER = (
    *("share", "replaced", "known", "rule", "crowds", "auc", "auc_low", "auc_high"),
    *("lead", "lead_low", "lead_high", "lead_closed", "lead_closed_low", "lead_closed_high"),
    *("named", "named_others", "agreement_before", "before_low", "before_high"),
    *("agreement_truth", "truth_low", "truth_high"),
)


@dataclass(frozen=True)
class PastedCrowd:
    """A crowd's answers and a model's samples of answers to the same questions.

    Attributes
    ----------
    texts, questions : (R,) texts and question codes: N answers of workers, then models' answers.
    workers : (N,) codes of the M workers.
    grades : (N,) experts' grades; None if the file has none.
    samples : (S, Q) row of each sample of the model whose answers are pasted.
    others : by name of a further model, its rows (Q,), -1 without an answer.
    """

    texts: list[str]
    questions: Integers
    workers: Integers
    grades: Floats | None
    model: str
    samples: Integers
    others: Mapping[str, Integers]
    hashes: Sequence[str]

    @property
    def n_workers(self) -> int:
        """Number of workers."""
        return int(self.workers.max()) + 1

    @property
    def replaceable(self) -> Integers:
        """Codes of the workers with 5 answers or more."""
        return np.flatnonzero(np.bincount(self.workers) >= FEWEST_ANSWERS)


def load_pasted_crowd(request: EvidenceRequest) -> PastedCrowd:
    """Read the workers' answers and the models'; the model with the most samples is pasted.

    With `labels` or `columns` the workers' file has grades. Questions are left out if a worker or
    the pasted model did not answer them. Raises `InputError`.
    """
    assert request.file is not None
    assert request.models is not None
    answers, sha256 = _read_answers(request)
    replies = read_model_answers(request.models)
    asked = {question for _, question, _, _ in answers}
    by_model: dict[str, dict[str, list[str]]] = {}
    for reply in sorted(replies.records, key=_get_sample):
        if reply.status is AnswerStatus.TEXT and reply.question in asked:
            by_model.setdefault(reply.model, {}).setdefault(reply.question, []).append(reply.text)
    counts = {model: max(map(len, texts.values())) for model, texts in by_model.items()}
    model = max(counts, key=lambda name: counts[name], default="")
    n_samples = min(map(len, by_model[model].values())) if model else 0
    if n_samples < 2:
        raise InputError.single(
            replies.name,
            "no model has two answers to each of its questions",
            "Ask a model several times: manage.py ask --samples 10 --temperature 1.",
        )
    answers = [row for row in answers if row[1] in by_model[model]]
    questions = list(dict.fromkeys(row[1] for row in answers))
    codes = {question: code for code, question in enumerate(questions)}
    texts = [row[2] for row in answers]
    asked_codes = [codes[row[1]] for row in answers]
    samples = np.empty((n_samples, len(questions)), dtype=np.int64)
    others = {name: np.full(len(questions), -1) for name in by_model if name != model}
    for question, code in codes.items():
        for number, text in enumerate(by_model[model][question][:n_samples]):
            samples[number, code] = len(texts)
            texts.append(text)
            asked_codes.append(code)
        for name, rows in others.items():
            if found := by_model[name].get(question):
                rows[code] = len(texts)
                texts.append(found[0])
                asked_codes.append(code)
    grades = [row[3] for row in answers]
    return PastedCrowd(
        texts,
        np.array(asked_codes, dtype=np.int64),
        encode_labels([row[0] for row in answers])[0],
        None if None in grades else np.array(grades, dtype=np.float64),
        model,
        samples,
        others,
        (sha256, replies.sha256),
    )


def _get_sample(reply: ModelAnswerRecord) -> int:
    """Return the number of a reply's sample; 0 in a file without such numbers."""
    return reply.asking.sample if reply.asking else 0


Row = tuple[str, str, str, float | None]


def _read_answers(request: EvidenceRequest) -> tuple[list[Row], str]:
    """Return (worker, question, text, grade or None) of each answer, and the file's hash."""
    assert request.file is not None
    if request.labels or request.columns:
        marked = read_marked_answers(request.file, request.columns)
        if not marked.has_workers:
            raise InputError.single(
                marked.name,
                "the graded answers name no workers",
                "Give a file with a column for the worker, or name it by --columns.",
            )
        records = marked.compute_grades(LabelGrades(request.labels))
        return [(row.worker, row.question, row.text, row.grade) for row in records], marked.sha256
    answers = read_worker_answers(request.file, DEFAULT_COLUMNS, Duplicates.FIRST, **AS_TYPED)
    return [
        (record.worker, record.question, record.text, None)
        for record in answers.records
        if record.text and not record.is_rejected
    ], answers.sha256


@dataclass(frozen=True)
class RuleOutcome:
    """Outcome of one rule in one crowd: AUC, shares of named workers, and grades' correlations.

    `named`, `named_others`: shares of pasting and of other workers that the alarm names. `before`,
    `truth`: correlations of the others' scores with earlier ones and with experts' grades.
    """

    auc: float = np.nan
    named: float = np.nan
    named_others: float = np.nan
    before: float = np.nan
    truth: float = np.nan


def reproduce_pasted_answers(
    request: EvidenceRequest, progress: Progress | None = None
) -> StudyTable:
    """Write pasted.csv with a summary; return the table of rules and the decision on them.

    Raises `InputError` and `BackendError`.
    """
    crowd = load_pasted_crowd(request)
    refuse_to_replace_inputs(request.output, FILES, (request.file, request.models))
    with OutputFolder(request.output) as folder:
        vectors = CorpusVectors(crowd.texts, progress)
        x = convert_to_dense(vectors.embed_texts(request.embedder))
        x = divide_where_positive(x, np.linalg.norm(x, axis=1, keepdims=True), 0.0)
        n = len(crowd.workers)
        before = compute_raw_scores(x[:n], crowd.workers, crowd.questions[:n], crowd.n_workers)
        cases = _list_cases(crowd)
        rows: list[tuple[object, ...]] = []
        for done, (share, count, known) in enumerate(cases):
            outcomes = [
                measure_rules(crowd, x, before, count, known, seed) for seed in request.seeds
            ]
            rows += _build_rows(share, count, known, outcomes)
            if progress is not None:
                progress("crowds", done + 1, len(cases))
        winners = find_winning_rules(rows)
        write_table(folder, "pasted", HEADER, rows)
        folder.write_json(
            "summary.json",
            {
                "study": "pasted-answers",
                "model": crowd.model,
                "workers": crowd.n_workers,
                "questions": crowd.samples.shape[1],
                "samples": crowd.samples.shape[0],
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "rules_that_beat_the_alarm": winners,
                "embedders": vectors.describe(),
                "undefined": [],
                "input_hash": combine_hashes(crowd.hashes),
                "versions": collect_versions(),
            },
        )
    beaten = f"Better than the alarm at every share: {', '.join(winners) or 'no rule'}."
    return StudyTable(HEADER[:8], [row[:8] for row in rows], beaten)


Known = int | str


def _list_cases(crowd: PastedCrowd) -> list[tuple[float, int, Known]]:
    """Return (share, number of replaced workers, known answers) of each possible case."""
    cases: list[tuple[float, int, Known]] = []
    for share in SHARES:
        count = max(1, round(share * crowd.n_workers))
        known: list[Known] = [n for n in KNOWN if count + n <= len(crowd.samples)]
        if count <= len(crowd.samples) and count < len(crowd.replaceable):
            known += list(crowd.others)
        if count < len(crowd.replaceable):
            cases += [(share, count, each) for each in known]
    return cases


def measure_rules(
    crowd: PastedCrowd, x: Floats, before: Floats, count: int, known: Known, seed: int
) -> dict[str, RuleOutcome]:
    """Replace `count` random workers by a model's samples; return the outcome of each rule.

    Parameters
    ----------
    x : (R, d) unit vectors of all texts. before : (M,) raw scores before the replacement.
    known : number of known samples, or the name of a further model whose answers are known.
    """
    rng = np.random.default_rng(seed)
    replaced = rng.permutation(crowd.replaceable)[:count]
    order = rng.permutation(len(crowd.samples))
    n_known = known if isinstance(known, int) else 0
    n = len(crowd.workers)
    rows, question, m = np.arange(n), crowd.questions[:n], crowd.n_workers
    for worker, sample in zip(replaced.tolist(), order[n_known:].tolist(), strict=False):
        own = crowd.workers == worker
        rows[own] = crowd.samples[sample, question[own]]
    known_rows = crowd.samples[order[:n_known]] if n_known else crowd.others[str(known)][None]
    is_replaced = np.isin(np.arange(m), replaced)
    own_known = known_rows[:, question].T
    truth = np.full(m, np.nan)
    if crowd.grades is not None:
        truth = np.bincount(crowd.workers, crowd.grades) / np.bincount(crowd.workers)
    aqer = AQER(leave_one_out=True, n_draws=0).fit(x[rows], crowd.workers, question)
    alarm, named = compute_alarm_numbers(x, rows, aqer, known_rows)
    suspicion = alarm | compute_conditional_suspicion(x, rows, crowd.workers, question, own_known)
    votes = ~named[crowd.workers]
    scores = {
        AS_GRADED: list_raw_scores(aqer, m),
        Z: compute_raw_scores(x[rows[votes]], crowd.workers[votes], question[votes], m),
        **{name: -suspicion[name] for name in CONDITIONAL if name != EXPLAINED},
    }
    outcomes = {}
    for name in (AS_GRADED, *ALARM, *CONDITIONAL):
        area = np.nan
        if name in suspicion:
            values = np.where(np.isnan(suspicion[name]), -1e9, suspicion[name])
            area = _convert_none_to_nan(auc(values[is_replaced], values[~is_replaced]))
        outcomes[name] = RuleOutcome(
            area,
            float(named[is_replaced].mean()) if name == Z else np.nan,
            float(named[~is_replaced].mean()) if name == Z else np.nan,
            _correlate_workers(scores.get(name), before, ~is_replaced),
            _correlate_workers(scores.get(name), truth, ~is_replaced),
        )
    return outcomes


def compute_raw_scores(x: Floats, workers: Integers, questions: Integers, n_workers: int) -> Floats:
    """Return each worker's leave-one-out raw score by AQER. Shape (M,); NaN without answers."""
    aqer = AQER(leave_one_out=True, n_draws=0).fit(x, workers, questions)
    return list_raw_scores(aqer, n_workers)


def list_raw_scores(aqer: AQER, n_workers: int) -> Floats:
    """Return a fitted estimator's raw scores by worker code. Shape (M,); NaN without answers."""
    raw = np.full(n_workers, np.nan)
    raw[aqer.workers_.astype(np.int64)] = aqer.raw_
    return raw


def compute_alarm_numbers(
    x: Floats, rows: Integers, aqer: AQER, known: Integers
) -> tuple[dict[str, Floats], Booleans]:
    """Return each worker's two numbers of the alarm `model_like`, and whether it names them.

    `aqer` is fitted on the vectors `rows` of x. `known` is (K, Q): rows of the known answers, -1
    for none. Of several the highest number counts.
    """
    codes, order = aqer.questions_.astype(np.int64), aqer.workers_.astype(np.int64)
    vote = aqer.mean_vote_
    pairs = Pairs.from_vote(vote, aqer.seed)
    m = len(order)
    z, closed, named = np.full(m, np.nan), np.full(m, np.nan), np.zeros(m, dtype=bool)
    for own in known:
        has = np.flatnonzero(own[codes] >= 0)
        cosines = survey.compute_model_cosines(vote.cells, x[rows], has, x[own[codes[has]]])
        likeness = survey.find_workers_similar_to_model("known", pairs, vote.cells, cosines)
        z[order] = np.fmax(z[order], likeness.statistic)
        closed[order] = np.fmax(closed[order], likeness.closed)
        named[order[likeness.workers]] = True
    return {Z: z, CLOSED: closed}, named


def compute_conditional_suspicion(
    x: Floats, rows: Integers, workers: Integers, questions: Integers, known: Integers
) -> dict[str, Floats]:
    """Return each worker's suspicion of pasting by each conditional rule; greater is worse.

    `known` is (N, K): for each answer the rows of the known answers to its question, -1 for none;
    answers without any are left out. Shape (M,) each, NaN without answers.
    """
    has = (known >= 0).any(axis=1)
    rows, workers, questions, known = rows[has], workers[has], questions[has], known[has]
    own = x[rows]
    rest = own.copy()
    for question in np.unique(questions):
        of_question = questions == question
        answers = known[of_question][0]
        # An orthonormal basis of the known answers; equal ones count once.
        _, size, basis = np.linalg.svd(x[answers[answers >= 0]], full_matrices=False)
        basis = basis[size > 1e-6]
        rest[of_question] -= (rest[of_question] @ basis.T) @ basis
    length = np.linalg.norm(rest, axis=1, keepdims=True)
    # A pasted answer that equals a known one has no direction left.
    unit = np.where(length > 1e-6, divide_where_positive(rest, length, 0.0), 0.0)
    cells = (workers, questions)
    agreement = _average_by_worker(_compare_with_others(own, *cells), workers)
    residual = _average_by_worker(_compare_with_others(rest, *cells), workers)
    partial = _average_by_worker(_compare_with_others(unit, *cells), workers)
    elsewhere = _average_by_worker(_compare_with_other_questions(rest, *cells), workers)
    return {
        "residual": -residual,
        "partial": -partial,
        "residual_contrast": elsewhere - residual,
        EXPLAINED: 1.0 - divide_where_positive(residual, agreement),
    }


def _average_by_worker(values: Floats, workers: Integers) -> Floats:
    """Return each worker's mean over the answers with a value. Shape (M,)."""
    known, m = ~np.isnan(values), int(workers.max()) + 1
    total = np.bincount(workers[known], values[known], m)
    return divide_where_positive(total, np.bincount(workers[known], minlength=m))


def _sum_by_question(x: Floats, questions: Integers) -> Floats:
    """Return the sum of the vectors of each question's answers. Shape (Q, d)."""
    place = (questions, np.arange(len(questions)))
    member = sparse.csr_array((np.ones(len(questions)), place))
    return np.asarray(member @ x)


def _compare_with_others(x: Floats, workers: Integers, questions: Integers) -> Floats:
    """Return each answer's mean inner product with other answers to its question. Shape (N,)."""
    count = np.bincount(questions)
    total = _sum_by_question(x, questions)
    inner = np.einsum("nd,nd->n", x, total[questions] - x)
    return divide_where_positive(inner, (count[questions] - 1).astype(np.float64))


def _compare_with_other_questions(x: Floats, workers: Integers, questions: Integers) -> Floats:
    """Return each answer's mean inner product with answers to other questions, all alike. (N,)."""
    count = np.bincount(questions).astype(np.float64)
    total = _sum_by_question(x, questions)
    found = np.empty(len(x))
    for worker in np.unique(workers):
        mine = np.flatnonzero(workers == worker)
        mean, n = total.copy(), count.copy()
        mean[questions[mine]] -= x[mine]
        n[questions[mine]] -= 1
        mean = divide_where_positive(mean, n[:, None], 0.0)
        answered = n > 0
        inner = x[mine] @ mean.T
        total_inner = inner.sum(axis=1) - inner[np.arange(len(mine)), questions[mine]]
        found[mine] = divide_where_positive(
            total_inner, (answered.sum() - answered[questions[mine]]).astype(np.float64)
        )
    return found


def _correlate_workers(scores: Floats | None, truth: Floats, among: Booleans) -> float:
    """Return Pearson's correlation over the workers flagged in `among`; NaN if undefined."""
    if scores is None:
        return np.nan
    both = among & ~np.isnan(scores) & ~np.isnan(truth)
    return _convert_none_to_nan(pearson(scores[both], truth[both])) if both.sum() > 2 else np.nan


def _convert_none_to_nan(value: float | None) -> float:
    """Return NaN for None, any other number unchanged."""
    return np.nan if value is None else value


def _build_rows(
    share: float, count: int, known: Known, outcomes: Sequence[Mapping[str, RuleOutcome]]
) -> list[tuple[object, ...]]:
    """Return the table rows of one case, one for each rule."""
    values = {
        name: np.array([list(vars(each[name]).values()) for each in outcomes])
        for name in outcomes[0]
    }
    level = 1 - 0.05 / len(CONDITIONAL)
    rows: list[tuple[object, ...]] = []
    for name, found in values.items():
        means = [_estimate_mean(column) for column in found.T]
        leads = [
            _estimate_mean(found[:, 0] - values[other][:, 0], level)
            if name in CONDITIONAL
            else (None, None, None)
            for other in ALARM
        ]
        area, named, named_others, before, truth = means
        numbers = (*area, *leads[0], *leads[1], named[0], named_others[0], *before, *truth)
        rows.append((share, count, str(known), name, len(outcomes), *numbers))
    return rows


def _estimate_mean(
    values: Floats, level: float = 0.95
) -> tuple[float | None, float | None, float | None]:
    """Return (mean, low, high) over repetitions with a t interval; None if any value is NaN."""
    if np.isnan(values).any():
        return None, None, None
    n, mean = len(values), float(values.mean())
    if n < 2:
        return mean, None, None
    error = float(values.std(ddof=1)) / np.sqrt(n)
    interval: Interval = compute_t_interval(mean, error, n, level)[0]
    return mean, interval.low, interval.high


def find_winning_rules(rows: Sequence[Sequence[object]]) -> list[str]:
    """Return the conditional rules that beat both numbers of the alarm in all deciding cases.

    Those are the cases in which samples of the pasted model are known. Empty without intervals.
    """
    lows = [HEADER.index(name) for name in ("lead_low", "lead_closed_low")]
    deciding = [row for row in rows if str(row[2]).isdecimal()]

    def beats(row: Sequence[object]) -> bool:
        return all(isinstance(low := row[place], float) and low > 0 for place in lows)

    return [
        name
        for name in CONDITIONAL
        if deciding and all(beats(row) for row in deciding if row[3] == name)
    ]
