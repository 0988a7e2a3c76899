"""Compare all methods on expert-graded answers, and build the stored summary.

The best of many methods looks better than it is. So the questions are split into two random halves
(by the seed). The method without an answer key that agrees best with the grades on one half is
chosen, and measured on the other. It is trusted if the 95% interval of its lead over the default
there is above 0, by a paired bootstrap over workers. If the default itself was chosen, its lead
over the next best method has to be. Otherwise no method is shown to be better.

All intervals here are BCa over workers, also those of single methods, to match the leads, and are
of the mean over all simulated crowds. `evaluation.evidence.labelled_crowd` instead gives widened
percentile intervals of one repetition, for Pearson and Spearman, and an interval over questions;
its module docstring says by how much the two differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotations.exchange.graded import MarkedFile
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Booleans, Floats
from evaluation.core.stats.inference.correlations import (
    compare_correlations,
    compute_mean_correlation,
)
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.evidence.baselines import METHODS, Corpus, Method
from evaluation.evidence.baselines.weighting import VARIANTS
from evaluation.evidence.graded.crowds import GradedCrowds, TooFewGradesError
from evaluation.evidence.labelled_crowd import (
    FEWEST_WORKERS,
    MethodScores,
    Trial,
    build_evidence_rows,
    score_trials,
)
from evaluation.evidence.method_comparison import MethodChoice, choose_method, draw_choosing_half
from evaluation.evidence.tables import EvidenceRow
from evaluation.runs.flow.graded import DEFAULT, VERSION, GradedSummary, MethodRow, Verdict

REAL, DEALT = "workers", "dealt"
HELD_OUT = "-heldout"
# Least number of questions in each half.
FEWEST_IN_HALF = 2
# Methods whose correlations differ by less, with the whole interval, count as equal.
SAME = 0.0005

ReportStep = Callable[[], None]
# Stored between turns by part and method: (R, M) scores, or the reason for having none.
Aside = dict[str, "Floats | str"]
PARTS = ("full", "choosing", "held")


@dataclass(frozen=True)
class MethodComparison:
    """Result of comparing methods on graded answers: tables, verdict and chosen method.

    Attributes
    ----------
    table : rows of evidence, of all questions and of the half that was held out.
    choice : the method chosen on the other half; None with too few questions for two halves.
    rows : methods with their intervals. verdict, method, best, rival, lead : see `GradedSummary`.
    compared : number of workers compared on all questions. held : number of held-out questions.
    """

    table: list[EvidenceRow]
    choice: MethodChoice | None
    rows: tuple[MethodRow, ...]
    verdict: Verdict
    method: str
    best: str
    rival: str
    lead: Estimate
    compared: int
    held: int


def compare_methods_on_grades(
    crowds: GradedCrowds,
    corpus: Corpus,
    methods: Sequence[Method],
    seeds: range,
    seed: int = 0,
    on_step: Callable[[int, int], None] | None = None,
    scores: Aside | None = None,
) -> MethodComparison:
    """Compare all methods with experts' grades, on all questions and on two halves of them.

    The method is chosen on the first half, and its correlation measured on the second.

    Parameters
    ----------
    corpus : of the answers of `crowds`. methods : the default has to be among them.
    seeds : of the deals. seed : of the halves and of bootstrap draws.
    on_step : called with the number of finished steps and of all steps; it may raise to stop.
    scores : scores computed before, by part and method; new ones are added.

    Raises `TooFewGradesError` where all workers have the same mean grade.
    """
    known = {} if scores is None else scores
    half = draw_choosing_half(corpus.n_questions, seed)
    parts: dict[str, Booleans | None] = {"full": None}
    if min(half.sum(), (~half).sum()) >= FEWEST_IN_HALF:
        parts |= {"choosing": half, "held": ~half}
    scored_parts: dict[str, _ScoredPart] = {}
    done, total = 0, len(parts) * len(methods)
    for name, selected in parts.items():
        trials = crowds.build_trials(corpus, seeds, selected)
        scored = []
        for method in methods:
            scored.append(_score_or_reuse(trials, method, known, f"{name}/{method.name}"))
            done += 1
            if on_step is not None:
                on_step(done, total)
        scored_parts[name] = _ScoredPart.from_trials(scored, trials)
    if not np.ptp(scored_parts["full"].truth, axis=1).any():
        raise TooFewGradesError(Message("graded.no_spread"))
    setting = DEALT if crowds.workers is None else REAL
    return _MethodSelector(setting, methods, scored_parts, half, corpus, seed).build_comparison()


def _score_or_reuse(
    trials: Sequence[Trial], method: Method, known: Aside, key: str
) -> MethodScores:
    """Return a method's scores of the workers; `known` stores them by `key` for later calls."""
    stored = known.get(key)
    if stored is None:
        scored = score_trials(trials, method)
        known[key] = (scored.reason or "") if scored.scores is None else scored.scores
        return scored
    return (
        MethodScores(method, None, stored)
        if isinstance(stored, str)
        else MethodScores(method, stored)
    )


@dataclass(frozen=True)
class _ScoredPart:
    """Scores of all methods on part of the questions, for the workers with a true value there."""

    scored: Mapping[str, MethodScores]
    truth: Floats

    @classmethod
    def from_trials(cls, scored: Sequence[MethodScores], trials: Sequence[Trial]) -> _ScoredPart:
        """Return the scores of the workers with a true value in any trial."""
        truth = np.array([trial.truth for trial in trials])
        known = ~np.isnan(truth).all(axis=0)
        return cls(
            {
                method_scores.method.name: MethodScores(
                    method_scores.method,
                    None if method_scores.scores is None else method_scores.scores[:, known],
                    method_scores.reason,
                )
                for method_scores in scored
            },
            truth[:, known],
        )

    @property
    def n_workers(self) -> int:
        """Number of compared workers."""
        return self.truth.shape[1]

    def estimate_agreement(self, name: str, seed: int) -> Estimate:
        """Return a method's mean correlation with the truth, with its 95% interval."""
        scores = self.scored[name].scores
        if scores is None or self.n_workers < FEWEST_WORKERS:
            return Estimate()
        correlation = compute_mean_correlation(scores, self.truth, seed=seed)
        return Estimate(correlation.value, correlation.low, correlation.high)

    def estimate_leads(self, names: Sequence[str], over: str, seed: int) -> dict[str, Estimate]:
        """Return each method's correlation minus that of `over`, by name; {} below 3 workers."""
        reference = self.scored[over].scores
        scores = {n: s for n in names if (s := self.scored[n].scores) is not None and n != over}
        if reference is None or not scores or self.n_workers < FEWEST_WORKERS:
            return {}
        stacked = np.array(list(scores.values()))
        differences = compare_correlations(stacked, reference, self.truth, seed=seed)
        return {
            name: Estimate(difference.difference, difference.low, difference.high)
            for name, difference in zip(scores, differences, strict=True)
        }


@dataclass(frozen=True)
class _MethodSelector:
    """Chooses the method to trust, from scores on all questions and on two halves."""

    setting: str
    methods: Sequence[Method]
    parts: Mapping[str, _ScoredPart]
    half: Booleans
    corpus: Corpus
    seed: int

    def build_comparison(self) -> MethodComparison:
        """Return the comparison: rows of all methods, verdict ("small" if undecidable), method."""
        full = self.parts["full"]
        table = self._build_rows(self.setting, "full")
        rows = {row.method: row for row in table}
        if "held" not in self.parts:
            method_rows = tuple(
                self._build_method_row(method, rows[method.name], {}, {}) for method in self.methods
            )
            return MethodComparison(
                *(table, None, method_rows, "small", DEFAULT, "", "", Estimate(), full.n_workers, 0)
            )
        on_half = self._build_rows(self.setting, "choosing")
        labels = self.corpus.labels[self.half].tolist()
        choice = choose_method(on_half, self.methods, labels, self.seed)
        table += self._build_rows(self.setting + HELD_OUT, "held")
        held = self.parts["held"]
        leads = held.estimate_leads([method.name for method in self.methods], DEFAULT, self.seed)
        method_rows = tuple(
            self._build_method_row(method, rows[method.name], choice.means, leads)
            for method in self.methods
        )
        verdict, best, rival, lead = self._decide_verdict(choice, leads)
        method = best if verdict == "better" else DEFAULT
        n_held = int((~self.half).sum())
        return MethodComparison(
            *(
                table,
                choice,
                method_rows,
                verdict,
                method,
                best,
                rival,
                lead,
                full.n_workers,
                n_held,
            )
        )

    def _build_rows(self, setting: str, part: str) -> list[EvidenceRow]:
        """Return the evidence rows of one part of the questions."""
        scored_part = self.parts[part]
        return build_evidence_rows(
            setting, list(scored_part.scored.values()), scored_part.truth, self.seed
        )

    def _decide_verdict(
        self, choice: MethodChoice, leads: Mapping[str, Estimate]
    ) -> tuple[Verdict, str, str, Estimate]:
        """Return the verdict, the best method on the choosing half, its rival, and its lead."""
        means, held = choice.means, self.parts["held"]
        best = choice.method
        if best is None or DEFAULT not in means:
            return "small", best or "", DEFAULT, Estimate()
        # A method that equals the default, such as a variant without effect here, is no
        # alternative.
        if means[best] - means[DEFAULT] < SAME or _is_negligible(leads.get(best)):
            best = DEFAULT
        if best != DEFAULT:
            lead = leads.get(best, Estimate())
            return self._judge_lead(lead, "better"), best, DEFAULT, lead
        others = sorted((name for name in means if name != DEFAULT), key=lambda n: -means[n])
        rival = next((name for name in others if not _is_negligible(leads.get(name))), "")
        if not rival:
            return "apart", DEFAULT, others[0] if others else "", Estimate(0.0)
        lead = held.estimate_leads([DEFAULT], rival, self.seed).get(DEFAULT, Estimate())
        return self._judge_lead(lead, "default"), DEFAULT, rival, lead

    def _judge_lead(self, lead: Estimate, if_above: Verdict) -> Verdict:
        """Return the verdict for a lead: `if_above` if its interval is above 0, else "apart".

        "small" if the lead has no interval.
        """
        if lead.low is None:
            return "small"
        return if_above if lead.low > 0 else "apart"

    def _build_method_row(
        self,
        method: Method,
        row: EvidenceRow,
        means: Mapping[str, float],
        leads: Mapping[str, Estimate],
    ) -> MethodRow:
        """Return the row of a method in the stored summary, with a reason for missing numbers."""
        name = method.name
        reason = self.parts["full"].scored[name].reason
        if reason is not None:
            return MethodRow(name, method.kind, reason=reason)
        of_full = self.parts["full"].estimate_agreement(name, self.seed)
        held = (
            self.parts["held"].estimate_agreement(name, self.seed)
            if "held" in self.parts
            else Estimate()
        )
        rank = None if np.isnan(row.spearman_mean) else row.spearman_mean
        lead = leads.get(name, Estimate())
        return MethodRow(
            *(name, method.kind, of_full, rank, means.get(name), held, lead),
            run=find_run_options(name),
            reason=None if of_full.value is not None else row.get_reason("pearson_mean"),
        )


def _is_negligible(lead: Estimate | None) -> bool:
    """Return whether a lead and its interval are within .0005; False if undefined."""
    if lead is None or lead.value is None:
        return False
    ends = (lead.value, lead.low or 0.0, lead.high or 0.0)
    return all(abs(end) < SAME for end in ends)


def find_run_options(name: str) -> dict[str, str] | None:
    """Return the options of a grading run that computes a method; None without such a run."""
    variant = VARIANTS.get(name)
    if variant is None or len(variant.embedders) > 1 or METHODS[name].kind != "aqer":
        return None
    switches = {
        option: "on" if value is True else str(value) for option, value in variant.switches.items()
    }
    spec = variant.embedders[0]
    return {**({} if spec is None else {"embedder": spec}), **switches}


def build_summary(
    graded_file: MarkedFile,
    crowds: GradedCrowds,
    comparison: MethodComparison,
    seeds: range,
    seed: int,
) -> GradedSummary:
    """Return the stored summary of a comparison of methods."""
    assignment = "best" if crowds.best else "random"
    notes = [*(Message.from_stored(text) for text in graded_file.warnings), *crowds.notes]
    return GradedSummary(
        version=VERSION,
        file=graded_file.name,
        layout=graded_file.layout,
        dealt="" if crowds.workers is not None else assignment,
        answers=len(crowds.answers.texts),
        workers=crowds.n_workers,
        compared=comparison.compared,
        questions=len(np.unique(crowds.answers.questions)),
        held=comparison.held,
        repetitions=1 if crowds.workers is not None else len(seeds),
        seed=seed,
        verdict=comparison.verdict,
        method=comparison.method,
        best=comparison.best,
        rival=comparison.rival,
        lead=comparison.lead,
        rows=comparison.rows,
        notes=tuple(note.as_dict() for note in notes),
    )
