"""A kind of run for tests: counts the words of each worker's answers, in two turns at least."""

import time
from collections import Counter
from dataclasses import dataclass, replace

from annotations.exchange import InputError, Problem
from annotations.exchange.importing import import_questions
from annotations.models import Response
from evaluation.core.options import FloatOption, IntegerOption, Parameters, declare_option
from evaluation.models import Run, RunData
from evaluation.runs.judging import Choice, Exhibit, Judging, Part
from evaluation.runs.reports.lists import Table
from evaluation.runs.run_types import DataReadiness, Kind, Page, RunSummary, Start, StartFile
from evaluation.runs.steps.checkpoints import OutOfTimeError, RunEnd, RunInputError, Turn
from tests.evaluation.runs.run_types.words.study import STUDY

ASIDE, ROWS = "first-half", "rows"


@dataclass(frozen=True)
class WordOptions(Parameters):
    """What is counted, and how long each half takes."""

    longest: int = declare_option(
        100,
        IntegerOption(
            label="Longest word", help="Words with more letters are not counted.", lowest=1
        ),
    )
    seconds: float = declare_option(
        0.0, FloatOption(label="Pause", help="Before each half.", lowest=0.0)
    )


@dataclass(frozen=True)
class WordSummary(RunSummary):
    """`turns`: on which attempt each half was counted."""

    answers: int = 0
    workers: int = 0
    turns: tuple[int, ...] = ()

    def get_shown_counts(self):
        return {"answers": self.answers, "workers": self.workers}


@dataclass(frozen=True)
class WordReport:
    """The worker with the most words."""

    most: str
    words: int


def counted(answers, longest):
    found = Counter()
    for worker, text in answers:
        found[worker] += sum(len(word) <= longest for word in text.split())
    return found


def count_words(turn: Turn) -> None:
    run = Run.objects.get(pk=turn.run_id)
    options = WordOptions.from_dict(run.parameters)
    answers = list(
        Response.objects.filter(question__version=run.version_id, status="text")
        .order_by("pk")
        .values_list("submission__worker__external_id", "text")
    )
    if not answers:
        raise RunInputError("There is no answer to count the words of.")
    half = len(answers) // 2
    first = turn.read_stored(ASIDE)
    if first is None:
        turn.report_progress("counting", 0, len(answers))
        time.sleep(options.seconds)
        with turn.open_fenced_transaction():
            turn.store_json(ASIDE, [dict(counted(answers[:half], options.longest)), run.attempt])
        turn.report_progress("counting", half, len(answers))
        raise OutOfTimeError(run.pk)  # the rest is for another turn
    turn.check_interruption()
    time.sleep(options.seconds)
    total = Counter(first[0]) + counted(answers[half:], options.longest)
    with turn.open_fenced_transaction():
        turn.store_json(ROWS, sorted(total.items()))
        RunData.objects.filter(run=run, name=ASIDE).delete()
        summary = WordSummary(1, len(answers), len(total), turns=(first[1], run.attempt))
        turn.finish_run(RunEnd(f"words|longest:{options.longest}", "0" * 64, summary))


def rows_of(run: Run):
    return RunData.objects.get(run=run, name=ROWS).data


def words_table(run: Run) -> Table:
    return Table(("worker", "words"), rows_of(run))


def word_report(run: Run) -> WordReport:
    return WordReport(*max(rows_of(run), key=lambda row: row[1]))


WORDS = Kind(
    name="words",
    title="Word counts",
    words="Counts the words of each worker's answers.",
    options=WordOptions,
    run=count_words,
    summary=WordSummary,
    tables={"workers": words_table},
    report=word_report,
    study=STUDY,
)

# The same with a page of its own.
MOST = Page("most", "The most", "evaluation/kind.html", lambda run: {"facts": rows_of(run)})
PAGED = replace(WORDS, pages=(MOST,))

# The same, saying on the page of a run how far it is, and what its longest word may be.
STANDING = replace(
    WORDS,
    standing=Page(
        "standing",
        "So far",
        "evaluation/kind_facts.html",
        lambda run: {"facts": list(RunData.objects.filter(run=run).values_list("name", "data"))},
    ),
    named=lambda run: {"longest": f"{run.parameters['longest']} letters"},
)

# The same without runs.
ON_FILES = replace(WORDS, run=None)

# The same, with two things that experts judge: on a scale of grades, and by a label.
PLENTY = Judging(
    name="plenty",
    title="Plenty of words",
    one="worker",
    many="workers",
    words="Say how many words they wrote.",
    question="Did they write plenty?",
    choices=tuple(Choice(str(grade), f"{grade} of 5", grade) for grade in range(6)),
    columns=("worker",),
    value="score",
    exhibits=lambda run, _: [
        Exhibit((worker,), (Part("Words", str(words), quoted=True),))
        for worker, words in rows_of(run)
    ],
    machines=lambda run: {
        "counter": {(worker,): min(words, 5.0) for worker, words in rows_of(run)}
    },
)
SORT = replace(
    PLENTY,
    name="sort",
    value="",
    title="Sorts",
    choices=(Choice("few", "only a few", key="f"), Choice("many", "a great many", key="m")),
    machines=lambda run: {},
)
JUDGED = replace(WORDS, judging=(PLENTY, SORT))


# The same with a page that takes a file of questions before it starts anything.
def before(version):
    count = version.questions.count() if version else 0
    return DataReadiness(f"{count} questions.", ready=count > 2)


def take_questions(question_set, source, switches, imported_by):
    if not switches["sure"]:
        raise InputError(
            [Problem("more.csv", 3, "text", "nobody is sure", "Tick.", "Give --sure.")]
        )
    return import_questions(question_set, source, imported_by=imported_by).lines()


STARTED = replace(
    WORDS,
    needs_answers=False,
    start=Start(
        words="Nobody needs it.",
        before=before,
        files=(
            StartFile(
                name="more",
                title="More questions",
                words="They have no answers.",
                take=take_questions,
                switches={"sure": "I am sure"},
                most_bytes=1000,
            ),
        ),
    ),
)
