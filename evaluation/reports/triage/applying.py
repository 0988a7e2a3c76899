"""What a run without the excluded would have left."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, F, Sum

from evaluation.methods.aqer.scale import FEWEST_ANSWERERS
from evaluation.models import AnswerScore, ExemplaryAnswer, Run, WorkerGrade
from evaluation.reports.triage.verdicts import VOTED, Decided, verdicts_of
from evaluation.words.message import Message

# Questions that are named.
NAMED = 20


@dataclass(frozen=True)
class ThinQuestion:
    """A question that would keep fewer than 3 answers, and had 3 or more."""

    question: UUID
    name: str
    n_before: int
    n_after: int


@dataclass(frozen=True)
class Excluded:
    """Somebody who would be left out, and why."""

    name: str
    n_answers: int
    verdict: Decided


@dataclass(frozen=True)
class Preview:
    """A run of the same settings without the excluded, before it is started.

    Attributes
    ----------
    left_out : by name. n_people, n_answers : of this run; `_left` of them remain.
    thin : the first 20 of `n_thin` questions, those with the fewest answers first.
    before : ids that this run has left out already, and that stay out.
    """

    left_out: list[Excluded]
    n_people: int
    n_people_left: int
    n_answers: int
    n_answers_left: int
    thin: list[ThinQuestion]
    n_thin: int
    before: tuple[str, ...]

    @property
    def verdicts(self) -> str:
        """The decisions that it rests on, as a form sends them back."""
        return ",".join(sorted(one.verdict.id.hex for one in self.left_out))

    @property
    def said(self) -> Message:
        """What remains, in a sentence."""
        values = {
            "out": len(self.left_out),
            "left": self.n_people_left,
            "all": self.n_people,
            "answers": self.n_answers_left,
            "all_answers": self.n_answers,
        }
        return Message("triage.without", values)

    @property
    def thin_said(self) -> Message:
        """What becomes of the questions, in a sentence."""
        return Message("triage.thin", {"questions": self.n_thin})


def preview(run: Run) -> Preview:
    """Return what would happen, by five queries; the answers are those that the run graded."""
    verdicts = [one for one in verdicts_of(run).values() if one.kind == "exclude"]
    by_worker = {one.worker: one for one in verdicts}
    grades = WorkerGrade.objects.filter(VOTED, run=run)
    total = grades.aggregate(people=Count("pk"), answers=Sum("n_answers"))
    rows = grades.filter(worker__public_id__in=list(by_worker)).values_list(
        "worker__public_id", "worker__external_id", "n_answers", "worker_id"
    )
    out = sorted(rows, key=lambda row: row[1])
    thin = _thin(run, [row[3] for row in out])
    n_answers = total["answers"] or 0
    return Preview(
        left_out=[Excluded(name, n, by_worker[worker]) for worker, name, n, _ in out],
        n_people=total["people"],
        n_people_left=total["people"] - len(out),
        n_answers=n_answers,
        n_answers_left=n_answers - sum(row[2] for row in out),
        thin=thin[:NAMED],
        n_thin=len(thin),
        before=tuple(run.parameters.get("exclude_workers", ())),
    )


def _thin(run: Run, workers: list[int]) -> list[ThinQuestion]:
    gone = dict(
        AnswerScore.objects.filter(run=run, response__submission__worker__in=workers)
        .order_by()
        .values_list("response__question")
        .annotate(n=Count("pk"))
    )
    rows = ExemplaryAnswer.objects.filter(run=run, n_answers__gte=FEWEST_ANSWERERS).values_list(
        "question_id", "question__public_id", "question__external_id", "n_answers"
    )
    found = [
        ThinQuestion(public_id, name, n, max(0, n - gone[key]))
        for key, public_id, name, n in rows.order_by(F("question__position"))
        if n - gone.get(key, 0) < FEWEST_ANSWERERS
    ]
    return sorted(found, key=lambda one: one.n_after)
