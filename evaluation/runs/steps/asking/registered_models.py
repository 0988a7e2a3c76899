"""Load the registered models that a study's options name, and find their problems.

Every kind whose options hold public ids of models has them checked here, when a run is started
and once more when it begins; the sentences are `MODEL_SENTENCES` of the options of asking.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from annotations.models.access import AnyUser
from evaluation.core.options import SITE, Problem, build_problem
from evaluation.models import LanguageModel, Run
from evaluation.runs.flow.asking.registration import ModelOptions
from evaluation.runs.steps.asking.registration import find_registration_problems, read_model_options
from evaluation.runs.steps.checkpoints import RunInputError

NAMED = 5
"""Models that a sentence names."""


def load_registered_models(
    run: Run, ids: Iterable[str], what: str = "model"
) -> list[LanguageModel]:
    """Return the models with these ids, if the run's owner may ask them, in order.

    Raises `RunInputError` where one is not there any more; `what` is its part in the run.
    """
    wanted = _parse_distinct_ids(ids)
    found = _load_models(run.owner, wanted)
    if len(found) < len(wanted):
        missing = len(wanted) - len(found)
        raise RunInputError("run.models_missing", missing=missing, what=what)
    return [found[one] for one in wanted]


def select_registered_models(user: AnyUser, ids: Iterable[str]) -> list[LanguageModel]:
    """Return the models with these ids that the user may ask; other ids are left out."""
    return list(_load_models(user, _parse_distinct_ids(ids)).values())


def find_problems_with_models(
    user: AnyUser, options: Any, names: Sequence[str] = ("models",), needed: Sequence[str] = ()
) -> list[Problem]:
    """Return the problems of the models that options name; `names` are these options.

    `names` are options that hold ids, one or several; of those in `needed` there must be one.
    Where the options have a `budget`, every model needs its prices.
    """
    problems: list[Problem] = []
    unpriced: list[str] = []
    for name in names:
        wanted = _parse_distinct_ids(list_ids(getattr(options, name)))
        if not wanted and name in needed:
            problems.append(build_problem("no_models", name))
        found = _load_models(user, wanted)
        if len(found) < len(wanted):
            problems.append(build_problem("unknown_models", name, missing=len(wanted) - len(found)))
        for model in found.values():
            problems += _find_refusals(model, name)
            if not model.has_prices and model.name not in unpriced:
                unpriced.append(model.name)
    if not problems and unpriced and getattr(options, "budget", None) is not None:
        more = ", ..." if len(unpriced) > NAMED else ""
        problems.append(
            build_problem("no_prices", "budget", names=", ".join(unpriced[:NAMED]) + more)
        )
    return problems


def list_ids(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return an option's ids as a tuple, from None, one id or several."""
    if value is None or value == "":
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _find_refusals(model: LanguageModel, name: str) -> list[Problem]:
    """Return why a model cannot be asked: archived, without URL, or refused."""
    if model.archived_at is not None:
        return [build_problem("model_archived", name, name=model.name)]
    if not model.spec:
        return [build_problem("no_spec", name, name=model.name)]
    return [
        build_problem(
            "model_refused", name, name=model.name, reason=SITE.sentence(ModelOptions, wrong)
        )
        for wrong in find_registration_problems(read_model_options(model), model.owner)
    ]


def _load_models(user: AnyUser, public_ids: Sequence[UUID]) -> dict[UUID, LanguageModel]:
    """Return models that the user may ask by public id, in the order of `public_ids`."""
    rows = LanguageModel.objects.editable_by(user).select_related("owner")
    by_id = {row.public_id: row for row in rows.filter(public_id__in=public_ids)}
    return {one: by_id[one] for one in public_ids if one in by_id}


def _parse_distinct_ids(ids: Iterable[str]) -> list[UUID]:
    """Return distinct UUIDs; for invalid text the zero UUID, which no model has."""
    found: dict[UUID, None] = {}
    for one in ids:
        try:
            found[UUID(one)] = None
        except ValueError:
            # No model has the zero UUID, so a text that is no id counts as one missing model.
            found[UUID(int=0)] = None
    return list(found)
