"""Check the registration of models: which URLs and API keys a user's models may have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings

from annotations.models import is_operator
from annotations.models.access import AnyUser
from annotations.outgoing.addresses import vetting, written_address
from annotations.outgoing.connections import Vet
from evaluation.core.backends.chat.contract import ChatModel
from evaluation.core.backends.chat.registry import LOCAL, get_chat
from evaluation.core.backends.errors import ChatError
from evaluation.core.backends.keys import KeyRules
from evaluation.core.backends.server import Patience
from evaluation.core.options import SITE, Problem, build_problem
from evaluation.models import LanguageModel
from evaluation.runs.flow.asking.registration import ModelOptions, parse_url
from evaluation.runs.steps.checkpoints import Lane

# Of this installation itself: nobody may have them sent anywhere.
OWN_SECRETS = frozenset(
    {"SECRET_KEY", "DATABASE_URL", "CELERY_BROKER_URL", "CACHE_URL", "PROLIFIC_API_TOKEN"}
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
    """Return the problems of a model's registration: in itself, or for this user.

    `evaluation.core.options.words` has the sentences: ``SITE.sentence(ModelOptions, problem)``.
    """
    return options.problems() or _find_refusals(options, user)


def convert_to_columns(options: ModelOptions) -> dict[str, Any]:
    """Return a model's registration options as column values of `LanguageModel`."""
    values = options.as_dict()
    return values | {name: values[name] or "" for name in ("spec", "key_variable")}


def open_chat(model: LanguageModel, patience: Patience | None = None) -> ChatModel:
    """Return the model's chat back-end, which checks the address of each connection.

    Raises ChatError where it has no SPEC, its owner may not have it asked (any more), or its
    back-end cannot be had; InputError for a file of replies that cannot be used.
    """
    if not model.spec:
        raise ChatError(f"{model.name} has no address: only its imported answers are known", "spec")
    # Once more, although it was checked at registration: the operator's rules may have changed.
    for wrong in find_registration_problems(read_model_options(model), model.owner):
        raise ChatError(f"{model.name}: {SITE.sentence(ModelOptions, wrong)}", wrong.code)
    return get_chat(
        model.spec,
        what="model",
        api_key_env=model.key_variable,
        patience=patience,
        vet=build_address_check(),
    )


def find_lane(models: Iterable[LanguageModel]) -> Lane:
    """Return the lane of asking: COMPUTING if a model runs on this machine, else ASKING."""
    local = any(model.spec.strip().startswith(LOCAL) for model in models)
    return Lane.COMPUTING if local else Lane.ASKING


def build_address_check() -> Vet:
    """Return a function that tells whether a model may be asked at a network address."""
    return vetting(settings.MODEL_NETWORKS)


def _find_refusals(options: ModelOptions, user: AnyUser) -> list[Problem]:
    """Return why this user may not register such a model: its file, URL or key variable."""
    spec, variable = options.spec or "", options.key_variable
    found: list[Problem] = []
    if spec.startswith("replies:") and not is_operator(user):
        found.append(build_problem("spec_operators", "spec"))
    url = parse_url(spec)
    # Only an address written as numbers is checked here. A name may resolve to another address at
    # any time, so it is checked at each connection (`vet` in `open_chat`).
    address = written_address(url) if url else None
    if address is not None and not build_address_check()(address):
        found.append(build_problem("address", "spec", address=str(address)))
    if variable and not _may_send(variable, url, user):
        rules = KeyRules.of(settings.KEY_VARIABLES).rules
        where = " and the host that gets the key" if any(rule.origin for rule in rules) else ""
        found.append(build_problem("variable_refused", "key_variable", name=variable, where=where))
    return found


def _may_send(variable: str, url: str, user: AnyUser) -> bool:
    """Return whether the API key in a variable may be sent to `url` for this user."""
    if variable in OWN_SECRETS:
        return False
    return is_operator(user) or KeyRules.of(settings.KEY_VARIABLES).allow(variable, url)
