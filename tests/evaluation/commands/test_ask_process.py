"""`manage.py ask` and what may befall a process: signals, kill -9, full disks, a second one."""

import os
import pty
import resource
import signal
import subprocess
import sys

import pytest

from tests.evaluation.commands.asking import ask, lines_of, rows_of, wait_for, write_questions
from tests.evaluation.commands.running import ROOT, manage, start
from tests.evaluation.core.backends.chat.fake import needs_packaged_model, said


@pytest.mark.long
def test_two_commands_cannot_write_into_one_folder(chat, questions, output):
    chat.reply = lambda body: said("fine", delay=1.0)
    other = start("ask", questions, "--model", chat.spec, "--output", output)
    try:
        wait_for(chat, 1)
        ran = ask(questions, output, chat.spec)
        assert (ran.code, ran.refusals) == (2, (f"{output / 'requests.jsonl'}, journal_busy",))
    finally:
        assert other.wait(60) == 0


@pytest.mark.long
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_ctrl_c_keeps_what_came_and_ends_with_code_3(tmp_path, chat, output, sent):
    questions = write_questions(tmp_path / "q.jsonl", 30)
    chat.reply = lambda body: said("fine", delay=0.01 if len(chat.bodies) < 11 else 30.0)
    process = start(
        *("ask", questions, "--model", chat.spec, "--output", output, "--concurrency", "4"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(chat, 14)
    process.send_signal(sent)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (3, "")
    assert "interrupted" in out
    assert 10 <= len(rows_of(output)) <= 11


@pytest.mark.slow
@pytest.mark.parametrize(
    "after",
    [pytest.param(3, marks=pytest.mark.long), 17, pytest.param(40, marks=pytest.mark.long)],
)
def test_kill_9_in_the_middle_repeats_no_more_than_were_under_way(tmp_path, chat, output, after):
    questions = write_questions(tmp_path / "q.jsonl", 60)
    chat.reply = lambda body: said("fine", delay=0.02)
    arguments = ("ask", questions, "--model", chat.spec, "--output", output, "--concurrency", "6")
    process = start(*arguments, stdout=subprocess.DEVNULL)
    wait_for(chat, after)
    process.kill()
    process.wait()
    with (output / "requests.jsonl").open("ab") as file:
        file.write(b'{"torn": "li')
    ran = manage(*arguments)
    assert ran.code == 0
    assert len(chat.bodies) <= 60 + 6
    assert len(rows_of(output)) == 60
    assert {row["status"] for row in rows_of(output)} == {"text"}
    assert len(lines_of(output)) == 60


@pytest.mark.long
def test_a_full_disk_ends_the_asking_and_what_came_is_kept(tmp_path, chat, output):
    questions = write_questions(tmp_path / "q.jsonl", 100)
    most = 20_000
    process = subprocess.run(
        [
            *(sys.executable, "manage.py", "ask", questions, "--model", chat.spec),
            *("--output", output, "--concurrency", "2"),
        ],
        cwd=ROOT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 3, process.stderr
    assert "(File too large)" in process.stdout
    assert "Traceback" not in process.stderr
    kept = len(lines_of(output))
    assert 5 < kept < 100
    assert len(chat.bodies) <= kept + 3
    assert ask(questions, output, chat.spec, "--concurrency", "2").code == 0
    assert len(chat.bodies) <= 100 + 3


def test_a_device_that_is_always_full_is_told(chat, questions, output):
    output.mkdir()
    (output / "requests.jsonl").symlink_to("/dev/full")
    ran = ask(questions, output, chat.spec)
    assert (ran.code, "No space left on device" in ran.out) == (3, True)


def test_a_journal_that_is_none_is_refused(chat, questions, output):
    output.mkdir()
    (output / "requests.jsonl").write_text('{"not": "ours"}\n')
    ran = ask(questions, output, chat.spec)
    assert (ran.code, "line 1" in ran.err, chat.bodies) == (2, True, [])


@pytest.mark.long
def test_a_terminal_gets_a_bar(chat, questions, output):
    master, slave = pty.openpty()
    process = start(
        *("ask", questions, "--model", chat.spec, "--output", output),
        stdout=subprocess.DEVNULL,
        stderr=slave,
    )
    os.close(slave)
    assert process.wait(60) == 0
    shown = os.read(master, 65536)
    os.close(master)
    assert b"asking: 100%" in shown


def started_here(module):
    """The ids of processes that run the module and that this one started: others have theirs."""
    asked = ("ps", "--ppid", str(os.getpid()), "-o", "pid=,args=")
    shown = subprocess.run(asked, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[0] for line in shown if module in line}


@pytest.mark.long
def test_the_packaged_model_is_started_asked_and_ended(tmp_path, output):
    needs_packaged_model()
    before = started_here("backends.chat.smollm2")
    questions = write_questions(tmp_path / "q.jsonl", 2)
    arguments = (questions, output, "local:smollm2", "--max-tokens", "8")
    ran = ask(*arguments)
    assert (ran.code, ran.err) == (0, "")
    rows = rows_of(output)
    assert {row["model"] for row in rows} == {"SmolLM2-135M-Instruct"}
    assert {row["status"] for row in rows} <= {"text", "empty"}
    assert {row["finish_reason"] for row in rows} <= {"stop", "length"}
    assert all(0 < int(row["completion_tokens"]) <= 8 for row in rows)
    again = ask(questions, tmp_path / "again", "local:smollm2", "--max-tokens", "8")
    assert again.code == 0
    assert [row["answer"] for row in rows_of(tmp_path / "again")] == [r["answer"] for r in rows]
    assert started_here("backends.chat.smollm2") == before
