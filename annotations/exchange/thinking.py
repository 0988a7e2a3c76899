"""Separate a language model's thinking from its answer in the text of a reply.

Reasoning models write their thinking into the reply, between marks of several families: tags
(``<think>``, ``<reasoning>``, ``[THINK]``, ``◁think▷``), special tokens
(``<|begin_of_thought|>``, ``<|START_THINKING|>``), channels (``<|channel|>analysis``). The thinking
is no part of the answer. A mark that a sentence only mentions is text: a mark counts where it
delimits a block (see `_begins_block` and `_ends_thinking`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = (
    "think|thinking|thinks|thought|thoughts|thought_process|thinking_process|reasoning|reason|"
    "reasoning_content|reflection|reflect|scratchpad|analysis|inner_monologue|internal_monologue|"
    "internal_thoughts|chain_of_thought|cot|deliberation|longcat_think|ant_thinking"
)
_PREFIX = r"(?:[a-z][\w-]*:)?"
# An opening and a closing mark of each family; `name` where a family has several.
_OPENING = re.compile(
    rf"""
    (?:<|&lt;|\uff1c)\s*{_PREFIX}(?P<tag>{_NAMES})(?:\s[^<>\n]{{0,300}}?)?
        (?P<alone>/?)(?:>|&gt;|\uff1e)
    | \[(?P<bracket>think|thinking|thought|thoughts|reasoning)\]
    | \u25c1(?P<triangle>think|thinking)\u25b7
    | <\|(?P<token>begin_of_thought|begin_of_thinking|start_thinking|begin_think|think_start|
        thinking_start|think|thinking|thought|reasoning)\|>
    | (?P<unused><unused94>\s*thought\b)
    | (?P<details><details\s[^<>\n]{{0,100}}type=["']?reasoning["']?[^<>\n]{{0,300}}>)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CLOSING = re.compile(
    rf"""
    (?:<|&lt;|\uff1c)\s*/\s*{_PREFIX}(?P<tag>{_NAMES})\s*(?:>|&gt;|\uff1e)
    | \[\s*/\s*(?P<bracket>think|thinking|thought|thoughts|reasoning)\s*\]
    | \u25c1\s*/\s*(?P<triangle>think|thinking)\s*\u25b7
    | <\|(?P<token>end_of_thought|end_of_thinking|end_thinking|end_think|think_end|thinking_end|
        /think|/thinking|/thought|/reasoning)\|>
    | (?P<unused><unused95>)
    | (?P<details></details\s*>)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FAMILIES = ("tag", "bracket", "triangle", "token", "unused", "details")
_WRAPPERS = "answer|final_answer|final-answer|final|response|final_response|solution|output|result"
# What encloses the answer after the thinking.
_ANSWER_BEGINS = re.compile(
    rf"(?:<\s*(?:{_WRAPPERS})\s*>|<\|(?:begin_of_solution|start_response|begin_of_answer)\|>)",
    re.IGNORECASE,
)
_ANSWER_ENDS = re.compile(
    rf"(?:<\s*/\s*(?:{_WRAPPERS})\s*>|<\|(?:end_of_solution|end_response|end_of_answer)\|>)",
    re.IGNORECASE,
)
_CHANNEL = re.compile(
    r"<\|channel(?:\|>|>)\s*(?P<name>[a-z_]+)[^<\n]*(?:<\|constrain\|>[^<\n]*)?\n?"
)
_MESSAGE = re.compile(r"(?:<\|message\|>|<channel\|>)")
_MESSAGE_ENDS = re.compile(r"<\|(?:end|return|call)\|>")
_TURN = re.compile(r"<\|start\|>\s*(?:assistant)?[^<\n]*")
# Channels whose special tokens a server has taken out: "analysisWe need ...assistantfinalThe Moon".
_BARE_CHANNELS = re.compile(
    r"\s*analysis(?P<thinking>.*)assistant\s*final(?P<answer>.*)", re.DOTALL | re.IGNORECASE
)
# Granite says it in words.
_IN_WORDS = re.compile(
    r"\s*(?P<thinking>(?:\*\*)?here(?:'s| is) my thought process:.*?)"
    r"(?:\*\*)?here(?:'s| is) my (?:response|answer):(?:\*\*)?(?P<answer>.*)",
    re.DOTALL | re.IGNORECASE,
)
_FENCED = re.compile(
    r"\s*```\s*(?:think|thinking|thought|thoughts|reasoning)[ \t]*\n(?P<thinking>.*?)"
    r"(?:\n```[ \t]*(?:\n|$)(?P<answer>.*)|$)",
    re.DOTALL | re.IGNORECASE,
)
_TURN_END = (
    r"(?:<\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end_of_turn|end|return|eos|eot|"
    r"endofmessage|end_of_turn_token|endofturn|end_of_sentence|eosp|endofprompt)\|>"
    r"|<(?:end_of_turn|end_of_utterance|eos|pad|turn\|)>|</s>|\[eos\]"
    r"|<\uff5cend\u2581of\u2581sentence\uff5c>)"
)
_LAST_MARK = re.compile(rf"{_TURN_END}\Z", re.IGNORECASE)
_LONGEST_TOKEN = 40
_NEXT_TURN = re.compile(
    rf"{_TURN_END}\s*(?:<\|(?:im_start|start_header_id|start|user|system)\|>|<start_of_turn>|<s>)",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"\A\s*(?:(?:<\|begin_of_text\|>|<\|startoftext\|>|<bos>|<s>|"
    r"<\|im_start\|>\s*assistant[ \t]*\n?|"
    r"<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>|<start_of_turn>\s*model[ \t]*\n?"
    r"|<\|assistant\|>|<\|start_of_role\|>\s*assistant\s*<\|end_of_role\|>)\s*)+",
    re.IGNORECASE,
)
_BLANK = " \t\r\n\ufeff\u200b\u200c\u200d\u2060\xa0"
_QUOTES = "`\"'\u201c\u201d\u2018\u2019\u00ab\u00bb"
_SENTENCE_ENDS = ".!?:;\u2026\u3002\uff01\uff1f\uff1a>]*)\u25b7"
# After an opening mark: a sentence about the mark.
_ABOUT_MARK = re.compile(
    r"[ \t]+(?:is|are|was|and|or|tags?|tokens?|elements?|blocks?|marks?|means|opens?|closes?|"
    r"begins|starts|stands|should|can|has|does|in|not|to|as|followed|before|after)\b[^\n]*"
)
# Before a closing mark or an end token: such a sentence, too.
_BEFORE_MARK = re.compile(
    r"\b(?:is|are|was|and|or|tags?|tokens?|elements?|use|uses|using|used|with|by|the|a|an|as|like|"
    r"called|named|than|write|writes|emits?|in|to|of|after|before|until|at|between|means)\s+\Z",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"(?:\d{1,3}[.)]|[-*\u2022])")
_MOST_MARKS = 40
"""Marks that are looked at one by one; a text with more is split at its last closing mark."""
_ONLY_JOINING = re.compile(r"[\s,;/&]*(?:and|or|und|oder|et|ou|y|o|e|to|\.\.\.|\u2026)?[\s,;/&]*")


@dataclass(frozen=True, slots=True)
class SeparatedReply:
    """A language model's reply, split into its answer and its thinking.

    Attributes
    ----------
    answer : the unchanged text where nothing was removed; else without white space around it.
    thinking : what was removed, without its marks; "" without any.
    is_cut : whether the thinking begins and never ends: then there is no answer.
    """

    answer: str
    thinking: str = ""
    is_cut: bool = False

    @property
    def has_thinking(self) -> bool:
        """Whether the reply contained thinking, complete or cut off."""
        return bool(self.thinking) or self.is_cut


def separate_thinking(text: str) -> SeparatedReply:
    """Split a model's reply into its answer and its thinking.

    Special tokens that end a turn are removed from the answer. A text without marks is unchanged.
    """
    if not _has_possible_mark(text):
        return SeparatedReply(text)
    separated = _split_at_channels(text) or _split_at_phrases(text) or _split_at_marks(text)
    answer = _strip_turn_tokens(separated.answer)
    # Unchanged to the last blank: a text without thinking is stored as it was written.
    if answer == text:
        return SeparatedReply(text)
    if separated.answer != text:
        answer = _unwrap_answer(answer).strip(_BLANK)
    return SeparatedReply(answer, separated.thinking, separated.is_cut)


def join_thinking(answer: str, thinking: str) -> str:
    """Return the answer preceded by its thinking in <think> tags, to store both as one text."""
    if not thinking:
        return answer
    block = f"<think>\n{thinking.strip()}\n</think>"
    return f"{block}\n\n{answer}" if answer else block


def _has_possible_mark(text: str) -> bool:
    """Return whether a reply may contain thinking: a cheap test before the regular expressions."""
    if "<" in text or "[" in text or "\u25c1" in text or "&lt;" in text or "\uff1c" in text:
        return True
    begin = text[:40].lstrip(_BLANK).casefold()
    return begin.startswith(("analysis", "```", "here is my", "here's my", "**here"))


def _split_at_channels(text: str) -> SeparatedReply | None:
    """Split a reply that uses channels (harmony format); None if it has no channels."""
    bare = _BARE_CHANNELS.fullmatch(text)
    if bare is not None:
        return SeparatedReply(bare["answer"], bare["thinking"].strip())
    first = _CHANNEL.search(text)
    if first is None or not _is_channel_delimiter(text, first):
        return None
    thinking: list[str] = []
    answers: list[str] = []
    outside = _TURN.sub("", _BEGINS.sub("", text[: first.start()]))
    ended = bool(_MESSAGE_ENDS.search(outside))
    thinking.append(_MESSAGE_ENDS.sub("", outside))
    channel: re.Match[str] | None = first
    complete = False
    while channel is not None:
        following = _CHANNEL.search(text, channel.end())
        part = text[channel.end() : following.start() if following else len(text)]
        part = _TURN.sub("", _MESSAGE.sub("", part, count=1))
        end = _MESSAGE_ENDS.search(part)
        message, rest = (part, "") if end is None else (part[: end.start()], part[end.end() :])
        rest = _MESSAGE_ENDS.sub("", rest)
        if channel["name"].casefold() == "final":
            answers.append(message)
            complete = True
        else:
            thinking.append(message)
            ended = end is not None
        if rest.strip(_BLANK):
            answers.append(rest)
            complete = True
        channel = following
    joined_thinking = "\n\n".join(part_text.strip() for part_text in thinking if part_text.strip())
    if not complete:
        return SeparatedReply("", joined_thinking, is_cut=bool(joined_thinking) or not ended)
    return SeparatedReply("\n".join(part_text.strip() for part_text in answers), joined_thinking)


def _is_channel_delimiter(text: str, first: re.Match[str]) -> bool:
    """Return whether the first channel token is a delimiter, not mentioned in a sentence."""
    if text[: first.start()].rstrip(_BLANK)[-1:] in tuple("`\"'"):
        return False
    at_begin = not text[: first.start()].strip(_BLANK)
    after = text[first.start() :]
    return at_begin or _MESSAGE.search(after) is not None


def _split_at_phrases(text: str) -> SeparatedReply | None:
    """Split a reply at a phrase such as "Here is my response:" or a code fence; None if absent."""
    match = _IN_WORDS.fullmatch(text)
    if match is not None:
        return SeparatedReply(match["answer"].strip(), match["thinking"].strip())
    fenced = _FENCED.match(text)
    if fenced is not None:
        answer = fenced["answer"]
        return SeparatedReply(
            (answer or "").strip(), fenced["thinking"].strip(), is_cut=answer is None
        )
    return None


def _split_at_marks(text: str) -> SeparatedReply:
    """Split a reply at the tags and special tokens that delimit its thinking."""
    begin = _BEGINS.match(text)
    rest = text[begin.end() :] if begin else text
    marks = sum(1 for _ in _OPENING.finditer(rest)) + sum(1 for _ in _CLOSING.finditer(rest))
    if not marks:
        return SeparatedReply(text)
    # Each mark is judged with the text around it, which takes quadratic time.
    if marks > _MOST_MARKS:
        return _split_at_last_mark(rest)
    outside: list[str] = []
    thinking: list[str] = []
    has_block = False
    while True:
        opening = _find_opening_mark(rest)
        closing = _find_unopened_closing_mark(rest, opening)
        if closing is not None:
            # What came before the mark, earlier parts too, is thinking.
            thinking += [*outside, rest[: closing.start()]]
            outside, rest, has_block = [], rest[closing.end() :], True
            continue
        if opening is None:
            break
        has_block = True
        outside.append(rest[: opening.start()])
        if opening.groupdict().get("alone"):
            rest = rest[opening.end() :]
            continue
        end = _find_thinking_end(rest, opening)
        if end is None:
            thinking += [*outside, rest[opening.end() :]]
            return SeparatedReply("", _join_thinking_parts(thinking), is_cut=True)
        thinking.append(rest[opening.end() : end[0]])
        rest = rest[end[1] :]
    if not has_block:
        return SeparatedReply(text)
    parts = [part.strip(_BLANK) for part in [*outside, rest]]
    return SeparatedReply("\n".join(part for part in parts if part), _join_thinking_parts(thinking))


def _split_at_last_mark(text: str) -> SeparatedReply:
    """Split a reply with more than 40 thinking marks at its last closing mark."""
    begins_open = _OPENING.match(text.lstrip(_BLANK)) is not None
    last = _find_last_match(_CLOSING, text)
    if last is None:
        return (
            SeparatedReply("", _join_thinking_parts([text]), is_cut=True)
            if begins_open
            else SeparatedReply(text)
        )
    if not begins_open and not _ends_thinking(text, last):
        return SeparatedReply(text)
    return SeparatedReply(text[last.end() :], _join_thinking_parts([text[: last.start()]]))


def _find_last_match(mark: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    """Return the last match of a pattern in a text from position `start` on; None if none."""
    last_match = None
    for match in mark.finditer(text, start):
        last_match = match
    return last_match


def _join_thinking_parts(parts: list[str]) -> str:
    """Join parts of thinking to one text, without the marks in them."""
    texts = (_OPENING.sub("", _CLOSING.sub("", part)).strip(_BLANK) for part in parts)
    return "\n\n".join(part for part in texts if part)


def _find_opening_mark(text: str) -> re.Match[str] | None:
    """Return the first opening mark that begins a block of thinking; None if there is none."""
    return next((mark for mark in _OPENING.finditer(text) if _begins_block(text, mark)), None)


def _get_mark_family(mark: re.Match[str]) -> str:
    """Return the family of a thinking mark, one of `_FAMILIES`."""
    return next(name for name in _FAMILIES if mark.group(name) is not None)


def _begins_block(text: str, opening: re.Match[str]) -> bool:
    """Return whether an opening mark begins a block and is not only mentioned in a sentence."""
    before, after = text[: opening.start()], text[opening.end() :]
    if _is_in_code(before, after):
        return False
    closing = _find_closing_mark(text, opening)
    inner = None if closing is None else text[opening.end() : closing.start()]
    joins = inner is not None and len(inner) < 20 and inner.strip()
    if joins and _ONLY_JOINING.fullmatch(inner or ""):
        return False  # "<think> and </think>"
    sentence = _ABOUT_MARK.match(after if inner is None else inner)
    if sentence is not None and (inner is None or "\n" not in inner):
        return False  # "<think> is a tag"
    line = before.rsplit("\n", 1)[-1].strip(_BLANK)
    if not line:
        return True
    breaks = re.match(r"[ \t]*\r?\n", after) is not None
    if inner is None or _LIST_MARK.fullmatch(line):
        # In the middle of a line only what goes on in further lines is a block.
        return line[-1] in _SENTENCE_ENDS and breaks
    if breaks:
        return True
    return line[-1] in _SENTENCE_ENDS and (line[-1] not in ":;" or len(inner.split()) > 2)


def _is_in_code(before: str, after: str) -> bool:
    """Return whether a mark is quoted or inside code, given the text before and after it."""
    if before[-1:] and before[-1] in _QUOTES and (after[:1] in _QUOTES or before[-1] == "`"):
        return True
    fences = len(re.findall(r"^[ \t]*```", before, re.MULTILINE))
    if fences % 2 and re.search(r"^[ \t]*```", after, re.MULTILINE):
        return True
    line, rest = before.rsplit("\n", 1)[-1], after.split("\n", 1)[0]
    return line.count("`") % 2 == 1 and "`" in rest


def _find_closing_mark(text: str, opening: re.Match[str]) -> re.Match[str] | None:
    """Return the mark that closes a block, by nesting, else the last of its family; or None."""
    family, name = _get_mark_family(opening), opening.group(_get_mark_family(opening)).casefold()
    closings = [
        mark
        for mark in _CLOSING.finditer(text, opening.end())
        if _get_mark_family(mark) == family
        and not _is_in_code(text[: mark.start()], text[mark.end() :])
    ]
    if family == "tag":
        same = [mark for mark in closings if mark["tag"].casefold() == name]
        closings = same or closings
    depth = 1
    openings = [
        mark
        for mark in _OPENING.finditer(text, opening.end())
        if _get_mark_family(mark) == family and mark.group(family).casefold() == name
    ]
    for closing in closings:
        inside = sum(mark.end() <= closing.start() for mark in openings)
        # Every opening mark before it needs a closing one; the earlier ones are used up.
        depth = 1 + inside - closings.index(closing)
        if depth <= 1:
            return closing
    return closings[-1] if closings else None


def _find_thinking_end(text: str, opening: re.Match[str]) -> tuple[int, int] | None:
    """Return the positions (end of the thinking, start of the answer); None if it never ends."""
    closing = _find_closing_mark(text, opening)
    if closing is not None:
        return closing.span()
    answer = _ANSWER_BEGINS.search(text, opening.end())
    if answer is not None:
        return answer.start(), answer.start()
    return None


def _find_unopened_closing_mark(text: str, opening: re.Match[str] | None) -> re.Match[str] | None:
    """Return the last mark that ends thinking and has no opening mark before it; None if none."""
    end = len(text) if opening is None else opening.start()
    # The last one: text between two closing marks is thinking, too.
    last_closing = None
    for closing in _CLOSING.finditer(text, 0, end):
        if _get_mark_family(closing) != "details" and _ends_thinking(text, closing):
            last_closing = closing
    return last_closing


def _ends_thinking(text: str, closing: re.Match[str]) -> bool:
    """Return whether a closing mark ends thinking and is not only mentioned in a sentence."""
    before, after = text[: closing.start()], text[closing.end() :]
    if _is_in_code(before, after) or _BEFORE_MARK.search(before[-40:]):
        return False
    same_family = [
        mark
        for mark in _OPENING.finditer(before)
        if _get_mark_family(mark) == _get_mark_family(closing)
    ]
    if same_family and "\n" not in text[same_family[-1].end() : closing.start()]:
        return False  # the second half of a mention
    line = before.rsplit("\n", 1)[-1]
    if not line.strip(_BLANK):
        return True
    if _LIST_MARK.fullmatch(line.strip(_BLANK)):
        return False
    ends_line = re.match(r"[ \t]*(?:\r?\n|\Z)", after) is not None
    attached = not line[-1].isspace() and after[:1].isupper()
    return ends_line or attached or line.rstrip()[-1] in _SENTENCE_ENDS


def _unwrap_answer(answer: str) -> str:
    """Return the text inside the tags of the answer (``<answer>``); unchanged without such tags."""
    begin = _ANSWER_BEGINS.search(answer)
    if begin is None:
        return _ANSWER_ENDS.sub("", answer) if _ANSWER_ENDS.search(answer) else answer
    if answer[: begin.start()].rpartition("\n")[2].strip(_BLANK):
        return answer
    end = _find_last_match(_ANSWER_ENDS, answer, begin.end())
    inner = answer[begin.end() : end.start() if end else len(answer)]
    # Empty tags would leave no answer of a reply that has a text.
    return inner if inner.strip(_BLANK) else answer


def _strip_turn_tokens(answer: str) -> str:
    """Return the answer without the special tokens that begin and end a chat turn."""
    turn = _NEXT_TURN.search(answer)
    if turn is not None and not _is_in_code(answer[: turn.start()], answer[turn.end() :]):
        answer = answer[: turn.start()]
    while True:
        stripped = answer.rstrip(_BLANK)
        token = _LAST_MARK.search(stripped, max(0, len(stripped) - _LONGEST_TOKEN))
        if token is None or _is_mentioned_token(stripped, token):
            break
        answer = stripped[: token.start()].rstrip(_BLANK)
    begins = _BEGINS.match(answer)
    if begins is not None and not (begins.group().strip().casefold() == "<s>" and "</s>" in answer):
        answer = answer[begins.end() :]
    return answer


def _is_mentioned_token(text: str, token: re.Match[str]) -> bool:
    """Return whether a final special token is a word of the last sentence, or HTML."""
    before = text[: token.start()]
    if before[-1:] in tuple(" \t") and _BEFORE_MARK.search(before[-40:]):
        return True
    return token.group().casefold() == "</s>" and "<s>" in before.casefold().lstrip(_BLANK)[3:]
