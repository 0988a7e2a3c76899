"""What a run will ask, counted before it is started."""

from __future__ import annotations

from annotations.models import QuestionSetVersion
from annotations.models.access import Anybody
from evaluation.flow.asking.plan import Item
from evaluation.flow.multiqa import rewording
from evaluation.flow.multiqa.answering import messages
from evaluation.flow.multiqa.run_options import MultiqaRunOptions
from evaluation.flow.multiqa.study import conversations_of, wordings_of
from evaluation.steps.asking.foreseen import Foreseen, takes_of
from evaluation.steps.asking.in_turns import Round
from evaluation.steps.asking.registered import chosen, ids_of
from evaluation.steps.multiqa.loading import load

REWORDING, ASKING = "Putting it in other words", "Answering"


def foreseen(version: QuestionSetVersion, user: Anybody, options: MultiqaRunOptions) -> Foreseen:
    """Return what the models will be asked; nothing is sent."""
    loaded = load(version, options)
    models, rewriters = chosen(user, options.models), chosen(user, ids_of(options.rewriter))
    sent = {"temperature": options.temperature, "max_tokens": options.max_tokens}
    takes, shown, notes = [], {}, []
    typed, _ = ([], []) if rewriters else loaded.typed_wordings()
    for rewriter in rewriters:
        asked = [
            Item(
                f"{loaded.items[number].item}|reword|1",
                rewording.messages(loaded.items[number].question, options.rewordings),
            )
            for number in loaded.asked
        ]
        if asked:
            shown["The first question, as the rewriter sees it"] = asked[0].messages
        at = {"temperature": rewording.TEMPERATURE, "max_tokens": options.rewriter_tokens}
        takes.append(takes_of(user, REWORDING, Round(rewriter, asked, at, options.seed)))
        notes.append(
            "The rewordings are not known yet, so what answering them takes is reckoned from the "
            "questions. Where too few of a question can be kept the rewriter is asked up to "
            f"{rewording.MOST_TRIES - 1} more times."
        )
    conversations = conversations_of(loaded.items, wordings_of(loaded.items, loaded.asked, typed))
    times = 1 + options.rewordings if rewriters else 1
    for model in models:
        asked_of = Round(model, conversations, sent, options.seed)
        takes.append(takes_of(user, ASKING, asked_of, times))
    if loaded.asked:
        first = loaded.items[loaded.asked[0]]
        shown["The first question, as the models see it"] = messages(first, first.question)
    return Foreseen(tuple(takes), shown, tuple(notes))
