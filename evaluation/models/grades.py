"""Results of AQER on workers, questions and answers; columns as in the result files.

A statistic that is undefined is None, with the reason in the run's `reasons`.
"""

from __future__ import annotations

from uuid import UUID

from django.db import models
from django.db.models import F, Q

from annotations.exchange.ids import clean_id
from annotations.models import VIEWERS, Access, Question, Response, Scoped, Worker
from evaluation.models.embeddings import has_length
from evaluation.models.runs import Run

# Two coordinates on two pairs of axes, as float32.
PLACE_BYTES = 16
CONTRAST = (
    "Question contrast: agreement with the question's exemplary answer less that with other "
    "questions' ones; null in runs from before there was such."
)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def undefined_or(condition: Q, *fields: str) -> Q:
    """Return the condition that one of the fields is null or `condition` holds."""
    for field in fields:
        condition = Q(**{f"{field}__isnull": True}) | condition
    return condition


class Result(Scoped):
    """Base class of result rows of a run; visible to users who may see the set's answers."""

    access = Access(question_set="run__version__question_set", readers=VIEWERS)

    class Meta:
        abstract = True


class FactCounts(models.Model):
    """Counts of a worker's or model's facts by agreement with the crowd; not part of grades.

    All None in runs without facts; the agreement and its interval also below 5 facts.
    """

    facts = models.PositiveIntegerField(
        null=True, help_text="Facts that agree with the crowd or contradict it."
    )
    fact_agreement = models.FloatField(null=True)
    fact_agreement_low = models.FloatField(null=True)
    fact_agreement_high = models.FloatField(null=True)
    fact_questions = models.PositiveIntegerField(
        null=True, help_text="Answered questions on which the crowd agrees on a fact."
    )
    fact_contradicted = models.PositiveIntegerField(
        null=True, help_text="Those of them on which an answer contradicts the crowd."
    )

    class Meta:
        abstract = True


class WorkerGrade(FactCounts, Result):
    """Result for a worker in a run; one row of workers.csv.

    `weights` and `grades` hold the voting weight and the grade after each of the iterations that
    the run's summary names, as float32, little-endian (NaN for no grade); None in runs that kept
    none.
    """

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="worker_grades", db_index=False
    )
    worker = models.ForeignKey(
        Worker, on_delete=models.CASCADE, related_name="grades", db_index=False
    )
    grade = models.FloatField(null=True)
    raw = models.FloatField(null=True)
    raw_low = models.FloatField(null=True)
    raw_high = models.FloatField(null=True)
    grade_low = models.FloatField(null=True)
    grade_high = models.FloatField(null=True)
    weight = models.FloatField(null=True)
    n_answers = models.PositiveIntegerField()
    support = models.BooleanField(help_text="Whether it has enough answers to be ranked.")
    rank = models.PositiveIntegerField(null=True)
    rank_low = models.PositiveIntegerField(
        null=True, help_text="The better end of the rank's 95% interval; null without draws."
    )
    rank_high = models.PositiveIntegerField(null=True)
    leave_one_out = models.FloatField(
        null=True, help_text="Mean similarity to the exemplary answers of the others."
    )
    contrast = models.FloatField(null=True, help_text=CONTRAST)
    contrast_low = models.FloatField(null=True)
    contrast_high = models.FloatField(null=True)
    weights = models.BinaryField(null=True)
    grades = models.BinaryField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "worker"], name="worker_grade_once"),
            models.CheckConstraint(
                condition=undefined_or(Q(grade__gte=0, grade__lte=1), "grade"),
                name="worker_grade_from_0_to_1",
            ),
            models.CheckConstraint(
                condition=undefined_or(Q(weight__gte=0), "weight"), name="worker_weight_from_0"
            ),
            models.CheckConstraint(
                condition=undefined_or(Q(rank__gte=1), "rank"), name="worker_rank_from_1"
            ),
            models.CheckConstraint(
                condition=undefined_or(Q(raw_low__lte=F("raw_high")), "raw_low", "raw_high"),
                name="worker_raw_interval",
            ),
            models.CheckConstraint(
                condition=undefined_or(
                    Q(grade_low__lte=F("grade_high")), "grade_low", "grade_high"
                ),
                name="worker_grade_interval",
            ),
            models.CheckConstraint(
                condition=undefined_or(
                    Q(contrast_low__lte=F("contrast_high")), "contrast_low", "contrast_high"
                ),
                name="worker_contrast_interval",
            ),
            models.CheckConstraint(
                condition=undefined_or(
                    Q(rank_low__gte=1, rank_low__lte=F("rank_high")), "rank_low", "rank_high"
                ),
                name="worker_rank_interval",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "rank", "id"], name="worker_grade_list"),
            # All that sorting everybody by their mean score needs, without reading the grades.
            models.Index(fields=["worker", "run", "leave_one_out"], name="worker_grade_scores"),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.run}"

    @classmethod
    def of_excluded(cls, run: Run) -> models.QuerySet[WorkerGrade]:
        """Return the rows of the workers whom a run excluded: scored without a vote or a grade."""
        named = run.parameters.get("exclude_workers") or ()
        if not named:
            return cls.objects.none()
        by_name = Q(worker__external_id__in=[clean_id(one) for one in named])
        public = [one for one in map(_uuid, named) if one is not None]
        by_id = Q(worker__public_id__in=public)
        return cls.objects.filter(by_name | by_id, run=run, grade__isnull=True)

    @classmethod
    def of_crowd(cls, run: Run) -> models.QuerySet[WorkerGrade]:
        """Return the rows of all workers of a run but those whom it excluded."""
        rows = cls.objects.filter(run=run)
        if not run.parameters.get("exclude_workers"):
            return rows
        return rows.exclude(pk__in=cls.of_excluded(run).values("pk"))


class ExemplaryAnswer(Result):
    """Exemplary answer of a question in a run; one row of exemplars.csv, with its vector.

    `vector` holds `dimension` numbers as float32, little-endian; both are empty (None) where the
    exemplary answer is no dense vector. `nearest_response` is None if that answer was withdrawn.
    `mean_score` is the mean leave-one-out score of its answers: low for a hard question. `path`
    holds its place on the map (see `AnswerScore`) after each iteration, `own_share` and
    `run_share` how much of the differences between the answers the two pairs of axes show.
    `separation` is how clearly its answers fall into two camps (see `methods.alarms.questions`),
    None below 6 answers and in runs that did not look; where it is above the threshold, the camps
    have their sizes, and the answers nearest to their means (None if withdrawn).
    `facts` says whether the crowd was looked at fact by fact: `SPOKEN`, or the code of why not; ""
    in runs that did not look.
    """

    SPOKEN = "spoken"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="exemplary_answers")
    question = models.ForeignKey(
        Question, on_delete=models.CASCADE, related_name="exemplary_answers"
    )
    n_answers = models.PositiveIntegerField()
    nearest_response = models.ForeignKey(
        Response, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    dispersion = models.FloatField(null=True)
    dimension = models.PositiveIntegerField(null=True)
    vector = models.BinaryField(null=True)
    mean_score = models.FloatField(null=True)
    path = models.BinaryField(null=True)
    own_share = models.FloatField(null=True)
    run_share = models.FloatField(null=True)
    separation = models.FloatField(null=True)
    larger_camp = models.PositiveIntegerField(null=True, help_text="Answers in it.")
    smaller_camp = models.PositiveIntegerField(null=True)
    larger_nearest = models.ForeignKey(
        Response, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    smaller_nearest = models.ForeignKey(
        Response, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    facts = models.CharField(max_length=40, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "question"], name="exemplary_answer_once"),
            models.CheckConstraint(
                condition=(Q(vector__isnull=True) & Q(dimension__isnull=True))
                | (
                    Q(vector__isnull=False)
                    & Q(dimension__isnull=False)
                    & has_length("vector", F("dimension") * 4)
                ),
                name="exemplary_answer_dimension",
            ),
            models.CheckConstraint(
                condition=undefined_or(Q(separation__gte=0, separation__lte=1), "separation"),
                name="exemplary_answer_separation",
            ),
            models.CheckConstraint(
                condition=Q(larger_camp__isnull=True, smaller_camp__isnull=True)
                | Q(
                    larger_camp__isnull=False,
                    smaller_camp__isnull=False,
                    smaller_camp__gte=1,
                    smaller_camp__lte=F("larger_camp"),
                ),
                name="exemplary_answer_camps",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question} in {self.run}"


class AnswerScore(Result):
    """Score of a worker's answer in a run; one row of answers.csv.

    `place` is where it stands on the map of answers: x and y on the axes of the run, x and y on
    those of its question, as float32, little-endian; None in runs that made no map.
    """

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="answer_scores", db_index=False
    )
    response = models.ForeignKey(Response, on_delete=models.CASCADE, related_name="scores")
    score = models.FloatField(null=True)
    score_leave_one_out = models.FloatField(null=True)
    contrast = models.FloatField(null=True, help_text=CONTRAST)
    place = models.BinaryField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "response"], name="answer_score_once"),
            models.CheckConstraint(
                condition=undefined_or(has_length("place", PLACE_BYTES), "place"),
                name="answer_score_place",
            ),
        ]
        indexes = [models.Index(fields=["run", "score", "id"], name="answer_score_list")]

    def __str__(self) -> str:
        return f"score of {self.response_id} in {self.run_id}"
