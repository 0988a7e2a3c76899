"""Read the answers of one sample of an Inspect log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotations.exchange.reading.log_records import LogRecord

ATTACHMENT = "attachment://"
# Options of a request that tell two ways of asking apart.
PARAMETERS = (
    *("temperature", "top_p", "top_k", "max_tokens", "seed", "stop_seqs", "frequency_penalty"),
    *("presence_penalty", "reasoning_effort", "reasoning_tokens", "system_message"),
)
USED_UP = "length"
LONGEST_ERROR = 1_000


@dataclass(frozen=True)
class InspectHeader:
    """Header of an Inspect log: task, model, and options of all requests to the model."""

    task: str = ""
    model: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


def read_log_header(log: Any) -> InspectHeader:
    """Return task, model and options from an Inspect log's header; empty values if missing."""
    spec = log.get("eval") if isinstance(log, Mapping) else None
    if not isinstance(spec, Mapping):
        return InspectHeader()
    plan = log.get("plan")
    configs = (spec.get("model_generate_config"), (plan or {}).get("config"))
    options: dict[str, Any] = {}
    for config in configs:
        if isinstance(config, Mapping):
            options |= {key: config[key] for key in PARAMETERS if config.get(key) is not None}
    return InspectHeader(_format_text(spec.get("task")), _format_text(spec.get("model")), options)


def read_inspect_sample(
    sample: Mapping[str, Any], header: InspectHeader, model: str, question: str
) -> Iterator[LogRecord]:
    """Yield the answers of a sample: one, or one for each choice that the model returned."""
    texts = _SampleTexts(sample.get("attachments"))
    output = sample.get("output")
    output = output if isinstance(output, Mapping) else {}
    choices = [choice for choice in output.get("choices") or () if isinstance(choice, Mapping)]
    epoch = sample.get("epoch")
    first = (epoch - 1 if isinstance(epoch, int) and epoch > 0 else 0) * max(1, len(choices))
    error = sample.get("error") or output.get("error")
    limit = sample.get("limit")
    extra = {
        "task": header.task,
        "epoch": epoch,
        **({"error": _describe_error(error)} if error else {}),
        **({"limit": _format_text(limit.get("type"))} if isinstance(limit, Mapping) else {}),
        **_extract_scores(sample.get("scores")),
    }
    prompt = texts.format_input(sample.get("input"))
    for number, choice in enumerate(choices or [{}]):
        message = choice.get("message")
        content = message.get("content") if isinstance(message, Mapping) else None
        found = texts.read_content(content)
        # An agent may end by a call of a tool: its last words are the answer.
        if not found.text and not found.is_refusal and len(choices) < 2:
            found = texts.read_last_reply(sample.get("messages")) or found
        reason = _format_text(choice.get("stop_reason"))
        if limit and not found.text:
            reason = USED_UP
        yield LogRecord(
            model=model,
            question=question,
            text=found.text,
            status="error" if error else "refused" if found.is_refusal else "",
            sample=first + number,
            finish_reason=reason,
            prompt=prompt,
            parameters=header.parameters,
            extra={**extra, **({"thinking": found.thinking} if found.thinking else {})},
        )


@dataclass(frozen=True)
class _MessageContent:
    """Content of a message: its text, the thinking, and whether it is a refusal."""

    text: str = ""
    thinking: str = ""
    is_refusal: bool = False


class _SampleTexts:
    """Reader of the texts of a sample, some of which are in its attachments."""

    def __init__(self, attachments: Any) -> None:
        self._attachments = attachments if isinstance(attachments, Mapping) else {}

    def read_content(self, content: Any) -> _MessageContent:
        """Return the content of a message, which is a text or a list of parts."""
        if isinstance(content, str):
            return _MessageContent(self._resolve_attachment(content))
        parts = [part for part in content or () if isinstance(part, Mapping | str)]
        texts, thinking, refusals = [], [], 0
        for part in parts:
            if isinstance(part, str):
                texts.append(self._resolve_attachment(part))
            elif part.get("type") == "text":
                texts.append(self._resolve_attachment(_format_text(part.get("text"))))
                refusals += bool(part.get("refusal"))
            elif part.get("type") == "reasoning" and not part.get("redacted"):
                thinking.append(self._resolve_attachment(_format_text(part.get("reasoning"))))
        is_refusal = bool(texts) and refusals == len(texts)
        return _MessageContent("\n".join(texts), "\n".join(filter(None, thinking)), is_refusal)

    def read_last_reply(self, messages: Any) -> _MessageContent | None:
        """Return the content of the model's last message with a text; None if it has none."""
        for message in reversed(messages if isinstance(messages, Sequence) else ()):
            if isinstance(message, Mapping) and message.get("role") == "assistant":
                found = self.read_content(message.get("content"))
                if found.text:
                    return found
        return None

    def format_input(self, given: Any) -> str:
        """Return a sample's input as one text: unchanged, or its messages, each with its role."""
        if isinstance(given, str):
            return self._resolve_attachment(given)
        messages = [one for one in given or () if isinstance(one, Mapping)]
        return "\n\n".join(
            f"{_format_text(message.get('role'))}: {self.read_content(message.get('content')).text}"
            for message in messages
        )

    def _resolve_attachment(self, text: str) -> str:
        """Return a text; if it refers to an attachment, the attachment's text."""
        if not text.startswith(ATTACHMENT):
            return text
        found = self._attachments.get(text.removeprefix(ATTACHMENT))
        return found if isinstance(found, str) else text


def _format_text(value: Any) -> str:
    """Return a text, or the text of a whole number; "" for any other value."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _describe_error(error: Any) -> str:
    """Return the message of an error, cut to `LONGEST_ERROR` characters."""
    message = error.get("message") if isinstance(error, Mapping) else error
    return str(message)[:LONGEST_ERROR]


def _extract_scores(scores: Any) -> dict[str, Any]:
    """Return {"scores": value of each score by scorer} of a sample; {} if it has none."""
    if not isinstance(scores, Mapping):
        return {}
    return {
        "scores": {
            name: score.get("value") if isinstance(score, Mapping) else score
            for name, score in scores.items()
        }
    }
