"""Logs of Inspect and lm-evaluation-harness as models' answers, crooked ones too."""

import io
import json
import struct
import zipfile
import zlib
from contextlib import nullcontext
from datetime import datetime

import pytest
import zstandard

from annotations.exchange import AnswerStatus, ColumnNames, InputError, read_model_answers
from annotations.exchange.reading import log_zip
from annotations.exchange.reading.model_logs import recognise_log
from annotations.exchange.reading.source import make_bytes_source, make_source
from tests.problems import only_problem, raises_problem

SPEC = {"task": "rivers", "model": "openai/small", "model_generate_config": {"temperature": 0.5}}
HEADER = {"version": 2, "status": "success", "eval": SPEC, "plan": {"config": {"max_tokens": 9}}}


def choice(content, reason="stop"):
    return {"message": {"role": "assistant", "content": content}, "stop_reason": reason}


def sample(name, *choices, epoch=1, **values):
    return {
        "id": name,
        "epoch": epoch,
        "input": "Where does it run?",
        "target": ["north", "up"],
        "output": {"model": "small", "choices": list(choices)},
        **values,
    }


def inspect_json(*samples, **header):
    return json.dumps({**HEADER, **header, "samples": list(samples)}).encode()


def inspect_zip(*samples, header="header.json", method=zipfile.ZIP_STORED, **changed):
    """A log as a ZIP file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        if header:
            archive.writestr(header, json.dumps({**HEADER, **changed}))
        for one in samples:
            name = f"samples/{one['id']}_epoch_{one['epoch']}.json"
            is_repeated = name in archive.namelist()
            with pytest.warns(UserWarning, match=name) if is_repeated else nullcontext():
                archive.writestr(name, json.dumps(one))
    return file.getvalue()


def compressed(content, *, frames=1):
    """The ZIP file with its entries compressed by Zstandard, as Inspect writes them."""
    file = io.BytesIO()
    sums = []
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            size = -(-len(data) // frames)
            parts = [data[at : at + size] for at in range(0, len(data), size)]
            new.writestr(info.filename, b"".join(map(zstandard.compress, parts)))
            sums.append(zlib.crc32(data))
    written = bytearray(file.getvalue())
    at = 0
    for checksum in sums:
        # In the list of entries: method at byte 10, checksum of the content at byte 16.
        at = written.index(b"PK\x01\x02", at) + 4
        struct.pack_into("<H", written, at + 6, 93)
        struct.pack_into("<L", written, at + 12, checksum)
    return bytes(written)


def read(name, content, **options):
    return read_model_answers(make_bytes_source(name, content), **options)


def rows(file):
    return [(one.question, one.asking.sample, one.text, one.status.value) for one in file.records]


@pytest.mark.medium
def test_a_zipped_log_and_a_json_log_give_the_same_answers():
    samples = [sample("r1", choice("north")), sample(2, choice("south"))]
    zipped = inspect_zip(*samples)
    for name, content in (
        ("a.eval", zipped),
        ("a.eval", inspect_zip(*samples, method=zipfile.ZIP_DEFLATED)),
        ("a.eval", compressed(zipped)),
        ("a.eval", compressed(zipped, frames=3)),
        ("a.json", inspect_json(*samples)),
        ("a.json", b"\xef\xbb\xbf" + inspect_json(*samples)),
    ):
        file = read(name, content)
        assert rows(file) == [("r1", 0, "north", "text"), ("2", 0, "south", "text")]
        assert {one.model for one in file.records} == {"openai/small"}
        assert file.records[0].asking.parameters == {"temperature": 0.5, "max_tokens": 9}
        assert file.records[0].asking.prompt == "Where does it run?"
        assert file.sha256 == make_bytes_source(name, content).compute_digest()
        assert len(file.notes) == 1


def test_epochs_and_choices_are_samples():
    two = [choice("north"), choice("up")]
    file = read("a.eval", inspect_zip(sample("r1", *two), sample("r1", *two, epoch=3)))
    assert rows(file) == [
        ("r1", 0, "north", "text"),
        ("r1", 1, "up", "text"),
        ("r1", 4, "north", "text"),
        ("r1", 5, "up", "text"),
    ]


def test_content_is_a_text_or_a_list_of_parts():
    parts = [
        {"type": "reasoning", "reasoning": "Water falls."},
        {"type": "text", "text": "It runs"},
        {"type": "image", "image": "data:..."},
        {"type": "text", "text": "attachment://a1"},
    ]
    file = read("a.json", inspect_json(sample("r1", choice(parts), attachments={"a1": "north"})))
    assert rows(file) == [("r1", 0, "It runs\nnorth", "text")]
    assert file.records[0].asking.extra["thinking"] == "Water falls."


@pytest.mark.parametrize(
    ("one", "status"),
    [
        (sample("r1", choice("north"), error={"message": "boom"}), "error"),
        (sample("r1", error={"message": "boom"}), "error"),
        (sample("r1", choice(""), limit={"type": "token", "limit": 9}), "cut_off"),
        (sample("r1", choice("north"), limit={"type": "token", "limit": 9}), "text"),
        (sample("r1", choice("", "max_tokens")), "cut_off"),
        (sample("r1", choice("", "content_filter")), "refused_generation"),
        (sample("r1", choice(None)), "empty"),
        (sample("r1", choice([{"type": "text", "text": "No.", "refusal": True}])), "refused"),
        (sample("r1", choice([{"type": "reasoning", "reasoning": "hm"}])), "empty"),
        ({"id": "r1", "epoch": 1}, "empty"),
    ],
)
def test_a_sample_without_an_answer_says_why(one, status):
    (record,) = read("a.json", inspect_json(one)).records
    assert record.status == AnswerStatus(status)


def test_the_last_words_of_an_agent_are_its_answer():
    messages = [
        {"role": "assistant", "content": "north"},
        {"role": "tool", "content": "ok"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]},
    ]
    one = sample("r1", choice("", "tool_calls"), messages=messages)
    assert rows(read("a.json", inspect_json(one))) == [("r1", 0, "north", "text")]


def test_ids_may_be_in_the_metadata():
    one = sample(17, choice("north"), metadata={"river": "r1"})
    columns = ColumnNames(question="metadata.river")
    assert rows(read("a.json", inspect_json(one), columns=columns))[0][0] == "r1"
    # A name that is meant for the workers' file is no path in a sample.
    columns = ColumnNames(question="Item")
    assert rows(read("a.json", inspect_json(one), columns=columns))[0][0] == "17"


def test_scores_of_several_scorers_and_nan_are_stored():
    one = sample("r1", choice("north"), scores={"a": {"value": float("nan")}, "b": {"value": "C"}})
    (record,) = read("a.json", inspect_json(one)).records
    assert record.asking.extra["scores"] == {"a": None, "b": "C"}


def test_of_a_sample_written_twice_the_later_one_counts():
    file = read("a.eval", inspect_zip(sample("r1", choice("up")), sample("r1", choice("north"))))
    assert rows(file) == [("r1", 0, "north", "text")]
    assert len(file.notes) == 2


def test_a_log_that_did_not_end_is_read_until_then():
    started = inspect_zip(sample("r1", choice("north")), header="_journal/start.json")
    assert rows(read("a.eval", started)) == [("r1", 0, "north", "text")]
    broken = inspect_zip(sample("r1", choice("north")), status="error")
    assert len(read("a.eval", broken).notes) == 2


def test_two_samples_of_one_id_in_a_json_log_contradict_each_other():
    with pytest.raises(InputError) as caught:
        read("a.json", inspect_json(sample("r1", choice("up")), sample("r1", choice("north"))))
    assert only_problem(caught.value).code == "answers_differ"


def test_another_name_of_the_model_may_be_given():
    file = read("a.json", inspect_json(sample("r1", choice("north"))), model=" mine ")
    assert {one.model for one in file.records} == {"mine"}


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.eval", b"PK\x03\x04 cut off", "log_damaged"),
        ("a.eval", inspect_zip(header=""), "log_no_header"),
        ("a.eval", inspect_zip(), "log_no_samples"),
        ("a.json", inspect_json(), "log_no_samples"),
        ("a.json", inspect_json("r1"), "log_sample_no_object"),
        ("a.json", inspect_json(sample("r1", choice("north")))[:-9], "log_invalid"),
        ("logs.json", json.dumps({"a.eval": HEADER}).encode(), "log_listing"),
    ],
)
def test_what_is_no_whole_log_of_inspect_is_refused(name, content, code):
    with raises_problem(code, file=name):
        read(name, content)


def test_a_sample_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(log_zip, "MOST_SAMPLE", 1000)
    for content in (inspect_zip(sample("r1", choice("x" * 2000))),):
        for kind in (content, compressed(content)):
            file = io.BytesIO(kind)
            entries = log_zip.read_zip_entries(file, "a.eval")
            with raises_problem("log_sample_large"):
                log_zip.read_entry(file, "a.eval", entries["samples/r1_epoch_1.json"])


@pytest.mark.parametrize("method", [0, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, 93])
def test_damage_within_a_sample_is_refused(method):
    one = sample("r1", choice("north" * 500))
    content = compressed(inspect_zip(one)) if method == 93 else inspect_zip(one, method=method)
    at = content.find(b"samples/r1") + 40
    broken = content[:at] + b"\xff" * 20 + content[at + 20 :]
    with raises_problem("log_damaged"):
        read("a.eval", broken)


def lm_eval(doc_id=0, resps=(("north",),), **values):
    return {
        "doc_id": doc_id,
        "doc": {"question": "r1", "text": "Where?"},
        "target": "",
        "arguments": {
            "gen_args_0": {"arg_0": "Where?", "arg_1": {"until": [], "do_sample": False}}
        },
        "resps": resps,
        "filtered_resps": ["north"],
        "filter": "none",
        **values,
    }


def lines(*samples):
    return "".join(f"{json.dumps(one)}\n" for one in samples).encode()


def test_samples_of_lm_evaluation_harness_need_the_name_of_their_model():
    content = lines(lm_eval())
    with raises_problem("log_model_missing"):
        read("samples_rivers_2026-11-28T20-40-48.426159.jsonl", content)
    file = read("samples_rivers_2026-11-28T20-40-48.426159.jsonl", content, model="small")
    assert rows(file) == [("r1", 0, "north", "text")]
    asking = file.records[0].asking
    assert (asking.prompt, asking.parameters) == ("Where?", {"until": [], "do_sample": False})


@pytest.mark.medium
def test_the_results_beside_the_samples_name_the_model(tmp_path):
    time = datetime(2026, 11, 28).isoformat()
    (tmp_path / f"results_{time}.json").write_text('{"results": {}, "model_name": "org/small"}')
    path = tmp_path / "samples_rivers.jsonl"
    path.write_bytes(lines(lm_eval()))
    assert {one.model for one in read_model_answers(path).records} == {"org/small"}
    (tmp_path / f"results_{time}.json").write_text("{")
    with raises_problem("log_model_missing"):
        read_model_answers(path)


def test_repeats_are_samples_and_filters_repeat_an_answer():
    twice = lm_eval(resps=[["north", "up"]])
    other = {**twice, "filter": "flexible-extract", "filtered_resps": ["7"]}
    file = read("samples_a.jsonl", lines(twice, other), model="m")
    assert rows(file) == [("r1", 0, "north", "text"), ("r1", 1, "up", "text")]
    assert file.n_repeated == 2


@pytest.mark.parametrize(
    ("doc", "question"),
    [
        ({"question": "r1", "text": "Where?"}, "r1"),
        ({"question": "Where does it run?", "answer": "north"}, "7"),
        ({"question": "Where?", "id": "r3"}, "r3"),
        ({"question_id": 12, "id": "r3"}, "12"),
        ("Where?", "7"),
    ],
)
def test_the_id_of_a_document_is_one_of_its_usual_columns(doc, question):
    file = read("samples_a.jsonl", lines(lm_eval(doc_id=7, doc=doc)), model="m")
    assert rows(file)[0][0] == question


def test_older_versions_wrote_one_list_or_all_tasks_in_the_results():
    old = [lm_eval(arguments=[["Where?", {"until": []}]])]
    file = read("pretrained_rivers.jsonl", json.dumps(old, indent=2).encode(), model="m")
    assert rows(file) == [("r1", 0, "north", "text")]
    assert file.records[0].asking.prompt == "Where?"
    results = {"results": {}, "samples": {"rivers": old}}
    assert len(read("results.json", json.dumps(results).encode(), model="m").records) == 1
    with raises_problem("log_results_only"):
        read("results.json", b'{"results": {"rivers": {}}}', model="m")


def test_likelihoods_of_choices_are_no_answers():
    compared = lm_eval(resps=[[[-1.5, False]], [[-2.5, True]]], filtered_resps=[[-1.5, False]])
    with raises_problem("log_no_text", n=1):
        read("samples_a.jsonl", lines(compared), model="m")
    file = read("samples_a.jsonl", lines(compared, lm_eval()), model="m")
    assert (len(file.records), len(file.notes)) == (1, 2)


def test_thinking_in_a_response_is_put_aside():
    thought = lm_eval(resps=[["<think>hm</think>north"]])
    (record,) = read("samples_a.jsonl", lines(thought), model="m").records
    assert (record.text, record.thinking) == ("north", "hm")


def test_a_line_that_is_no_sample_is_refused():
    with raises_problem("log_sample_no_object", n=2):
        read("samples_a.jsonl", lines(lm_eval(), {"doc_id": 1}), model="m")
    with raises_problem("log_invalid", place="line 2"):
        read("samples_a.jsonl", lines(lm_eval()) + b"{\n", model="m")


def test_other_files_are_no_logs(tmp_path):
    for name, content in (
        ("a.jsonl", b'{"model": "m", "question": "r1", "answer": "north"}\n'),
        ("a.json", b'[{"question": "r1"}]'),
        ("a.csv", b"model,question,answer\n"),
        ("a.jsonl", b""),
    ):
        assert recognise_log(make_bytes_source(name, content)) == ""
    with raises_problem("file_missing"):
        recognise_log(make_source(tmp_path / "none.csv")) or read_model_answers(
            tmp_path / "none.eval"
        )
