"""A worker for sites of tests, which share one connection with their worker."""

import threading

from django.db import connection

from evaluation.runs.background.work import work_one_turn


def work_away(page):
    """Work until nothing waits, while the page asks for nothing.

    Its script would ask how far the run is (SQLite has one writer), and open it anew at its end,
    in the middle of the next step of a test. The worker has a thread: this one has an event loop.
    """
    page.goto("about:blank")
    worker = threading.Thread(target=_work)
    worker.start()
    worker.join()


def show_all(page):
    """Press "Show all" where a page of results ends after four screens."""
    button = page.get_by_role("button", name="Show all", exact=True)
    if button.count():
        button.click()


def _work():
    try:
        while work_one_turn():
            pass
    finally:
        connection.close()
