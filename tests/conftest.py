"""Settings of the whole suite."""

import gc
import signal
import sys
import time
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

STOPPING_SECONDS = 60.0
CONFLICT_SECONDS = 60.0


def pytest_configure() -> None:
    """Let Ctrl-C interrupt: a suite that a shell runs in the background begins with the signal ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # how long a draw or an example takes depends on the machine
    settings.register_profile("schedlab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("schedlab")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without a search for garbage, which took 40 % of the time; what is collected stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="session")
def conflicts_are_found_on_a_busy_machine() -> None:
    """Give the search for a conflict more time than the package does, as tests ask for its names."""
    from schedlab.backends import driver

    driver.CONFLICT_SECONDS = CONFLICT_SECONDS


@pytest.fixture(autouse=True)
def solvers_have_stopped() -> Iterator[None]:
    """Wait after each test for solvers that did not stop in time: on a busy machine they would be in the way of the next tests."""
    yield
    thread = sys.modules.get("schedlab.backends.solver_thread")
    latest = time.monotonic() + STOPPING_SECONDS
    while thread is not None and thread._abandoned and time.monotonic() < latest:
        time.sleep(0.05)
