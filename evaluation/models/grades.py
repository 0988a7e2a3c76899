"""Results of AQER on workers, questions, answers and models, and other data of runs.

A statistic that is undefined is None, with the reason in the run's `reasons`. Additional data of a
run: page contents, and state kept between turns.
"""

from __future__ import annotations

from uuid import UUID

from django.db import models
from django.db.models import F, Q

from annotations.exchange.ids import clean_id
from annotations.models import VIEWERS, Access, Question, Response, Scoped, Worker
from evaluation.models.language_models import LanguageModel, LLMResponse, build_length_condition
from evaluation.models.runs import Run

# Two coordinates on two pairs of axes, as float32.
PLACE_BYTES = 16
# A run stores the workers that it excluded with weight 0 and without a grade. Workers without an
# answer look the same, but were not excluded: their work is still to be accepted or rejected.
VOTED = ~Q(weight=0, grade__isnull=True, n_answers__gt=0)
CONTRAST = (
    "Question contrast: agreement with the question's exemplary answer less that with other "
    "questions' ones; null in runs from before there was such."
)


def _parse_uuid(text: str) -> UUID | None:
    """Return the UUID in a text; None if the text is not a UUID."""
    try:
        return UUID(text)
    except ValueError:
        return None


def build_condition_or_null(condition: Q, *fields: str) -> Q:
    """Return the condition that one of the fields is null, or else `condition` holds."""
    for field in fields:
        condition = Q(**{f"{field}__isnull": True}) | condition
    return condition


class RunResult(Scoped):
    """Base class of result rows of a run; visible to users who may see the set's answers."""

    access = Access(question_set="run__version__question_set", readers=VIEWERS)

    class Meta:
        abstract = True


class FactCounts(models.Model):
    """Counts of a worker's or model's facts that agree with the crowd or contradict it.

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


class WorkerGrade(FactCounts, RunResult):
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
                condition=build_condition_or_null(Q(grade__gte=0, grade__lte=1), "grade"),
                name="worker_grade_from_0_to_1",
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(Q(weight__gte=0), "weight"),
                name="worker_weight_from_0",
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(Q(rank__gte=1), "rank"), name="worker_rank_from_1"
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(
                    Q(raw_low__lte=F("raw_high")), "raw_low", "raw_high"
                ),
                name="worker_raw_interval",
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(
                    Q(grade_low__lte=F("grade_high")), "grade_low", "grade_high"
                ),
                name="worker_grade_interval",
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(
                    Q(contrast_low__lte=F("contrast_high")), "contrast_low", "contrast_high"
                ),
                name="worker_contrast_interval",
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(
                    Q(rank_low__gte=1, rank_low__lte=F("rank_high")), "rank_low", "rank_high"
                ),
                name="worker_rank_interval",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "rank", "id"], name="worker_grade_list"),
            # A covering index to sort all workers by their mean score without reading the rows.
            models.Index(fields=["worker", "run", "leave_one_out"], name="worker_grade_scores"),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.run}"

    @classmethod
    def select_excluded(cls, run: Run) -> models.QuerySet[WorkerGrade]:
        """Return a queryset of the rows of workers excluded by a run: scored, without a grade."""
        named = run.parameters.get("exclude_workers") or ()
        if not named:
            return cls.objects.none()
        by_name = Q(worker__external_id__in=[clean_id(one) for one in named])
        # Only those that are UUIDs: for any other text Django raises an error in the query.
        public = [one for one in map(_parse_uuid, named) if one is not None]
        by_id = Q(worker__public_id__in=public)
        return cls.objects.filter(by_name | by_id, run=run, grade__isnull=True)

    @classmethod
    def select_crowd(cls, run: Run) -> models.QuerySet[WorkerGrade]:
        """Return a queryset of the rows of all workers of a run that it did not exclude."""
        rows = cls.objects.filter(run=run)
        if not run.parameters.get("exclude_workers"):
            return rows
        return rows.exclude(pk__in=cls.select_excluded(run).values("pk"))


class ExemplaryAnswer(RunResult):
    """Exemplary answer of a question in a run; one row of exemplars.csv, with its vector.

    `vector` holds `dimension` numbers as float32, little-endian; both are empty (None) where the
    exemplary answer is no dense vector. `nearest_response` is None if that answer was withdrawn.
    `mean_score` is the mean leave-one-out score of its answers: low for a hard question. `path`
    holds its place on the map (see `AnswerScore`) after each iteration, `own_share` and
    `run_share` how much of the differences between the answers the two pairs of axes show.
    `separation` is how clearly its answers fall into two camps (see `methods.alarms.questions`),
    None below 6 answers and in runs that did not compute it. Above the threshold, the sizes of the
    camps and the answers nearest to their means (None if withdrawn) are stored.
    `facts` is `SPOKEN` if facts were extracted from the answers, else the code of the reason; "" in
    runs without facts.
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
                    # 4 bytes for a float32.
                    & build_length_condition("vector", F("dimension") * 4)
                ),
                name="exemplary_answer_dimension",
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(
                    Q(separation__gte=0, separation__lte=1), "separation"
                ),
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


class AnswerScore(RunResult):
    """Score of a worker's answer in a run; one row of answers.csv.

    `place` is the position on the map of answers: x and y on the axes of the run, x and y on those
    of its question, as float32, little-endian; None in runs without a map.
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
                condition=build_condition_or_null(
                    build_length_condition("place", PLACE_BYTES), "place"
                ),
                name="answer_score_place",
            ),
        ]
        indexes = [models.Index(fields=["run", "score", "id"], name="answer_score_list")]

    def __str__(self) -> str:
        return f"score of {self.response_id} in {self.run_id}"


class LLMScore(FactCounts, RunResult):
    """Result for a language model in a run; `reason` explains missing numbers."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="llm_scores")
    model = models.ForeignKey(LanguageModel, on_delete=models.CASCADE, related_name="scores")
    score = models.FloatField(null=True)
    score_answered = models.FloatField(null=True)
    score_low = models.FloatField(null=True)
    score_high = models.FloatField(null=True)
    n = models.PositiveIntegerField()
    n_answered = models.PositiveIntegerField()
    percentile = models.FloatField(null=True)
    rank = models.PositiveIntegerField(null=True)
    contrast = models.FloatField(null=True, help_text=CONTRAST)
    contrast_low = models.FloatField(null=True)
    contrast_high = models.FloatField(null=True)
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name = "model score"
        constraints = [
            models.UniqueConstraint(fields=["run", "model"], name="llm_score_once"),
            models.CheckConstraint(
                condition=Q(n_answered__lte=F("n")), name="llm_score_answered_of_all"
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(
                    Q(percentile__gte=0, percentile__lte=100), "percentile"
                ),
                name="llm_score_percentile",
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(Q(rank__gte=1), "rank"),
                name="llm_score_rank_from_1",
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(
                    Q(score_low__lte=F("score_high")), "score_low", "score_high"
                ),
                name="llm_score_interval",
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(
                    Q(contrast_low__lte=F("contrast_high")), "contrast_low", "contrast_high"
                ),
                name="llm_score_contrast_interval",
            ),
        ]
        indexes = [models.Index(fields=["run", "rank", "id"], name="llm_score_list")]

    def __str__(self) -> str:
        return f"{self.model} in {self.run}"


class LLMAnswerScore(RunResult):
    """Score of a model's answer in a run; `reason` explains a missing score.

    `place` is that of `AnswerScore`.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="llm_answer_scores")
    llm_response = models.ForeignKey(LLMResponse, on_delete=models.CASCADE, related_name="scores")
    score = models.FloatField(null=True)
    contrast = models.FloatField(null=True, help_text=CONTRAST)
    reason = models.CharField(max_length=200, blank=True)
    place = models.BinaryField(null=True)

    class Meta:
        verbose_name = "score of a model's answer"
        constraints = [
            models.UniqueConstraint(fields=["run", "llm_response"], name="llm_answer_score_once"),
            models.CheckConstraint(
                condition=Q(score__isnull=False) | ~Q(reason=""),
                name="llm_answer_score_or_a_reason",
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(
                    build_length_condition("place", PLACE_BYTES), "place"
                ),
                name="llm_answer_score_place",
            ),
        ]

    def __str__(self) -> str:
        return f"score of {self.llm_response_id} in {self.run_id}"


class LLMComparison(RunResult):
    """Comparison of two language models in a run, on the questions both were scored on.

    `difference` is the mean of model A less model B, its interval that of this pair alone,
    `adjusted_p_value` Holm's over all pairs of the run; `reason` states why something is None.
    `smallest_detectable` is the difference that these questions show in 4 of 5 cases.
    """

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="llm_comparisons", db_index=False
    )
    model_a = models.ForeignKey(LanguageModel, on_delete=models.CASCADE, related_name="+")
    model_b = models.ForeignKey(LanguageModel, on_delete=models.CASCADE, related_name="+")
    difference = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    p_value = models.FloatField(null=True)
    adjusted_p_value = models.FloatField(null=True)
    smallest_detectable = models.FloatField(null=True)
    n = models.PositiveIntegerField()
    test = models.CharField(max_length=50)
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name = "comparison of two models"
        constraints = [
            models.UniqueConstraint(fields=["run", "model_a", "model_b"], name="llm_pair_once"),
            models.CheckConstraint(condition=~Q(model_a=F("model_b")), name="llm_pair_of_two"),
            models.CheckConstraint(
                condition=build_condition_or_null(Q(low__lte=F("high")), "low", "high"),
                name="llm_pair_interval",
            ),
            models.CheckConstraint(
                condition=build_condition_or_null(
                    Q(adjusted_p_value__gte=0, adjusted_p_value__lte=1), "adjusted_p_value"
                ),
                name="llm_pair_p_value",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model_a} against {self.model_b} in {self.run_id}"


class RunData(RunResult):
    """Named JSON value of a run, such as the numbers of a chart or the rows of a table.

    Also intermediate results for the next turn (`Turn.store_json` of `runs.steps.checkpoints`).
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="data", db_index=False)
    name = models.CharField(max_length=50)
    data = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="run_data_once"),
        ]
        # A reply is looked for by its key among all runs of an owner.
        indexes = [models.Index(fields=["name"], name="run_data_by_name")]

    def __str__(self) -> str:
        return f"{self.name} of {self.run_id}"


class DrawPart(RunResult):
    """Some bootstrap draws of an unfinished run; deleted when the run ends.

    `raw` and `votes` hold a float64, little-endian, for each of `n_workers` workers and each draw
    from `first` on, workers by rows. `input_hash` is that of the draws' input: if the
    answers or the parameters changed between two turns, the part is not used.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="draw_parts")
    input_hash = models.CharField(max_length=64)
    first = models.PositiveIntegerField()
    n_draws = models.PositiveIntegerField()
    n_workers = models.PositiveIntegerField()
    raw = models.BinaryField()
    votes = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "first"], name="draw_part_once"),
            models.CheckConstraint(
                condition=Q(n_draws__gte=1)
                # 8 bytes for a float64.
                & build_length_condition("raw", F("n_draws") * F("n_workers") * 8)
                & build_length_condition("votes", F("n_draws") * F("n_workers") * 8),
                name="draw_part_is_whole",
            ),
        ]
        ordering = ["run", "first"]

    def __str__(self) -> str:
        return f"draws {self.first} to {self.first + self.n_draws - 1} of {self.run_id}"
