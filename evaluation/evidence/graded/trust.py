"""All methods on graded answers, and which of them to trust.

Of many methods the best one looks better than it is. So the questions are parted into two random
halves (by the seed): the method without an answer key that agrees best with the grades on one half
is chosen, and what is said of it is measured on the other. It is trusted if its lead over the
default there has a 95% interval above 0, by a paired bootstrap over workers; and the default, where
it was chosen itself, if its lead over the next best has. Else the methods cannot be told apart.

All intervals here are BCa over workers, those of single methods too: they stand beside leads, and
are of the mean over all deals. `evaluation.evidence.labelled_crowd` widens percentiles instead and
speaks of one repetition, for Pearson and Spearman, and adds an interval over questions; its module
says by how much the two differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.evidence.baselines import METHODS, Corpus, Method
from evaluation.evidence.baselines.aqer import VARIANTS
from evaluation.evidence.graded.crowds import GradedCrowds, TooLittleError
from evaluation.evidence.heldout import MethodChoice, choose, choosing_half
from evaluation.evidence.methods_table import FEWEST_WORKERS, Scored, Trial, rows_of, score
from evaluation.evidence.tables import EvidenceRow
from evaluation.flow.graded.summary import DEFAULT, Between, MethodRow, Verdict
from evaluation.methods.cells import Booleans, Floats
from evaluation.methods.inference.correlation_differences import (
    correlation_differences,
    mean_correlation,
)
from evaluation.words.message import Message

REAL, DEALT = "workers", "dealt"
HELD_OUT = "-heldout"
# Halves of fewer questions say nothing.
FEWEST_IN_HALF = 2
# Methods whose correlations differ by less, for all workers that may be drawn, are one method.
SAME = 0.0005

Told = Callable[[], None]
# What is put aside of a method on a part: (R, M) scores, or why there are none.
Aside = dict[str, "Floats | str"]
PARTS = ("full", "choosing", "held")


@dataclass(frozen=True)
class Tried:
    """What came of it.

    Attributes
    ----------
    table : rows of evidence, of all questions and of the half that was held out.
    choice : what was best on the other half; None where there were too few questions to part.
    rows : methods with their intervals. verdict, method, best, rival, lead : see `GradedSummary`.
    compared : workers that were compared, on all questions. held : questions held out.
    """

    table: list[EvidenceRow]
    choice: MethodChoice | None
    rows: tuple[MethodRow, ...]
    verdict: Verdict
    method: str
    best: str
    rival: str
    lead: Between
    compared: int
    held: int


def try_methods(
    crowds: GradedCrowds,
    corpus: Corpus,
    methods: Sequence[Method],
    seeds: range,
    seed: int = 0,
    told: Callable[[int, int], None] | None = None,
    aside: Aside | None = None,
) -> Tried:
    """Try all methods, on all questions and on both halves.

    Parameters
    ----------
    corpus : of the answers of `crowds`. methods : the default has to be among them.
    seeds : of the deals. seed : of the halves and of bootstrap draws.
    told : hears how many of how many steps are done; what it raises ends the trial.
    aside : what was computed before, by part and method; what is computed is added.

    Raises `TooLittleError` where all workers have the same mean grade.
    """
    kept = {} if aside is None else aside
    half = choosing_half(corpus.n_questions, seed)
    parts: dict[str, Booleans | None] = {"full": None}
    if min(half.sum(), (~half).sum()) >= FEWEST_IN_HALF:
        parts |= {"choosing": half, "held": ~half}
    found: dict[str, _Part] = {}
    done, total = 0, len(parts) * len(methods)
    for name, only in parts.items():
        trials = crowds.trials(corpus, seeds, only)
        scored = []
        for method in methods:
            scored.append(_scored(trials, method, kept, f"{name}/{method.name}"))
            done += 1
            if told is not None:
                told(done, total)
        found[name] = _Part.of(scored, trials)
    if not np.ptp(found["full"].truth, axis=1).any():
        raise TooLittleError(Message("graded.no_spread"))
    setting = DEALT if crowds.workers is None else REAL
    return _Judge(setting, methods, found, half, corpus, seed).tried()


def _scored(trials: Sequence[Trial], method: Method, kept: Aside, key: str) -> Scored:
    """Score the workers, or take what was put aside."""
    before = kept.get(key)
    if before is None:
        scored = score(trials, method)
        kept[key] = (scored.reason or "") if scored.scores is None else scored.scores
        return scored
    return Scored(method, None, before) if isinstance(before, str) else Scored(method, before)


@dataclass(frozen=True)
class _Part:
    """Scores of all methods on a part of the questions, of the workers that are compared there."""

    scored: Mapping[str, Scored]
    truth: Floats

    @classmethod
    def of(cls, scored: Sequence[Scored], trials: Sequence[Trial]) -> _Part:
        truth = np.array([trial.truth for trial in trials])
        known = ~np.isnan(truth).all(axis=0)
        return cls(
            {
                one.method.name: Scored(
                    one.method, None if one.scores is None else one.scores[:, known], one.reason
                )
                for one in scored
            },
            truth[:, known],
        )

    @property
    def n_workers(self) -> int:
        return self.truth.shape[1]

    def agreement(self, name: str, seed: int) -> Between:
        """Return how a method's scores agree with the truth."""
        scores = self.scored[name].scores
        if scores is None or self.n_workers < FEWEST_WORKERS:
            return Between()
        found = mean_correlation(scores, self.truth, seed=seed)
        return Between(found.value, found.low, found.high)

    def leads(self, names: Sequence[str], over: str, seed: int) -> dict[str, Between]:
        """Return the leads of methods over one, which are 0 where there is no difference at all."""
        against = self.scored[over].scores
        scores = {n: s for n in names if (s := self.scored[n].scores) is not None and n != over}
        if against is None or not scores or self.n_workers < FEWEST_WORKERS:
            return {}
        stacked = np.array(list(scores.values()))
        found = correlation_differences(stacked, against, self.truth, seed=seed)
        return {
            name: Between(one.difference, one.low, one.high)
            for name, one in zip(scores, found, strict=True)
        }


@dataclass(frozen=True)
class _Judge:
    """Says which method to trust, of scores on all questions and on two halves."""

    setting: str
    methods: Sequence[Method]
    parts: Mapping[str, _Part]
    half: Booleans
    corpus: Corpus
    seed: int

    def tried(self) -> Tried:
        full = self.parts["full"]
        table = self._table(self.setting, "full")
        rows = {row.method: row for row in table}
        if "held" not in self.parts:
            made = tuple(self._row(method, rows[method.name], {}, {}) for method in self.methods)
            return Tried(
                *(table, None, made, "small", DEFAULT, "", "", Between(), full.n_workers, 0)
            )
        on_half = self._table(self.setting, "choosing")
        labels = self.corpus.labels[self.half].tolist()
        choice = choose(on_half, self.methods, labels, self.seed)
        table += self._table(self.setting + HELD_OUT, "held")
        held = self.parts["held"]
        leads = held.leads([method.name for method in self.methods], DEFAULT, self.seed)
        made = tuple(
            self._row(method, rows[method.name], choice.means, leads) for method in self.methods
        )
        verdict, best, rival, lead = self._verdict(choice, leads)
        method = best if verdict == "better" else DEFAULT
        n_held = int((~self.half).sum())
        return Tried(
            *(table, choice, made, verdict, method, best, rival, lead, full.n_workers, n_held)
        )

    def _table(self, setting: str, part: str) -> list[EvidenceRow]:
        found = self.parts[part]
        return rows_of(setting, list(found.scored.values()), found.truth, self.seed)

    def _verdict(
        self, choice: MethodChoice, leads: Mapping[str, Between]
    ) -> tuple[Verdict, str, str, Between]:
        """Return the verdict, what was best on the choosing half, its rival, and its lead."""
        means, held = choice.means, self.parts["held"]
        best = choice.method
        if best is None or DEFAULT not in means:
            return "small", best or "", DEFAULT, Between()
        if means[best] - means[DEFAULT] < SAME or _is_same(leads.get(best)):
            best = DEFAULT
        if best != DEFAULT:
            lead = leads.get(best, Between())
            return self._by(lead, "better"), best, DEFAULT, lead
        others = sorted((name for name in means if name != DEFAULT), key=lambda n: -means[n])
        rival = next((name for name in others if not _is_same(leads.get(name))), "")
        if not rival:
            return "apart", DEFAULT, others[0] if others else "", Between(0.0)
        lead = held.leads([DEFAULT], rival, self.seed).get(DEFAULT, Between())
        return self._by(lead, "default"), DEFAULT, rival, lead

    def _by(self, lead: Between, if_above: Verdict) -> Verdict:
        if lead.low is None:
            return "small"
        return if_above if lead.low > 0 else "apart"

    def _row(
        self,
        method: Method,
        row: EvidenceRow,
        means: Mapping[str, float],
        leads: Mapping[str, Between],
    ) -> MethodRow:
        name = method.name
        reason = self.parts["full"].scored[name].reason
        if reason is not None:
            return MethodRow(name, method.kind, reason=reason)
        of_full = self.parts["full"].agreement(name, self.seed)
        held = self.parts["held"].agreement(name, self.seed) if "held" in self.parts else Between()
        rank = None if np.isnan(row.spearman_mean) else row.spearman_mean
        lead = leads.get(name, Between())
        return MethodRow(
            *(name, method.kind, of_full, rank, means.get(name), held, lead),
            run=run_options(name),
            reason=None if of_full.value is not None else row.reason("pearson_mean"),
        )


def _is_same(lead: Between | None) -> bool:
    """Whether a method is another one under a second name."""
    if lead is None or lead.value is None:
        return False
    ends = (lead.value, lead.low or 0.0, lead.high or 0.0)
    return all(abs(end) < SAME for end in ends)


def run_options(name: str) -> dict[str, str] | None:
    """Return the options of a grading run that computes a method; None where no run does."""
    variant = VARIANTS.get(name)
    if variant is None or len(variant.embedders) > 1 or METHODS[name].kind != "aqer":
        return None
    switches = {
        option: "on" if value is True else str(value) for option, value in variant.switches.items()
    }
    spec = variant.embedders[0]
    return {**({} if spec is None else {"embedder": spec}), **switches}
