"""The table of an entailment model: what it adds to AQER on questions it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.core.stats.cells import Booleans, Floats
from evaluation.core.stats.inference.clustered import ClusteredEstimate
from evaluation.core.stats.inference.correlations import (
    CorrelationDifference,
    compare_correlations,
    compute_mean_correlation,
)
from evaluation.evidence.baselines import WITH_ENTAILMENT, Corpus, Method
from evaluation.evidence.entailment.card import format_estimate
from evaluation.evidence.entailment.model_folder import (
    find_trained_answers,
    flag_trained_questions,
)
from evaluation.evidence.labelled_crowd import StepCallback, Trial, score_trials
from evaluation.evidence.method_comparison import measure_answer_scores
from evaluation.evidence.tables import write_table

TRAINED = "trained_on_these_questions"
NAME = "entailment"
HEADER = (
    *("setting", "method", "pearson", "low", "high", "gain", "gain_low", "gain_high"),
    *("auc", "auc_low", "auc_high", "workers", "questions", "reason"),
)


@dataclass(frozen=True)
class EntailmentRow:
    """Row of the entailment table: a method's correlation, difference from AQER, and AUC.

    Attributes
    ----------
    agreement : mean correlation over the trials, with its 95% interval over workers. gain : the
        same minus AQER's; None for AQER itself and for a method without scores.
    auc : probability that an answer of the higher label scores above a contradictory one.
    """

    setting: str
    method: str
    agreement: ClusteredEstimate
    gain: CorrelationDifference | None
    auc: ClusteredEstimate
    n_questions: int

    def list_cells(self) -> tuple[object, ...]:
        """Return the table row in the order of `HEADER`; None for an empty cell."""
        gain = self.gain
        agreement = self.agreement
        return (
            *(self.setting, self.method, agreement.value, agreement.low, agreement.high),
            *((None, None, None) if gain is None else (gain.difference, gain.low, gain.high)),
            *(self.auc.value, self.auc.low, self.auc.high),
            *(agreement.n, self.n_questions, agreement.reason or self.auc.reason),
        )


def flag_untrained_questions(corpus: Corpus, nli: str) -> Booleans:
    """Return flags of the questions that a model was not trained on. Raises `InputError`."""
    labels = [str(corpus.labels[code]) for code in corpus.question.tolist()]
    trained = flag_trained_questions(corpus.texts, labels, find_trained_answers(nli))
    return np.array([str(label) not in trained for label in corpus.labels])


def block_trained_model(corpus: Corpus, untrained: Booleans) -> Corpus:
    """Return the corpus, without its entailment model if that was trained on some questions.

    For tables on all questions.
    """
    return corpus if untrained.all() else corpus.copy_without_entailment(TRAINED)


def build_entailment_rows(
    setting: str,
    trials: Sequence[Trial],
    values: Floats,
    contrast: tuple[Booleans, Booleans] | None,
    seed: int,
    on_step: StepCallback | None = None,
    methods: Sequence[Method] = WITH_ENTAILMENT,
) -> list[EntailmentRow]:
    """Return the table rows of AQER and of the methods with an entailment model.

    Parameters
    ----------
    trials : crowds on questions that the model was not trained on.
    values : (R,) true values of the corpus's answers. contrast : masks of the answers that should
        score higher, and of the contradictory ones; None without such labels.
    methods : AQER first, then the methods to compare with it.
    """
    truth = np.array([trial.truth for trial in trials])
    n_questions = len(np.unique(trials[0].crowd.questions))
    scored = []
    for method in methods:
        scored.append(score_trials(trials, method))
        if on_step is not None:
            on_step()
    default = scored[0].scores
    rows = []
    for method_scores in scored:
        if method_scores.scores is None:
            agreement = ClusteredEstimate(reason=method_scores.reason)
        else:
            agreement = compute_mean_correlation(method_scores.scores, truth, seed=seed)
        gain = None
        if (
            method_scores is not scored[0]
            and method_scores.scores is not None
            and default is not None
        ):
            gain = compare_correlations(method_scores.scores[None], default, truth, seed=seed)[0]
        of_labels = ClusteredEstimate(reason="no_answers_of_a_label")
        if contrast is not None:
            measured = measure_answer_scores(
                setting, trials[0], values, method_scores.method, {NAME: contrast}, seed
            )
            of_labels = next(
                answer_measure.estimate
                for answer_measure in measured
                if answer_measure.measure == NAME
            )
        rows.append(
            EntailmentRow(
                setting, method_scores.method.name, agreement, gain, of_labels, n_questions
            )
        )
    return rows


def write_entailment_table(
    folder: OutputFolder, rows: Sequence[EntailmentRow], name: str = NAME
) -> None:
    """Write the rows as entailment.csv and entailment.md, or under another name."""
    write_table(folder, name, HEADER, [row.list_cells() for row in rows])


def describe_differences_from_aqer(rows: Sequence[EntailmentRow]) -> str:
    """Return a sentence on the methods' differences from AQER in correlation; "" without rows."""
    parts = []
    for row in rows:
        if not row.method.startswith("aqer+"):
            continue
        beside = "with a reference answer" if row.method.endswith("reference") else "without one"
        if row.gain is None or row.gain.difference is None:
            reason = (row.agreement.reason or "undefined").replace("_", " ")
            parts.append(f"{beside} not measured ({reason})")
            continue
        gain = f"{row.gain.difference:+.3f}"
        if row.gain.low is not None:
            gain += f" (95% {row.gain.low:+.3f} to {row.gain.high:+.3f})"
        parts.append(f"{beside} r {format_estimate(row.agreement)}, {gain} to AQER")
    if not parts:
        return ""
    return (
        f"Entailment model, {rows[0].setting}, {rows[0].n_questions} questions it was not trained "
        f"on: {'; '.join(parts)}."
    )
