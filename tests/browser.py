"""Pages in headless Chromium, for tests of what a script does in a real browser."""

import os
import re
import shutil
import subprocess

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--enable-logging=stderr",
    "--window-size=1300,2000",
)
PROGRAM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
needs_browser = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium is found: nothing opens the page; make browser installs it"
)


def opened(page, script="", timeout=60):
    """The document after its scripts, as text, and the messages of its console; ``script``: run when the page is ready."""
    if script:
        text = page.read_text(encoding="utf-8")
        page = page.with_suffix(".tested.html")
        page.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    ended = subprocess.run(
        [PROGRAM, *FLAGS, f"--user-data-dir={page.parent / 'profile'}", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=True,
    )
    return ended.stdout, re.findall(r"CONSOLE.*", ended.stderr)


def noted(document):
    """The text that a script has written into the attribute ``data-noted`` of the body."""
    return re.search(r'<body[^>]* data-noted="([^"]*)"', document)[1].replace("&quot;", '"').replace("&gt;", ">")
