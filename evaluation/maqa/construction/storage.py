"""Construction run on the database: ask for batches, filter, verify, and store candidates."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import NamedTuple

from annotations.exchange import AnswerStatus
from annotations.models import CandidateQuestion, QuestionSetVersion
from annotations.models.access import AnyUser
from annotations.writing import NewCandidate, add_candidates
from evaluation.core.options import Problem, build_problem, build_signature_parts
from evaluation.core.options.parameters import SHORT
from evaluation.maqa.construction.asking import (
    GENERATE,
    VERIFY,
    Answers,
    Filters,
    ModelVerdict,
    ParsedReply,
    VerdictReader,
    ask_readable,
    build_batch_messages,
    build_check_messages,
    join_answers,
    merge_answers,
    read_batch,
    reject_unreadable,
)
from evaluation.maqa.construction.options import MOST_TOPICS, ConstructionOptions
from evaluation.models import LanguageModel, Run
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.summary import StudySummary, build_cut_off_warnings
from evaluation.runs.flow.stored import ResultTable
from evaluation.runs.steps.asking.preview import RequestForecast, estimate_round
from evaluation.runs.steps.asking.registration import (
    find_model_problems,
    list_option_ids,
    load_registered_models,
    select_registered_models,
)
from evaluation.runs.steps.asking.study_asking import Round, StudyAsker
from evaluation.runs.steps.checkpoints import RunEnd, RunInputError, Turn, store_result_table

VERSION = 1
GENERATING, VERIFYING = "generating questions", "verifying answers"
VERDICT_TOKENS = 256
State = CandidateQuestion.State


class CandidateRow(NamedTuple):
    """A generated question with its last stage (filter, verification or validators), and why."""

    source: str
    batch: int
    question: str
    answers: str
    stage: str
    reason: str
    detail: str
    generated_by: str
    verified_by: str
    verdict: str
    verdict_note: str


class BatchRow(NamedTuple):
    """One request of the generating model: number of questions, and of attempts."""

    source: str
    batch: int
    attempts: int
    status: str
    questions: int


CANDIDATES = ResultTable(
    "candidates",
    CandidateRow,
    help={
        "source": "topic, or text of the question, that it is made from",
        "batch": "number of the request about the source, from 1",
        "answers": "first spelling of each right answer",
        "stage": "where it left: filtered, refused (by the model), or checking (by validators)",
        "reason": "code of the filter or of the model's verdict",
        "detail": "what the filter found",
        "generated_by": "name and address of the model",
        "verified_by": "name and address of the model; empty without one",
        "verdict": "of the verifying model: right, wrong, incomplete, ambiguous, or unread",
        "verdict_note": "its reason",
    },
)
BATCHES = ResultTable(
    "batches",
    BatchRow,
    help={
        "source": "topic, or text of the question, that the batch is about",
        "batch": "number of the request about the source, from 1",
        "attempts": "1, or 2 where the first reply had no question with answers",
        "status": "of the last reply; unreadable where it had no question with answers",
        "questions": "how many were generated",
    },
)


@dataclass(frozen=True)
class ConstructionSummary(StudySummary):
    """Stored summary of a construction run: counts of candidates by stage, and of batches.

    Attributes
    ----------
    sources : topics or questions. batches : requests; `failed` of them gave no question.
    generated : questions; `filtered` left by a filter, `refused` by the verifying model, and
        `checking` went to the validators.
    reasons : numbers of those that left, by code.
    """

    generator: str = ""
    verifier: str = ""
    sources: int = 0
    batches: int = 0
    failed: int = 0
    generated: int = 0
    filtered: int = 0
    refused: int = 0
    checking: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    def get_shown_counts(self) -> Mapping[str, int]:
        """Return the counts that the run's page shows, by label."""
        return {
            "topics or questions": self.sources,
            "batches": self.batches,
            "generated": self.generated,
            "to validators": self.checking,
        }


@dataclass(frozen=True)
class Batch:
    """One planned request of the generating model: its item, source and number, from 1."""

    item: Item
    source: str
    number: int


def list_sources(version: QuestionSetVersion, options: ConstructionOptions) -> list[str]:
    """Return the topics of a run, or the texts of the version's questions without topics."""
    topics = options.list_topics()
    if topics:
        return topics
    rows = version.questions.graded().exclude(text="").order_by("position", "pk")
    return list(dict.fromkeys(rows.values_list("text", flat=True)))


def find_start_problems(
    version: QuestionSetVersion, user: AnyUser, options: ConstructionOptions
) -> list[Problem]:
    """Return why a run cannot start: its models, or no topic, or too many."""
    problems = find_model_problems(user, options, ("generator", "verifier"), needed=("generator",))
    sources = list_sources(version, options)
    if not sources:
        problems.append(build_problem("no_source", "topics"))
    elif len(sources) > MOST_TOPICS:
        problems.append(
            build_problem("too_many_topics", "topics", given=len(sources), most=MOST_TOPICS)
        )
    return problems


def estimate_requests(
    version: QuestionSetVersion, user: AnyUser, options: ConstructionOptions
) -> RequestForecast:
    """Return the forecast of a run's requests, at most, with a sample prompt; nothing is sent."""
    sources = list_sources(version, options)
    batches = _plan_batches(sources, options)
    takes, extra = [], {}
    for model in select_registered_models(user, list_option_ids(options.generator)):
        round_ = _build_round(model, [batch.item for batch in batches], options)
        takes.append(estimate_round(user, "Generating questions", round_))
        extra["The first batch, as the model sees it"] = batches[0].item.messages
    most = len(batches) * options.per_request
    for model in select_registered_models(user, list_option_ids(options.verifier)):
        # Which questions pass the filters is not known yet: a long one represents each.
        example = build_check_messages("?" * 200, tuple(("?" * 20,) for _ in range(8)))
        round_ = _build_check_round(model, [Item("example", example)], options)
        takes.append(estimate_round(user, "Verifying answers", round_, most))
    notes = ("A batch or a verdict that cannot be read is asked for once more.",)
    return RequestForecast(tuple(takes), extra, notes)


def execute_run(turn: Turn) -> None:
    """Execute a claimed run: generate, filter, verify, and store the candidates.

    If the turn's time ends first, a later call continues; no finished request is repeated.
    """
    run = Run.objects.select_related("version", "owner").get(pk=turn.run_id)
    options = ConstructionOptions.from_dict(run.parameters)
    sources = list_sources(run.version, options)
    if not sources:
        raise RunInputError("run.no_question_with_text")
    generators = load_registered_models(run, list_option_ids(options.generator))
    if not generators:
        raise RunInputError("run.no_model_to_ask")
    verifiers = load_registered_models(run, list_option_ids(options.verifier))
    asking = StudyAsker(turn, run, [*generators, *verifiers], options.budget)
    batches = _plan_batches(sources, options)
    round_ = _build_round(generators[0], [batch.item for batch in batches], options)
    readers = {item.id: read_batch for item in round_.items}
    read, failed = ask_readable(asking, GENERATING, round_, GENERATE, readers)
    if all(each.reply.status.is_missing for each in read.values()):
        reject_unreadable(asking, turn, failed)
        raise RunInputError("run.no_model_replied", reason=asking.find_first_fault())
    candidates = _filter_candidates(run, batches, read, _name_model(generators[0]))
    if verifiers:
        candidates, unread = _verify(asking, verifiers[0], candidates, options)
        failed += unread
    reject_unreadable(asking, turn, failed)
    _store(turn, run, options, sources, batches, read, candidates, asking)


def _filter_candidates(
    run: Run, batches: Sequence[Batch], read: Mapping[str, ParsedReply], generated_by: str
) -> list[_Candidate]:
    """Return all generated questions, with the reason of those that a filter leaves out."""
    known = list(run.version.questions.values_list("text", flat=True))
    # Those of this run are there already if its last turn ended after they were stored.
    earlier = CandidateQuestion.objects.filter(project__version=run.version)
    known += earlier.exclude(run=run.public_id).values_list("text", flat=True)
    filters = Filters(known)
    candidates = []
    for batch in batches:
        for generated in read[batch.item.id].value or ():
            answers = merge_answers(generated.answers)
            rejection = filters.check(generated.question, answers)
            candidates.append(
                _Candidate(
                    source=batch.source,
                    text=generated.question,
                    answers=answers,
                    generated_by=generated_by,
                    batch=batch.number,
                    state=State.CHECKING if rejection is None else State.FILTERED,
                    reason="" if rejection is None else rejection.reason,
                    detail="" if rejection is None else rejection.detail,
                )
            )
    return candidates


@dataclass(frozen=True)
class _Candidate(NewCandidate):
    """Generated question that filters and verification change; `batch` counts from 1."""

    answers: Answers
    batch: int = 0

    def build_row(self) -> CandidateRow:
        """Return the candidate as a row of the result table."""
        return CandidateRow(
            self.source,
            self.batch,
            self.text,
            join_answers(self.answers),
            str(self.state),
            self.reason,
            self.detail,
            self.generated_by,
            self.verified_by,
            self.verdict,
            self.verdict_note,
        )


def _verify(
    asking: StudyAsker,
    model: LanguageModel,
    candidates: Sequence[_Candidate],
    options: ConstructionOptions,
) -> tuple[list[_Candidate], list[Round]]:
    """Return the candidates with the model's verdicts, and the requests that failed."""
    passed = {
        str(index): row for index, row in enumerate(candidates) if row.state == State.CHECKING
    }
    if not passed:
        return list(candidates), []
    items = [
        Item(index, build_check_messages(row.text, row.answers)) for index, row in passed.items()
    ]
    readers = {index: VerdictReader(len(row.answers)) for index, row in passed.items()}
    round_ = _build_check_round(model, items, options)
    read, failed = ask_readable(asking, VERIFYING, round_, VERIFY, readers)
    checked = list(candidates)
    for index, row in passed.items():
        checked[int(index)] = _apply_verdict(row, read[index].value, _name_model(model))
    return checked, failed


def _apply_verdict(
    candidate: _Candidate, verdict: ModelVerdict | None, verified_by: str
) -> _Candidate:
    """Return a candidate with the model's verdict; it is refused unless right or not readable."""
    if verdict is None:
        return replace(candidate, verified_by=verified_by, verdict="unread")
    checked = replace(
        candidate, verified_by=verified_by, verdict=verdict.code, verdict_note=verdict.note
    )
    if verdict.code == "right":
        return checked
    return replace(checked, state=State.REFUSED, reason=verdict.code, detail=verdict.note)


def _store(
    turn: Turn,
    run: Run,
    options: ConstructionOptions,
    sources: Sequence[str],
    batches: Sequence[Batch],
    read: Mapping[str, ParsedReply],
    candidates: Sequence[_Candidate],
    asking: StudyAsker,
) -> None:
    """End the run: store its tables, and its candidates on the writing pages."""
    states = Counter(str(row.state) for row in candidates)
    usage = asking.compute_usage()
    models = [model.name for model in asking.models]
    input_hash = hashlib.sha256(json.dumps(sources, ensure_ascii=False).encode()).hexdigest()
    summary = ConstructionSummary(
        VERSION,
        sum(each.reply.status is AnswerStatus.CUT_OFF for each in read.values()),
        tuple(usage),
        models[0],
        models[-1] if options.verifier else "",
        len(sources),
        len(batches),
        sum(each.value is None for each in read.values()),
        len(candidates),
        states[State.FILTERED],
        states[State.REFUSED],
        states[State.CHECKING],
        dict(Counter(row.reason for row in candidates if row.reason)),
    )
    parts = {
        **build_signature_parts(options),
        "models": "+".join(model.spec for model in asking.models),
        "prompts": f"{GENERATE.hash[:SHORT]}+{VERIFY.hash[:SHORT]}",
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    signature = "|".join(["maqa-questions", *(f"{name}:{value}" for name, value in parts.items())])
    with turn.open_fenced_transaction():
        store_result_table(turn, CANDIDATES, (row.build_row() for row in candidates))
        store_result_table(
            turn, BATCHES, (_build_batch_row(each, read[each.item.id]) for each in batches)
        )
        add_candidates(run.version, run.public_id, candidates)
        warnings = [warning.as_dict() for warning in build_cut_off_warnings(usage)]
        turn.finish_run(RunEnd(signature, input_hash, summary, warnings))


def _build_batch_row(batch: Batch, reply: ParsedReply) -> BatchRow:
    """Return the row of a batch in the result table."""
    status = reply.reply.status.value
    if reply.value is None and not reply.reply.status.is_missing:
        status = "unreadable"
    return BatchRow(batch.source, batch.number, reply.attempts, status, len(reply.value or ()))


def _plan_batches(sources: Sequence[str], options: ConstructionOptions) -> list[Batch]:
    """Return the requests of the generating model, by source and number."""
    is_topic = bool(options.list_topics())
    return [
        Batch(
            Item(
                f"{place}/{number}",
                build_batch_messages(
                    source, is_topic, options.per_request, number, options.batches
                ),
            ),
            source,
            number,
        )
        for place, source in enumerate(sources)
        for number in range(1, options.batches + 1)
    ]


def _build_round(
    model: LanguageModel, items: Sequence[Item], options: ConstructionOptions
) -> Round:
    """Return the requests to the generating model."""
    sent = {"temperature": options.temperature, "max_tokens": options.max_tokens}
    return Round(model, items, sent, options.seed)


def _build_check_round(
    model: LanguageModel, items: Sequence[Item], options: ConstructionOptions
) -> Round:
    """Return the requests to the verifying model."""
    return Round(model, items, {"temperature": 0, "max_tokens": VERDICT_TOKENS}, options.seed)


def _name_model(model: LanguageModel) -> str:
    """Return the name and the address of a model, for the provenance."""
    return f"{model.name} ({model.spec})"
