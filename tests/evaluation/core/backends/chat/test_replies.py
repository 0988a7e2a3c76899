import asyncio
import time

from evaluation.core.backends.chat.contract import ChatRequest
from evaluation.core.backends.chat.registry import ScriptedChat


def script(tmp_path, text, name="script.csv"):
    path = tmp_path / name
    path.write_text(text)
    return ScriptedChat(path)


def reply(model, question, sample=0):
    return asyncio.run(model.reply(ChatRequest(question, (), {}, sample)))


def test_a_row_with_a_sample_goes_before_the_row_for_all_of_them(tmp_path):
    model = script(tmp_path, "question,sample,reply\nq,,any\nq,1,one\n")
    assert [reply(model, "q", sample).text for sample in range(3)] == ["any", "one", "any"]


def test_json_lines_do_as_well_and_the_file_gives_the_name(tmp_path):
    model = script(tmp_path, '{"id": "q", "answer": "a", "finish_reason": "length"}\n', "m.jsonl")
    assert (reply(model, "q").text, reply(model, "q").finish_reason) == ("a", "length")
    assert model.name == "m"


def test_a_delay_is_waited_for_and_failures_come_first(tmp_path):
    model = script(tmp_path, "question,reply,delay,failures\nq,a,0.2,2\n")
    begin = time.monotonic()
    found = [reply(model, "q") for _ in range(3)]
    assert time.monotonic() - begin >= 3 * 0.2
    assert [r.fault is not None and r.fault.again for r in found] == [True, True, False]
    assert found[2].text == "a"


def test_errors_and_missing_rows_are_errors_that_do_not_pass(tmp_path):
    model = script(tmp_path, "question,reply,status\nq,it broke,error\n")
    assert (reply(model, "q").fault.message, reply(model, "q").fault.again) == ("it broke", False)
    assert reply(model, "p").fault.code == "no_reply"


def test_thinking_in_a_scripted_reply_is_put_aside(tmp_path):
    model = script(
        tmp_path,
        "question,reply,finish_reason\n"
        "q,<think>hm</think>a,stop\np,<think>hm,length\nr,a,network_error\n",
    )
    found = {name: reply(model, name) for name in "qpr"}
    assert (found["q"].text, found["q"].thinking) == ("a", "hm")
    assert [found[name].status.value for name in "qpr"] == ["text", "cut_off", "error"]
    assert found["r"].fault.code == "error_in_reply"
