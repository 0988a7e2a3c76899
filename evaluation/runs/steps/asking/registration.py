"""Registered models and prompts: checks, selection, and the packaged local model.

Check the registration of models: which URLs and API keys a user's models may have.

Load the registered models that a study's options name, and find their problems.

Every kind whose options hold public ids of models has them checked here, when a run is started
and once more when it begins; the sentences are `MODEL_SENTENCES` of the options of asking.

Store and select prompts: versions of users' prompts, and the two built-in ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Max, Q

from annotations.models import is_operator
from annotations.models.access import AnyUser
from annotations.outgoing.addresses import build_network_check, parse_url_address
from annotations.outgoing.connections import Vet
from evaluation.core.backends.chat.contract import ChatModel
from evaluation.core.backends.chat.local import SAME_TWICE
from evaluation.core.backends.chat.registry import LOCAL, get_chat_model
from evaluation.core.backends.chat.smollm2 import MODEL
from evaluation.core.backends.errors import ChatError, KeyRules
from evaluation.core.backends.server import RetryRules
from evaluation.core.options import SITE, Problem, build_problem
from evaluation.models import LanguageModel, PromptVersion, Run
from evaluation.models import Prompt as StoredPrompt
from evaluation.runs.flow.asking.options import ModelOptions, parse_spec_url
from evaluation.runs.flow.asking.plan import SYSTEM, TEMPLATES, Prompt
from evaluation.runs.steps.checkpoints import Lane, RunInputError

# Of this installation itself: nobody may have them sent anywhere.
OWN_SECRETS = frozenset(
    {
        *("SECRET_KEY", "DATABASE_URL", "CELERY_BROKER_URL", "CACHE_URL", "PROLIFIC_API_TOKEN"),
        *("METRICS_TOKEN", "EMAIL_HOST_PASSWORD", "OPENID_CLIENT_SECRET"),
    }
)


def read_model_options(model: LanguageModel) -> ModelOptions:
    """Return a model's registration as options; empty columns become None."""
    return ModelOptions(
        spec=model.spec or None,
        key_variable=model.key_variable or None,
        parameters=model.parameters,
        price_in=model.price_in,
        price_out=model.price_out,
    )


def find_registration_problems(options: ModelOptions, user: AnyUser) -> list[Problem]:
    """Return the problems of a model's registration, in itself or for this user.

    The sentence of one is ``SITE.format_field_problem(ModelOptions, problem)``.
    """
    return options.find_problems() or _find_refusals(options, user)


def convert_to_model_columns(options: ModelOptions) -> dict[str, Any]:
    """Return a model's registration options as column values of `LanguageModel`."""
    values = options.as_dict()
    return values | {name: values[name] or "" for name in ("spec", "key_variable")}


def open_chat_model(model: LanguageModel, patience: RetryRules | None = None) -> ChatModel:
    """Return a registered model's chat back-end, which checks the address of each connection.

    Raises ChatError if the model has no SPEC, its owner may not (or no longer) ask it, or its
    back-end cannot be opened; InputError for an invalid file of replies.
    """
    if not model.spec:
        raise ChatError(f"{model.name} has no address: only its imported answers are known", "spec")
    # Once more, although it was checked at registration: the operator's rules may have changed.
    for wrong in find_registration_problems(read_model_options(model), model.owner):
        raise ChatError(
            f"{model.name}: {SITE.format_field_problem(ModelOptions, wrong)}", wrong.code
        )
    return get_chat_model(
        model.spec,
        what="model",
        api_key_env=model.key_variable,
        patience=patience,
        vet=build_address_check(),
    )


def find_asking_lane(models: Iterable[LanguageModel]) -> Lane:
    """Return the lane of requests to models: COMPUTING if one runs on this machine, else ASKING."""
    local = any(model.spec.strip().startswith(LOCAL) for model in models)
    return Lane.COMPUTING if local else Lane.ASKING


def build_address_check() -> Vet:
    """Return a function that returns whether models at a network address are allowed."""
    return build_network_check(settings.MODEL_NETWORKS)


def _find_refusals(options: ModelOptions, user: AnyUser) -> list[Problem]:
    """Return the problems of a registration for this user: its file, URL or key variable."""
    spec, variable = options.spec or "", options.key_variable
    problems: list[Problem] = []
    if spec.startswith("replies:") and not is_operator(user):
        problems.append(build_problem("spec_operators", "spec"))
    url = parse_spec_url(spec)
    # Only an address written as numbers is checked here. A name may resolve to another address at
    # any time, so it is checked at each connection (`vet` in `open_chat_model`).
    address = parse_url_address(url) if url else None
    if address is not None and not build_address_check()(address):
        problems.append(build_problem("address", "spec", address=str(address)))
    if variable and not _may_send_key(variable, url, user):
        rules = KeyRules.from_entries(settings.KEY_VARIABLES).rules
        where = " and the host that gets the key" if any(rule.origin for rule in rules) else ""
        problems.append(
            build_problem("variable_refused", "key_variable", name=variable, where=where)
        )
    return problems


def _may_send_key(variable: str, url: str, user: AnyUser) -> bool:
    """Return whether the API key in an environment variable may be sent to `url` for this user."""
    if variable in OWN_SECRETS:
        return False
    return is_operator(user) or KeyRules.from_entries(settings.KEY_VARIABLES).allows_key(
        variable, url
    )


NAMED = 5
"""Models that a sentence names."""


def load_registered_models(
    run: Run, ids: Iterable[str], what: str = "model"
) -> list[LanguageModel]:
    """Return the models with these ids, if the run's owner may ask them, in order.

    Raises `RunInputError` if a model no longer exists; `what` is its role, for the message.
    """
    wanted = _parse_distinct_ids(ids)
    models = _load_models(run.owner, wanted)
    if len(models) < len(wanted):
        missing = len(wanted) - len(models)
        raise RunInputError("run.models_missing", missing=missing, what=what)
    return [models[one] for one in wanted]


def select_registered_models(user: AnyUser, ids: Iterable[str]) -> list[LanguageModel]:
    """Return the models with these ids that the user may ask; other ids are left out."""
    return list(_load_models(user, _parse_distinct_ids(ids)).values())


def find_model_problems(
    user: AnyUser, options: Any, names: Sequence[str] = ("models",), needed: Sequence[str] = ()
) -> list[Problem]:
    """Return the problems of the registered models in the options `names`.

    The options `names` hold an id or several; those in `needed` must hold at least one. If the
    options have a `budget`, every model needs prices.
    """
    problems: list[Problem] = []
    unpriced: list[str] = []
    for name in names:
        wanted = _parse_distinct_ids(list_option_ids(getattr(options, name)))
        if not wanted and name in needed:
            problems.append(build_problem("no_models", name))
        models = _load_models(user, wanted)
        if len(models) < len(wanted):
            problems.append(
                build_problem("unknown_models", name, missing=len(wanted) - len(models))
            )
        for model in models.values():
            problems += _find_model_refusals(model, name)
            if not model.has_prices and model.name not in unpriced:
                unpriced.append(model.name)
    if not problems and unpriced and getattr(options, "budget", None) is not None:
        more = ", ..." if len(unpriced) > NAMED else ""
        problems.append(
            build_problem("no_prices", "budget", names=", ".join(unpriced[:NAMED]) + more)
        )
    return problems


def list_option_ids(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return an option's ids as a tuple, from None, one id or several."""
    if value is None or value == "":
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _find_model_refusals(model: LanguageModel, name: str) -> list[Problem]:
    """Return the problems of a model that cannot be asked: archived, without URL, or refused."""
    if model.archived_at is not None:
        return [build_problem("model_archived", name, name=model.name)]
    if not model.spec:
        return [build_problem("no_spec", name, name=model.name)]
    return [
        build_problem(
            "model_refused",
            name,
            name=model.name,
            reason=SITE.format_field_problem(ModelOptions, wrong),
        )
        for wrong in find_registration_problems(read_model_options(model), model.owner)
    ]


def _load_models(user: AnyUser, public_ids: Sequence[UUID]) -> dict[UUID, LanguageModel]:
    """Return the models that the user may ask, by public id, in the order of `public_ids`."""
    rows = LanguageModel.objects.editable_by(user).select_related("owner")
    by_id = {row.public_id: row for row in rows.filter(public_id__in=public_ids)}
    return {one: by_id[one] for one in public_ids if one in by_id}


def _parse_distinct_ids(ids: Iterable[str]) -> list[UUID]:
    """Return the distinct ids as UUIDs; the zero UUID, which no model has, for another text."""
    keys: dict[UUID, None] = {}
    for name in ids:
        try:
            keys[UUID(name)] = None
        except ValueError:
            # No model has the zero UUID, so a text that is no id counts as one missing model.
            keys[UUID(int=0)] = None
    return list(keys)


LONGEST_TEXT = 20_000
"""Characters of a template or a system text."""


@dataclass(frozen=True)
class NamedPrompt:
    """A prompt with name and id: "closed", "passage" or the id of a stored version."""

    id: str
    name: str
    prompt: Prompt


class UnknownPromptError(LookupError):
    """Error: the prompt does not exist, or the user may not use it."""


def build_built_in_prompt(strategy: str) -> NamedPrompt:
    """Return the built-in prompt of a strategy, "closed" or "passage"."""
    return NamedPrompt(strategy, BUILT_IN[strategy], Prompt(strategy, TEMPLATES[strategy], SYSTEM))


BUILT_IN = {"closed": "Closed book", "passage": "With its passage"}
"""Names of the built-in prompts."""


def find_prompt(id: str, user: AnyUser | None = None) -> NamedPrompt:
    """Return the prompt with an id; if a user is given, only one that the user may use.

    Raises UnknownPromptError.
    """
    if id in BUILT_IN:
        return build_built_in_prompt(id)
    try:
        public_id = UUID(id)
    except ValueError:
        raise UnknownPromptError(id) from None
    rows = PromptVersion.objects.all() if user is None else PromptVersion.objects.visible_to(user)
    version = rows.filter(public_id=public_id).select_related("prompt").first()
    if version is None:
        raise UnknownPromptError(id)
    return build_named_prompt(version)


def build_named_prompt(version: PromptVersion) -> NamedPrompt:
    """Return a stored prompt version as a prompt with name and id."""
    prompt = Prompt(version.strategy, version.template, version.system)
    return NamedPrompt(str(version.public_id), str(version), prompt)


def list_prompts(user: AnyUser) -> list[NamedPrompt]:
    """Return the prompts that a user may choose: built-in ones, and the latest stored versions."""
    rows = PromptVersion.objects.visible_to(user).select_related("prompt")
    latest = rows.annotate(newest=Max("prompt__versions__number")).order_by("prompt__name", "pk")
    return [*map(build_built_in_prompt, BUILT_IN), *_select_latest(latest)]


def _select_latest(rows: Iterable[PromptVersion]) -> list[NamedPrompt]:
    """Return those of the versions that are the latest of their prompt, with name and id."""
    return [build_named_prompt(row) for row in rows if row.number == row.newest]  # type: ignore[attr-defined]


@transaction.atomic
def create_prompt(owner_id: int, name: str, prompt: Prompt) -> PromptVersion:
    """Store a prompt under a new name, as version 1. Raises IntegrityError for a taken name."""
    made = StoredPrompt.objects.create(owner_id=owner_id, name=name)
    return _create_prompt_version(made, owner_id, prompt, 1)


@transaction.atomic
def edit_prompt(stored: StoredPrompt, author_id: int, prompt: Prompt) -> PromptVersion:
    """Store a new version of a prompt; return the latest version if nothing changed."""
    StoredPrompt.objects.select_for_update().get(pk=stored.pk)  # two edits at once: one waits
    latest = stored.find_latest_version()
    if (latest.hash, latest.strategy) == (prompt.hash, prompt.strategy):
        return latest
    return _create_prompt_version(stored, author_id, prompt, latest.number + 1)


def _create_prompt_version(
    stored: StoredPrompt, author_id: int, prompt: Prompt, number: int
) -> PromptVersion:
    """Store a version of a prompt under this number."""
    return PromptVersion.objects.create(
        prompt=stored,
        number=number,
        author_id=author_id,
        strategy=prompt.strategy,
        system=prompt.system,
        template=prompt.template,
        hash=prompt.hash,
    )


NAME = "SmolLM2-135M on this machine"
NOTICE = "A very small language model: good to see how asking goes, no measure of others."


def register_local_model(address: str) -> list[str]:
    """Register the model served at a URL for each requester and operator; return their names.

    A model that is registered already gets the new address.
    """
    users = get_user_model()._default_manager.filter(is_active=True)
    names = []
    for user in users.filter(Q(is_staff=True) | Q(is_superuser=True)).order_by("pk"):
        model, is_new = LanguageModel.objects.get_or_create(
            owner=user,
            name=NAME,
            defaults={
                "family": "SmolLM2",
                "size": "135M",
                "tuning": "instruct",
                "parameters": SAME_TWICE,
                "price_in": 0.0,
                "price_out": 0.0,
                "notice": NOTICE,
            },
        )
        spec = f"openai:{MODEL}@{address}/v1"
        if is_new or model.spec != spec:
            model.spec = spec
            # Only the address: what the user changed in the registration stays.
            model.save(update_fields=["spec"])
        names.append(user.get_username())
    return names
