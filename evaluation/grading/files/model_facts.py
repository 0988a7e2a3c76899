"""Facts of a file of answers, extracted by a chat model (``--facts-model SPEC``).

Requests and replies are saved in the journal of the folder, so that the same command continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluation.consensus.inputs import GradingInput
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.facts.run import CrowdFacts, find_crowd_facts
from evaluation.grading.facts.run.meaning import copy_meaning
from evaluation.grading.facts.run.reading import extract_by_model
from evaluation.grading.run.grading import Grading
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.files.problem_messages import build_error
from evaluation.runs.files.study import Step, StudyFolder
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.reading import AnswerColumns, PromptWithReminder, Replies


def refuse_idle_model(parameters: AqerParameters, asking: AskSettings) -> None:
    """Raise `InputError` for a facts model with facts off, or a budget without prices."""
    if not parameters.facts:
        raise build_error("--facts-model", "facts_model_idle")
    if asking.budget is not None and asking.prices is None:
        raise build_error("--facts-budget", "budget_without_prices")


def add_model_facts(grading: Grading, folder: StudyFolder) -> Grading:
    """Return the grading with facts that the study folder's chat model extracted.

    Verdicts of an entailment model stay beside them. Raises `EndedEarlyError`, and the error of a
    model that cannot be loaded.
    """

    def ask(name: str, prompt: PromptWithReminder, items: Sequence[Item]) -> Replies:
        return folder.ask(Step(name, prompt.template, prompt.again), items)

    inputs = grading.given
    reader = extract_by_model(_build_columns(inputs), ask, folder.system)
    facts: CrowdFacts = find_crowd_facts(
        inputs.wordings,
        inputs.answered,
        inputs.models,
        grading.votes,
        frozenset(inputs.excluded),
        read_by=reader,
    )
    facts = replace(facts, read_by=reader.about)
    earlier_facts = grading.known_facts
    if earlier_facts is not None and earlier_facts.meaning is not None:
        facts = copy_meaning(facts, earlier_facts)
    return replace(grading, known_facts=facts)


def _build_columns(inputs: GradingInput) -> AnswerColumns:
    """Return the answers of workers and models as columns, with the questions' texts."""
    answered, model_answers = inputs.answered, inputs.models and inputs.models.with_text()
    return AnswerColumns(
        [*answered.workers, *(model_answers.models if model_answers else ())],
        [True] * len(answered) + [False] * len(model_answers or ()),
        [*answered.questions, *(model_answers.questions if model_answers else ())],
        [*answered.texts, *(model_answers.texts if model_answers else ())],
        inputs.wordings,
        {},
    )
