"""Options in a signature."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from evaluation.options.declaration import NOT_SIGNED, Option
from evaluation.options.parameters import Parameters

# How many characters of a hash a signature shows.
SHORT = 12
NOTHING = "none"


def signed(parameters: Parameters) -> dict[str, str]:
    """Return the parts of a signature that tell parameters, by name, in the order of the fields."""
    parts: dict[str, str] = {}
    gathered: dict[str, list[str]] = {}
    for name, option in parameters.options().items():
        key = name if option.signed_as is None else option.signed_as
        if key == NOT_SIGNED:
            continue
        if not option.gathered:
            parts[key] = _shown(option, parameters)
            continue
        found = gathered.setdefault(key, [])
        parts.setdefault(key, NOTHING)  # its place among the others
        value = getattr(parameters, name)
        if value != option.default:
            plain = value is True and option.sign is None
            found.append(name if plain else f"{name}({_shown(option, parameters)})")
    return parts | {key: "+".join(found) for key, found in gathered.items() if found}


def short_hash(texts: Sequence[str]) -> str:
    """Return the beginning of one SHA-256 for several texts, in their order."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:SHORT]


def _shown(option: Option, parameters: Parameters) -> str:
    """Return a value without what parts a signature; long ones by number or hash."""
    value: Any = getattr(parameters, option.name)
    if option.sign is not None:
        return option.sign(parameters)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        ids = sorted(value)
        return f"{len(ids)}-{short_hash(ids)}"
    if isinstance(value, dict):
        return short_hash([json.dumps(value, sort_keys=True)]) if value else NOTHING
    return NOTHING if value is None else str(value)
