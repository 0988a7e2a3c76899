"""Messages on why the drift of answers between two waves was not tested."""

from __future__ import annotations

from collections.abc import Mapping

NOT_TESTED: Mapping[str, str] = {
    "large": "There are too many answers to test it while a page loads.",
    "changed": "People's answers were added, changed or withdrawn since one of the two was "
    "graded: grade it again.",
    "slow_settings": "One of the two was graded with corrected spelling, whose vectors are not "
    "stored.",
    "no_vectors": "The vectors of one of the two are not stored: grade it again.",
    "otherwise": "The two were not graded with the same model of meaning.",
}
