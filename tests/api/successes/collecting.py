"""People answer: settings, places, links, admission, pictures."""

from __future__ import annotations

from io import BytesIO
from types import SimpleNamespace
from typing import Any

from django.utils import timezone
from PIL import Image as Picture

from annotations.models import Collection
from evaluation.models import Run
from tests.annotations.world import submission as submission_of
from tests.annotations.world import version as draft_of
from tests.api.successes.declaration import Sent, draft, succeeds
from tests.desk.route_values import collecting_of


def collection(world: SimpleNamespace) -> Collection:
    """Rana's set, published to workers."""
    return collecting_of(SimpleNamespace(set=world.set, version=world.version))


@succeeds("collecting_publish")
def _(world):
    collection(world)
    return Sent({"places": 7, "pay": "2.50", "currency": "GBP"})


@succeeds("collecting_change")
def _(world):
    collection(world)
    return Sent({"places": 9, "practice_needed": None, "excludes": []})


@succeeds("collecting_state")
def _(world):
    collection(world)
    return Sent({"state": "paused", "was": "open"})


@succeeds("collecting_add_places")
def _(world):
    return Sent({"more": 2, "was": collection(world).places})


@succeeds("collecting_links")
def _(world):
    collection(world)
    return Sent({"workers": ["ada", "ben"]})


@succeeds("collecting_admit")
def _(world):
    collection(world)
    return Sent({"workers": ["ada", "ben"], "why": "pilot"})


@succeeds("collecting_strike")
def _(world):
    collection(world)
    return Sent({"workers": ["ada"]})


def rule(world: SimpleNamespace) -> dict[str, Any]:
    """A rule by the score in another graded set of Rana's."""
    collection(world)
    earlier = draft_of(world.rana, "an earlier one")
    Run.objects.create(owner=world.rana, version=earlier, state="done", finished_at=timezone.now())
    return {"earlier": str(earlier.question_set.public_id), "at_least": 0.5, "end": "low"}


@succeeds("collecting_score_rule_set")
def _(world):
    return Sent(rule(world))


@succeeds("collecting_score_rule_count")
def _(world):
    return Sent(rule(world))


@succeeds("collecting_score_rule_drop")
def _(world):
    collection(world)
    return Sent()


@succeeds("collecting_interims_start")
def _(world):
    made = collection(world)
    for name in ("ann", "bob", "cat"):
        begun = submission_of(made.version, name)
        begun.state, begun.source, begun.submitted_at = "submitted", "collected", timezone.now()
        begun.save()
    return Sent()


@succeeds("passages_picture_send")
def _(world):
    written = BytesIO()
    Picture.new("RGB", (3, 2)).save(written, "PNG")
    return Sent({"picture": written.getvalue(), "image_alt": "A river."}, ids=draft(world))


@succeeds("passages_picture_delete")
def _(world):
    return Sent(ids=draft(world))
