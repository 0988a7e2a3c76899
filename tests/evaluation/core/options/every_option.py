"""A class with an option of each kind, and each door to it."""

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

from evaluation.core.options import (
    ChoiceOption,
    FileOption,
    FloatOption,
    IdsOption,
    IntegerOption,
    JsonOption,
    Parameters,
    SwitchOption,
    TextOption,
    build_problem,
    declare_option,
)
from evaluation.management.option_arguments import add_option_arguments, read_options
from evaluation.runs.forms import OTHER, get_option_form
from evaluation.runs.rest.runs import build_options_serializer


@dataclass(frozen=True)
class EveryOption(Parameters):
    model: str = declare_option(
        "small",
        TextOption(
            label="Model",
            help="Who answers.",
            group="basic",
            max_length=40,
            suggestions={"small": "The small one", "large": "The large one"},
            reserved=lambda name: "a server" if name.startswith("http") else "",
        ),
    )
    note: str | None = declare_option(
        None, TextOption(label="Note", help="Yours.", optional=True, max_length=30)
    )
    samples: int = declare_option(
        1, IntegerOption(label="Samples", help="Of each.", lowest=1, highest=50)
    )
    draws: int = declare_option(
        0,
        IntegerOption(
            label="Draws", help="0: none.", lowest=2, highest=99, or_zero=True, why="so few"
        ),
    )
    temperature: float = declare_option(
        0.5, FloatOption(label="Heat", help="Of words.", lowest=0.0, highest=2.0)
    )
    share: float | None = declare_option(
        None, FloatOption(label="Share", help="A part.", above=0.0, highest=1.0, optional=True)
    )
    careful: bool = declare_option(
        False, SwitchOption(label="Careful", help="Slower.", negatable=True)
    )
    quiet: bool = declare_option(
        False, SwitchOption(label="Quiet", help="Says less than {careful}.")
    )
    order: str = declare_option(
        "given",
        ChoiceOption(label="Order", help="Theirs.", choices={"given": "", "drawn": "by lot"}),
    )
    language: str | None = declare_option(
        None,
        ChoiceOption(label="Language", help="Read.", choices={"en": "", "de": ""}, optional=True),
    )
    without: tuple[str, ...] = declare_option(
        (), IdsOption(label="Without", help="Left out.", most=5)
    )
    extra: dict = declare_option({}, JsonOption(label="Extra", help="As it is.", most_bytes=200))
    template: Path | None = declare_option(
        None, FileOption(label="Template", help="Of the prompt.")
    )
    seed: int = declare_option(
        0, IntegerOption(label="Seed", help="Of {order:drawn}.", only_with=("order", "drawn"))
    )

    sentences: ClassVar = {"loud": "{quiet} contradicts {careful}"}

    def find_conflicts(self):
        if self.quiet and self.careful:
            yield build_problem("loud", "quiet")


FORM_OF = get_option_form(EveryOption)
SERIALIZER_OF = build_options_serializer(EveryOption, "EveryOptionSerializer", "Every option.")


class RefusedError(Exception):
    """A door refused values: `codes` by the place where it says so."""

    def __init__(self, codes, said=()):
        super().__init__(codes, said)
        self.codes, self.said = codes, said


def somebody(operator=False):
    return SimpleNamespace(is_superuser=operator, is_active=True)


def by_form(values, operator=False):
    """Post values as a browser does: every field, switches only where they are on."""
    data = {}
    for name, known in EveryOption.get_options().items():
        value = values.get(name, known.default)
        if name == "model" and value not in known.suggestions:
            data |= {"model": OTHER, "other_model": value}
        elif isinstance(value, bool):
            data |= {name: "on"} if value else {}
        elif isinstance(value, dict):
            data[name] = json.dumps(value)
        else:
            data[name] = "\r\n".join(value) if isinstance(value, tuple) else str(value or "")
            data[name] = "0" if value == 0 else data[name]
    form = FORM_OF(somebody(operator), data)
    if not form.is_valid():
        found = form.errors.as_data().items()
        codes = {name.removeprefix("other_"): errors[0].code for name, errors in found}
        raise RefusedError(codes, [str(said) for lines in form.errors.values() for said in lines])
    return form.get_parameters()


def by_request(values, operator=False):
    """Send values as JSON has them."""
    body = json.loads(json.dumps(values))
    context = {"request": SimpleNamespace(user=somebody(operator))}
    serializer = SERIALIZER_OF(data=body, context=context)
    if not serializer.is_valid():
        errors = serializer.errors.items()
        said = [str(one) for _, lines in errors for one in lines]
        raise RefusedError({name: lines[0].code for name, lines in errors}, said)
    return EveryOption(**serializer.validated_data)


def by_arguments(values):
    """Write values on a command line; ids come in a file there, which the command reads."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_option_arguments(parser, EveryOption, files=True)
    words = []
    for name, value in values.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words += [flag] if value else []
        elif isinstance(value, dict):
            words.append(f"{flag}={json.dumps(value)}")
        elif value is not None and not isinstance(value, tuple):
            words.append(f"{flag}={value}")
    try:
        read = vars(parser.parse_args(words))
    except argparse.ArgumentError as error:
        name = error.argument_name.removeprefix("--")
        raise RefusedError({name: error.__context__.problem.code}, [error.message]) from error
    found = read_options(EveryOption, read, files=True)
    return replace(found, without=values["without"]) if "without" in values else found
