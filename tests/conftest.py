"""Settings of the whole suite."""

import signal


def pytest_configure() -> None:
    """Let Ctrl-C interrupt: a suite that a shell runs in the background begins with the signal ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
