"""The parameters of a run in a request."""

from __future__ import annotations

import re

from evaluation.api.option_serializer import serializer_for
from evaluation.flow.parameters import AqerParameters

ParametersSerializer = serializer_for(
    AqerParameters,
    "ParametersSerializer",
    "How answers become vectors and how workers are graded; what is left out has its default.",
)


def in_words_of_the_api(message: str) -> str:
    """Return a message of an alarm with the keys of the API for the flags of the command line."""
    return re.sub(r"--([a-z-]+)", lambda flag: flag[1].replace("-", "_"), message)
