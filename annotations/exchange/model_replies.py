"""Split a language model's reply into answer and thinking, and determine its final status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from annotations.exchange.ids import is_blank
from annotations.exchange.records import AnswerStatus
from annotations.exchange.thinking import SeparatedReply, separate_thinking

KEEP_THINKING = "--keep-thinking"
THINKING_KEPT = "thinking_kept"
"""Key of a stored answer's further facts: the thinking is part of its text."""


class FinishReason(StrEnum):
    """Reason why a model stopped generating, in terms common to all providers."""

    OTHER = "other"
    LENGTH = "length"
    REFUSED = "refused"
    ERROR = "error"


_REASONS = {
    FinishReason.LENGTH: (
        *("length", "max_tokens", "max_output_tokens", "max_new_tokens", "max_length"),
        *("max_completion_tokens", "model_length", "token_limit", "length_limit", "truncated"),
        *("context_length", "model_context_window_exceeded", "context_window_exceeded"),
        *("max_context_length", "context_length_exceeded", "max_tokens_reached", "limit"),
    ),
    FinishReason.REFUSED: (
        *("content_filter", "contentfilter", "content_filtered", "filtered", "safety", "refusal"),
        *("refused", "recitation", "prohibited_content", "blocklist", "blocked", "sensitive"),
        *("spii", "image_safety", "image_prohibited_content", "image_recitation", "moderation"),
        *("guardrail_intervened", "guardrails", "policy_violation", "content_policy"),
        *("content_policy_violation", "error_toxic", "toxic", "risk_control", "harmful"),
    ),
    FinishReason.ERROR: (
        *("error", "insufficient_system_resource", "network_error", "server_error", "failed"),
        *("internal_error", "internal_server_error", "upstream_error", "provider_error"),
        *("timeout", "time_limit", "abort", "aborted", "cancelled", "canceled", "overloaded"),
        *("service_unavailable", "rate_limit", "malformed_function_call", "malformed_response"),
        *("unexpected_tool_call", "too_many_tool_calls", "error_limit", "exception"),
        *("insufficient_resource", "failure", "user_cancel", "connection_error", "unavailable"),
    ),
}
_MEANING = {word: meaning for meaning, words in _REASONS.items() for word in words}
_PREFIXES = ("finish_reason_", "finishreason_", "finishreason.", "stop_reason_")


def classify_finish_reason(reason: str) -> FinishReason:
    """Return the common `FinishReason` of a provider's own word: "MAX_TOKENS" gives LENGTH."""
    word = reason.strip().casefold().replace("-", "_").replace(" ", "_")
    for prefix in _PREFIXES:
        word = word.removeprefix(prefix)
    return _MEANING.get(word, FinishReason.OTHER)


class _ReplyWithStatus(Protocol):
    """Protocol of a model's reply that has a status and its thinking."""

    @property
    def status(self) -> AnswerStatus:
        """Status of the reply, such as text or cut_off."""

    @property
    def thinking(self) -> str:
        """The thinking that was removed from the reply; "" without any."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A model's reply, split into its answer text and its thinking, with a status.

    Attributes
    ----------
    text : the answer; "" where there is none. thinking : what was removed, "" without any.
    status : TEXT only with a text.
    """

    text: str
    status: AnswerStatus
    thinking: str = ""

    @property
    def parts(self) -> tuple[str, AnswerStatus, str]:
        """The answer text, the status and the thinking, as a tuple."""
        return self.text, self.status, self.thinking


def split_model_reply(
    text: str,
    status: AnswerStatus = AnswerStatus.TEXT,
    finish_reason: str = "",
    keep_thinking: bool = False,
) -> ModelReply:
    """Split a model's reply into answer and thinking (unless kept) and determine its status.

    A reply of TEXT or EMPTY becomes an ERROR or a refusal by its finish reason, and CUT_OFF where
    its length was used up, or it only thought, before an answer came. Any other status is
    unchanged.
    """
    separated = SeparatedReply(text) if keep_thinking else separate_thinking(text)
    answer = "" if is_blank(separated.answer) else separated.answer
    if status not in (AnswerStatus.TEXT, AnswerStatus.EMPTY):
        return ModelReply(answer, status, separated.thinking)
    finish = classify_finish_reason(finish_reason)
    # Errors and refusals precede the text: a filter may leave the beginning of an answer.
    if finish is FinishReason.ERROR:
        status = AnswerStatus.ERROR
    elif finish is FinishReason.REFUSED:
        status = AnswerStatus.REFUSED_GENERATION
    elif answer:
        status = AnswerStatus.TEXT
    elif finish is FinishReason.LENGTH or separated.has_thinking:
        status = AnswerStatus.CUT_OFF
    else:
        status = AnswerStatus.EMPTY
    return ModelReply(answer, status, separated.thinking)


def describe_replies(replies: Iterable[_ReplyWithStatus]) -> list[str]:
    """Return report sentences on removed thinking and on cut-off replies; [] if there are none."""
    n_thinking = n_cut_off = 0
    for reply in replies:
        n_thinking += bool(reply.thinking)
        n_cut_off += reply.status is AnswerStatus.CUT_OFF
    return describe_thinking_counts(n_thinking, n_cut_off)


def describe_thinking_counts(n_thinking: int, n_cut_off: int = 0) -> list[str]:
    """Return report sentences on how many replies had thinking or were cut off; [] if none."""
    notes = []
    if n_thinking:
        replies = "1 reply" if n_thinking == 1 else f"{n_thinking:,} replies"
        notes.append(
            f"The thinking in {replies} was put aside: only the answer after it counts. “Keep the "
            f"text of thinking” ({KEEP_THINKING}) keeps it."
        )
    if n_cut_off:
        replies = "1 reply was" if n_cut_off == 1 else f"{n_cut_off:,} replies were"
        notes.append(
            f"{replies} cut off before an answer came (status cut_off): such a model has no rank. "
            "Ask it again with a higher --max-tokens."
        )
    return notes
