"""Read models' answers from logs of Inspect and of lm-evaluation-harness.

A log becomes JSON Lines in the form of our own export of model answers, which `read_model_answers`
reads: the epochs of Inspect and the repeats of lm-evaluation-harness become samples. Logs are read
in a separate process with limits (`bounded_process`), because a few bytes of a log can unpack to
gigabytes: ``python -m annotations.exchange.reading.model_logs SECONDS BYTES ARGUMENTS``.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from annotations.exchange.header import OF_MODEL_ANSWERS
from annotations.exchange.problems import InputError
from annotations.exchange.reading.bounded_process import Bounds, print_within_limits
from annotations.exchange.reading.inspect_samples import read_inspect_sample, read_log_header
from annotations.exchange.reading.json_document import read_lines_in_process
from annotations.exchange.reading.lm_eval_samples import is_lm_eval_sample, read_lm_eval_sample
from annotations.exchange.reading.log_records import LogRecord, NoTextError, find_value_at_path
from annotations.exchange.reading.log_zip import MOST_SAMPLE, read_entry, read_zip_entries
from annotations.exchange.reading.source import Source, make_bytes_source

MODULE = "annotations.exchange.reading.model_logs"
HEAD = 1 << 16
"""Bytes at the beginning of a file by which a log is recognised."""
INSPECT, LM_EVAL = "Inspect", "lm-evaluation-harness"
ZIP_MAGIC = b"PK"
_INSPECT_JSON = re.compile(rb'\A\s*\{\s*"version"\s*:\s*\d+\s*,.*"eval"\s*:\s*\{', re.DOTALL)
_LISTING = re.compile(rb'\A\s*\{\s*"[^"]+\.(?:eval|json)"\s*:\s*\{\s*"version"', re.DOTALL)
_LM_EVAL_RESULTS = re.compile(rb'\A\s*\{\s*"results"\s*:\s*\{', re.DOTALL)
_LM_EVAL_SAMPLE = re.compile(rb'\A[\s\[]*\{\s*"doc_id"\s*:\s*\d+\s*,\s*"doc"\s*:', re.DOTALL)


@dataclass(frozen=True)
class LogOptions:
    """Options for reading a log: name of the model, and path of the question's id in a sample.

    Empty values: as in the log.
    """

    model: str = ""
    question: str = ""


@dataclass
class LogSummary:
    """Summary of a log: tool, task, models, path of the question ids, counts of samples.

    Attributes
    ----------
    tool : "Inspect" or "lm-evaluation-harness". task, models : their names.
    question : path of the questions' ids, such as "id" or "doc.question".
    samples : all samples; without_text : those of other kinds of requests; replaced : samples
        written twice, of which the later one counts. is_complete : whether the evaluation ended.
    """

    tool: str = ""
    task: str = ""
    models: list[str] = field(default_factory=list)
    question: str = ""
    samples: int = 0
    without_text: int = 0
    replaced: int = 0
    is_complete: bool = True

    def describe_reading(self) -> list[str]:
        """Return sentences on how the log was read."""
        found = [
            f"Read as a log of {self.tool}: task {self.task or 'unknown'}, model "
            f"{', '.join(self.models)}, {self.samples:,} samples. Question ids: {self.question}."
        ]
        if not self.is_complete:
            found.append("The evaluation did not end; the log has the samples until then.")
        if self.replaced:
            found.append(f"{self.replaced:,} samples are in the log twice: the later ones count.")
        if self.without_text:
            found.append(
                f"{self.without_text:,} samples have no text of the model and are left out."
            )
        return found


def recognise_log(source: Source) -> str:
    """Return the tool whose log a file is, by its ending and beginning; "" for another file.

    Raises `InputError` for a file of these tools that has no samples.
    """
    if source.suffix not in (".eval", ".json", ".jsonl"):
        return ""
    source.read_stamp()  # so that a missing file is reported as missing
    with source.open() as file:
        head = file.read(HEAD)
    if source.suffix == ".eval":
        return INSPECT
    head = head.removeprefix(b"\xef\xbb\xbf")
    if _LISTING.search(head):
        raise InputError.from_code(source.name, "log_listing")
    if _LM_EVAL_SAMPLE.search(head):
        return LM_EVAL
    if _LM_EVAL_RESULTS.search(head):
        return LM_EVAL
    return INSPECT if _INSPECT_JSON.search(head) else ""


def convert_log(source: Source, tool: str, options: LogOptions) -> tuple[Source, LogSummary]:
    """Return a log's answers as a source of model answers, and the summary of the log.

    Raises `InputError` for a log that cannot be read.
    """
    if tool == LM_EVAL and not options.model:
        options = replace(options, model=_find_model_name(source))
    arguments = [source.name, tool, asdict(options)]
    *lines, last = read_lines_in_process(source, MODULE, arguments)
    about = LogSummary(**json.loads(last))
    return make_bytes_source(f"{Path(source.name).stem}.jsonl", b"".join(lines)), about


def _find_model_name(source: Source) -> str:
    """Return the model of a file of samples, from the results in its folder; "" without any."""
    place = Path(source.place)
    # An upload has no folder: its place is its name.
    if not place.is_file():
        return ""
    for path in sorted(place.parent.glob("results_*.json"), reverse=True):
        try:
            found = json.loads(path.read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(found, dict):
            name = found.get("model_name") or found.get("model_source")
            if isinstance(name, str) and name:
                return name
    return ""


def iterate_log_lines(file: BinaryIO, name: str, tool: str, options: LogOptions) -> Iterator[str]:
    """Yield each answer of a log as a line of JSON, and the log's summary as the last line."""
    about = LogSummary(tool=tool)
    reader = _iterate_inspect_answers if tool == INSPECT else _iterate_lm_eval_answers
    for record in reader(file, name, options, about):
        if record.model not in about.models:
            about.models.append(record.model)
        yield json.dumps(_build_export_row(record))
    if not about.models:
        code = "log_no_text" if about.without_text else "log_no_samples"
        raise InputError.from_code(name, code, n=about.without_text)
    yield json.dumps(asdict(about))


def _build_export_row(record: LogRecord) -> dict[str, str]:
    """Return an answer as a row of Crowdgrade's own export of model answers."""
    return {
        "model": record.model,
        "question": record.question,
        "answer": record.text,
        "status": record.status,
        "sample": str(record.sample),
        "finish_reason": record.finish_reason,
        "prompt": record.prompt,
        "parameters": json.dumps(_replace_non_finite(record.parameters)),
        "extra": json.dumps(_replace_non_finite(record.extra)),
        OF_MODEL_ANSWERS: "1",
    }


def _replace_non_finite(value: Any) -> Any:
    """Return a JSON value with null in place of NaN and infinity, which logs may have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _replace_non_finite(inner) for key, inner in value.items()}
    return [_replace_non_finite(alarm) for alarm in value] if isinstance(value, list) else value


def _iterate_inspect_answers(
    file: BinaryIO, name: str, options: LogOptions, about: LogSummary
) -> Iterator[LogRecord]:
    """Yield the answers of an Inspect log, zipped or as JSON; add its facts to the summary."""
    is_zip = file.read(len(ZIP_MAGIC)) == ZIP_MAGIC
    file.seek(0)
    if is_zip:
        entries = read_zip_entries(file, name)
        header = next(
            (entries[one] for one in ("header.json", "_journal/start.json") if one in entries), None
        )
        if header is None:
            raise InputError.from_code(name, "log_no_header")
        log = _parse_log_json(read_entry(file, name, header), name, header.filename)
        names = [
            entry for entry in entries if entry.startswith("samples/") and entry.endswith(".json")
        ]
        about.replaced = sum(entries[name].n_earlier for name in names)
        samples: Iterator[Any] = (
            _parse_log_json(read_entry(file, name, entries[one]), name, one) for one in names
        )
    else:
        log = _parse_log_json(file.read(), name, name)
        samples = iter(log.get("samples") or ())
    spec = read_log_header(log)
    about.task, about.is_complete = spec.task, log.get("status") == "success"
    for sample in samples:
        if not isinstance(sample, Mapping):
            raise InputError.from_code(name, "log_sample_no_object", n=about.samples + 1)
        about.samples += 1
        question, path = _choose_question_id(sample, options.question, "id")
        about.question = about.question or path
        yield from read_inspect_sample(sample, spec, options.model or spec.model, question)


def _choose_question_id(sample: Mapping[str, Any], wanted: str, usual: str) -> tuple[str, str]:
    """Return a sample's (question id, path): at the path `wanted`, else `usual`; "" if none."""
    for path in (wanted, usual):
        value = find_value_at_path(sample, path) if path else None
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value), path
    return "", usual


def _iterate_lm_eval_answers(
    file: BinaryIO, name: str, options: LogOptions, about: LogSummary
) -> Iterator[LogRecord]:
    """Yield the answers of a file of samples of lm-evaluation-harness; count them in `about`."""
    if not options.model:
        raise InputError.from_code(name, "log_model_missing")
    about.task = re.sub(r"^samples_|(?:_\d{4}-\d\d-\d\dT[\d\-.]+)?\.jsonl?$", "", name)
    usual = ""
    for at, sample in enumerate(_iterate_lm_eval_samples(file, name), 1):
        if not is_lm_eval_sample(sample):
            raise InputError.from_code(name, "log_sample_no_object", n=at)
        about.samples += 1
        usual = usual or _find_usual_id_path(sample)
        question, path = _choose_question_id(sample, options.question, usual)
        about.question = about.question or path
        try:
            yield from read_lm_eval_sample(sample, options.model, question)
        except NoTextError:
            about.without_text += 1


def _find_usual_id_path(sample: Mapping[str, Any]) -> str:
    """Return the path of a sample's question id: a usual key of its document, else its number."""
    doc = sample.get("doc")
    if isinstance(doc, Mapping):
        # `question` is an id only in our own tasks, where `text` is the wording beside it.
        ours = ("question",) if {"question", "text"} <= set(doc) else ()
        for key in (*ours, "question_id", "id", "qid", "uid"):
            if isinstance(doc.get(key), str | int):
                return f"doc.{key}"
    return "doc_id"


def _iterate_lm_eval_samples(file: BinaryIO, name: str) -> Iterator[Any]:
    """Yield the samples of a file: a line each, or one list (as older versions wrote)."""
    first = file.read(1)
    while first.isspace():
        first = file.read(1)
    file.seek(0)
    if first == b"[":
        yield from _parse_log_json(file.read(), name, name)
        return
    if Path(name).suffix.lower() == ".json":
        found = _parse_log_json(file.read(), name, name)
        by_task = found.get("samples") if isinstance(found, dict) else None
        if not isinstance(by_task, dict):
            raise InputError.from_code(name, "log_results_only")
        for samples in by_task.values():
            yield from samples
        return
    for number, line in enumerate(file, 1):
        if len(line) > MOST_SAMPLE:
            raise InputError.from_code(name, "log_sample_large", sample=f"line {number}")
        if line.strip():
            yield _parse_log_json(line, name, f"line {number}")


def _parse_log_json(content: bytes, name: str, place: str) -> Any:
    """Return a parsed JSON value, NaN and infinity accepted; `InputError` if it is no JSON."""
    try:
        return json.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as error:
        cause = str(error) or type(error).__name__
        raise InputError.from_code(name, "log_invalid", place=place, error=cause) from error


def print_log_answers(bounds: Bounds, name: str, tool: str, options: LogOptions) -> None:
    """Read the log on standard input within limits, and print its answers as JSON lines."""
    lines: Callable[[], Iterator[str]] = lambda: iterate_log_lines(  # noqa: E731
        sys.stdin.buffer, name, tool, options
    )
    print_within_limits(bounds, lines())


if __name__ == "__main__":
    _name, _tool, _options = json.loads(sys.argv[3])
    print_log_answers(
        Bounds(int(sys.argv[1]), int(sys.argv[2])), _name, _tool, LogOptions(**_options)
    )
