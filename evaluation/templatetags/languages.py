"""Template filter that detects the language of uploaded answers and warns about the embedder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django import template
from django.conf.locale import LANG_INFO

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends.embedding.contract import EmbedderInfo
from evaluation.core.backends.errors import BackendError
from evaluation.core.options import SITE
from evaluation.core.text.quality import check_language, detect_main_language

register = template.Library()

DEFAULT = EmbedderInfo(
    spec=AqerParameters.options()["embedder"].default,
    model="all-MiniLM-L6-v2",
    revision="",
    precision="float32",
    dimension=384,
    languages="en",
)
"""What is told of the default model without loading it."""


@dataclass(frozen=True)
class Told:
    """Detected language to display: its name ("" if unsure), number of texts, warning or ""."""

    name: str
    count: int
    warning: str


@register.simple_tag
def languages_of(texts: Sequence[str]) -> Told:
    """Return the texts' language, with a warning if the default embedder does not support it."""
    try:
        code = detect_main_language(texts)
    except BackendError:
        code = ""
    warning = check_language(texts, DEFAULT)
    name = LANG_INFO.get(code, {}).get("name", code)
    return Told(name, len(texts), SITE.said(warning) if warning else "")
