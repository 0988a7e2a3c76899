"""How well grades without an answer key agree with tutors' labels, on real students.

Beetle (Dzikovska et al. 2013): students answered questions of a tutoring system on electricity, and
every answer was called correct, contradictory or incorrect (partly right, irrelevant or off the
topic). The students are the workers, with their first attempts; a student's true value is the share
of correct ones among these. Nobody is dealt and nobody is simulated, so these are the numbers to
quote first.

Settings: all, and 40-percent: 40% of the answers, drawn one by one without replacement, whoever
gave them to whichever question, anew in each repetition; the true values are the shares among the
drawn ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.consensus.signatures import combined_hash, file_hash, versions
from evaluation.consensus.vectors import Progress
from evaluation.evidence.answer_scores import HEADER as ANSWERS_HEADER
from evaluation.evidence.answer_scores import AnswerMeasure, answer_measures
from evaluation.evidence.baselines import CONTRADICTION, Method, methods
from evaluation.evidence.corpus import CorpusVectors, corpus_of
from evaluation.evidence.data_sets import (
    BEETLE,
    BEETLE_QUESTIONS,
    StudentAnswers,
    load_beetle_questions,
    load_labelled_beetle,
)
from evaluation.evidence.labelled_crowd import (
    AGREEMENT_HEADER,
    Agreement,
    LabelledCrowd,
    agreements,
)
from evaluation.evidence.methods_chart import methods_charts
from evaluation.evidence.methods_table import best_baseline
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.studies.real_facts import write_facts
from evaluation.evidence.tables import write_evidence, write_table
from evaluation.methods.cells import Booleans

ALL = "all"
PART = "40-percent"
SHARE = 0.4
CORRECT = "correct"
CONTRADICTORY = "contradictory"
# Which answers should score higher than contradictory ones; the last one is of the five-way labels.
HIGHER = (CORRECT, "incorrect", "partially_correct_incomplete")
# Who may tell contradiction apart, and what a sentence calls it.
WITH_MODELS = {
    "aqer": "cosine (aqer)",
    "judge": "a language model as judge",
    "contradiction": "an entailment model",
}


def reproduce_real_workers(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write table.csv, agreement.csv and answers.csv, and return the second.

    What facts have to say beside it is in fact_questions.csv, fact_gates.csv and fact_flags.csv.

    Raises `InputError` and `BackendError`.
    """
    with OutputFolder(request.output) as folder:
        students = load_labelled_beetle(request.data)
        vectors = CorpusVectors(students.texts, progress)
        corpus, judged = corpus_of(
            students.texts,
            students.questions,
            vectors,
            request,
            progress,
            asked=_asked(request, students),
        )
        values = (students.labels == CORRECT).astype(np.float64)
        crowd = LabelledCrowd(corpus, students.workers, values)
        chosen = [*methods(core=request.core), *([] if request.core else [CONTRADICTION])]
        found = _agreements(crowd, chosen, request, progress)
        single = _answers(crowd, chosen, _contrasts(students), request, progress)
        write_table(folder, "agreement", AGREEMENT_HEADER, [one.cells() for one in found])
        write_table(folder, "answers", ANSWERS_HEADER, [one.cells() for one in single])
        write_facts(folder, students, load_beetle_questions(request.data))
        rows = [one.row for one in found]
        write_evidence(
            folder,
            rows,
            {
                "study": "real-workers",
                "answers": len(students.texts),
                "workers": crowd.n_workers,
                "questions": corpus.n_questions,
                "correct": float(values.mean()),
                "repetitions": {ALL: 1, PART: request.repetitions},
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "truth": "share of correct answers among a student's first attempts",
                "embedders": vectors.described(),
                "judge": judged,
                "entailment": request.nli,
                "best_baseline": best_baseline(rows),
                "input_hash": combined_hash(
                    file_hash(request.data / name)
                    for name in (BEETLE, BEETLE_QUESTIONS)
                    if (request.data / name).exists()
                ),
                "versions": versions(),
            },
            methods_charts(rows, "correlation of workers' scores with their share correct"),
            [*_empty_agreements(found), *_empty_answers(single)],
        )
    return StudyTable(AGREEMENT_HEADER, [one.cells() for one in found], told_apart(single))


def told_apart(found: Sequence[AnswerMeasure]) -> str:
    """Say whether scores tell contradictory answers from such as are partly right.

    By the five-way labels; by the three-way ones from all that are incorrect otherwise. Beside
    cosine, of `aqer`, stand those for which a model is needed.
    """
    by_measure = {(one.method, one.measure): one.found for one in found}
    told = []
    for higher in reversed(HIGHER[1:]):
        measure = f"auc_{higher}_over_{CONTRADICTORY}"
        if ("aqer", measure) not in by_measure:
            continue
        for method, called in WITH_MODELS.items():
            one = by_measure.get((method, measure))
            if one is None or one.value is None:
                why = "left out by --core" if one is None else one.reason
                told.append(f"{called} not measured here ({why})")
            elif one.low is None:
                told.append(f"{called} {one.value:.2f}")
            else:
                told.append(f"{called} {one.value:.2f} (95% {one.low:.2f} to {one.high:.2f})")
        return (
            f"How often an answer called {higher} scores higher than a {CONTRADICTORY} one "
            f"(.5 is a coin): {'; '.join(told)}."
        )
    return ""


def _asked(request: Request, students: StudentAnswers) -> Mapping[str, str]:
    """Return what each question asks; empty unless it is known of all of them."""
    asked = load_beetle_questions(request.data)
    return asked if set(students.questions.tolist()) <= set(asked) else {}


def _contrasts(students: StudentAnswers) -> dict[str, tuple[Booleans, Booleans]]:
    labels = students.labels
    three_way = HIGHER[:2]
    return {
        f"auc_{name}_over_{CONTRADICTORY}": (labels == name, labels == CONTRADICTORY)
        for name in HIGHER
        if name in three_way or (labels == name).any()
    }


def _agreements(
    crowd: LabelledCrowd, chosen: Sequence[Method], request: Request, progress: Progress | None
) -> list[Agreement]:
    done = 0

    def told() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress("methods", done, 2 * len(chosen))

    settings = {
        ALL: [crowd.trial(seed=request.seeds.start)],
        PART: crowd.parts(SHARE, request.seeds),
    }
    return [
        row
        for setting, trials in settings.items()
        for row in agreements(setting, crowd, trials, chosen, request.seed, told)
    ]


def _answers(
    crowd: LabelledCrowd,
    chosen: Sequence[Method],
    contrasts: Mapping[str, tuple[Booleans, Booleans]],
    request: Request,
    progress: Progress | None,
) -> list[AnswerMeasure]:
    trial = crowd.trial(seed=request.seeds.start)
    found: list[AnswerMeasure] = []
    for done, method in enumerate(chosen):
        found += answer_measures(ALL, trial, crowd.values, method, contrasts, request.seed)
        if progress is not None:
            progress("answers", done + 1, len(chosen))
    return found


def _empty_agreements(found: Sequence[Agreement]) -> list[dict[str, object]]:
    """Say of empty rows why they are: the correlation and its intervals are empty together."""
    return [
        {
            "file": "agreement.csv",
            "column": "pearson",
            "reason": one.row.reason("pearson_mean"),
            "count": 1,
            "rows": [[one.row.setting, one.row.method]],
        }
        for one in found
        if np.isnan(one.row.pearson_mean)
    ]


def _empty_answers(found: Sequence[AnswerMeasure]) -> list[dict[str, object]]:
    return [
        {
            "file": "answers.csv",
            "column": "low" if one.found.value is not None else "value",
            "reason": one.found.reason,
            "count": 1,
            "rows": [[one.setting, one.method, one.measure]],
        }
        for one in found
        if one.found.reason is not None
    ]
