"""A version's questions as items, with their typed wordings and people's answers to them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from annotations.models import GRADED, Question, QuestionSetVersion, Response, Variant
from annotations.models.access import Anybody
from evaluation.flow.inputs import Answers
from evaluation.flow.metrics import Exclusions
from evaluation.flow.multiqa.items import CHOICE, COSINE, DEFAULT_MATCHERS, FREE, MultiqaItem
from evaluation.flow.multiqa.judging import fault_of
from evaluation.flow.multiqa.rewording import Rewording
from evaluation.flow.multiqa.run_options import BY_KIND, MultiqaRunOptions
from evaluation.options import Problem, problem
from evaluation.steps.asking.registered import problems_with_models
from evaluation.steps.outside import problems_of_workers, without_workers
from evaluation.texts.matching import normalised

UNANSWERABLE = "unanswerable"
TRANSLATION = "wording_in_another_language"
REPEATED = "same_words"
NO_TEXT = "question_without_text"
# Questions that stand in a problem.
SHOWN = 60


@dataclass(frozen=True)
class TypedWording:
    """A variant of a question: the number of its item, its text, and what differs."""

    item: int
    text: str
    kind: str


@dataclass(frozen=True)
class Loaded:
    """What a run is about.

    Attributes
    ----------
    items : questions with a text, in their order. typed : their variants, but for translations.
    crowd : people's answers to them, named by item; None where they are not used, or none.
    left_out : what of the version does not count, with why.
    """

    items: list[MultiqaItem]
    typed: list[TypedWording]
    crowd: Answers | None
    left_out: Exclusions

    @cached_property
    def asked(self) -> list[int]:
        """Numbers of the items that something can be said of: by accepted answers or by people."""
        answered = set(self.crowd.questions) if self.crowd is not None else set()
        return [
            number
            for number, item in enumerate(self.items)
            if item.answers or item.item in answered
        ]

    def typed_wordings(self) -> tuple[list[Rewording], list[str]]:
        """Return what becomes of the typed wordings of what is asked, and the kind of each.

        All are kept but for repetitions; they count within `asked`.
        """
        place = {number: at for at, number in enumerate(self.asked)}
        said = [{normalised(self.items[number].question)} for number in self.asked]
        count = [0] * len(self.asked)
        found, kinds = [], []
        for one in self.typed:
            at = place.get(one.item)
            if at is None:
                continue
            kinds.append(one.kind)
            key = normalised(one.text)
            if key in said[at]:
                found.append(Rewording(at, 0, one.text, None, REPEATED))
                continue
            said[at].add(key)
            count[at] += 1
            found.append(Rewording(at, 0, one.text, count[at]))
        return found, kinds

    def hash(self) -> str:
        """Return SHA-256 of all that goes in, by which a run names its input."""
        people = self.crowd
        told = [
            [[getattr(item, name) for name in MultiqaItem.__slots__] for item in self.items],
            [[one.item, one.text] for one in self.typed],
            None
            if people is None
            else [list(map(str, people.workers)), list(people.questions), list(people.texts)],
        ]
        return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()


def load(version: QuestionSetVersion, options: MultiqaRunOptions) -> Loaded:
    """Read a version. Items whose accepted answers cannot be judged are let through."""
    left_out = Exclusions()
    questions = list(
        version.questions.graded().select_related("passage").order_by("position", "pk")
    )
    with_text = [one for one in questions if one.text.strip()]
    _note(NO_TEXT, (one.external_id for one in questions if not one.text.strip()), left_out)
    none = {one.pk for one in with_text if one.answerable is False}
    _note(UNANSWERABLE, (one.external_id for one in with_text if one.pk in none), left_out)
    items = [_item(one, options.matcher, one.pk in none) for one in with_text]
    place = {one.pk: number for number, one in enumerate(with_text)}
    typed: list[TypedWording] = []
    if options.rewriter is None:
        rows = Variant.objects.filter(question__version=version).order_by("position", "pk")
        translations = []
        for row in rows.select_related("question"):
            if row.kind == Variant.Kind.TRANSLATION:
                translations.append(f"{row.question.external_id}/{row.external_id}")
            elif row.question_id in place:
                typed.append(TypedWording(place[row.question_id], row.text.strip(), row.kind))
        _note(TRANSLATION, translations, left_out)
    crowd = _crowd(version, options.exclude_workers) if options.crowd else None
    return Loaded(items, typed, crowd, left_out)


def problems_at_start(
    version: QuestionSetVersion, user: Anybody, options: MultiqaRunOptions
) -> list[Problem]:
    """Return why such a run is not started: models, wordings, or nothing to judge replies by."""
    problems = [
        *problems_with_models(user, options, ("models", "rewriter"), needed=("models",)),
        *problems_of_workers(version, user, options, needed=False),
    ]
    return problems or problems_with(load(version, options), options)


def problems_with(loaded: Loaded, options: MultiqaRunOptions) -> list[Problem]:
    """Return why nothing can be found out over a version."""
    if not loaded.items:
        return [problem("no_text")]
    for item in loaded.items:
        fault = fault_of(item) if item.answers else None
        if fault is not None:
            return [problem("bad_question", question=item.item[:SHOWN], reason=fault[1])]
    if not loaded.asked:
        return [problem("no_ruler")]
    typed, _ = loaded.typed_wordings()
    if options.rewriter is None and not any(one.variant for one in typed):
        return [problem("no_wordings", "rewriter")]
    return []


def _item(question: Question, matcher: str, unanswerable: bool) -> MultiqaItem:
    dataset = question.metadata.get("dataset") if isinstance(question.metadata, dict) else None
    answers = () if unanswerable else tuple(dict.fromkeys(_texts(question.accepted_answers)))
    is_choice = question.kind == CHOICE
    kind = FREE if question.kind == Question.Kind.SHORT else question.kind
    return MultiqaItem(
        question.external_id,
        kind,
        dataset if isinstance(dataset, str) else question.category,
        question.passage.text.strip() if question.passage is not None else "",
        question.text.strip(),
        tuple(_texts(question.choices)) if is_choice else (),
        answers,
        DEFAULT_MATCHERS[kind] if is_choice or matcher == BY_KIND else matcher,
    )


def needs_vectors(items: Iterable[MultiqaItem]) -> bool:
    """Return whether any item is judged by meaning."""
    return any(item.matcher == COSINE and item.answers for item in items)


def _texts(values: object) -> list[str]:
    """Return the texts of a stored list, trimmed; empty ones say nothing."""
    found = [str(one).strip() for one in values] if isinstance(values, list) else []
    return [one for one in found if one]


def _crowd(version: QuestionSetVersion, excluded: Sequence[str]) -> Answers | None:
    rows = Response.objects.filter(
        question__version=version, question__role__in=GRADED, state=Response.State.SUBMITTED
    ).exclude(question__text="")
    columns = ("pk", "submission__worker_id", "question__external_id", "text", "rejected")
    found = Answers.of(rows.order_by("pk").values_list(*columns))
    found = without_workers(version, excluded, found)
    said = any(
        text.strip() and not rejected
        for text, rejected in zip(found.texts, found.rejected, strict=True)
    )
    return found if said else None


def _note(reason: str, names: Iterable[str], left_out: Exclusions) -> None:
    named = [{"item": name} for name in names]
    if named:
        left_out.add_all(reason, named)
