"""Exemplary answers in a .npz file, written in parts so that sparse ones need not fit densely."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np

from evaluation.methods.grams import Vectors, dense

# Numbers written at once.
PART = 4_000_000


def write_exemplars(
    file: BinaryIO, questions: Sequence[str], vectors: Vectors, dtype: np.dtype[Any]
) -> None:
    """Write arrays `questions` (Q,) of text and `vectors` (Q, d); `numpy.load` needs no pickle."""
    shape = (int(vectors.shape[0]), int(vectors.shape[1]))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        with archive.open("questions.npy", "w") as entry:
            np.lib.format.write_array(entry, np.array(questions, dtype=np.str_), allow_pickle=False)
        with archive.open("vectors.npy", "w", force_zip64=True) as entry:
            header = {
                "descr": np.lib.format.dtype_to_descr(dtype),
                "fortran_order": False,
                "shape": shape,
            }
            np.lib.format.write_array_header_1_0(entry, header)
            step = max(1, PART // max(shape[1], 1))
            for first in range(0, shape[0], step):
                part = np.ascontiguousarray(dense(vectors[first : first + step]), dtype=dtype)
                entry.write(part.tobytes())
