"""Measure how often alarms are raised in honest crowds, and whether they find planted groups.

Edit copied answers lightly, as a copier who hides the copying does.

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
from evaluation.consensus.inputs import Progress
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import collect_versions, combine_hashes, hash_file
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.simulation import (
    WorkerGroup,
    build_correlated_weak_groups,
    build_honest_groups,
    simulate_crowd,
)
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.data_sets import (
    CROWD,
    MOHLER,
    Translations,
    assign_answers,
    list_crowdwsa_files,
    load_crowdwsa,
    load_mohler,
)
from evaluation.evidence.data_sets import GradedAnswers as Corpus
from evaluation.evidence.studies.worker_grading import SETTINGS
from evaluation.evidence.tables import EvidenceRequest, StudyTable, write_table
from evaluation.grading.alarms.methods import Finding, build_findings, compute_run_checks
from evaluation.grading.alarms.run.detection import Alarm, GradedAnswers, detect_alarms

FILLERS = ("really", "basically", "just", "also", "simply", "actually")
# One edit for so many words.
EVERY = 8
# How often an opening is put before the text.
OPENED = 0.3


def edit_lightly(text: str, rng: np.random.Generator) -> str:
    """Return the text with every eighth word dropped, swapped, misspelt, capitalised or added."""
    words = text.split()
    for _ in range(max(1, len(words) // EVERY) if words else 0):
        index, kind = int(rng.integers(len(words))), int(rng.integers(5))
        if kind == 0 and len(words) > 3:
            words.pop(index)
        elif kind == 1 and index + 1 < len(words):
            words[index], words[index + 1] = words[index + 1], words[index]
        elif kind == 2 and len(words[index]) > 3:
            letter = int(rng.integers(len(words[index]) - 1))
            word = words[index]
            words[index] = word[:letter] + word[letter + 1] + word[letter] + word[letter + 2 :]
        elif kind == 3:
            words[index] = words[index].capitalize()
        else:
            words.insert(index, str(rng.choice(FILLERS)))
    if rng.random() < OPENED:
        words = ["I", "think", *words]
    return " ".join(words)


RINGING = ("copies", "clique", "two_camps", "leverage", "grader_disagreement")
HEADER = ("setting", "crowds", *RINGING, "any", "partly_copied", "found_exactly")
QUESTIONS = (10, 30, 87)
COPIERS = 4
FEWEST_OF_REAL = 12
SIMULATED = (12, 20, 40, 60)


@dataclass(frozen=True)
class RaisedAlarms:
    """Alarms raised in one crowd: their kinds, and the groups of workers that each kind names."""

    raised: frozenset[str]
    groups: dict[str, list[frozenset[int]]]
    partly_copied: bool

    @classmethod
    def from_alarms(cls, rows: Iterable[Alarm]) -> RaisedAlarms:
        """Create the object from a grading's alarms, whose worker ids are numbers."""
        return cls._from_triples([(row.kind, row.severity, map(int, row.workers)) for row in rows])

    @classmethod
    def from_findings(cls, findings: list[Finding], workers: NDArray[np.int64]) -> RaisedAlarms:
        """Create the object from findings; `workers` maps worker codes to worker numbers."""
        return cls._from_triples(
            [(f.kind, f.severity, map(int, workers[f.workers])) for f in findings]
        )

    @classmethod
    def _from_triples(cls, triples: list[tuple[str, str, map[int]]]) -> RaisedAlarms:
        """Create the object from (kind, severity, workers) of each alarm or notice."""
        groups: dict[str, list[frozenset[int]]] = {}
        for kind, severity, members in triples:
            if severity == "alarm":
                groups.setdefault(kind, []).append(frozenset(members))
        partly_copied = any(
            kind == "copies" and severity != "alarm" for kind, severity, _ in triples
        )
        return cls(frozenset(groups) & frozenset(RINGING), groups, partly_copied)


@dataclass(frozen=True)
class CrowdSetting:
    """Setting of the study: crowds of one kind, with the groups that an alarm should name.

    Attributes
    ----------
    name : as in the table. make : function from a seed to the alarms of a crowd, and the groups
        that alarms of `kind` should name ([] in an honest crowd).
    """

    name: str
    kind: str | None
    make: Callable[[int], tuple[RaisedAlarms, list[frozenset[int]]]]


def inspect_simulated_crowd(
    groups: list[WorkerGroup], n_questions: int, seed: int, answers: int | None = None
) -> RaisedAlarms:
    """Simulate a crowd without texts, and return its alarms."""
    crowd = simulate_crowd(groups, n_questions, 300, seed, answers)
    aqer = AQER(n_draws=0, seed=seed).fit(crowd.vectors, crowd.workers, crowd.questions)
    return RaisedAlarms.from_findings(
        build_findings(compute_run_checks(aqer)), aqer.workers_.astype(np.int64)
    )


def inspect_crowd_with_texts(
    embedder: str,
    vectors: Vectors,
    workers: NDArray[np.generic],
    questions: NDArray[np.generic],
    texts: list[str],
) -> RaisedAlarms:
    """Grade a crowd whose answers have texts, and return its alarms.

    `embedder` is the vectors' embedder specification.
    """
    parameters = AqerParameters(embedder=embedder, bootstrap=0)
    worker_list, question_list = workers.tolist(), questions.tolist()
    aqer = parameters.build_estimator().fit(vectors, workers, questions)
    return RaisedAlarms.from_alarms(
        detect_alarms(
            parameters, aqer, GradedAnswers(texts, worker_list, question_list, vectors)
        ).found
    )


@dataclass(frozen=True)
class StudentCrowds:
    """Crowds of simulated workers who give students' answers, with the alarms they raise."""

    corpus: Corpus
    made: CorpusVectors
    embedder: str

    @property
    def vectors(self) -> Vectors:
        """Vectors of the student answers, as rows, dense or sparse."""
        return self.made.embed_texts(self.embedder)

    def draw_crowd(self, tier: int, n_questions: int, seed: int) -> tuple[NDArray[np.int64], ...]:
        """Return the corpus row and the worker of each answer of a random crowd."""
        assignment = assign_answers(self.corpus, tier, seed)
        questions = np.unique(self.corpus.questions)
        sampled = np.random.default_rng(seed).choice(questions, n_questions, replace=False)
        keep = np.isin(self.corpus.questions[assignment.rows], sampled)
        return assignment.rows[keep], assignment.workers[keep]

    def inspect_honest_crowd(
        self, tier: int, n_questions: int, seed: int
    ) -> tuple[RaisedAlarms, list[frozenset[int]]]:
        """Return the alarms of a crowd of honest workers, and [], as no group is to be found."""
        rows, workers = self.draw_crowd(tier, n_questions, seed)
        texts = [self.corpus.texts[row] for row in rows.tolist()]
        questions = self.corpus.questions[rows]
        return inspect_crowd_with_texts(
            self.embedder, self.vectors[rows], workers, questions, texts
        ), []

    def inspect_copying_crowd(
        self, tier: int, n_questions: int, edited: bool, seed: int
    ) -> tuple[RaisedAlarms, list[frozenset[int]]]:
        """Return the alarms of a crowd in which four workers give equal answers, and the four."""
        rows, workers = self.draw_crowd(tier, n_questions, seed)
        rng = np.random.default_rng(seed)
        copiers = rng.choice(CROWD, COPIERS, replace=False)
        questions = self.corpus.questions[rows]
        source = dict(
            zip(questions[workers == copiers[0]], rows[workers == copiers[0]], strict=True)
        )
        # The first copier is the source, whose own answers stay as they are.
        copied = np.isin(workers, copiers[1:])
        rows = rows.copy()
        rows[copied] = [source[question] for question in questions[copied]]
        texts = [self.corpus.texts[row] for row in rows.tolist()]
        vectors = self.vectors[rows]
        if edited:
            edited_rows = np.flatnonzero(copied)
            for place in edited_rows.tolist():
                texts[place] = edit_lightly(texts[place], rng)
            edited_vectors = self.made.embed_further_texts(
                self.embedder, [texts[place] for place in edited_rows.tolist()]
            )
            vectors = _replace_rows(vectors, edited_rows, edited_vectors)
        alarms = inspect_crowd_with_texts(self.embedder, vectors, workers, questions, texts)
        return alarms, [frozenset(copiers.tolist())]


def _replace_rows(vectors: Vectors, rows: NDArray[np.int64], others: Vectors) -> Vectors:
    """Return the vectors with some rows replaced by others, in their order."""
    source_rows = np.arange(vectors.shape[0])
    source_rows[rows] = vectors.shape[0] + np.arange(len(rows))
    if isinstance(vectors, np.ndarray):
        return np.concatenate([vectors, others])[source_rows]
    return sparse.csr_array(sparse.vstack([vectors, others], format="csr"))[source_rows]


def inspect_real_crowd(
    corpus: Translations, embedder: str, vectors: Vectors, seed: int
) -> tuple[RaisedAlarms, list[frozenset[int]]]:
    """Return the alarms of 12 to all workers of a real crowd, drawn at random, and []."""
    rng = np.random.default_rng(seed)
    number = np.unique(corpus.workers, return_inverse=True)[1]
    m = int(number.max()) + 1
    chosen = rng.choice(m, int(rng.integers(FEWEST_OF_REAL, m + 1)), replace=False)
    rows = np.flatnonzero(np.isin(number, chosen))
    texts = [corpus.texts[row] for row in rows.tolist()]
    return inspect_crowd_with_texts(
        embedder, vectors[rows], number[rows], corpus.sentences[rows], texts
    ), []


def list_settings(
    request: EvidenceRequest, progress: Progress | None = None
) -> Iterator[CrowdSetting]:
    """Yield all settings of the study, honest crowds first; `--core` leaves out edited texts."""

    def inspect(groups: list[WorkerGroup], n_questions: int, seed: int, answers: int | None = None):  # type: ignore[no-untyped-def]
        """Return the alarms of an honest simulated crowd, and no group to find."""
        return inspect_simulated_crowd(groups, n_questions, seed, answers), []

    for m in SIMULATED:
        yield CrowdSetting(
            f"honest simulated {m}", None, partial(inspect, build_honest_groups(m), 15)
        )
    sparse_crowd = partial(inspect, build_honest_groups(40), 60, answers=8)
    yield CrowdSetting("honest simulated 40, 8 a question", None, sparse_crowd)
    mohler = load_mohler(request.data)
    dealer = StudentCrowds(mohler, CorpusVectors(mohler.texts, progress), request.embedder)
    for setting_name, tier in SETTINGS.items():
        for n in QUESTIONS:
            yield CrowdSetting(
                f"honest dealt {setting_name}, {n} questions",
                None,
                partial(dealer.inspect_honest_crowd, tier, n),
            )
    for setting_name in ("T1", "T2"):
        real = load_crowdwsa(request.data, setting_name)
        vectors = CorpusVectors(real.texts, progress).embed_texts(request.embedder)
        sample = partial(inspect_real_crowd, real, request.embedder, vectors)
        yield CrowdSetting(f"honest CrowdWSA {setting_name}", None, sample)
    for share in (0.5, 0.7):
        for rho in (0.7, 0.8, 0.9):
            n_weak = round(20 * share)
            camps = [frozenset(range(n_weak)), frozenset(range(n_weak, 20))]

            # Defaults bind the values of this turn of the loop; a closure would see the last ones.
            def inspect_camps(seed, rho=rho, share=share, camps=camps):  # type: ignore[no-untyped-def]
                """Return the alarms of a simulated crowd with two camps, and both camps."""
                return inspect_simulated_crowd(
                    build_correlated_weak_groups(rho, share), 10, seed
                ), camps

            yield CrowdSetting(f"weak {share:.0%}, rho {rho:g}", "two_camps", inspect_camps)
    for edited in (False,) if request.core else (False, True):
        for n in QUESTIONS:
            kind_of_copy = "edited" if edited else "pasted"
            yield CrowdSetting(
                f"four {kind_of_copy}, 10x2, {n} questions",
                "copies",
                partial(dealer.inspect_copying_crowd, SETTINGS["10x2"], n, edited),
            )


def reproduce_alarms(request: EvidenceRequest, progress: Progress | None = None) -> StudyTable:
    """Write and return the table of the study: shares of crowds in which each alarm was raised.

    `found_exactly` is the share in which the copiers, or both camps, were named exactly; empty in
    honest crowds. The rows "honest, all ..." are over all crowds of that source.
    """
    with OutputFolder(request.output) as folder:
        alarms_by_setting: dict[str, list[RaisedAlarms]] = {}
        rows: list[tuple[object, ...]] = []
        for done, setting in enumerate(list_settings(request, progress)):
            results = [setting.make(seed) for seed in request.seeds]
            alarms_by_setting[setting.name] = [alarms for alarms, _ in results]
            exact = None
            if setting.kind is not None:
                kind = setting.kind
                exact = float(
                    np.mean([_names_exactly(alarms, kind, groups) for alarms, groups in results])
                )
            rows.append(_build_row(setting.name, alarms_by_setting[setting.name], exact))
            if progress is not None:
                progress("alarms", done + 1, N_SETTINGS - len(QUESTIONS) * request.core)
        honest_alarms = {
            name: pooled for name, pooled in alarms_by_setting.items() if name.startswith("honest")
        }
        for source in ("honest simulated", "honest dealt", "honest CrowdWSA", "honest"):
            pooled = [
                alarms
                for name, all_ in honest_alarms.items()
                if name.startswith(source)
                for alarms in all_
            ]
            rows.append(_build_row(f"{source}, all", pooled, None))
        write_table(folder, "table", HEADER, rows)
        sources = [MOHLER, *list_crowdwsa_files("T1")[:1], *list_crowdwsa_files("T2")[:1]]
        folder.write_json(
            "summary.json",
            {
                "study": "alarms",
                "repetitions": request.repetitions,
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "embedder": request.embedder,
                "input_hash": combine_hashes(
                    hash_file(Path(request.data) / path) for path in sources
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
                "versions": collect_versions(),
            },
        )
    return StudyTable(HEADER, rows)


N_SETTINGS = len(SIMULATED) + 1 + len(SETTINGS) * len(QUESTIONS) + 2 + 6 + 2 * len(QUESTIONS)


def _names_exactly(alarms: RaisedAlarms, kind: str, groups: list[frozenset[int]]) -> bool:
    """Return whether alarms of a kind name exactly these groups; ignores empty groups."""
    named_groups = [group for group in alarms.groups.get(kind, []) if group]
    return sorted(map(sorted, named_groups)) == sorted(map(sorted, groups))


def _build_row(name: str, alarms: list[RaisedAlarms], exact: float | None) -> tuple[object, ...]:
    """Return a table row: share of crowds with each kind of alarm raised."""

    def compute_share(which: Callable[[RaisedAlarms], bool]) -> float:
        """Return the share of crowds for which a condition holds."""
        return float(np.mean([which(alarm) for alarm in alarms]))

    return (
        name,
        len(alarms),
        *(compute_share(lambda one, kind=kind: kind in one.raised) for kind in RINGING),  # type: ignore[misc]
        compute_share(lambda one: bool(one.raised)),
        compute_share(lambda one: one.partly_copied),
        exact,
    )
