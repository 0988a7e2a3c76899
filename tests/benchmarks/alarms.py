"""Case: what alarms add to a grading of 100,000 answers, from texts and from made vectors."""

from __future__ import annotations

from pathlib import Path

from annotations.exchange import InputError
from evaluation.consensus import AQER
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import BackendError, get_embedder
from evaluation.evidence.data_sets import load_mohler
from evaluation.grading.alarms.run.detection import Alarms, GradedAnswers, detect_alarms
from tests.benchmarks.crowds import crowd
from tests.benchmarks.results import Claim, Findings, SkippedError, figure, timed
from tests.benchmarks.timing import Contestant, take_turns

WORKERS, QUESTIONS, DIMENSION, EACH = 2_000, 10_000, 384, 10
DRAWS = 400
RUNS = 3
FROM_TEXTS = Claim("at most", 0.2)
# Texts that warm the model up, and those whose time is multiplied.
WARM_UP, TIMED = 64, 1_000

EMBEDDING = "embedding 1,000 of the texts, minilm"
FIT = f"AQER.fit, {DRAWS} draws"
ALARMS = "alarms"


def cost_of_alarms(data: Path, n_questions: int = QUESTIONS, timed_texts: int = TIMED) -> Findings:
    """Compare the time of the alarms with that of the grading before them.

    Embedding all texts would take a quarter of an hour: a sample of them is embedded, and its time
    multiplied. Raises `SkippedError` without the texts or the model.
    """
    made = crowd(WORKERS, n_questions, DIMENSION, answers=EACH)
    try:
        corpus = load_mohler(data).texts
        embedder = get_embedder("minilm", "float32")
        # No two texts are the same: equal ones would be embedded once.
        texts = [f"{corpus[row % len(corpus)]} {row}" for row in range(len(made))]
        embedder.embed(texts[:WARM_UP])
    except (InputError, BackendError) as error:
        raise SkippedError(str(error)) from error
    sample = texts[:: max(1, len(texts) // timed_texts)][:timed_texts]
    parameters = AqerParameters(bootstrap=DRAWS)
    aqer = AQER(n_draws=DRAWS).fit(made.vectors, made.workers, made.questions)
    who, asked = made.workers.tolist(), made.questions.tolist()
    found: list[Alarms] = []

    def look() -> None:
        answers = GradedAnswers(texts, who, asked, made.vectors)
        found.append(detect_alarms(parameters, aqer, answers))

    def fit() -> None:
        parameters.build_estimator().fit(made.vectors, made.workers, made.questions)

    timings = take_turns(
        [
            Contestant(EMBEDDING, lambda: embedder.embed(sample), runs=RUNS, warm_up=False),
            Contestant(FIT, fit, runs=RUNS, warm_up=False),
            Contestant(ALARMS, look, runs=RUNS, warm_up=False),
        ]
    )
    setting = f"{len(made):,} answers, {WORKERS:,} workers, {EACH} a question"
    embedding = timings[EMBEDDING].median * len(texts) / len(sample)
    fitting, looking = timings[FIT].median, timings[ALARMS].median
    rang = sorted({row.kind for row in found[-1].found})
    return Findings(
        [
            *(timed(setting, name, timing) for name, timing in timings.items()),
            figure(
                setting,
                "alarms, share of embedding and fit",
                looking / (embedding + fitting),
                "",
                FROM_TEXTS,
            ),
            figure(setting, "alarms, share of fit (precomputed vectors)", looking / fitting, ""),
        ],
        [
            f"embedding all texts is taken as {len(texts) / len(sample):g} times the sample, "
            f"{embedding:.0f} s; told of this crowd: {', '.join(rang) or 'nothing'}",
        ],
    )
