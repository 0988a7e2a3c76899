"""Declare a run's options once, on a dataclass, for pages, REST API and command line.

A run type declares its options as the fields of a frozen dataclass, a subclass of `Parameters`,
each with an `Option`: type, bounds or choices, label, help, and the option it depends on. The form
(`evaluation.runs.forms`), the serializer (`evaluation.runs.rest.runs`), the
arguments (`evaluation.management.option_arguments`), the signature and the texts on settings are
built from that. An invalid value is a `Problem`, a code with values; each interface builds its own
sentence from it (`InterfaceWording`).
"""

from evaluation.core.options.declaration import (
    ChoiceOption,
    FileOption,
    FloatOption,
    IdsOption,
    IntegerOption,
    JsonOption,
    Option,
    OptionError,
    Problem,
    RegisteredModelOption,
    RegisteredModelsOption,
    SwitchOption,
    TextOption,
    build_problem,
    declare_option,
)
from evaluation.core.options.parameters import (
    API,
    SITE,
    TERMINAL,
    InterfaceWording,
    Parameters,
    Setting,
    build_signature_parts,
)

__all__ = [
    "API",
    "SITE",
    "TERMINAL",
    "ChoiceOption",
    "FileOption",
    "FloatOption",
    "IdsOption",
    "IntegerOption",
    "InterfaceWording",
    "JsonOption",
    "Option",
    "OptionError",
    "Parameters",
    "Problem",
    "RegisteredModelOption",
    "RegisteredModelsOption",
    "Setting",
    "SwitchOption",
    "TextOption",
    "build_problem",
    "build_signature_parts",
    "declare_option",
]
