"""Page parts of a run that asks models: progress, results and errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from evaluation.core.messages.faults import FaultWords, get_fault_words
from evaluation.models import LanguageModel, Run
from evaluation.runs.flow.asking.summary import (
    BUDGET,
    DONE,
    ENDS,
    FAILED,
    GIVEN_UP,
    AskedModel,
    AskSummary,
)
from evaluation.runs.run_types.kind import Page
from evaluation.runs.run_types.model_progress import build_progress, list_priced
from evaluation.runs.steps.asking.prompts import UnknownPromptError, find_prompt


@dataclass(frozen=True)
class Errors:
    """Errors of one code: number, description, and a server message as an example."""

    count: int
    words: FaultWords
    message: str


@dataclass(frozen=True)
class Asked:
    """A model that was asked, with explanations of its counts.

    Attributes
    ----------
    came : the counts. has_prices : whether `came.cost` means anything.
    end : how it ended, in words; "" where everything was asked. remedy : what to do about that.
    errors : by kind, most first.
    """

    came: AskedModel
    has_prices: bool
    end: str
    remedy: str
    errors: tuple[Errors, ...]

    @property
    def model_id(self) -> UUID:
        """Public id of the model."""
        return UUID(self.came.id)


REMEDIES = {
    BUDGET: "Ask again with a higher budget: what is there is not asked, or paid for, twice.",
    GIVEN_UP: "Mend what stands beside it, try the model on its page, then run it again: what is "
    "there is not asked twice.",
    FAILED: "Look at the model's page: where it runs, and its key. Then run it again.",
}
"""What to do about a model that was not asked to the end."""

GONE = "one that is not there any more"


def standing(run: Run) -> Mapping[str, Any]:
    """Return the progress of each model; for a finished run its reply counts."""
    if run.state == Run.State.DONE:
        return results(run)
    return build_progress(run)


def results(run: Run) -> Mapping[str, Any]:
    """Return the reply counts of each model, and advice on missing replies."""
    summary = AskSummary.of(run.summary)
    known = list_priced([one.id for one in summary.models])
    return {
        "asked": [_asked(one, one.id in known) for one in summary.models],
        "spent": summary.cost if len(known) == len(summary.models) else None,
        "complete": summary.complete,
        "samples": summary.samples,
        "question_set_id": run.version.question_set.public_id,
    }


def named(run: Run) -> Mapping[str, str]:
    """Return display names of the models and the prompt whose ids the options contain."""
    ids = [str(one) for one in run.parameters.get("models", ())]
    rows = LanguageModel.objects.filter(public_id__in=ids).values_list("public_id", "name")
    names = {str(public_id): name for public_id, name in rows}
    found = {
        "models": ", ".join(names.get(one, "a model that is not there any more") for one in ids)
    }
    if prompt := run.parameters.get("prompt"):
        try:
            found["prompt"] = find_prompt(str(prompt)).name
        except UnknownPromptError:
            found["prompt"] = GONE
    return found


def _asked(came: AskedModel, has_prices: bool) -> Asked:
    errors = [
        Errors(count, get_fault_words(code), came.error_messages.get(code, ""))
        for code, count in came.errors.items()
    ]
    return Asked(
        came,
        has_prices,
        "" if came.end == DONE else ENDS.get(came.end, came.end),
        REMEDIES.get(came.end, ""),
        tuple(sorted(errors, key=lambda one: -one.count)),
    )


STANDING = Page("standing", "Model by model", "evaluation/ask/standing.html", standing)
RESULTS = Page("", "What came of it", "evaluation/ask/results.html", results)
