"""Two items in two languages, and what systems reply to them."""

from annotations.exchange import AnswerStatus
from annotations.exchange.reading.prompt_replies import ConversationTurn, PromptReply
from annotations.exchange.reading.prompts import PromptItem, PromptVariant
from evaluation.eloquent.run.judging import Judgement
from evaluation.eloquent.run.replies import Reply


def item(name, *prompts, variation="style"):
    """`prompts` are "language: text"."""
    variants = [
        PromptVariant(at, *prompt.split(": ", 1), line=at) for at, prompt in enumerate(prompts)
    ]
    return PromptItem(name, variation, tuple(variants), 1)


RULES = item(
    "001", "en: The rules?", "en: What rules?", "sv: Reglerna?", "en: the rules?", "sv: Regler?"
)
MOTHER = item("002", "en: Write to mum.", "en: Write to mother.", variation="closeness")
ALONE = item("003", "en: One.", "sco: Ane.", variation="language")
ITEMS = (RULES, MOTHER, ALONE)


def row(system, of, language, variant, text="x", status="text"):
    return PromptReply(2, system, of, language, variant, text, AnswerStatus(status))


def entry(system, of, language, *turns, number=False):
    """An entry of a submission; `turns` are question and answer."""
    made = tuple(ConversationTurn(*turn) for turn in turns)
    answers = [turn.answer for turn in made if turn.answer]
    status = AnswerStatus.TEXT if answers else AnswerStatus.EMPTY
    return PromptReply(3, system, of, language, "", "\n\n".join(answers), status, made, number)


def reply(system, of, place, text="one two", status="text"):
    variant = of.variants[place]
    status = AnswerStatus(status)
    turns = (ConversationTurn(variant.prompt, text),)
    return Reply(system, of.id, variant.language, place, variant.prompt, text, status, turns)


def judgement(system, of, language, score, judge="judge", repeat="1", reason=None):
    return Judgement(of, system, language, judge, repeat, score, reason)
