"""Contradictions of a file of problems: noise.csv, and summary.json."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from annotations.exchange import OutputFolder
from annotations.exchange.reading.word_problems import read_word_problems
from evaluation.files.metrics import SUMMARY, refuse_to_replace
from evaluation.flow.signatures import versions
from evaluation.flow.umwp.noise import Noise, NoiseRow, noise

NOISE = "noise.csv"
NOISE_FILES = (NOISE, SUMMARY)


def look_for_noise(problems: Path, least: float, output: Path) -> Noise:
    """Read, look, and write both files; `least` is the similarity of what is alike, above 0 to 1.

    Raises `InputError`: the file will not do.
    """
    refuse_to_replace(output, NOISE_FILES, (problems,))
    file = read_word_problems(problems)
    with OutputFolder(output) as folder:
        found = noise(file.problems, least)
        folder.write_csv(NOISE, NoiseRow._fields, found.rows)
        folder.write_json(
            SUMMARY,
            {
                "signature": f"umwp_noise|similarity:{least:g}|inputs:{file.sha256[:16]}"
                f"|version:{metadata.version('crowdgrade')}",
                "counts": {"problems": found.problems, "pairs": len(found.rows), **found.counts},
                "without_partner": found.without_partner,
                "partners_missing": found.partners_missing,
                "partners_unanswerable": found.partners_unanswerable,
                "gold_of_unanswerable": found.gold_of_unanswerable,
                "versions": versions(),
                "input_hash": file.sha256,
            },
        )
    return found
