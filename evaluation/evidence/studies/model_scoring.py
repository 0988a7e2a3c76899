"""Measure how well model scores agree with expert grades, and the grade of the best response.

Measure the expert grade of the answer that each rule chooses for a question.

The best response is the answer nearest to the exemplary answer. It is compared with other rules,
from a random choice to the answer of the best grade. Source: 6.3.2 and app. I.

No grades of models' answers to these questions exist, so workers take the place of models: the
answers of Mohler et al. are dealt to 26 responders in 13 tiers of two, on the questions with so
many answers. Some are held out, and M of the others vote. Held-out responders are scored as models
are: against the voters, without influence on them. Every responder is held out once in a
repetition, so that for each M the same 26 scores are compared with the same mean grades. Source:
section 6.2.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from annotations.exchange import OutputFolder
from evaluation.consensus import AQER
from evaluation.consensus.inputs import Progress
from evaluation.core.charts.chart import (
    Chart,
    EstimateRow,
    Series,
    build_estimates_chart,
    build_line_chart,
)
from evaluation.core.stats.cells import Floats, Integers, convert_nan_to_none, divide_where_positive
from evaluation.core.stats.grams import convert_to_dense
from evaluation.evidence.baselines import (
    METHODS,
    AqerVariant,
    Corpus,
    Crowd,
    Method,
    UnavailableError,
    list_methods,
)
from evaluation.evidence.baselines.overlap import (
    compute_sentence_bleu,
    compute_token_f1,
    split_words,
    tabulate_token_similarity,
    tokenize_squad,
)
from evaluation.evidence.corpus import GradedCorpus
from evaluation.evidence.data_sets import AnswerAssignment, assign_answers
from evaluation.evidence.labelled_crowd import (
    MethodScores,
    build_evidence_rows,
    find_best_baselines,
)
from evaluation.evidence.tables import (
    EvidenceRequest,
    EvidenceRow,
    StudyTable,
    build_study_table,
    write_evidence,
    write_table,
)

HEADER = (
    "setting",
    "method",
    "grade_mean",
    "grade_low",
    "grade_high",
    "best_share",
    "questions",
    "repetitions",
)

# From a crowd to (N,) how good an answer seems: the greatest of a question is chosen.
Rating = Callable[[Crowd], Floats]


def build_variant_rating(name: str) -> Rating:
    """Return a function that rates answers by similarity to an AQER variant's exemplary answer."""

    def rate_answers(crowd: Crowd) -> Floats:
        """Return each answer's similarity to the variant's exemplary answer."""
        variant = METHODS[name].score
        assert isinstance(variant, AqerVariant)
        return variant.fit_voters(crowd)[0].final_scores_

    return rate_answers


def rate_by_best_worker(crowd: Crowd) -> Floats:
    """Return each answer's rating: the raw score of its worker."""
    model, _ = AqerVariant().fit_voters(crowd)
    return np.asarray(model.raw_[np.argsort(model.workers_)][crowd.workers])


def rate_by_mean_vote(crowd: Crowd) -> Floats:
    """Return each answer's cosine to the plain mean of its question's answers."""
    x = crowd.corpus.compact_vectors(crowd.corpus.embedder)[crowd.rows]
    mean = np.zeros((crowd.corpus.n_questions, x.shape[1]))
    np.add.at(mean, crowd.questions, x)
    return _compute_cosines(x, mean[crowd.questions])


def rate_by_reference(crowd: Crowd) -> Floats:
    """Return each answer's cosine to the instructor's reference answer."""
    corpus = crowd.corpus
    if corpus.references is None:
        raise UnavailableError("no_reference_answers")
    x = convert_to_dense(corpus.vectors(corpus.embedder)[crowd.rows])
    y = convert_to_dense(corpus.references(corpus.embedder))
    return _compute_cosines(x, y[crowd.questions])


def rate_by_bleu(crowd: Crowd) -> Floats:
    """Return each answer's mean BLEU-4 against the other answers to its question."""
    pairs = tabulate_token_similarity(
        crowd.corpus, "bleu4", split_words, lambda a, b: compute_sentence_bleu(a, b, 4)
    )
    return crowd.compute_mean_similarity_to_others(pairs)


def rate_by_token_f1(crowd: Crowd) -> Floats:
    """Return each answer's mean token F1 against the other answers to its question."""
    return crowd.compute_mean_similarity_to_others(
        tabulate_token_similarity(crowd.corpus, "f1", tokenize_squad, compute_token_f1)
    )


def rate_by_frequency(crowd: Crowd) -> Floats:
    """Return how many answers to the question equal each answer, in normalised words."""
    forms = [
        (int(question), *split_words(crowd.corpus.texts[row]))
        for question, row in zip(crowd.questions, crowd.rows, strict=True)
    ]
    counts = Counter(forms)
    return np.array([counts[form] for form in forms], dtype=np.float64)


def rate_by_length(crowd: Crowd) -> Floats:
    """Return each answer's number of words."""
    return np.array([len(split_words(crowd.corpus.texts[row])) for row in crowd.rows], dtype=float)


def rate_equally(crowd: Crowd) -> Floats:
    """Return equal ratings (zeros), so that each answer is chosen with equal odds."""
    return np.zeros(len(crowd.rows))


MERITS: dict[str, Rating] = {
    "aqer": build_variant_rating("aqer"),
    "aqer_one_pass": build_variant_rating("aqer_one_pass"),
    "leave_one_out": build_variant_rating("leave_one_out"),
    "tfidf_word": build_variant_rating("tfidf_word"),
    "tfidf_char": build_variant_rating("tfidf_char"),
    "best_worker": rate_by_best_worker,
    "mean_vote": rate_by_mean_vote,
    "bleu4": rate_by_bleu,
    "f1": rate_by_token_f1,
    "frequent": rate_by_frequency,
    "longest": rate_by_length,
    "random": rate_equally,
    "reference_answer": rate_by_reference,
}
ORACLE = "best_possible"


def grade_chosen_answers(crowd: Crowd, merit: Floats, grades: Floats) -> tuple[Floats, Floats]:
    """Return each question's grade of the top-rated answer, and its probability to be the best.

    Of tied answers the mean. `merit` are the ratings, `grades` those of the corpus's rows; ratings
    that differ only by rounding are tied.
    """
    own_grades = grades[crowd.rows]
    n = crowd.corpus.n_questions
    greatest, best = np.full(n, -np.inf), np.full(n, -np.inf)
    np.maximum.at(greatest, crowd.questions, merit)
    np.maximum.at(best, crowd.questions, own_grades)
    is_top = (merit >= greatest[crowd.questions] - 1e-12).astype(np.float64)
    n_top = np.bincount(crowd.questions, weights=is_top, minlength=n)
    answered = n_top > 0
    grade = _sum_by_question(crowd.questions, is_top * own_grades, n)[answered] / n_top[answered]
    is_best = is_top * (own_grades == best[crowd.questions])
    return grade, _sum_by_question(crowd.questions, is_best, n)[answered] / n_top[answered]


def compare_choice_rules(
    setting: str, crowds: Sequence[Crowd], grades: Floats
) -> tuple[list[tuple[object, ...]], dict[str, str]]:
    """Return the table rows of all rules for choosing an answer, and reasons for missing rows.

    The interval is Student's over the questions, of their means over the repetitions.
    """
    rows: list[tuple[object, ...]] = []
    reasons: dict[str, str] = {}

    def rate_by_grade(crowd: Crowd) -> Floats:
        """Return each answer's expert grade, which gives the best possible choice."""
        return grades[crowd.rows]

    for name, merit in {**MERITS, ORACLE: rate_by_grade}.items():
        try:
            chosen = [grade_chosen_answers(crowd, merit(crowd), grades) for crowd in crowds]
        except UnavailableError as error:
            reasons[name] = error.reason
            continue
        by_question = np.mean([grade for grade, _ in chosen], axis=0)
        n = len(by_question)
        error_of_mean = by_question.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
        half_width = float(stats.t.ppf(0.975, n - 1) * error_of_mean) if n > 1 else None
        mean = float(by_question.mean())
        low, high = (None, None) if half_width is None else (mean - half_width, mean + half_width)
        best = float(np.mean([best for _, best in chosen]))
        rows.append((setting, name, mean, low, high, best, n, len(crowds)))
    return rows, reasons


def _sum_by_question(questions: Integers, values: Floats, n: int) -> Floats:
    """Return the sum of the values for each question code."""
    return np.bincount(questions, weights=values, minlength=n).astype(np.float64, copy=False)


def _compute_cosines(x: Floats, y: Floats) -> Floats:
    """Return the cosines of paired rows; 0 if a row is zero."""
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    inner = np.einsum("nd,nd->n", x, y)
    return divide_where_positive(inner, norms, 0.0)


RESPONDERS = 26
TIER = 2
VOTERS = (5, 10, 15, 25)
# Settings of the best response: workers of a crowd.
CROWDS = {"10x2": 20, "12x2": 24}
DRAWS = 400
INTERVALS = ("setting", "responder", "score", "low", "high", "percentile", "grade", "n")
CHARTED = ("aqer", "aqer_one_pass", "leave_one_out", "tfidf_char", "bleu4", "f1")


@dataclass(frozen=True)
class HeldOutPanel:
    """Workers who are held out together, as if they were models, and the workers who vote."""

    held_out: Integers
    voters: Integers


def draw_panels(n: int, voters: int, rng: np.random.Generator) -> list[HeldOutPanel]:
    """Return the fewest panels that hold out each of `n` responders once and have `voters` voters.

    Panels are random and of nearly equal size; the next `voters` responders in random order vote.
    """
    order = rng.permutation(n)
    groups = np.array_split(order, math.ceil(n / (n - voters)))
    panels, begin = [], 0
    for group in groups:
        # The order is cyclic, so that the last panels have voters too.
        voting = np.roll(order, -(begin + len(group)))[:voters]
        panels.append(HeldOutPanel(group, voting))
        begin += len(group)
    return panels


def score_held_out_workers(
    method: Method,
    corpus: Corpus,
    assignment: AnswerAssignment,
    panels: Sequence[HeldOutPanel],
    seed: int,
) -> Floats:
    """Return each held-out worker's score as a model. Raises `UnavailableError`."""
    scores = np.full(sum(len(panel.held_out) for panel in panels), np.nan)
    for panel in panels:
        panel_scores = method.score(_build_crowd(corpus, assignment, panel, seed))
        # The crowd of a panel has the held-out workers first.
        scores[panel.held_out] = panel_scores[: len(panel.held_out)]
    return scores


def _build_crowd(
    corpus: Corpus, assignment: AnswerAssignment, panel: HeldOutPanel, seed: int
) -> Crowd:
    """Return the crowd of a panel: first the held-out responders, then the voters."""
    members = np.concatenate([panel.held_out, panel.voters])
    code = np.full(RESPONDERS, -1)
    code[members] = np.arange(len(members))
    in_panel = code[assignment.workers] >= 0
    voting = np.arange(len(members)) >= len(panel.held_out)
    return Crowd(
        corpus, assignment.rows[in_panel], code[assignment.workers[in_panel]], voting, seed
    )


def reproduce_model_scoring(
    request: EvidenceRequest, progress: Progress | None = None
) -> StudyTable:
    """Write and return the table of held-out workers' scores, by number of voting workers.

    Setting M=n has n voting workers.

    intervals.csv: the scores of the first repetition with 95% intervals. best_response.csv: how
    good chosen answers are. Raises `InputError` and `BackendError`.
    """
    chosen = list_methods(core=request.core)
    with OutputFolder(request.output) as folder:
        data = GradedCorpus.load(request, progress)
        deals = [
            assign_answers(data.graded, TIER, seed, crowd=RESPONDERS) for seed in request.seeds
        ]
        truth = np.array([dealt.compute_true_grades(data.graded.grades) for dealt in deals])
        done, total = 0, len(VOTERS) * len(chosen)
        rows: list[EvidenceRow] = []
        for voters in VOTERS:
            panels_by_seed = [
                draw_panels(RESPONDERS, voters, np.random.default_rng([seed, voters]))
                for seed in request.seeds
            ]
            scored = []
            for method in chosen:
                scored.append(
                    _score_repetitions(method, data.corpus, deals, panels_by_seed, request.seeds)
                )
                done += 1
                if progress is not None:
                    progress("methods", done, total)
            rows += build_evidence_rows(f"M={voters}", scored, truth, request.seed)
        interval_rows = [
            row
            for voters in VOTERS
            for row in build_interval_rows(data, deals[0], truth[0], voters, request.seeds[0])
        ]
        chosen_answers, missing = _compare_best_responses(data, request)
        folder.write_csv("intervals.csv", INTERVALS, interval_rows)
        write_table(folder, "best_response", HEADER, chosen_answers)
        write_evidence(
            folder,
            rows,
            {
                **data.build_summary("model-scoring", request),
                "responders": RESPONDERS,
                "questions_used": int(len(deals[0].rows) / RESPONDERS),
                "best_baseline": find_best_baselines(rows),
                "best_response_missing": missing,
            },
            [
                _build_chart(rows),
                _build_interval_chart(interval_rows),
                *_build_best_response_charts(chosen_answers),
            ],
        )
    return build_study_table(rows)


def _score_repetitions(
    method: Method,
    corpus: Corpus,
    assignments: Sequence[AnswerAssignment],
    panels_by_seed: Sequence[Sequence[HeldOutPanel]],
    seeds: range,
) -> MethodScores:
    """Return a method's scores of held-out workers in all repetitions, or why it is unavailable."""
    try:
        scores = [
            score_held_out_workers(method, corpus, dealt, some, seed)
            for dealt, some, seed in zip(assignments, panels_by_seed, seeds, strict=True)
        ]
    except UnavailableError as error:
        return MethodScores(method, None, error.reason)
    return MethodScores(method, np.array(scores))


def build_interval_rows(
    data: GradedCorpus, assignment: AnswerAssignment, truth: Floats, voters: int, seed: int
) -> Iterator[tuple[object, ...]]:
    """Yield a table row for each responder: score as a model, interval (400 draws) and grade."""
    x = data.corpus.compact_vectors(data.corpus.embedder)
    cells_by_responder: dict[int, tuple[object, ...]] = {}
    for panel in draw_panels(RESPONDERS, voters, np.random.default_rng([seed, voters])):
        crowd = _build_crowd(data.corpus, assignment, panel, seed)
        votes = crowd.votes
        aqer = AQER(leave_one_out=True, n_draws=DRAWS, seed=seed).fit(
            x[crowd.rows[votes]], crowd.workers[votes], crowd.questions[votes]
        )
        scores = aqer.score_models(
            x[crowd.rows[~votes]], crowd.workers[~votes], crowd.questions[~votes]
        )
        for index, code in enumerate(scores.models.tolist()):
            responder = int(panel.held_out[int(code)])
            values = (scores.scores, scores.low, scores.high, scores.percentiles)
            cells = [convert_nan_to_none(value[index]) for value in values]
            cells_by_responder[responder] = (*cells, float(truth[responder]), int(scores.n[index]))
    for responder in range(RESPONDERS):
        yield f"M={voters}", responder, *cells_by_responder[responder]


def _compare_best_responses(
    data: GradedCorpus, request: EvidenceRequest
) -> tuple[list[tuple[object, ...]], dict[str, str]]:
    """Return the table rows on chosen answers in all crowds, and reasons for missing rows."""
    rows: list[tuple[object, ...]] = []
    missing: dict[str, str] = {}
    for setting, size in CROWDS.items():
        assignments = [
            assign_answers(data.graded, TIER, seed, crowd=size) for seed in request.seeds
        ]
        crowds = [
            Crowd(data.corpus, dealt.rows, dealt.workers, seed=seed)
            for dealt, seed in zip(assignments, request.seeds, strict=True)
        ]
        setting_rows, reasons = compare_choice_rules(setting, crowds, data.graded.grades)
        rows += setting_rows
        missing |= reasons
    return rows, missing


def _build_chart(rows: Sequence[EvidenceRow]) -> Chart:
    """Return the chart of correlations by number of voting workers, a line for each method."""
    correlations_by_key = {(row.setting, row.method): row.list_cells()[2] for row in rows}

    def find_points(method: str) -> list[tuple[float, float | None]]:
        """Return a method's points (number of workers, correlation) for the chart."""
        found = [(voters, correlations_by_key.get((f"M={voters}", method))) for voters in VOTERS]
        return [(voters, r if isinstance(r, float) else None) for voters, r in found]

    return build_line_chart(
        name="model_scoring",
        title="Agreement of models' scores with experts by the number of workers",
        explanation="Mean correlation of 26 responders' scores, each held out, with their grades.",
        axes=("voting workers M", "Pearson's r"),
        series=[Series(method, find_points(method)) for method in CHARTED],
    )


def _build_interval_chart(interval_rows: Sequence[tuple[Any, ...]]) -> Chart:
    """Return the chart of the largest crowd's scores with intervals, best grade first."""
    largest_crowd = [row for row in interval_rows if row[0] == f"M={VOTERS[-1]}"]
    largest_crowd.sort(key=lambda row: -row[6])
    return build_estimates_chart(
        name="intervals",
        title=f"Scores of held-out responders with {VOTERS[-1]} workers, best grade first",
        explanation="A dot is the score, the line its 95% interval over questions.",
        axis="score (leave-one-out AQER)",
        rows=[
            EstimateRow(f"grade {row[6]:.2f}", row[2], row[3], row[4], f"responder {row[1]}")
            for row in largest_crowd
        ],
    )


def _build_best_response_charts(rows: Sequence[tuple[Any, ...]]) -> Iterator[Chart]:
    """Yield a chart of the chosen answers' grades for each crowd."""
    for setting in CROWDS:
        yield build_estimates_chart(
            name=f"best_response_{setting}",
            title=f"Grade of the chosen answers, {setting}",
            explanation="Mean expert grade of the answer chosen to each question, 95% interval.",
            axis="expert grade, 0 to 5",
            rows=[
                EstimateRow(str(row[1]), row[2], row[3], row[4], f"{row[1]}: {row[2]:.3f}")
                for row in rows
                if row[0] == setting
            ],
        )
