"""Read the answers of one sample of lm-evaluation-harness (``--log_samples``)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from annotations.exchange.reading.log_records import LogRecord, NoTextError

# Keys that versions of the tool give the parts of a request.
FIRST_REQUEST, PROMPT, OPTIONS = "gen_args_0", "arg_0", "arg_1"


def is_lm_eval_sample(sample: Any) -> bool:
    """Return whether a value is a sample: a document with the model's responses."""
    return (
        isinstance(sample, Mapping)
        and "doc_id" in sample
        and bool({"resps", "filtered_resps"} & set(sample))
    )


def read_lm_eval_sample(
    sample: Mapping[str, Any], model: str, question: str
) -> Iterator[LogRecord]:
    """Yield the answers of a sample, one for each repeat.

    The responses are those before a filter extracted a part of them. Raises `NoTextError` for
    likelihoods of choices, which are no answers.
    """
    texts = _extract_texts(sample.get("resps"))
    if texts is None:
        texts = _extract_texts(sample.get("filtered_resps"))
    if texts is None:
        raise NoTextError
    prompt, options = _read_request(sample.get("arguments"))
    extra = {"doc_id": sample["doc_id"]}
    for number, text in enumerate(texts):
        yield LogRecord(
            model=model,
            question=question,
            text=text,
            sample=number,
            prompt=prompt,
            parameters=options,
            extra=extra,
        )


def _extract_texts(responses: Any) -> list[str] | None:
    """Return the texts in nested lists of responses; None if a response is no text."""
    # One list for the requests of a document, and one for the repeats of a request.
    while isinstance(responses, list) and len(responses) == 1 and isinstance(responses[0], list):
        responses = responses[0]
    if isinstance(responses, str):
        return [responses]
    if not isinstance(responses, list) or not responses:
        return None
    return responses if all(isinstance(response, str) for response in responses) else None


def _read_request(arguments: Any) -> tuple[str, Mapping[str, Any]]:
    """Return (prompt, options) of a sample's first request to the model; empty if missing."""
    request: Any = None
    if isinstance(arguments, Mapping):
        request = arguments.get(FIRST_REQUEST)
        if isinstance(request, Mapping):
            request = [request.get(PROMPT), request.get(OPTIONS)]
    elif isinstance(arguments, list) and arguments:
        request = arguments[0]
    if not isinstance(request, list):
        return "", {}
    prompt, options = (*request, None, None)[:2]
    text = prompt if isinstance(prompt, str) else json.dumps(prompt) if prompt else ""
    return text, options if isinstance(options, Mapping) else {}
