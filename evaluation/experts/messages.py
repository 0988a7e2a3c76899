"""Messages on the agreement of experts' grades."""

from __future__ import annotations

from collections.abc import Mapping

LEVELS: Mapping[str, str] = {
    "reliable": "Experts agree well: their grades can be taken as the yardstick for scores.",
    "tentative": "Experts agree so far that their grades allow tentative conclusions. Read the "
    "answers that they disagree on, have them settled, and explain in the guidelines how to "
    "grade such answers.",
    "poor": "Experts agree little. No score can agree with them better than they do with each "
    "other: settle what they disagree on, and agree on how to grade before more is graded.",
    "unknown": "The agreement of experts is not known: fewer than two answers have two experts' "
    "grades, or all grades are equal. Ask a second expert about the same answers.",
}
# Title, and what it tells.
COEFFICIENTS: Mapping[str, tuple[str, str]] = {
    "kappa_linear": (
        "Weighted kappa, linear",
        "1 for always the same grade, 0 for what chance brings; being two apart counts twice as "
        "much as being one apart",
    ),
    "kappa_quadratic": (
        "Weighted kappa, quadratic",
        "the same, but being two apart counts four times as much: small differences are forgiven",
    ),
    "icc_single": (
        "Intraclass correlation of one expert (ICC 2,1)",
        "reliability of a single expert's grade; an expert who is milder throughout counts as "
        "disagreement",
    ),
    "icc_mean": (
        "Intraclass correlation of their mean (ICC 2,k)",
        "how far the mean grade of all of them can be relied on",
    ),
    "alpha_nominal": (
        "Krippendorff’s alpha, nominal",
        "only the very same half step counts as agreement; with eleven grades it is low",
    ),
    "alpha_ordinal": (
        "Krippendorff’s alpha, ordinal",
        "the order of the grades counts, not how far they are apart",
    ),
    "alpha_interval": (
        "Krippendorff’s alpha, interval",
        "how far apart the grades are counts; from .8 on they are reliable, below .667 not",
    ),
}
