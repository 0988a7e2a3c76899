"""Case: what reading facts and voting on them adds to a run, on explanations and on facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from annotations.exchange import InputError
from evaluation.consensus.inputs import Answers, select_graded_answers
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import BackendError
from evaluation.evidence.data_sets import load_beetle, load_beetle_questions
from evaluation.evidence.studies.minimal_pairs import QUESTIONS, load_minimal_pairs
from evaluation.grading.facts.run import CrowdFacts, find_crowd_facts
from evaluation.grading.run.grading import grade_answers
from tests.benchmarks.results import (
    Claim,
    Figure,
    Findings,
    SkippedError,
    figure,
    timed,
)
from tests.benchmarks.timing import Contestant, take_turns

RUNS, WORKERS, DRAWS = 3, 20, 400
SHARE = Claim("at most", 0.1, "of a run")

RUN = "a run without facts: minilm, 400 draws, alarms"
FACTS = "reading and voting on facts"
WORDS = "TfidfVectorizer.fit_transform of the same texts"


def share_of_a_run(data: Path, workers: int = WORKERS, draws: int = DRAWS) -> Findings:
    """Time facts beside the run that they stand beside; Beetle's part is left out without data.

    Explanations are Beetle's: every text is read, nearly nobody votes. Facts are the sentences of
    the minimal pairs: every question has its slots, and everybody votes. Raises `SkippedError`
    without a model.
    """
    rows, remarks = _compared("facts", _of_pairs(workers), _asked_of_pairs(), draws)
    try:
        students, asked = load_beetle(data), load_beetle_questions(data)
    except InputError as error:
        return Findings(rows, [*remarks, f"explanations are left out: {error}"])
    columns = (students.workers.tolist(), students.questions.tolist(), students.texts)
    answers = Answers.from_rows(
        (row, worker, question, text, False)
        for row, (worker, question, text) in enumerate(zip(*columns, strict=True))
    )
    more, told = _compared("explanations", answers, asked, draws)
    return Findings([*rows, *more], [*remarks, *told])


def _compared(
    name: str, answers: Answers, asked: Mapping[str, str], draws: int
) -> tuple[list[Figure], list[str]]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    given = select_graded_answers(AqerParameters(bootstrap=draws, facts=False), answers)
    found: list[CrowdFacts] = []
    try:
        grade_answers(
            select_graded_answers(AqerParameters(bootstrap=0, facts=False), _some(answers))
        )
    except BackendError as error:
        raise SkippedError(str(error)) from error
    timings = take_turns(
        [
            Contestant(RUN, lambda: grade_answers(given), runs=RUNS, warm_up=False),
            Contestant(
                FACTS, lambda: found.append(find_crowd_facts(asked, given.answered)), runs=RUNS
            ),
            Contestant(WORDS, lambda: TfidfVectorizer().fit_transform(answers.texts), runs=RUNS),
        ]
    )
    setting = f"{name}: {len(answers):,} answers to {len(set(answers.questions))} questions"
    run, own = timings[RUN], timings[FACTS]
    return [
        timed(setting, RUN, run),
        timed(setting, FACTS, own),
        timed(setting, WORDS, timings[WORDS], own=own),
        figure(setting, "facts, share of the run", own.median / run.median, "", SHARE),
    ], [
        f"{setting}: it speaks on {len(found[-1].questions)} of them; "
        f"{len(set(answers.texts)):,} different texts"
    ]


def _some(answers: Answers) -> Answers:
    """Return what warms a run up: the answers to the first questions."""
    few = set(list(dict.fromkeys(answers.questions))[:2])
    return answers.select_rows(question in few for question in answers.questions)


def _asked_of_pairs() -> dict[str, str]:
    return {pair.id: QUESTIONS[pair.kind] for pair in load_minimal_pairs()}


def _of_pairs(workers: int) -> Answers:
    """Return answers of so many workers, of whom every fifth states another fact."""
    return Answers.from_rows(_rows(workers))


def _rows(workers: int) -> Iterator[tuple[str, int, str, str, bool]]:
    for pair in load_minimal_pairs():
        said = [pair.original, pair.paraphrase, pair.original, pair.paraphrase, pair.changed]
        for worker in range(workers):
            # No two texts are the same: equal ones would be embedded once. Letters are no fact.
            mark = "".join(chr(ord("a") + int(digit)) for digit in f"{worker}")
            text = f"{said[worker % len(said)].rstrip('.')}, so {mark}."
            yield f"{pair.id}/{worker}", worker, pair.id, text, False
