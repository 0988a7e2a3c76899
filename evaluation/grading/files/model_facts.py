"""Facts of a file of answers, read by a chat model: ``evaluate aqer --facts-model SPEC``.

The requests and replies are kept in the journal of the folder, so that the same command goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluation.consensus.inputs import GradingInput
from evaluation.consensus.parameters import AqerParameters
from evaluation.files.asking import Asking
from evaluation.files.problem_messages import file_error
from evaluation.files.study import Step, StudyFolder
from evaluation.flow.asking.plan import Item
from evaluation.flow.asking.reading import AnswerColumns, PromptWithReminder, Replies
from evaluation.grading.facts.run import CrowdFacts, crowd_facts
from evaluation.grading.facts.run.meaning import meaning_beside
from evaluation.grading.facts.run.reading import read_by_model
from evaluation.grading.run.grading import Grading


def refuse_idle_model(parameters: AqerParameters, asking: Asking) -> None:
    """Raise `InputError` where a model would read facts that nobody wants, or has no prices."""
    if not parameters.facts:
        raise file_error("--facts-model", "facts_model_idle")
    if asking.budget is not None and asking.prices is None:
        raise file_error("--facts-budget", "budget_without_prices")


def with_model_facts(grading: Grading, folder: StudyFolder) -> Grading:
    """Have the model of a folder read the facts of a grading, which is else as it was.

    What an entailment model said stays beside them. Raises `EndedEarlyError`, and what the model
    raises where it cannot be had.
    """

    def ask(name: str, prompt: PromptWithReminder, items: Sequence[Item]) -> Replies:
        return folder.ask(Step(name, prompt.template, prompt.again), items)

    given = grading.given
    reader = read_by_model(_texts(given), ask, folder.system)
    found: CrowdFacts = crowd_facts(
        given.wordings,
        given.answered,
        given.models,
        grading.votes,
        frozenset(given.excluded),
        read_by=reader,
    )
    found = replace(found, read_by=reader.about)
    known = grading.known_facts
    if known is not None and known.meaning is not None:
        found = meaning_beside(found, known)
    return replace(grading, known_facts=found)


def _texts(given: GradingInput) -> AnswerColumns:
    answered, spoken = given.answered, given.models and given.models.with_text()
    return AnswerColumns(
        [*answered.workers, *(spoken.models if spoken else ())],
        [True] * len(answered) + [False] * len(spoken or ()),
        [*answered.questions, *(spoken.questions if spoken else ())],
        [*answered.texts, *(spoken.texts if spoken else ())],
        given.wordings,
        {},
    )
