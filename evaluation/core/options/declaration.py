"""Types of run options, their values as objects, JSON and text, and problems of values.

A problem has a code and values; the sentences are in `evaluation.core.options.parameters`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class Problem:
    """A problem of a run's options: its code, the option's name, and values for the sentence.

    Attributes
    ----------
    code : code of the problem, whose sentence is in `core.options.parameters`. The codes for a
        single invalid value are those of Django and of its REST framework: "invalid" (of another
        type), "invalid_choice", "min_value", "max_value", "max_length", "null".
    option : name of the option at which the problem is shown.
    values : numbers and names to fill into the sentence.
    """

    code: str
    option: str
    values: Mapping[str, Any] = field(default_factory=dict)


def build_problem(code: str, option: str = "", **values: Any) -> Problem:
    """Create a `Problem`; further keyword arguments are the values of its sentence."""
    return Problem(code, option, values)


class OptionError(ValueError):
    """The options of a run cannot be used; `problems` lists the reasons.

    The text is for logs; each interface builds its own sentences.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            "; ".join(
                f"{problem.option}: {problem.code}"
                + "".join(f", {name}={value}" for name, value in problem.values.items())
                for problem in self.problems
            )
        )


BASIC, ADVANCED = "basic", "advanced"
FILES, DATABASE = "files", "database"
NOT_SIGNED = ""
# In a list: characters of a value, ids, and settings that differ.
SHORT_WORDS, IDS_SHOWN = 60, 3
GONE = "one that is gone"


@dataclass(frozen=True, kw_only=True)
class Option:
    """Base of all option types: label, help, default, and where an option applies.

    Attributes
    ----------
    label, help : for people, the help in whole sentences. Other options are named by their field
        in braces, such as ``{init}`` or ``{init:entailment}``: each interface has its own names.
    group : "basic" (always shown), "advanced", or a group that the run type declares.
    places : where the option applies: commands on files, runs of the database, or both.
    optional : whether None is a valid value.
    only_with : another option, and the value it must have for this option to have an effect.
    reserved : returns a word for the part of a value that only operators may use, because the
        server would open a file or call another machine; "" for none.
    loads : returns the hub name or folder of the model that a value loads, "" for none; only
        operators may name models that the installation does not offer.
    empty_is_default : whether an empty field of a form means the default.
    signed_as : name in the signature, by default that of the field; "" if the part of another
        option includes it.
    gathered : whether the signature joins all options of this `signed_as` by "+", each by its own
        name, and only those that differ from their default.
    sign : returns the value's text in a signature, from all parameters; "" leaves it out.
    short : text for a value other than the default in a list, with ``{value}`` in it, such as
        "without {value}"; by default the label with the value.
    metavar : placeholder of the value in a command's help. file : content of the file that a
        command takes instead of the value; "" if it takes none.
    name, default : name and default of the dataclass field.
    """

    label: str
    help: str
    group: str = ADVANCED
    places: tuple[str, ...] = (FILES, DATABASE)
    optional: bool = False
    only_with: tuple[str, Any] | None = None
    reserved: Callable[[Any], str] | None = None
    loads: Callable[[Any], str] | None = None
    empty_is_default: bool = False
    signed_as: str | None = None
    gathered: bool = False
    sign: Callable[[Any], str] | None = None
    short: str = ""
    metavar: str = "X"
    file: str = ""
    name: str = ""
    default: Any = None

    def find_problem(self, value: Any) -> Problem | None:
        """Return the problem of a value regardless of other options; None if it is valid."""
        if value is None:
            return None if self.optional else build_problem("null", self.name)
        return self._find_problem(value)

    def _find_problem(self, value: Any) -> Problem | None:
        """Return the problem of a value other than None; None if it is valid."""
        raise NotImplementedError

    def parse(self, text: str) -> Any:
        """Return the value that a text from a form or a command states, or raise `OptionError`."""
        value = self._parse(text)
        wrong = self.find_problem(value)
        if wrong is not None:
            raise OptionError([wrong])
        return value

    def _parse(self, text: str) -> Any:
        """Return the value in a text, before the checks of `find_problem`."""
        return text

    def to_json_value(self, value: Any) -> Any:
        """Convert a value of the option to what JSON stores."""
        return value

    def from_json_value(self, value: Any) -> Any:
        """Convert what JSON stores to a value of the option."""
        return value

    def format_value(self, value: Any) -> str:
        """Return the option's value as text for people."""
        return "none" if value is None else str(value)

    def summarize_setting(self, value: Any, names: Mapping[str, str]) -> str:
        """Return label and value as a short phrase; `names` has the names of models by id."""
        words = " ".join(self.format_briefly(value, names).split())
        if len(words) > SHORT_WORDS:
            words = f"{words[: SHORT_WORDS - 1].rstrip()}…"
        return (self.short or f"{self._lowercase_label()} {{value}}").format(value=words)

    def format_briefly(self, value: Any, names: Mapping[str, str]) -> str:
        """Return the value in a few words; `names` has the names of models by id."""
        # The text behind a colon only explains the words before it.
        words = self.format_value(value)
        return names.get(words) or words.partition(": ")[0]

    def _lowercase_label(self) -> str:
        """Return the label with a small first letter, unless it begins with an acronym."""
        first, rest = self.label[:1], self.label[1:]
        return self.label if rest[:1].isupper() else f"{first.lower()}{rest}"

    def _build_type_problem(self, value: Any, what: str) -> Problem:
        """Return the problem that a value has the wrong type; `what` is the right type's code."""
        return build_problem("invalid", self.name, given=value, what=what)


@dataclass(frozen=True, kw_only=True)
class TextOption(Option):
    """An option whose value is a text of one line or several lines.

    Attributes
    ----------
    rows : how many lines a form shows; 0 for a text of one line.
    suggestions : labels of common values, which a form offers; it has a second field, with
        `other_label` and `other_help`, for any other value.
    test : returns the problem of a text; None if it is valid.
    """

    max_length: int = 500
    rows: int = 0
    suggestions: Mapping[str, str] = field(default_factory=dict)
    other_label: str = "Another one"
    other_help: str = ""
    test: Callable[[str], Problem | None] | None = None

    def _find_problem(self, value: Any) -> Problem | None:
        """Return a problem if the value is empty, too long or not text."""
        # PostgreSQL stores no NUL in text.
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            return self._build_type_problem(value, "text")
        if len(value) > self.max_length:
            return build_problem("max_length", self.name, given=len(value), most=self.max_length)
        return self.test(value) if self.test else None

    def _parse(self, text: str) -> str:
        """Return the text without white space at both ends."""
        return text.strip()

    def format_briefly(self, value: Any, names: Mapping[str, str]) -> str:
        """Return the suggestion's label, the name behind an id, or the text itself."""
        if value in self.suggestions:
            return self.suggestions[value].partition(": ")[0]
        return "none" if value is None else names.get(str(value), str(value))


@dataclass(frozen=True, kw_only=True)
class IntegerOption(Option):
    """An option whose value is an integer from `lowest` to `highest`.

    Attributes
    ----------
    or_zero : whether 0 (for none) is valid too. why : why values between 0 and `lowest` are not.
    """

    lowest: int = 0
    highest: int | None = None
    or_zero: bool = False
    why: str = ""
    metavar: str = "N"

    def _find_problem(self, value: Any) -> Problem | None:
        """Return a problem if the value is no integer or out of range."""
        # Python counts bools among the ints.
        if not isinstance(value, int) or isinstance(value, bool):
            return self._build_type_problem(value, "whole")
        if value < self.lowest and not (self.or_zero and value == 0):
            return build_problem(
                "min_value", self.name, given=value, lowest=self.lowest, why=self.why
            )
        if self.highest is not None and value > self.highest:
            return build_problem("max_value", self.name, given=value, highest=self.highest)
        return None

    def _parse(self, text: str) -> int:
        """Return the integer in a text. Raises `OptionError`."""
        try:
            return int(text)
        except ValueError:
            raise OptionError([self._build_type_problem(text, "whole")]) from None


@dataclass(frozen=True, kw_only=True)
class FloatOption(Option):
    """An option whose value is a finite number, from `lowest` or above `above` to `highest`."""

    lowest: float | None = None
    above: float | None = None
    highest: float | None = None

    def _find_problem(self, value: Any) -> Problem | None:
        """Return a problem if the value is no finite number or out of range."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return self._build_type_problem(value, "number")
        if not math.isfinite(value):
            return self._build_type_problem(value, "finite")
        highest = self.highest
        if self.above is not None and value <= self.above:
            return build_problem(
                "min_value", self.name, given=value, above=self.above, highest=highest
            )
        if self.lowest is not None and value < self.lowest:
            return build_problem("min_value", self.name, given=value, lowest=self.lowest, why="")
        if highest is not None and value > highest:
            return build_problem(
                "max_value", self.name, given=value, above=self.above, highest=highest
            )
        return None

    def _parse(self, text: str) -> float:
        """Return the number in a text. Raises `OptionError`."""
        try:
            return float(text)
        except ValueError:
            raise OptionError([self._build_type_problem(text, "number")]) from None

    def from_json_value(self, value: Any) -> Any:
        """Convert a stored number to float, also a whole one; None stays None."""
        return float(value) if type(value) is int else value

    def format_value(self, value: Any) -> str:
        """Return the number as short text; "none" for None."""
        return "none" if value is None else f"{value:g}"


@dataclass(frozen=True, kw_only=True)
class SwitchOption(Option):
    """An option whose value is true or false.

    Attributes
    ----------
    negatable : the command line has ``--no-NAME`` as well. file : content of the file by which a
        command on files switches it on; for runs of the database it is a plain switch.
    """

    negatable: bool = False

    def _find_problem(self, value: Any) -> Problem | None:
        """Return a problem if the value is neither true nor false."""
        return None if isinstance(value, bool) else self._build_type_problem(value, "switch")

    def format_value(self, value: Any) -> str:
        """Return "yes" or "no"."""
        return "yes" if value else "no"

    def summarize_setting(self, value: Any, names: Mapping[str, str]) -> str:
        """Return the label, followed by "no" if the option is off."""
        return self._lowercase_label() if value else f"{self._lowercase_label()}: no"


@dataclass(frozen=True, kw_only=True)
class ChoiceOption(Option):
    """An option whose value is one of several fixed texts.

    Attributes
    ----------
    choices : label of each value; "" if the value itself is the label.
    implied : value of the command line's flag without a value.
    none : label of None.
    """

    choices: Mapping[str, str]
    implied: str | None = None
    none: str = "no"

    def _find_problem(self, value: Any) -> Problem | None:
        """Return a problem if the value is none of the choices."""
        if value in self.choices:
            return None
        return build_problem("invalid_choice", self.name, given=value, choices=tuple(self.choices))

    def format_value(self, value: Any) -> str:
        """Return the label of the chosen text; the `none` label for None."""
        return self.none if value is None else self.choices.get(value) or str(value)


@dataclass(frozen=True, kw_only=True)
class IdsOption(Option):
    """An option whose value is a list of distinct ids; the command line takes a file of them.

    Attributes
    ----------
    uuids : whether runs of the database take public ids. gone : text in a list for an id that no
        longer exists; "" shows the id. most : largest number of ids.
    """

    uuids: bool = False
    gone: str = ""
    most: int = 100_000
    metavar: str = "FILE"

    def _find_problem(self, value: Any) -> Problem | None:
        """Return a problem if the value is no list of texts, or too long a list."""
        if not isinstance(value, tuple | list) or not all(isinstance(item, str) for item in value):
            return self._build_type_problem(value, "ids")
        if len(value) > self.most:
            return build_problem("max_length", self.name, given=len(value), most=self.most)
        return None

    def _parse(self, text: str) -> tuple[str, ...]:
        """Return the ids in a text: one per line, or public ids separated by white space."""
        if not self.uuids:
            lines = (line.strip() for line in text.splitlines())
            return tuple(dict.fromkeys(line for line in lines if line))
        ids = tuple(dict.fromkeys(text.split()))
        for name in ids:
            try:
                UUID(name)
            except ValueError:
                raise OptionError([self._build_type_problem(name, "id")]) from None
        # In one spelling: upper case or missing hyphens make no other id.
        return tuple(dict.fromkeys(str(UUID(name)) for name in ids))

    def to_json_value(self, value: Any) -> Any:
        """Return the ids as a list, as JSON stores them."""
        return list(value)

    def from_json_value(self, value: Any) -> Any:
        """Return the ids as a tuple, from the list that JSON stores."""
        return tuple(value)

    def format_value(self, value: Any) -> str:
        """Return the ids joined by commas; "none" without any."""
        return ", ".join(value) or "none"

    def format_briefly(self, value: Any, names: Mapping[str, str]) -> str:
        """Return the names of the first ids and the number of the others; "none" for no ids."""
        labels = [names.get(item, self.gone or item) for item in value[:IDS_SHOWN]]
        more = len(value) - len(labels)
        return ", ".join(labels) + (f" and {more:,} more" if more else "") or "none"


@dataclass(frozen=True, kw_only=True)
class RegisteredModelOption(TextOption):
    """An option whose value is a registered language model's public id; forms show names.

    Attributes
    ----------
    needed : code of the sentence that a model must be chosen; "" if it is optional. The form shows
        it in advance; elsewhere the `check` of the run type raises it when a run is started.
    """

    places: tuple[str, ...] = (DATABASE,)
    max_length: int = 100
    needed: str = ""

    def format_briefly(self, value: Any, names: Mapping[str, str]) -> str:
        """Return the model's name for its id; "none" for None."""
        return "none" if value is None else names.get(value, GONE)


@dataclass(frozen=True, kw_only=True)
class RegisteredModelsOption(IdsOption):
    """An option whose value is several registered models (see `RegisteredModelOption`)."""

    places: tuple[str, ...] = (DATABASE,)
    uuids: bool = True
    gone: str = GONE
    needed: str = ""


@dataclass(frozen=True, kw_only=True)
class FileOption(Option):
    """An option whose value is a file path; command line only, as no request may open a file."""

    places: tuple[str, ...] = (FILES,)
    optional: bool = True
    metavar: str = "FILE"

    def _find_problem(self, value: Any) -> Problem | None:
        """Return a problem if the value is no path."""
        return None if isinstance(value, Path) else self._build_type_problem(value, "file")

    def _parse(self, text: str) -> Path:
        """Return the path in a text."""
        return Path(text)

    def to_json_value(self, value: Any) -> Any:
        """Return the path as text, as JSON stores it; None for None."""
        return None if value is None else str(value)

    def from_json_value(self, value: Any) -> Any:
        """Return the path from the text that JSON stores; None for None."""
        return None if value is None else Path(value)


@dataclass(frozen=True, kw_only=True)
class JsonOption(Option):
    """An option whose value is a JSON object, such as the parameters of a server."""

    most_bytes: int = 10_000
    empty_is_default: bool = True
    metavar: str = "JSON"

    def _find_problem(self, value: Any) -> Problem | None:
        """Return a problem if the value is no JSON object, or one that is too large."""
        if not isinstance(value, dict):
            return self._build_type_problem(value, "object")
        try:
            # NaN is not JSON: databases and servers refuse it. Deep nesting raises RecursionError.
            size = len(json.dumps(value, allow_nan=False).encode())
        except (TypeError, ValueError, RecursionError):
            return self._build_type_problem(value, "object")
        if size > self.most_bytes:
            return build_problem("max_length", self.name, given=size, most=self.most_bytes)
        return None

    def _parse(self, text: str) -> Any:
        """Return the JSON value in a text. Raises `OptionError`."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise OptionError([self._build_type_problem(text, "object")]) from None

    def format_value(self, value: Any) -> str:
        """Return the object as JSON text; "none" if it is empty."""
        return json.dumps(value, sort_keys=True, ensure_ascii=False) if value else "none"


def get_model_name(model: str | None) -> str:
    """Return the name of the model that an option's value loads: the value, or "" for None."""
    return model or ""


def declare_option(default: Any, kind: Option) -> Any:
    """Return a dataclass field that declares an option of this type with this default."""
    if isinstance(default, dict):
        # dataclasses refuse a mutable default, which all objects would share.
        return field(default_factory=lambda: dict(default), metadata={"option": kind})
    return field(default=default, metadata={"option": kind})


def get_option_default(option_field: Any) -> Any:
    """Return the default of an option that a dataclass field declares."""
    if option_field.default_factory is not MISSING:
        return option_field.default_factory()
    return option_field.default
