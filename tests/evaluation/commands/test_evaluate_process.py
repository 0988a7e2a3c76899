"""What only a process of its own shows: streams, signals, what is imported."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from tests.evaluation.commands.crowd import table, write_csv
from tests.evaluation.commands.running import ROOT, run, start


@pytest.mark.long
def test_a_pipe_gets_the_report_and_no_word_on_standard_error(crowd, output):
    ran = run("evaluate", "aqer", crowd.answers, "--embedder=tfidf-word", "--output", output)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith(f"Tables: {output}\n")


@pytest.mark.slow
def test_an_error_is_one_line_on_standard_error_and_code_2(crowd, output):
    ran = run("evaluate", "aqer", crowd.answers, "--columns=answer=text", "--output", output)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert "crowd.csv, line 1: " in ran.err


@pytest.mark.long
def test_a_terminal_gets_a_bar_for_every_stage(crowd, output):
    master, slave = pty.openpty()
    process = start(
        *("evaluate", "aqer", crowd.answers, "--embedder=bow", "--output", output),
        stdout=subprocess.DEVNULL,
        stderr=slave,
    )
    os.close(slave)
    shown = b""
    while select.select([master], [], [], 60)[0]:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(master)
    assert process.wait(60) == 0
    assert b"embedding: 100%" in shown
    assert b"intervals: 100%" in shown
    assert b"Traceback" not in shown


def pressed(process, sent):
    """Send a signal, and again as a person does where nothing happens; what was said, how often.

    Python loses an interrupt that comes while it calls a finalizer: nothing can be raised there.
    """
    for presses in (1, 2, 3):
        process.send_signal(sent)
        try:
            return *process.communicate(timeout=40), presses
        except subprocess.TimeoutExpired:
            continue
    process.kill()  # nothing of it is left for the next test
    return *process.communicate(), presses


@pytest.mark.long
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"]
)
@pytest.mark.parametrize("existed", [True, False], ids=["into a folder", "into none"])
def test_ended_midway_the_folder_is_as_before(tmp_path, sent, code, existed):
    rows = [(f"w{w}", f"q{q}", f"answer {w * q % 17}") for w in range(40) for q in range(40)]
    answers = write_csv(tmp_path / "crowd.csv", ("worker", "question", "answer"), rows)
    output = tmp_path / "parent" / "out"
    if existed:
        output.mkdir(parents=True)
        (output / "workers.csv").write_text("old")
    process = start(
        *("evaluate", "aqer", answers, "--embedder=tfidf-word", "--bootstrap=100000"),
        *("--output", output),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    stage = output if existed else output.parent
    until = time.monotonic() + 60
    while not any(stage.glob(".crowdgrade-*")) and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.5)
    assert process.poll() is None
    out, err, presses = pressed(process, sent)
    assert (process.returncode, out) == (code, "")
    # A signal while a library has a file open leaves that file unclosed, of which tests are warned.
    err = re.sub(r".*ResourceWarning.*\n(?: +.*\n)?", "", err)
    assert err == "" or presses > 1  # Python tells there of the interrupt that it lost
    if existed:
        assert [path.name for path in output.iterdir()] == ["workers.csv"]
        assert (output / "workers.csv").read_text() == "old"
    else:
        assert not output.parent.exists()


@pytest.mark.long
@pytest.mark.parametrize("command", ["| true", ">&-"])
def test_a_report_that_nobody_reads_is_no_failure(crowd, output, command):
    script = (
        f'set -o pipefail; "{sys.executable}" manage.py evaluate aqer "{crowd.answers}" '
        f'--embedder bow --bootstrap 0 --output "{output}" {command}'
    )
    ran = subprocess.run(["bash", "-c", script], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (output / "summary.json").exists()


@pytest.mark.slow
def test_without_a_neural_model_torch_is_not_imported(crowd, output):
    run_each = ";".join(
        f"run(['manage.py', 'evaluate', 'aqer', {str(crowd.answers)!r}, '--embedder', {spec!r},"
        f" '--bootstrap', '0', '--output', {str(output)!r}])"
        for spec in (f"precomputed:{crowd.vectors}", "tfidf-word", "tfidf-char", "bow")
    )
    code = (
        "import os, sys; sys.path.insert(0, 'platform');"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'crowdgrade.settings';"
        f"from django.core.management import execute_from_command_line as run; {run_each};"
        "heavy = {'torch', 'transformers', 'sentence_transformers'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.long
@pytest.mark.model
def test_the_default_model_says_nothing_in_a_pipe(crowd, output):
    ran = run("evaluate", "aqer", crowd.answers, "--models", crowd.models, "--output", output)
    assert (ran.code, ran.err) == (0, "")
    assert table(output / "workers.csv")[0]["grade"]
