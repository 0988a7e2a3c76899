"""Options and summary of the run that compares scoring methods on graded answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from annotations.exchange.graded import LabelGrades
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import OF_GRADING
from evaluation.core.messages.message import Message
from evaluation.core.options import (
    IntegerOption,
    Parameters,
    Problem,
    SwitchOption,
    TextOption,
    build_problem,
    declare_option,
)
from evaluation.core.options.declaration import ADVANCED, BASIC
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.runs.flow.stored import RunSummary


def _find_labels_problem(text: str) -> Problem | None:
    """Return the problem of a text with the values of labels; None if it is valid."""
    try:
        LabelGrades.parse(text)
    except ValueError as error:
        return build_problem("wrong_labels", "labels", reason=str(error))
    return None


@dataclass(frozen=True)
class GradedOptions(Parameters):
    """Options of comparing scoring methods: labels' values, slow methods, embedder, seed."""

    labels: str | None = declare_option(
        None,
        TextOption(
            label="What labels are worth",
            help="Only where answers have labels and not numbers, such as "
            "correct=1,partial=.5,wrong=0. Higher is better.",
            group=BASIC,
            optional=True,
            max_length=2000,
            test=_find_labels_problem,
        ),
    )
    slow: bool = declare_option(
        False,
        SwitchOption(
            label="Try slow methods too",
            help="Those that take many times as long as all others together.",
            group=ADVANCED,
        ),
    )
    embedder: str = declare_option("minilm", OF_GRADING["embedder"])
    repetitions: int = declare_option(
        10,
        IntegerOption(
            label="Dealt crowds",
            help="If the authors of the answers are unknown, this many crowds are drawn from them.",
            group=ADVANCED,
            lowest=1,
            highest=100,
        ),
    )
    seed: int = declare_option(0, OF_GRADING["seed"])

    groups: ClassVar = {ADVANCED: "More settings"}
    sentences: ClassVar = {
        **Parameters.sentences,
        "unreadable": AqerParameters.sentences["unreadable"],
        "wrong_labels": "{reason}",
        "no_graded_answers": "upload graded answers first",
        "unknown_labels": "{reason}",
    }


VERSION = 1
METHODS_HEADER = (
    *("method", "kind", "pearson", "low", "high", "spearman", "pearson_choosing"),
    *("pearson_heldout", "heldout_low", "heldout_high", "lead", "lead_low", "lead_high"),
)
# What is taken where nothing else was shown to be better.
DEFAULT = "aqer"
NO_ESTIMATE = Estimate()

# better: than the default, on questions that it was not chosen by; default: the default is, than
# the next best; apart: nothing is shown to be better than the default; small: too few workers or
# questions to tell.
Verdict = Literal["better", "default", "apart", "small"]


@dataclass(frozen=True)
class MethodRow:
    """Correlations of one scoring method's worker scores with the workers' mean grades.

    Attributes
    ----------
    kind : "aqer" (AQER and its variants), "baseline", "control" (reads no answers) or "supervised"
        (knows right answers).
    full : Pearson correlation on all questions; rank : Spearman correlation on them.
    held : correlation on the held-out questions; choosing : correlation on the others.
    lead : difference of `held` from that of the default method.
    reason : code of the reason why there is no score.
    run : options of a grading run that computes these scores, by name; None if no run does.
    """

    renamed_keys: ClassVar = {"held": "held_out"}

    name: str
    kind: str
    full: Estimate = NO_ESTIMATE
    rank: float | None = None
    choosing: float | None = None
    held: Estimate = NO_ESTIMATE
    lead: Estimate = NO_ESTIMATE
    reason: str | None = None
    run: dict[str, str] | None = None


@dataclass(frozen=True)
class GradedSummary(RunSummary):
    """Result of comparing all scoring methods on graded answers: rows, verdict, counts.

    Attributes
    ----------
    file, layout : name of the file, slug of its layout.
    dealt : "" if the file names the workers; else how simulated workers were assigned answers:
        the "best" of each question, or "random" ones.
    answers, workers, questions : numbers used. compared : workers with enough graded answers.
    held : number of held-out questions; 0 if there were too few to split.
    repetitions : number of simulated crowds; 1 for real workers. seed : seed of all draws.
    verdict : see `Verdict`. method : recommended method. best : best method on the choosing half.
    rival : method to which `method` is compared. lead : difference of their correlations on the
        held-out half (that of `best` if no method is significantly better), if defined.
    rows : all methods. notes : messages on the file and on the data left out.
    """

    file: str = ""
    layout: str = ""
    dealt: str = ""
    answers: int = 0
    workers: int = 0
    compared: int = 0
    questions: int = 0
    held: int = 0
    repetitions: int = 1
    seed: int = 0
    verdict: Verdict = "small"
    method: str = DEFAULT
    best: str = ""
    rival: str = ""
    lead: Estimate = NO_ESTIMATE
    rows: tuple[MethodRow, ...] = ()
    notes: tuple[dict[str, Any], ...] = ()

    def get_method_row(self, name: str) -> MethodRow:
        """Return a scoring method's row. Raises KeyError for a method that was not tried."""
        return {row.name: row for row in self.rows}[name]

    def get_shown_counts(self) -> dict[str, int]:
        """Return the counts for the run's page: graded answers, workers, questions."""
        return {
            "graded answers": self.answers,
            "workers": self.workers,
            "questions": self.questions,
        }

    @property
    def sentence(self) -> Message:
        """The message that states which scoring method to trust."""
        row = self.get_method_row(self.method)
        r = row.held if self.held else row.full
        values = {
            "method": self.method,
            "best": self.best,
            "rival": self.rival,
            "default": DEFAULT,
            "held": self.held,
            "r": r.value,
            "low": r.low,
            "high": r.high,
            "lead": self.lead.value,
            "lead_low": self.lead.low,
            "lead_high": self.lead.high,
        }
        return Message(f"graded.{self.verdict}", values)

    @property
    def messages(self) -> list[Message]:
        """Messages: which method to trust, how to run it, and the data behind it."""
        return [self.sentence, *self._build_advice_messages(), self._build_data_message()]

    def _build_advice_messages(self) -> Iterator[Message]:
        """Yield messages on how to run the method to trust; none for the default."""
        run = self.get_method_row(self.method).run
        if run is None:
            yield Message("graded.no_run", {"method": self.method})
            yield from self._build_best_run_messages()
        elif self.method != DEFAULT:
            yield Message("graded.run", {"method": self.method, "options": _format_options(run)})

    def _build_best_run_messages(self) -> Iterator[Message]:
        """Yield the message on the best method that a grading run offers; none without one."""
        known = [row for row in self.rows if row.run is not None and row.choosing is not None]
        if not known:
            return
        # By the choosing half, so that the held-out r beside it is not flattered by the choice.
        best = max(known, key=lambda row: row.choosing or 0.0)
        values = {
            "method": best.name,
            "options": _format_options(best.run or {}) or "the defaults",
            "r": best.held.value,
            "low": best.held.low,
            "high": best.held.high,
        }
        yield Message("graded.best_run", values)

    def _build_data_message(self) -> Message:
        """Return the message on the numbers of answers, questions and workers compared."""
        values = {
            "file": self.file,
            "answers": self.answers,
            "questions": self.questions,
            "workers": self.workers,
            "compared": self.compared,
            "repetitions": self.repetitions,
        }
        return Message(f"graded.by_{self.dealt or 'workers'}", values)


def build_method_rows(summary: GradedSummary) -> list[tuple[object, ...]]:
    """Return the table of methods, one row each, with cells as in `METHODS_HEADER`."""
    return [
        (
            *(row.name, row.kind, *asdict(row.full).values(), row.rank, row.choosing),
            *asdict(row.held).values(),
            *asdict(row.lead).values(),
        )
        for row in summary.rows
    ]


def _format_options(options: dict[str, str]) -> str:
    """Return options as text: names with values, joined by commas."""
    return ", ".join(f"{name} {value}" for name, value in options.items())
