"""What the page that starts a run shows beforehand: questions, wordings, keys and people."""

from __future__ import annotations

from annotations.models import QuestionSetVersion
from evaluation.flow.multiqa.run_options import MultiqaRunOptions
from evaluation.kinds.kind import Beforehand, Start
from evaluation.steps.multiqa.loading import load
from evaluation.steps.multiqa.planning import foreseen


def before(version: QuestionSetVersion | None) -> Beforehand:
    """Return what a version holds for it: questions with accepted answers, people, wordings."""
    loaded = None if version is None else load(version, MultiqaRunOptions())
    if loaded is None or not loaded.items:
        return Beforehand("There is no question with a text yet.", ready=False)
    if not loaded.asked:
        return Beforehand(
            "No question has accepted answers, and nobody has answered: nothing says which replies "
            "are right.",
            ready=False,
        )
    keyed = sum(bool(item.answers) for item in loaded.items)
    typed = sum(one.variant is not None for one in loaded.typed_wordings()[0])
    people = len(set(loaded.crowd.workers)) if loaded.crowd is not None else 0
    parts = [
        f"{_n(len(loaded.items), 'question')}, {keyed} with accepted answers",
        f"{_n(people, 'person', 'people')} answered" if people else "nobody answered yet",
        f"{_n(typed, 'other wording')} typed or imported"
        if typed
        else "no other wordings typed or imported: choose a rewriter",
    ]
    return Beforehand(f"{'; '.join(parts)}.")


def _n(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


START = Start(
    words="Answers that hang on the words are not robust.", before=before, foreseen=foreseen
)
