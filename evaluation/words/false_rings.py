"""How often alarms ring in crowds of which nothing is known to be amiss, in words."""

from __future__ import annotations

from collections.abc import Sequence

# A crowd that was taken whole, once, says nothing of how often.
ONE_GROUP = 1
NOT_LOOKED = "too few answers to look"
CROWDS = {
    "beetle": "students",
    "crowdwsa T1": "translators",
    "crowdwsa T2": "other translators",
    "mohler": "students' answers dealt to workers",
}
"""The crowds that groups were drawn from."""


def rate_in_words(
    looked: int, rang: int, share: float | None, low: float | None, high: float | None
) -> str:
    """Return how often, with the interval: "38.4% (34.7 to 42.2) of 643"."""
    if share is None or low is None or high is None:
        return NOT_LOOKED
    if not rang:
        return f"none of {looked:,} (at most {100 * high:.1f}%)"
    return f"{100 * share:.1f}% ({100 * low:.1f} to {100 * high:.1f}) of {looked:,}"


def of_case(size: int, rates: Sequence[tuple[str, str]], *, often: bool) -> str:
    """Return what was measured of one alarm, crowd by crowd, and what that means."""
    told = "; ".join(f"{name}: {said}" for name, said in rates)
    meaning = "So it seldom rings by chance in a crowd of this size."
    if often:
        meaning = (
            "So in a crowd of this size it often rings with nobody to blame: take it for a hint to "
            "read the answers, no more."
        )
    elif all(said == NOT_LOOKED for _, said in rates):
        meaning = "So nothing is known of how often it rings falsely in a crowd of this size."
    return (
        f"How often it rang in random groups of {size} out of crowds in which nothing is known to "
        f"be amiss (in brackets what it could be in other such groups, 95%): {told}. {meaning}"
    )
