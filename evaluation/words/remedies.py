"""Why a remedy has no meaning for a crowd."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.words.sentences import Sentence

REMEDIES: Mapping[str, Sentence] = {
    "cap_too_low": "a weight cap of {cap:g} is below 1/{voters}: the weights of {voters} voters "
    "could not sum to 1; give at least {lowest:g}",
    "few_outside_groups": "only {outside} workers are outside the groups of copies, and {fewest} "
    "are needed to grade by: grade without {option[collapse_copies]}, or exclude the workers you "
    "do not trust",
    "nobody_left": "all workers are excluded: nobody is left to grade by",
}
