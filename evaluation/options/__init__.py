"""Options: declared once on a dataclass and read from there by pages, REST and commands.

A kind of run declares what it may be asked to do as the fields of a frozen dataclass that is a
`Parameters`, each with an `Option`: type, bounds or choices, label, help, what it is only used
with. The form (`evaluation.forms.options`), the serializer (`evaluation.rest.option_serializer`),
the arguments (`evaluation.management.option_arguments`), the signature and the text of the
settings follow from that. What is wrong is a `Problem`, a code with values; a door makes its
sentence in its own words for the options (`Words`).
"""

from evaluation.options.declaration import (
    Choice,
    File,
    Ids,
    JsonObject,
    Option,
    Real,
    RegisteredModel,
    RegisteredModels,
    Switch,
    Text,
    Whole,
    option,
)
from evaluation.options.parameters import Parameters, Setting, signed
from evaluation.options.problems import OptionError, Problem, problem
from evaluation.options.words import API, SITE, TERMINAL, Words

__all__ = [
    "API",
    "SITE",
    "TERMINAL",
    "Choice",
    "File",
    "Ids",
    "JsonObject",
    "Option",
    "OptionError",
    "Parameters",
    "Problem",
    "Real",
    "RegisteredModel",
    "RegisteredModels",
    "Setting",
    "Switch",
    "Text",
    "Whole",
    "Words",
    "option",
    "problem",
    "signed",
]
