"""How like a template each window is: the greatest cosine, every distinct window embedded once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.backends import Embedder, EmbedderInfo, Vectors, get_embedder
from evaluation.flow.umwp.pieces import plain
from evaluation.methods.cells import Floats, Integers

# Windows that are embedded and compared at once; their vectors are not kept.
BLOCK = 4096
ENGLISH = "en"
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Likeness:
    """The nearest template of each window.

    Attributes
    ----------
    place : of a window in the arrays. similarity : (n,) -1 to 1. template : (n,) its number.
    templates : as they were given. info : of the encoder.
    """

    place: dict[str, int]
    similarity: Floats
    template: Integers
    templates: Sequence[str]
    info: EmbedderInfo

    def nearest(self, windows: Sequence[str]) -> tuple[float, str, str] | None:
        """Return the greatest similarity of some windows, the window, and the template.

        The first window among equals; None without windows.
        """
        if not windows:
            return None
        places = [self.place[window] for window in windows]
        best = places[int(np.argmax(self.similarity[places]))]
        window = windows[places.index(best)]
        return float(self.similarity[best]), window, self.templates[int(self.template[best])]


def likeness(
    windows: Iterable[str],
    templates: Sequence[str],
    encoder: str,
    progress: Progress | None = None,
) -> Likeness:
    """Compare windows with templates, both in small letters and without a mark at the end.

    Raises `BackendError`: the encoder cannot be had.
    """
    distinct = list(dict.fromkeys(windows))
    embedder = get_embedder(encoder)
    similarity = np.zeros(len(distinct))
    nearest = np.zeros(len(distinct), dtype=np.int64)
    for start, cosines in _blocks(embedder, distinct, templates, progress):
        end = start + len(cosines)
        nearest[start:end] = cosines.argmax(axis=1)
        similarity[start:end] = cosines.max(axis=1)
    place = {window: number for number, window in enumerate(distinct)}
    return Likeness(place, similarity, nearest, templates, embedder.describe())


def similarities(
    windows: Sequence[str],
    templates: Sequence[str],
    encoder: str,
    progress: Progress | None = None,
) -> Floats:
    """Return (windows, templates), how like each template each window is, -1 to 1.

    As `likeness` compares them, all at once; let the windows be distinct.
    """
    found = np.zeros((len(windows), len(templates)))
    for start, cosines in _blocks(get_embedder(encoder), windows, templates, progress):
        found[start : start + len(cosines)] = cosines
    return found


def _blocks(
    embedder: Embedder,
    windows: Sequence[str],
    templates: Sequence[str],
    progress: Progress | None,
) -> Iterator[tuple[int, Floats]]:
    """Yield where a block of windows begins, and how like all templates they are."""
    compared = [plain(template) for template in templates]
    embedder.fit([*compared, *windows])
    of_templates = _unit(embedder.embed(compared))
    unspaced = _unspaced_templates(compared)
    if progress:
        progress("windows", 0, len(windows))
    for start in range(0, len(windows), BLOCK):
        block = windows[start : start + BLOCK]
        # Rounding may bring equal texts above 1.
        cosines = np.minimum(_unit(embedder.embed(block)) @ of_templates.T, 1.0)
        if embedder.describe().languages == ENGLISH:
            _compare_unspaced(block, unspaced, cosines)
        yield start, cosines
        if progress:
            progress("windows", start + len(block), len(windows))


def _unspaced_templates(templates: Sequence[str]) -> list[tuple[int, set[str]]]:
    return [
        (number, pairs)
        for number, template in enumerate(templates)
        if _UNSPACED.search(template) and (pairs := _pairs(template))
    ]


def _compare_unspaced(
    windows: Sequence[str], templates: Sequence[tuple[int, set[str]]], cosines: Floats
) -> None:
    """Compare Chinese, Japanese and Korean windows by letters, which an English model hardly knows.

    The similarity is the share of a template's pairs of letters that stand in the window, 0 to 1.
    """
    for place, window in enumerate(windows):
        if not _UNSPACED.search(window):
            continue
        pairs = _pairs(window)
        cosines[place] = 0.0
        for number, of_template in templates:
            cosines[place, number] = len(of_template & pairs) / len(of_template)


def _pairs(text: str) -> set[str]:
    letters = "".join(text.split())
    return {letters[at : at + 2] for at in range(len(letters) - 1)}


def _unit(vectors: Vectors) -> Floats:
    """Rows of length 1; a row of zeros stays one."""
    dense = np.asarray(
        vectors if isinstance(vectors, np.ndarray) else vectors.toarray(), dtype=np.float64
    )
    norms = np.linalg.norm(dense, axis=1, keepdims=True)
    return np.divide(dense, norms, out=np.zeros_like(dense), where=norms > 0)
