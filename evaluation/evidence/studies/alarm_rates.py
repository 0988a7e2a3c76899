"""How often alarms ring in honest crowds, and whether they find what they are for.

Thresholds were set on other seeds (platform/docs/alarms.md). The honest crowds are simulated ones,
student answers dealt to workers, and samples of the workers of real crowds; the others are crowds
of which a part errs together (app. F.1), and dealt crowds of which four workers paste one of their
answers, as it is or lightly edited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from annotations.exchange import OutputFolder
from evaluation.consensus import AQER
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import combined_hash, file_hash, versions
from evaluation.consensus.vectors import Progress
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.data_sets import (
    MOHLER,
    Translations,
    crowdwsa_files,
    load_crowdwsa,
    load_mohler,
)
from evaluation.evidence.data_sets import GradedAnswers as Corpus
from evaluation.evidence.dealing import CROWD, deal
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.studies.light_edits import lightly_edited
from evaluation.evidence.studies.worker_grading import SETTINGS
from evaluation.evidence.tables import write_table
from evaluation.grading.alarms.methods import Finding, findings, survey
from evaluation.grading.alarms.run.detection import Alarm, GradedAnswers, alarms_of
from evaluation.methods.grams import Vectors
from evaluation.methods.simulation import WorkerGroup, correlated_weak, honest, simulate

RINGING = ("copies", "clique", "two_camps", "leverage", "grader_disagreement")
HEADER = ("setting", "crowds", *RINGING, "any", "partly_copied", "found_exactly")
QUESTIONS = (10, 30, 87)
COPIERS = 4
FEWEST_OF_REAL = 12
SIMULATED = (12, 20, 40, 60)


@dataclass(frozen=True)
class Told:
    """What was told of one crowd: kinds that rang, and the groups named by each kind."""

    rang: frozenset[str]
    groups: dict[str, list[frozenset[int]]]
    partly: bool

    @classmethod
    def of_rows(cls, rows: Iterable[Alarm]) -> Told:
        """From the rows of a grading whose workers are numbers."""
        return cls._of([(row.kind, row.severity, map(int, row.workers)) for row in rows])

    @classmethod
    def of_findings(cls, found: list[Finding], workers: NDArray[np.int64]) -> Told:
        """From findings; `workers` (M,) are the numbers behind the codes."""
        return cls._of([(f.kind, f.severity, map(int, workers[f.workers])) for f in found])

    @classmethod
    def _of(cls, told: list[tuple[str, str, map[int]]]) -> Told:
        groups: dict[str, list[frozenset[int]]] = {}
        for kind, severity, members in told:
            if severity == "alarm":
                groups.setdefault(kind, []).append(frozenset(members))
        partly = any(kind == "copies" and severity != "alarm" for kind, severity, _ in told)
        return cls(frozenset(groups) & frozenset(RINGING), groups, partly)


@dataclass(frozen=True)
class CrowdKind:
    """Crowds of one kind.

    Attributes
    ----------
    name : in the table. make : from a seed to what was told of a crowd, and the groups that the
        kind named should name; an empty list in an honest crowd.
    """

    name: str
    kind: str | None
    make: Callable[[int], tuple[Told, list[frozenset[int]]]]


def simulated(
    groups: list[WorkerGroup], n_questions: int, seed: int, answers: int | None = None
) -> Told:
    """Look at a simulated crowd, which has no texts."""
    crowd = simulate(groups, n_questions, 300, seed, answers)
    aqer = AQER(n_draws=0, seed=seed).fit(crowd.vectors, crowd.workers, crowd.questions)
    return Told.of_findings(findings(survey(aqer)), aqer.workers_.astype(np.int64))


def texted(
    embedder: str,
    vectors: Vectors,
    workers: NDArray[np.generic],
    questions: NDArray[np.generic],
    texts: list[str],
) -> Told:
    """Look at a crowd with texts, as every grading does; `embedder` is the SPEC of the vectors."""
    parameters = AqerParameters(embedder=embedder, bootstrap=0)
    who, asked = workers.tolist(), questions.tolist()
    aqer = parameters.estimator().fit(vectors, workers, questions)
    return Told.of_rows(
        alarms_of(parameters, aqer, GradedAnswers(texts, who, asked, vectors)).found
    )


@dataclass(frozen=True)
class Dealer:
    """Student answers, dealt to workers (`worker_grading.deal`), on some of the questions."""

    corpus: Corpus
    made: CorpusVectors
    embedder: str

    @property
    def vectors(self) -> Vectors:
        """The vectors of the student answers, (N, d), dense or sparse."""
        return self.made.of(self.embedder)

    def crowd(self, tier: int, n_questions: int, seed: int) -> tuple[NDArray[np.int64], ...]:
        """Return (N,) rows of the corpus and (N,) workers."""
        dealt = deal(self.corpus, tier, seed)
        asked = np.unique(self.corpus.questions)
        some = np.random.default_rng(seed).choice(asked, n_questions, replace=False)
        kept = np.isin(self.corpus.questions[dealt.rows], some)
        return dealt.rows[kept], dealt.workers[kept]

    def honest(self, tier: int, n_questions: int, seed: int) -> tuple[Told, list[frozenset[int]]]:
        """Look at a crowd as it was dealt."""
        rows, workers = self.crowd(tier, n_questions, seed)
        texts = [self.corpus.texts[row] for row in rows.tolist()]
        questions = self.corpus.questions[rows]
        return texted(self.embedder, self.vectors[rows], workers, questions, texts), []

    def copying(
        self, tier: int, n_questions: int, edited: bool, seed: int
    ) -> tuple[Told, list[frozenset[int]]]:
        """Let four workers give the answers of the first of them."""
        rows, workers = self.crowd(tier, n_questions, seed)
        rng = np.random.default_rng(seed)
        who = rng.choice(CROWD, COPIERS, replace=False)
        questions = self.corpus.questions[rows]
        source = dict(zip(questions[workers == who[0]], rows[workers == who[0]], strict=True))
        copied = np.isin(workers, who[1:])
        rows = rows.copy()
        rows[copied] = [source[question] for question in questions[copied]]
        texts = [self.corpus.texts[row] for row in rows.tolist()]
        vectors = self.vectors[rows]
        if edited:
            at = np.flatnonzero(copied)
            for place in at.tolist():
                texts[place] = lightly_edited(texts[place], rng)
            theirs = self.made.of_more(self.embedder, [texts[place] for place in at.tolist()])
            vectors = _with_rows(vectors, at, theirs)
        told = texted(self.embedder, vectors, workers, questions, texts)
        return told, [frozenset(who.tolist())]


def _with_rows(vectors: Vectors, rows: NDArray[np.int64], others: Vectors) -> Vectors:
    """Return the vectors with some rows replaced by the others, in their order."""
    taken = np.arange(vectors.shape[0])
    taken[rows] = vectors.shape[0] + np.arange(len(rows))
    if isinstance(vectors, np.ndarray):
        return np.concatenate([vectors, others])[taken]
    return sparse.csr_array(sparse.vstack([vectors, others], format="csr"))[taken]


def of_real_crowd(
    corpus: Translations, embedder: str, vectors: Vectors, seed: int
) -> tuple[Told, list[frozenset[int]]]:
    """Look at a random sample of a real crowd's workers, 12 to all of them."""
    rng = np.random.default_rng(seed)
    number = np.unique(corpus.workers, return_inverse=True)[1]
    m = int(number.max()) + 1
    chosen = rng.choice(m, int(rng.integers(FEWEST_OF_REAL, m + 1)), replace=False)
    rows = np.flatnonzero(np.isin(number, chosen))
    texts = [corpus.texts[row] for row in rows.tolist()]
    return texted(embedder, vectors[rows], number[rows], corpus.sentences[rows], texts), []


def settings(request: Request, progress: Progress | None = None) -> Iterator[CrowdKind]:
    """Yield all settings, honest crowds first; `--core` leaves out the edited texts."""

    def simply(groups: list[WorkerGroup], n_questions: int, seed: int, answers: int | None = None):  # type: ignore[no-untyped-def]
        return simulated(groups, n_questions, seed, answers), []

    for m in SIMULATED:
        yield CrowdKind(f"honest simulated {m}", None, partial(simply, honest(m), 15))
    sparse = partial(simply, honest(40), 60, answers=8)
    yield CrowdKind("honest simulated 40, 8 a question", None, sparse)
    mohler = load_mohler(request.data)
    dealer = Dealer(mohler, CorpusVectors(mohler.texts, progress), request.embedder)
    for name, tier in SETTINGS.items():
        for n in QUESTIONS:
            yield CrowdKind(
                f"honest dealt {name}, {n} questions", None, partial(dealer.honest, tier, n)
            )
    for name in ("T1", "T2"):
        real = load_crowdwsa(request.data, name)
        vectors = CorpusVectors(real.texts, progress).of(request.embedder)
        sample = partial(of_real_crowd, real, request.embedder, vectors)
        yield CrowdKind(f"honest CrowdWSA {name}", None, sample)
    for share in (0.5, 0.7):
        for rho in (0.7, 0.8, 0.9):
            n_weak = round(20 * share)
            camps = [frozenset(range(n_weak)), frozenset(range(n_weak, 20))]

            def of_camps(seed, rho=rho, share=share, camps=camps):  # type: ignore[no-untyped-def]
                return simulated(correlated_weak(rho, share), 10, seed), camps

            yield CrowdKind(f"weak {share:.0%}, rho {rho:g}", "two_camps", of_camps)
    for edited in (False,) if request.core else (False, True):
        for n in QUESTIONS:
            what = "edited" if edited else "pasted"
            yield CrowdKind(
                f"four {what}, 10x2, {n} questions",
                "copies",
                partial(dealer.copying, SETTINGS["10x2"], n, edited),
            )


def reproduce_alarms(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the table: shares of the crowds in which each kind rang.

    `found_exactly` is the share in which the copiers, or both camps, were named exactly; empty in
    honest crowds. The rows "honest, all ..." are over all crowds of that source.
    """
    with OutputFolder(request.output) as folder:
        told: dict[str, list[Told]] = {}
        rows: list[tuple[object, ...]] = []
        for done, setting in enumerate(settings(request, progress)):
            found = [setting.make(seed) for seed in request.seeds]
            told[setting.name] = [one for one, _ in found]
            exact = None
            if setting.kind is not None:
                kind = setting.kind
                exact = float(np.mean([_names(one, kind, groups) for one, groups in found]))
            rows.append(_row(setting.name, told[setting.name], exact))
            if progress is not None:
                progress("alarms", done + 1, N_SETTINGS - len(QUESTIONS) * request.core)
        honest_ones = {name: seen for name, seen in told.items() if name.startswith("honest")}
        for source in ("honest simulated", "honest dealt", "honest CrowdWSA", "honest"):
            seen = [
                one for name, all_ in honest_ones.items() if name.startswith(source) for one in all_
            ]
            rows.append(_row(f"{source}, all", seen, None))
        write_table(folder, "table", HEADER, rows)
        sources = [MOHLER, *crowdwsa_files("T1")[:1], *crowdwsa_files("T2")[:1]]
        folder.write_json(
            "summary.json",
            {
                "study": "alarms",
                "repetitions": request.repetitions,
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "embedder": request.embedder,
                "input_hash": combined_hash(
                    file_hash(Path(request.data) / path) for path in sources
                ),
                "undefined": [
                    {
                        "file": "table.csv",
                        "column": "found_exactly",
                        "reason": "nothing_to_find",
                        "count": sum(row[-1] is None for row in rows),
                        "rows": [row[0] for row in rows if row[-1] is None],
                    }
                ],
                "versions": versions(),
            },
        )
    return StudyTable(HEADER, rows)


N_SETTINGS = len(SIMULATED) + 1 + len(SETTINGS) * len(QUESTIONS) + 2 + 6 + 2 * len(QUESTIONS)


def _names(told: Told, kind: str, groups: list[frozenset[int]]) -> bool:
    """Whether a kind names exactly these groups; camps of single questions name nobody."""
    named = [group for group in told.groups.get(kind, []) if group]
    return sorted(map(sorted, named)) == sorted(map(sorted, groups))


def _row(name: str, told: list[Told], exact: float | None) -> tuple[object, ...]:
    def share(which: Callable[[Told], bool]) -> float:
        return float(np.mean([which(one) for one in told]))

    return (
        name,
        len(told),
        *(share(lambda one, kind=kind: kind in one.rang) for kind in RINGING),  # type: ignore[misc]
        share(lambda one: bool(one.rang)),
        share(lambda one: one.partly),
        exact,
    )
