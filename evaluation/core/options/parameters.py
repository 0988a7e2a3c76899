"""Base class of a run type's options, and their part of a run's signature."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from evaluation.core.options.declaration import (
    ADVANCED,
    NOT_SIGNED,
    Ids,
    Option,
    Problem,
    build_problem,
    get_default,
)


@dataclass(frozen=True)
class Setting:
    """One option of a run as people read it: its label and its value in words."""

    name: str
    label: str
    value: str
    is_default: bool


_OPTIONS: dict[type[Parameters], Mapping[str, Option]] = {}


@dataclass(frozen=True)
class Parameters:
    """Base class of a run type's options; every field of a subclass declares one option.

    Attributes
    ----------
    sentences : sentences of the class's own problems by code, with options in braces, as in their
        help, and values by name.
    groups : titles of the groups of options that a form folds away, in order.
    """

    sentences: ClassVar[Mapping[str, str]] = {}
    groups: ClassVar[Mapping[str, str]] = {ADVANCED: "More settings"}

    def __post_init__(self) -> None:
        """Convert lists of ids, as JSON has them, into tuples."""
        for name, known in self.options().items():
            if isinstance(known, Ids):
                object.__setattr__(self, name, tuple(getattr(self, name)))

    @classmethod
    def options(cls) -> Mapping[str, Option]:
        """Return the declared options by name, in the order of the fields."""
        if cls not in _OPTIONS:
            _OPTIONS[cls] = {
                entry.name: replace(
                    entry.metadata["option"], name=entry.name, default=get_default(entry)
                )
                for entry in fields(cls)
            }
        return _OPTIONS[cls]

    def problems(self) -> list[Problem]:
        """Return the problems of single values; if none, those between options."""
        checked = (known.check(getattr(self, name)) for name, known in self.options().items())
        problems = [wrong for wrong in checked if wrong is not None]
        # Checks between options rely on the types of the single values.
        return problems or [*self._idle(), *self.contradictions()]

    def contradictions(self) -> Iterator[Problem]:
        """Yield the problems of options that are valid alone but not together."""
        yield from ()

    def _idle(self) -> Iterator[Problem]:
        """Yield a problem for each option that is set but has no effect with the others."""
        for name, known in self.options().items():
            if known.only_with is None or getattr(self, name) == known.default:
                continue
            other, wanted = known.only_with
            if getattr(self, other) != wanted:
                yield build_problem("only_with", name, other=other, wanted=wanted)

    def reserved(self, models: Collection[str]) -> list[Problem]:
        """Return problems of values only operators may use; `models` are open to everyone."""
        names = []
        for name, known in self.options().items():
            value = getattr(self, name)
            if known.reserved and (what := known.reserved(value)):
                names.append(build_problem("operators_only", name, what=what))
            if known.loads and (model := known.loads(value)) and model not in models:
                # The same for a missing model: the problem must not reveal what the server has.
                names.append(_build_offer_problem(name, models))
        return names

    def as_dict(self) -> dict[str, Any]:
        """Return the option values as plain values by name, ready for JSON."""
        return {name: known.plain(getattr(self, name)) for name, known in self.options().items()}

    @classmethod
    def of_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the options stored by `as_dict`; missing ones have their default.

        Raises KeyError, with the unknown names, where there are any: another version wrote them.
        """
        known = cls.options()
        unknown = sorted(stored.keys() - known.keys())
        if unknown:
            raise KeyError(*unknown)
        return cls(**{name: known[name].of_plain(value) for name, value in stored.items()})

    @classmethod
    def completed(cls, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return stored option values, with the defaults of missing ones added.

        Values under unknown names stay unchanged.
        """
        return cls().as_dict() | dict(stored)

    @classmethod
    def settings(cls, stored: Mapping[str, Any]) -> list[Setting]:
        """Return all options of stored parameters as people read them."""
        known, result = cls.options(), []
        for name, value in cls.completed(stored).items():
            if name not in known:
                result.append(Setting(name, name, str(value), False))
                continue
            kind = known[name]
            default = value == kind.plain(kind.default)
            result.append(Setting(name, kind.label, kind.words(value), default))
        return result

    @classmethod
    def differences(cls, stored: Mapping[str, Any]) -> list[Setting]:
        """Return the options that differ from the default, as people read them."""
        return [setting for setting in cls.settings(stored) if not setting.is_default]

    @classmethod
    def in_short(cls, stored: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
        """Return the options that differ from the default, in a few words each.

        Values under unknown names are left out.
        """
        differences_found = []
        for name, known in cls.options().items():
            value = stored.get(name, known.plain(known.default))
            if value != known.plain(known.default):
                differences_found.append(known.in_short(value, names))
        return differences_found


# How many characters of a hash a signature shows.
SHORT = 12
NOTHING = "none"


def build_signature_parts(parameters: Parameters) -> dict[str, str]:
    """Return the option values as parts of a run's signature, by name, in field order."""
    parts: dict[str, str] = {}
    gathered: dict[str, list[str]] = {}
    for name, option in parameters.options().items():
        key = name if option.signed_as is None else option.signed_as
        if key == NOT_SIGNED:
            continue
        if not option.gathered:
            if value := _format_value(option, parameters):
                parts[key] = value
            continue
        texts = gathered.setdefault(key, [])
        parts.setdefault(key, NOTHING)  # its place among the others
        value = getattr(parameters, name)
        if value != option.default:
            plain = value is True and option.sign is None
            texts.append(name if plain else f"{name}({_format_value(option, parameters)})")
    return parts | {key: "+".join(texts) for key, texts in gathered.items() if texts}


def compute_short_hash(texts: Sequence[str]) -> str:
    """Return the first 12 hexadecimal digits of one SHA-256 over several texts."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:SHORT]


def _build_offer_problem(name: str, models: Collection[str]) -> Problem:
    """Return the problem of naming a model that is not offered to this user."""
    if not models:
        return build_problem("none_offered", name)
    return build_problem("not_offered", name, offered=", ".join(sorted(models)))


def _format_value(option: Option, parameters: Parameters) -> str:
    """Return an option's value as a signature shows it; lists and objects as hashes."""
    value: Any = getattr(parameters, option.name)
    if option.sign is not None:
        return option.sign(parameters)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        ids = sorted(value)
        return f"{len(ids)}-{compute_short_hash(ids)}"
    if isinstance(value, dict):
        return compute_short_hash([json.dumps(value, sort_keys=True)]) if value else NOTHING
    return NOTHING if value is None else str(value)
