"""Pictures of ten main pages for the README, made anew: ``python -m tests.screenshots``.

Starts the demo site on a free port, signs in, and writes platform/docs/screenshots/NAME.png: what a
screen of 1280 x 800 shows, in 256 colours (all together below 1.5 MB). Needs Chromium.
"""

from __future__ import annotations

import io
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.chromium import ARGUMENTS, CHROMIUM

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "platform/docs/screenshots"
LOGIN = ROOT / "var/demo/login"
SIZE = {"width": 1280, "height": 800}
SECONDS_TO_START = 300
# Pages of the graded run: name of the picture, the rest of its address, a part to scroll to.
OF_RUN = (
    ("decide", "", ""),
    ("people", "people/", "#workers"),
    ("alarms", "alarms/", ""),
    ("evidence", "alarms/no-0/", ""),
    ("heat-map", "heat-map/", "#block"),
    ("models", "models/", ""),
    ("trust", "trust/", ""),
    ("plan", "planner/?pay=.15&currency=USD&within=.02", "#buy"),
)


def main() -> int:
    """Write the pictures and say how large they are."""
    if CHROMIUM is None:
        print("no Chromium on the path", file=sys.stderr)
        return 1
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(ROOT / "manage.py"), "demo", "--port", str(port)]
    demo = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        site = f"http://127.0.0.1:{port}"
        _wait(site, demo)
        shots = _shots(site)
    finally:
        demo.send_signal(signal.SIGTERM)
        demo.wait(timeout=60)
    FOLDER.mkdir(exist_ok=True)
    for name, png in shots.items():
        small = Image.open(io.BytesIO(png)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        small.save(FOLDER / f"{name}.png", optimize=True)
    total = sum((FOLDER / f"{name}.png").stat().st_size for name in shots)
    print(f"{len(shots)} pictures, {total / 1e6:.2f} MB: {FOLDER}")
    return 0


def _wait(site: str, demo: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            urlopen(f"{site}/admin/login/", timeout=5).close()
            return
        except (URLError, OSError):
            if demo.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.5)


def _shots(site: str) -> dict[str, bytes]:
    password = LOGIN.read_text().split()[-1]
    shots = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
        page.goto(site)
        page.get_by_label("User name").fill("demo")
        page.get_by_label("Password").fill(password)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Overview", level=1).wait_for()
        page.goto(f"{site}/admin/runs/")
        until = time.monotonic() + SECONDS_TO_START
        # The site is there before the demo's grading is done.
        while page.locator("a[href*='/results/']").count() == 0 and time.monotonic() < until:
            page.wait_for_timeout(1000)
            page.reload()
        results = page.locator("a[href*='/results/']").first.get_attribute("href")
        page.goto(f"{site}/admin/")
        shots["overview"] = page.screenshot()
        page.goto(f"{site}/admin/question-sets/")
        page.locator("#main a[href*='/question-sets/']").filter(has_text="Demo").first.click()
        page.get_by_role("heading", level=1).first.wait_for()
        shots["question-set"] = page.screenshot()
        for name, rest, part in OF_RUN:
            page.goto(f"{site}{results}{rest}{part}")
            shots[name] = _shot(page)
        browser.close()
    return shots


def _shot(page: Page) -> bytes:
    page.wait_for_load_state("networkidle")
    return page.screenshot()


if __name__ == "__main__":
    sys.exit(main())
