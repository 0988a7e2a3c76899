"""Load a version's questions as items, with user-typed wordings and workers' answers.

Also checks the options of a run before it starts, and estimates its requests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from annotations.models import GRADED, Question, QuestionSetVersion, Response, Variant
from annotations.models.access import AnyUser
from evaluation.consensus.inputs import Answers
from evaluation.core.options import Problem, build_problem
from evaluation.core.text.items import CHOICE, DEFAULT_MATCHERS, FREE, MultiqaItem
from evaluation.core.text.matching import normalise_for_matching
from evaluation.multiqa.items import build_item_messages
from evaluation.multiqa.options import BY_KIND, MultiqaRunOptions
from evaluation.multiqa.run import study
from evaluation.multiqa.run.judging import find_item_fault, find_tuned_cosine
from evaluation.multiqa.run.study import Rewording, build_conversations, list_wordings
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.metrics import Exclusions
from evaluation.runs.steps.answers import find_worker_id_problems, remove_worker_answers
from evaluation.runs.steps.asking.preview import RequestForecast, estimate_round
from evaluation.runs.steps.asking.registration import (
    find_model_problems,
    list_option_ids,
    select_registered_models,
)
from evaluation.runs.steps.asking.study_asking import Round

UNANSWERABLE = "unanswerable"
TRANSLATION = "wording_in_another_language"
REPEATED = "same_words"
NO_TEXT = "question_without_text"
# Characters of a question's id in a message.
LONGEST_ID = 60


@dataclass(frozen=True)
class TypedWording:
    """A typed or imported variant of a question: index of its item, text, and kind."""

    item: int
    text: str
    kind: str


@dataclass(frozen=True)
class VersionItems:
    """Items of a version, with user-typed wordings and workers' answers.

    Attributes
    ----------
    items : questions with a text, in their order.
    typed : variants of the items except translations.
    crowd : workers' answers, named by item; None without answers or with the option off.
    left_out : what does not count, by reason.
    """

    items: list[MultiqaItem]
    typed: list[TypedWording]
    crowd: Answers | None
    left_out: Exclusions

    @cached_property
    def scorable(self) -> list[int]:
        """Indices of items with accepted or workers' answers; only they are asked."""
        answered = set(self.crowd.questions) if self.crowd is not None else set()
        return [
            number
            for number, item in enumerate(self.items)
            if item.answers or item.item in answered
        ]

    def check_typed_wordings(self) -> tuple[list[Rewording], list[str]]:
        """Return the typed wordings of the scorable items, and the kind of each.

        Only repetitions are rejected. `item` of a rewording is a position in `scorable`.
        """
        positions = {number: position for position, number in enumerate(self.scorable)}
        seen = [{normalise_for_matching(self.items[number].question)} for number in self.scorable]
        n_accepted = [0] * len(self.scorable)
        rewordings, kinds = [], []
        for wording in self.typed:
            position = positions.get(wording.item)
            if position is None:
                continue
            kinds.append(wording.kind)
            key = normalise_for_matching(wording.text)
            if key in seen[position]:
                rewordings.append(Rewording(position, 0, wording.text, None, REPEATED))
                continue
            seen[position].add(key)
            n_accepted[position] += 1
            rewordings.append(Rewording(position, 0, wording.text, n_accepted[position]))
        return rewordings, kinds

    def compute_hash(self) -> str:
        """Return the SHA-256 of items, typed wordings and workers' answers."""
        crowd = self.crowd
        content = [
            [[getattr(item, name) for name in MultiqaItem.__slots__] for item in self.items],
            [[wording.item, wording.text] for wording in self.typed],
            None
            if crowd is None
            else [list(map(str, crowd.workers)), list(crowd.questions), list(crowd.texts)],
        ]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def load_version_items(version: QuestionSetVersion, options: MultiqaRunOptions) -> VersionItems:
    """Return a version's items, typed wordings and workers' answers.

    Items with invalid accepted answers are included; `find_items_problem` reports them.
    """
    left_out = Exclusions()
    questions = list(
        version.questions.graded().select_related("passage").order_by("position", "pk")
    )
    with_text = [question for question in questions if question.text.strip()]
    without_text = (each.external_id for each in questions if not each.text.strip())
    _add_left_out_questions(NO_TEXT, without_text, left_out)
    unanswerable = {each.pk for each in with_text if each.answerable is False}
    _add_left_out_questions(
        UNANSWERABLE, (each.external_id for each in with_text if each.pk in unanswerable), left_out
    )
    items = [_build_item(each, options.matcher, each.pk in unanswerable) for each in with_text]
    numbers = {question.pk: number for number, question in enumerate(with_text)}
    typed: list[TypedWording] = []
    if options.rewriter is None:
        variants = Variant.objects.filter(question__version=version).order_by("position", "pk")
        translations = []
        for variant in variants.select_related("question"):
            if variant.kind == Variant.Kind.TRANSLATION:
                translations.append(f"{variant.question.external_id}/{variant.external_id}")
            elif variant.question_id in numbers:
                number = numbers[variant.question_id]
                typed.append(TypedWording(number, variant.text.strip(), variant.kind))
        _add_left_out_questions(TRANSLATION, translations, left_out)
    crowd = _load_crowd_answers(version, options.exclude_workers) if options.crowd else None
    return VersionItems(items, typed, crowd, left_out)


def find_start_problems(
    version: QuestionSetVersion, user: AnyUser, options: MultiqaRunOptions
) -> list[Problem]:
    """Return the problems that prevent a run: models, excluded workers, wordings or answers."""
    problems = [
        *find_model_problems(user, options, ("models", "rewriter"), needed=("models",)),
        *find_worker_id_problems(version, user, options, needed=False),
    ]
    if problems:
        return problems
    item_problem = find_items_problem(load_version_items(version, options), options)
    return [] if item_problem is None else [item_problem]


def find_items_problem(loaded: VersionItems, options: MultiqaRunOptions) -> Problem | None:
    """Return why a version's items cannot be evaluated; None if they can."""
    if options.tune_cosine and find_tuned_cosine(options.build_evaluation_parameters()) is None:
        return build_problem("no_tuned_cosine", "tune_cosine")
    if not loaded.items:
        return build_problem("no_text")
    for item in loaded.items:
        # An item without accepted answers is scored by the crowd, which needs no matcher.
        fault = find_item_fault(item) if item.answers else None
        if fault is not None:
            return build_problem("bad_question", question=item.item[:LONGEST_ID], reason=fault[1])
    if not loaded.scorable:
        return build_problem("no_ruler")
    rewordings, _ = loaded.check_typed_wordings()
    if options.rewriter is None and not any(rewording.variant for rewording in rewordings):
        return build_problem("no_wordings", "rewriter")
    return None


def _build_item(question: Question, matcher: str, unanswerable: bool) -> MultiqaItem:
    """Return a database question as an item; without accepted answers if unanswerable."""
    dataset = question.metadata.get("dataset") if isinstance(question.metadata, dict) else None
    answers = () if unanswerable else tuple(dict.fromkeys(_list_texts(question.accepted_answers)))
    is_choice = question.kind == CHOICE
    kind = FREE if question.kind == Question.Kind.SHORT else question.kind
    return MultiqaItem(
        question.external_id,
        kind,
        dataset if isinstance(dataset, str) else question.category,
        question.passage.text.strip() if question.passage is not None else "",
        question.text.strip(),
        tuple(_list_texts(question.choices)) if is_choice else (),
        answers,
        DEFAULT_MATCHERS[kind] if is_choice or matcher == BY_KIND else matcher,
    )


def _list_texts(values: object) -> list[str]:
    """Return the nonempty texts in a JSON list; [] if the value is no list."""
    texts = [str(value).strip() for value in values] if isinstance(values, list) else []
    return [text for text in texts if text]


def _load_crowd_answers(version: QuestionSetVersion, excluded: Sequence[str]) -> Answers | None:
    """Return workers' submitted answers, without excluded workers; None if none has text."""
    # Questions without a text are no items, since they cannot be asked.
    rows = Response.objects.filter(
        question__version=version, question__role__in=GRADED, state=Response.State.SUBMITTED
    ).exclude(question__text="")
    columns = ("pk", "submission__worker_id", "question__external_id", "text", "rejected")
    answers = Answers.from_rows(rows.order_by("pk").values_list(*columns))
    answers = remove_worker_answers(version, excluded, answers)
    has_text = any(
        text.strip() and not rejected
        for text, rejected in zip(answers.texts, answers.rejected, strict=True)
    )
    return answers if has_text else None


def _add_left_out_questions(reason: str, ids: Iterable[str], left_out: Exclusions) -> None:
    """Add the questions with these ids to the exclusions `left_out`, if there are any."""
    entries = [{"item": external_id} for external_id in ids]
    if entries:
        left_out.add_all(reason, entries)


# Labels of the steps in the estimate.
REWORDING, ASKING = "Putting it in other words", "Answering"


def estimate_requests(
    version: QuestionSetVersion, user: AnyUser, options: MultiqaRunOptions
) -> RequestForecast:
    """Return the forecast of a run's requests to each model; nothing is sent."""
    loaded = load_version_items(version, options)
    models, rewriters = (
        select_registered_models(user, options.models),
        select_registered_models(user, list_option_ids(options.rewriter)),
    )
    sent = {"temperature": options.temperature, "max_tokens": options.max_tokens}
    takes, prompts, notes = [], {}, []
    typed, _ = ([], []) if rewriters else loaded.check_typed_wordings()
    for rewriter in rewriters:
        requests = [
            Item(
                study.build_attempt_id(loaded.items[number].item, 1),
                study.build_rewriter_messages(loaded.items[number].question, options.rewordings),
            )
            for number in loaded.scorable
        ]
        if requests:
            prompts["The first question, as the rewriter sees it"] = requests[0].messages
        rewriter_sent = {"temperature": study.TEMPERATURE, "max_tokens": options.rewriter_tokens}
        rewriter_round = Round(rewriter, requests, rewriter_sent, options.seed)
        takes.append(estimate_round(user, REWORDING, rewriter_round))
        notes.append(
            "The rewordings are not known yet, so what answering them takes is reckoned from the "
            "questions. If too few rewordings of a question are usable, the rewriter is asked up "
            f"to {study.MOST_TRIES - 1} more times."
        )
    wordings = list_wordings(loaded.items, loaded.scorable, typed)
    conversations = build_conversations(loaded.items, wordings)
    # The rewordings are unknown before the rewriter replies: they count as long as the original.
    times = 1 + options.rewordings if rewriters else 1
    for model in models:
        model_round = Round(model, conversations, sent, options.seed)
        takes.append(estimate_round(user, ASKING, model_round, times))
    if loaded.scorable:
        first = loaded.items[loaded.scorable[0]]
        prompts["The first question, as the models see it"] = build_item_messages(
            first, first.question
        )
    return RequestForecast(tuple(takes), prompts, tuple(notes))
