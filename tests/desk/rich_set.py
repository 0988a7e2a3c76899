"""Give a graded set what sets of large studies have: money, decisions, checks, codes, batches."""

from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from annotations.ledger import bonuses
from annotations.ledger import decisions as deciding
from annotations.ledger.appeals import answer_appeal, create_appeal
from annotations.models import (
    COUNTERS,
    Collection,
    PanelFile,
    PanelRow,
    PanelStatus,
    Question,
    Response,
    Translation,
    WorkerNote,
)
from annotations.models.payments import PART
from evaluation.models import LanguageModel, LanguageModelNote, LLMResponse
from evaluation.triage import storage as triaging
from tests.evaluation.fact_world import with_facts

LANGUAGES = ("de", "fr")
REASON = "You answered the question that checks whether it is read otherwise than it asks for. " * 2
CODES = ("ANOTHER1", "NOCODE", "RIGHT")


def add_check(draft):
    """Add an attention check in three languages."""
    draft.languages = list(LANGUAGES)
    draft.save(update_fields=["languages"])
    check = Question.objects.create(
        version=draft, external_id="check", position=900, text="Tick often.", role="attention",
        kind="choice", choices=["often", "never"], accepted_answers=["often"],
    )  # fmt: skip
    Translation.objects.bulk_create(
        Translation(
            version=draft, language=language, question=check,
            texts={"text": "Oft.", "choices": ["oft", "nie"], "accepted_answers": ["oft"]},
        )
        for language in LANGUAGES
    )  # fmt: skip


def enriched(run):
    """Return a graded run whose set has all that a page could read; as much as it has people."""
    version, owner = run.version, run.owner
    Collection.objects.create(
        version=version, places=100, pay=Decimal(2), currency="GBP", code_done="RIGHT",
        checks_needed=1, code_failed_checks="FAILED", failed_checks_pay=Decimal("0.50"),
        screened_out_pay=Decimal("0.25"),
    )  # fmt: skip
    people = list(version.submissions.order_by("pk"))
    _answer_a_check(version, people)
    _come_from_a_panel(version, people)
    _be_decided(owner, people)
    _be_paid(version, owner, people)
    _be_noted(run, owner)
    run.crowd_facts.all().delete()
    run.answer_facts.all().delete()
    with_facts(run)
    counted = Response.objects.filter(submission__version=version, status="text")
    counted.update(signals="counted", **dict.fromkeys(COUNTERS, 1))
    _ring(run)
    return type(run).objects.select_related("version__question_set", "owner").get(pk=run.pk)


def _answer_a_check(version, people):
    """Each third one fails; they read it in three languages."""
    check = version.questions.get(role="attention")
    spoken = ("", *LANGUAGES)
    for at, one in enumerate(people):
        one.language, one.failed_checks = spoken[at % 3], at % 3 == 0
        one.source, one.submitted_at = "collected" if at % 2 else "imported", timezone.now()
        one.started_at = one.submitted_at - timedelta(seconds=60 + at)
        one.save()
    Response.objects.bulk_create(
        Response(
            submission=one, question=check, status="text", state="submitted",
            text="never" if at % 3 == 0 else "often",
        )
        for at, one in enumerate(people)
    )  # fmt: skip


def _come_from_a_panel(version, people):
    PanelStatus.objects.bulk_create(
        PanelStatus(
            submission=one, status="AWAITING REVIEW", session_id=f"s{at}", seconds=60 + at,
            code=CODES[at % len(CODES)],
        )
        for at, one in enumerate(people)
    )  # fmt: skip
    for part in (people[::2], people[1::2]):
        file = PanelFile.objects.create(version=version, name="batch.csv", header=["WorkerId"])
        PanelRow.objects.bulk_create(
            PanelRow(file=file, submission=one, position=at, assignment=f"a{at}", cells=["x"])
            for at, one in enumerate(part)
        )


def _be_decided(owner, people):
    """One of four is approved; another one is rejected and writes back, and is answered or not."""
    for one in people[::4]:
        deciding.decide_on_submission(one, owner, "approve")
    for at, one in enumerate(people[1::4]):
        deciding.decide_on_submission(one, owner, "reject", "OTHER", REASON)
        written = create_appeal(one, "I did read it.")
        if at % 2:
            answer_appeal(written, owner, "It stays.", approve=False)


def _be_paid(version, owner, people):
    """Bonuses that are on their way, confirmed, planned, and of whom is rejected meanwhile."""
    sent, confirmed, planned = people[::3], people[1::3], people[2::3]
    for some in (sent, confirmed, planned):
        bonuses.plan_bonuses(version, {one.pk: Decimal("0.25") for one in some}, owner)
        if some is not planned:
            bonuses.confirm_payments(version, owner)
        if some is sent:
            bonuses.claim_payments(version, owner)
    bonuses.plan_bonuses(version, {one.pk: Decimal("0.50") for one in people[::5]}, owner, PART)
    for one in confirmed[::2]:
        deciding.decide_on_submission(one, owner, "reject", "OTHER", REASON)


def _be_noted(run, owner):
    grades = run.worker_grades.order_by("rank", "pk")
    for grade in grades.select_related("worker")[::2]:
        WorkerNote.objects.create(worker=grade.worker, author=owner, text="Asked twice.")
        triaging.decide_on_worker(run, grade.worker, owner, "exclude", category="low_effort")
    for model in LanguageModel.objects.filter(owner=owner):
        LanguageModelNote.objects.create(model=model, author=owner, text="The new one.")


def _ring(run):
    """Alarms that show the first worker beside the second one and beside a model."""
    first, second, *_ = run.worker_grades.order_by("rank", "pk")
    question = run.version.questions.order_by("position").first()
    answers = Response.objects.filter(question=question)
    left, right = (answers.get(submission__worker=one.worker).pk for one in (first, second))
    reply = LLMResponse.objects.filter(question=question).first().pk
    run.alarms.all().delete()
    for place, (kind, severity, shown) in enumerate(
        (
            ("copies", "alarm", {"right": right, "llm_response": None}),
            ("model_like", "notice", {"right": None, "llm_response": reply}),
        )
    ):
        evidence = [{"question": question.pk, "left": left, **shown}]
        alarm = run.alarms.create(
            place=place, kind=kind, severity=severity, message="!", evidence=evidence,
            statistic=0.9, threshold=0.5,
        )  # fmt: skip
        alarm.questions.add(question)
        alarm.workers.set(run.version.submissions.values_list("worker", flat=True))
