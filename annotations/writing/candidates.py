"""Candidate questions with several right answers: storing, checking by people, and export.

A run of the type `maqa-questions` adds candidates (`add_candidates`). Validators of the writing
project check those that passed its filters and the verifying model: they accept, edit or reject
each (`vote_on_candidate`). An edit is a new revision, which needs all votes again; the editor
accepts it. Accepted candidates enter a new question set by `create_set_of_candidates`, or a file.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotations.models import (
    CandidateQuestion,
    CandidateVote,
    Question,
    QuestionSet,
    QuestionSetVersion,
    WritingProject,
)
from annotations.writing.errors import WritingError
from annotations.writing.texts import clean_note, clean_problem_text, have_same_words

State = CandidateQuestion.State
ACCEPT, EDIT, REJECT = "accept", "edit", "reject"
VOTES_NEEDED = 2
"""Validators for each candidate, in a project that a run of candidates starts."""
MOST_ANSWERS, LONGEST_ANSWER = 100, 500
SEPARATOR = "|"
"""Between two spellings of one answer, in a line of a form."""

FILTER_REASONS: Final = {
    "too_short": "the question is too short",
    "too_long": "the question or an answer is too long",
    "no_question": "it asks nothing",
    "single_answer": "it has fewer than two different answers",
    "too_many": "it has too many answers",
    "answer_in_question": "the question contains an answer",
    "vague_count": "the question leaves open how many answers it wants",
    "count_differs": "the question asks for another number of answers",
    "open_list": "the list of answers is open",
    "duplicate": "the question is there already",
}
"""Why automatic filters leave a candidate out, by code."""
VERDICTS: Final = {
    "right": "answers right and complete",
    "wrong": "an answer is wrong",
    "incomplete": "right answers are missing",
    "ambiguous": "the question is ambiguous",
    "unread": "no verdict could be read",
}
"""Verdict of the verifying model on a candidate in words, by code."""


@dataclass(frozen=True)
class NewCandidate:
    """A generated question to store, with its answers and the results of the automatic checks."""

    source: str
    text: str
    answers: Sequence[Sequence[str]]
    generated_by: str
    verified_by: str = ""
    verdict: str = ""
    verdict_note: str = ""
    state: str = State.CHECKING
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True)
class CandidateTask:
    """A candidate as its validator sees it, with the validator's own vote."""

    id: UUID
    text: str
    answers: list[list[str]]
    revision: int
    verdict: str = ""
    reason: str = ""
    note: str = ""


@dataclass(frozen=True)
class CandidateTasks:
    """A validator's candidates: `open` ones in random order, `voted` ones while changeable."""

    open: list[CandidateTask]
    voted: list[CandidateTask]


@dataclass(frozen=True)
class CandidateSummary:
    """Counts of a project's candidates by stage, and the agreement of validators.

    Attributes
    ----------
    states : (value, label, number) of each state.
    reasons : (label, number) of each reason why candidates left, most frequent first.
    generated, filtered, refused, edited, added : numbers of candidates.
    checked : revisions that have all votes; `agreed` of them have equal votes.
    """

    states: list[tuple[str, str, int]]
    reasons: list[tuple[str, int]] = field(default_factory=list)
    generated: int = 0
    filtered: int = 0
    refused: int = 0
    accepted: int = 0
    edited: int = 0
    added: int = 0
    checked: int = 0
    agreed: int = 0

    @property
    def to_add(self) -> int:
        """Number of accepted candidates that are in no question set yet."""
        return self.accepted - self.added


def describe_reason(reason: str) -> str:
    """Return the label of the reason why a candidate was rejected."""
    labels = {**dict(CandidateVote.Reason.choices), **VERDICTS, **FILTER_REASONS}
    return str(labels.get(reason, reason))


def add_candidates(
    version: QuestionSetVersion, run: UUID, candidates: Iterable[NewCandidate]
) -> WritingProject:
    """Store a run's candidates in the writing project of its version; return the project.

    Candidates of the same run are stored once. Call it in a transaction.
    """
    project, _ = WritingProject.objects.get_or_create(
        version=version, defaults={"votes_needed": VOTES_NEEDED}
    )
    # The lock: two runs that end at the same time get different numbers.
    WritingProject.objects.select_for_update(of=("self",)).get(pk=project.pk)
    if project.candidates.filter(run=run).exists():
        return project
    last = project.candidates.aggregate(last=Max("number"))["last"] or 0
    CandidateQuestion.objects.bulk_create(
        (
            CandidateQuestion(
                project=project,
                number=number,
                run=run,
                source=row.source,
                text=row.text,
                answers=[list(spellings) for spellings in row.answers],
                generated={
                    "question": row.text,
                    "answers": [list(spellings) for spellings in row.answers],
                },
                generated_by=row.generated_by,
                verified_by=row.verified_by,
                verdict=row.verdict,
                verdict_note=row.verdict_note,
                state=row.state,
                reason=row.reason,
                detail=row.detail,
                decided_at=None if row.state == State.CHECKING else timezone.now(),
            )
            for number, row in enumerate(candidates, last + 1)
        ),
        batch_size=500,
    )
    return project


def parse_answers(text: str) -> list[list[str]]:
    """Return the answers of a form's text, one a line, each as a list of its spellings.

    Spellings of an answer are separated by "|". An answer of which a spelling occurred before is
    left out. Raises `WritingError`: too_few_answers, too_many_answers, answer_too_long.
    """
    answers: list[list[str]] = []
    seen: set[str] = set()
    for line in text.replace("\r\n", "\n").split("\n"):
        spellings = [part.strip() for part in line.split(SEPARATOR) if part.strip()]
        keys = {" ".join(spelling.casefold().split()) for spelling in spellings}
        if not spellings or keys & seen:
            continue
        seen |= keys
        answers.append(list(dict.fromkeys(spellings)))
    if len(answers) < 2:
        raise WritingError("too_few_answers", "answers")
    if len(answers) > MOST_ANSWERS:
        raise WritingError("too_many_answers", "answers")
    if any(len(spelling) > LONGEST_ANSWER for spellings in answers for spelling in spellings):
        raise WritingError("answer_too_long", "answers")
    return answers


def format_answers(answers: Iterable[Iterable[str]]) -> str:
    """Return answers as the text of a form, in the format of `parse_answers`."""
    return "\n".join(f" {SEPARATOR} ".join(spellings) for spellings in answers)


def list_candidate_tasks(project: WritingProject, validator: int) -> CandidateTasks:
    """Return the candidates that a validator (user key) checks or has checked; two queries."""
    own = CandidateVote.objects.filter(
        candidate=OuterRef("pk"), revision=OuterRef("revision"), validator=validator
    )
    unchecked = (
        _select_checkable_candidates(project)
        .annotate(has_own=Exists(own))
        .filter(has_own=False, n_votes__lt=project.votes_needed)
    )
    open_tasks = sorted(
        (CandidateTask(*row) for row in unchecked.values_list(*TASK_FIELDS)),
        key=lambda task: hashlib.sha256(f"{validator}:{task.id}".encode()).digest(),
    )
    votes = CandidateVote.objects.filter(
        validator=validator,
        candidate__in=_select_checkable_candidates(project).order_by().values("pk"),
        revision=F("candidate__revision"),
    ).select_related("candidate")
    return CandidateTasks(
        open_tasks, [_build_voted_task(vote) for vote in votes.order_by("-updated_at")]
    )


TASK_FIELDS = ("public_id", "text", "answers", "revision")


def find_candidate_task(
    project: WritingProject, validator: int, candidate: UUID
) -> CandidateTask | None:
    """Return a validator's task for a candidate; None if the validator may not vote on it."""
    row = _select_checkable_candidates(project).filter(public_id=candidate).first()
    if row is None:
        return None
    own = (
        row.votes.filter(validator=validator, revision=row.revision)
        .select_related("candidate")
        .first()
    )
    if own is not None:
        return _build_voted_task(own)
    if row.n_votes >= project.votes_needed:
        return None
    return CandidateTask(row.public_id, row.text, row.answers, row.revision)


def _build_voted_task(vote: CandidateVote) -> CandidateTask:
    """Return the task of a candidate on which the validator has voted, with that vote."""
    row = vote.candidate
    verdict = ACCEPT if vote.accepted else REJECT
    return CandidateTask(
        row.public_id, row.text, row.answers, row.revision, verdict, vote.reason, vote.note
    )


@dataclass(frozen=True)
class CandidateVerdict:
    """A validator's vote as entered in the form; `answers` holds one answer per line."""

    verdict: str
    revision: int
    text: str = ""
    answers: str = ""
    reason: str = ""
    note: str = ""


def vote_on_candidate(
    project: WritingProject, validator: int, candidate: UUID, candidate_verdict: CandidateVerdict
) -> UUID | None:
    """Store a validator's vote, replacing an earlier vote; return the next candidate's id or None.

    An edit makes a new revision with the editor's acceptance as its first vote. The last vote
    needed decides: the candidate is accepted if all accept it, else rejected.

    Raises `WritingError`: closed, candidate_decided, candidate_changed; candidate_verdict_missing,
    reason_missing, note_missing, note_too_long, nothing_changed, text_missing, text_too_long,
    text_there_already, and those of `parse_answers`.
    """
    if candidate_verdict.verdict not in (ACCEPT, EDIT, REJECT):
        raise WritingError("candidate_verdict_missing", "verdict")
    if (
        candidate_verdict.verdict == REJECT
        and candidate_verdict.reason not in CandidateVote.Reason.values
    ):
        raise WritingError("reason_missing", "reason")
    is_other = (
        candidate_verdict.verdict == REJECT
        and candidate_verdict.reason == CandidateVote.Reason.OTHER
    )
    note = clean_note(candidate_verdict.note, required=is_other)
    if project.closed_at is not None:
        raise WritingError("closed")
    with transaction.atomic():
        # The lock: of two last votes at the same time, only one decides.
        row = (
            CandidateQuestion.objects.select_for_update(of=("self",))
            .filter(project=project, public_id=candidate)
            .first()
        )
        if row is None or row.state != State.CHECKING:
            raise WritingError("candidate_decided")
        if row.revision != candidate_verdict.revision:
            raise WritingError("candidate_changed")
        votes = row.votes.filter(revision=row.revision)
        has_own = votes.filter(validator=validator).exists()
        if not has_own and votes.count() >= project.votes_needed:
            raise WritingError("candidate_decided")
        is_edit = candidate_verdict.verdict == EDIT
        if is_edit:
            _store_edit(row, candidate_verdict)
        CandidateVote.objects.update_or_create(
            candidate=row,
            revision=row.revision,
            validator_id=validator,
            defaults={
                "accepted": candidate_verdict.verdict != REJECT,
                "edited": is_edit,
                "text": row.text if is_edit else "",
                "answers": row.answers if is_edit else [],
                "reason": candidate_verdict.reason if candidate_verdict.verdict == REJECT else "",
                "note": note,
            },
        )
        _decide_candidate(row, project.votes_needed)
    following = list_candidate_tasks(project, validator).open
    return following[0].id if following else None


def _store_edit(row: CandidateQuestion, candidate_verdict: CandidateVerdict) -> None:
    """Store the edited text and answers of a locked candidate as a new revision."""
    text, answers = (
        clean_problem_text(candidate_verdict.text),
        parse_answers(candidate_verdict.answers),
    )
    if text == row.text and answers == row.answers:
        raise WritingError("nothing_changed", "text")
    others = row.project.candidates.exclude(pk=row.pk).filter(
        state__in=(State.CHECKING, State.ACCEPTED)
    )
    if any(have_same_words(text, other) for other in others.values_list("text", flat=True)):
        raise WritingError("text_there_already", "text")
    row.text, row.answers, row.revision = text, answers, row.revision + 1
    row.save(update_fields=["text", "answers", "revision", "updated_at"])


def _decide_candidate(row: CandidateQuestion, needed: int) -> None:
    """Accept or reject a locked candidate if its revision has all votes; else do nothing."""
    votes = list(row.votes.filter(revision=row.revision).order_by("pk"))
    if len(votes) < needed:
        return
    reasons = Counter(vote.reason for vote in votes if not vote.accepted)
    row.state = State.REJECTED if reasons else State.ACCEPTED
    row.reason = reasons.most_common(1)[0][0] if reasons else ""
    row.detail = "\n".join(vote.note for vote in votes if vote.note and not vote.accepted)
    row.decided_at = timezone.now()
    row.save(update_fields=["state", "reason", "detail", "decided_at", "updated_at"])


def summarize_candidates(project: WritingProject) -> CandidateSummary:
    """Return the counts of a project's candidates by stage and reason, and the agreement."""
    rows = project.candidates.order_by()
    states = dict(rows.values_list("state").annotate(n=Count("pk")))
    reasons = rows.exclude(reason="").values_list("reason").annotate(n=Count("pk"))
    votes: dict[tuple[int, int], list[tuple[bool, str]]] = {}
    for candidate, revision, accepted, reason in (
        CandidateVote.objects.filter(candidate__project=project)
        .order_by()
        .values_list("candidate", "revision", "accepted", "reason")
    ):
        votes.setdefault((candidate, revision), []).append((accepted, reason))
    # A revision that an edit replaced before its last vote does not show agreement.
    complete = [each for each in votes.values() if len(each) >= project.votes_needed]
    return CandidateSummary(
        [(state.value, state.label, states.get(state.value, 0)) for state in State],
        sorted(((describe_reason(code), n) for code, n in reasons), key=lambda row: -row[1]),
        sum(states.values()),
        states.get(State.FILTERED, 0),
        states.get(State.REFUSED, 0),
        states.get(State.ACCEPTED, 0),
        rows.filter(revision__gt=1).count(),
        rows.filter(state=State.ACCEPTED, added_to__isnull=False).count(),
        len(complete),
        sum(len({accepted for accepted, _ in each}) == 1 for each in complete),
    )


def export_candidates(rows: QuerySet[CandidateQuestion]) -> Iterator[dict[str, Any]]:
    """Yield the accepted candidates as questions for `evaluate maqa`, with their origin."""
    accepted = rows.filter(state=State.ACCEPTED).order_by("number")
    for row in accepted.prefetch_related("votes__validator"):
        answers = [each[0] if len(each) == 1 else each for each in row.answers]
        yield {
            "id": row.external_id,
            "question": row.text,
            "answer": answers,
            "source": row.source,
            "provenance": build_provenance(row),
        }


def build_provenance(row: CandidateQuestion) -> dict[str, Any]:
    """Return who generated, edited and verified a candidate, and its text before edits."""
    votes = sorted(row.votes.all(), key=lambda vote: (vote.revision, vote.pk))
    last = [vote for vote in votes if vote.revision == row.revision and vote.accepted]
    provenance: dict[str, Any] = {
        "run": str(row.run),
        "generated_by": row.generated_by,
        "verified_by_model": row.verified_by,
        "model_verdict": row.verdict,
        "model_reason": row.verdict_note,
        "verified_by": [vote.validator.get_username() for vote in last],
        "edited_by": [vote.validator.get_username() for vote in votes if vote.edited],
    }
    return provenance | ({"generated": row.generated} if row.is_edited else {})


def hash_preview(rows: Iterable[CandidateQuestion]) -> str:
    """Return a hash of the candidates in a preview, which the confirmation sends back."""
    return hashlib.sha256(" ".join(str(row.public_id) for row in rows).encode()).hexdigest()[:16]


@transaction.atomic
def create_set_of_candidates(
    project: WritingProject, owner: int, name: str, preview: str
) -> QuestionSet:
    """Create and return a draft question set of the accepted candidates in a preview.

    These are all that are in no set yet; `preview` is their hash (`hash_preview`). The right
    answers of each question are those of its candidate; its metadata keeps their spellings and the
    provenance. Raises `WritingError`: name_missing, name_taken, nothing_accepted,
    candidates_changed.
    """
    cleaned = name.strip()
    if not cleaned:
        raise WritingError("name_missing", "name")
    # The lock: a second confirmation at the same time adds nothing twice.
    rows = list(select_addable_candidates(project).select_for_update(of=("self",)))
    if not rows:
        raise WritingError("nothing_accepted")
    if hash_preview(rows) != preview:
        raise WritingError("candidates_changed")
    if QuestionSet.objects.filter(owner=owner, name=cleaned).exists():
        raise WritingError("name_taken", "name")
    made = QuestionSet.objects.create(owner_id=owner, name=cleaned)
    draft = made.draft()
    Question.objects.bulk_create(
        Question(
            version=draft,
            external_id=row.external_id,
            position=place,
            text=row.text,
            accepted_answers=[spelling for spellings in row.answers for spelling in spellings],
            metadata={
                "answers": row.answers,
                "source": row.source,
                "provenance": build_provenance(row),
            },
        )
        for place, row in enumerate(rows)
    )
    CandidateQuestion.objects.filter(pk__in=[row.pk for row in rows]).update(added_to=made)
    return made


def select_addable_candidates(project: WritingProject) -> QuerySet[CandidateQuestion]:
    """Return the accepted candidates that are in no question set yet, sorted by number."""
    return project.candidates.filter(state=State.ACCEPTED, added_to=None).order_by("number")


def _select_checkable_candidates(project: WritingProject) -> QuerySet[Any]:
    """Return the candidates of an open project to check, annotated with numbers of votes."""
    return (
        CandidateQuestion.objects.filter(
            project=project, project__closed_at=None, state=State.CHECKING
        )
        .annotate(n_votes=Count("votes", filter=Q(votes__revision=F("revision"))))
        .order_by("number")
    )
