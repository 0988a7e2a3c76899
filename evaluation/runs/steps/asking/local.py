"""Register the packaged local model for each user who may ask models."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.db.models import Q

from evaluation.core.backends.chat.local import SAME_TWICE
from evaluation.core.backends.chat.smollm2 import MODEL
from evaluation.models import LanguageModel

NAME = "SmolLM2-135M on this machine"
NOTICE = "A very small language model: good to see how asking goes, no measure of others."


def register_local_model(address: str) -> list[str]:
    """Register the model served at a URL for each requester and operator.

    One that is registered already gets the new address. Returns the names of the users.
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
            model.save(update_fields=["spec"])
        names.append(user.get_username())
    return names
