"""Draw a random sample of a run's items for experts to judge, and ask experts about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.db.models import Count, Q

from evaluation import models
from evaluation.core.stats.statistics.sampling import draw_stratified_order
from evaluation.models import JudgementRequest, Run
from evaluation.models.judgements import PLACES
from evaluation.runs.judging.declaration import Judging

# What one run may show, and the largest seed that the database keeps.
MOST_DRAWN, MOST_SEED = 5_000, 2**31 - 1


@dataclass(frozen=True)
class ExpertProgress:
    """How many judgements of a run an expert was asked for, and has finished."""

    user: int
    name: str
    n_asked: int
    n_done: int

    @property
    def is_done(self) -> bool:
        """Whether the expert was asked and no judgement is missing."""
        return 0 < self.n_asked <= self.n_done


@transaction.atomic
def draw_sample(run: Run, judging: Judging, count: int, seed: int) -> list[models.Exhibit]:
    """Return a random sample of `count` items of a run to judge; earlier drawn ones stay.

    If the items have several strata, the sample holds each in proportion (`draw_stratified_order`).
    The order of all items is drawn once with a seed, and the sample is its beginning: a larger
    sample holds the smaller one, and `seed` counts in the first draw only. If a run has fewer than
    `count` items, the sample holds all.
    """
    # The run's row makes two who draw at once wait for each other.
    Run.objects.select_for_update().get(pk=run.pk)
    drawn = list(models.Exhibit.objects.filter(run=run, judging=judging.name).order_by("place"))
    if len(drawn) >= count:
        return drawn[:count]
    seed = drawn[0].seed if drawn else seed
    rng = np.random.default_rng(seed)
    exhibits = judging.exhibits(run, rng)
    strata = [one.stratum for one in exhibits]
    if len(set(strata)) > 1:
        order = draw_stratified_order(strata, rng).tolist()
    else:
        order = rng.permutation(len(exhibits)).tolist()
    new_rows = [
        models.Exhibit(
            run=run,
            judging=judging.name,
            place=place,
            seed=seed,
            key=list(exhibits[order[place]].key),
            shown=exhibits[order[place]].as_json(),
        )
        for place in range(len(drawn), min(count, len(order)))
    ]
    models.Exhibit.objects.bulk_create(new_rows)
    return drawn + new_rows


def request_judgements(exhibits: Iterable[models.Exhibit], expert: int) -> None:
    """Ask an expert to judge the items of a run's sample; earlier requests stay.

    In an order of the expert's own, drawn with the seed of the sample.
    """
    rows = list(exhibits)
    if not rows:
        return
    rng = np.random.default_rng([rows[0].seed, expert])
    places = rng.integers(0, PLACES, max(one.place for one in rows) + 1)
    JudgementRequest.objects.bulk_create(
        [
            JudgementRequest(
                run_id=one.run_id, exhibit=one, expert_id=expert, place=int(places[one.place])
            )
            for one in rows
        ],
        ignore_conflicts=True,
    )


def list_progress(run: Run, judging: Judging) -> list[ExpertProgress]:
    """Return the experts asked to judge a run's items, with their progress; two queries."""
    mine = {"exhibit__run": run, "exhibit__judging": judging.name}
    done = dict(
        models.HumanJudgement.objects.filter(**mine)
        .order_by()
        .values_list("expert")
        .annotate(n=Count("pk"))
    )
    rows = (
        JudgementRequest.objects.filter(Q(**mine))
        .order_by("expert__username")
        .values_list("expert", "expert__username")
        .annotate(n=Count("pk"))
    )
    return [ExpertProgress(user, name, n, done.get(user, 0)) for user, name, n in rows]
