"""CSV files of a quantity over time: desired profiles, energy prices, carbon intensity."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from pathlib import Path

from ...models.desired_profile import ALWAYS, POWER, DesiredProfile
from ...models.platform import LATEST, Platform
from ...models.profiles import EVERY, Wish, clock_fault, own_fault, platform_fault, profile_of
from ...models.step_function import HOUR, StepFunction, Tariff
from ...models.words import with_short_repr
from .reading import COMMENT, Sheet, SheetRow, whole_of
from .writing import comment_line, to_csv, write_files

# --- CSV files of a quantity over time: ``time_s,euro_per_kwh`` (energy prices), ``time_s,g_co2_per_kwh`` (carbon intensity).
#
# A value holds until the next time; the last one as long as the one before it, or an hour if it is the only one.

TIME = "time_s"
EURO = "euro_per_kwh"
CARBON = "g_co2_per_kwh"
UNITS = {EURO: "euro per kWh", CARBON: "grams of CO2 per kWh"}


def read_series(path: str | Path, column: str = EURO) -> StepFunction:
    """Read a quantity over time from a CSV file, plain or compressed; lines that begin with # are comments.

    Parameters
    ----------
    path
        The file. Other columns are ignored.
    column
        The column of the values: ``"euro_per_kwh"`` or ``"g_co2_per_kwh"``. The latter may not be negative.

    Returns
    -------
    StepFunction
        The quantity, by times in seconds.

    Raises
    ------
    InstanceError
        If the file has faults; all of them are listed.
    WorkloadError
        If the file cannot be read.
    """
    sheet = Sheet(Path(path))
    header = sheet.header()
    for name in (TIME, column):
        if name not in header:
            sheet.add_fault(1, name, f"a column of this name; the file has {', '.join(header) or 'no columns'}", None)
    sheet.raise_faults()
    times: list[int] = []
    values: list[float] = []
    for row in sheet.rows():
        time = row.number_in(TIME, "whole seconds")
        value = row.number_in(column, UNITS[column])
        if time is None or value is None:
            continue
        if time != int(time) or abs(time) > LATEST or (times and time <= times[-1]):
            after = ""
            if times:
                after = f" after {times[-1]}"
            row.add_fault(TIME, f"whole seconds{after}, at most {LATEST}", row.cells[TIME])
            continue
        if column == CARBON and value < 0:
            row.add_fault(column, f"{UNITS[column]}, at least 0", row.cells[column])
            continue
        times.append(int(time))
        values.append(value)
    if not times and not sheet.faults:
        sheet.add_fault(None, "rows", f"at least one value of {column}", None)
    sheet.raise_faults()
    if len(times) > 1:
        last = times[-1] - times[-2]
    else:
        last = HOUR
    return StepFunction(times, values, times[-1] + last)


def read_tariff(path: str | Path) -> Tariff:
    """Read prices, and carbon intensities if the file has a column ``g_co2_per_kwh``, from a CSV file.

    Parameters
    ----------
    path
        The file, with the columns ``time_s`` and ``euro_per_kwh``.

    Returns
    -------
    Tariff
        The tariff. ``Tariff.check_covers`` says whether it covers a period.

    Raises
    ------
    InstanceError
        If the file has faults; all of them are listed.
    WorkloadError
        If the file cannot be read.
    """
    prices = read_series(path, EURO)
    has_carbon = CARBON in Sheet(Path(path)).header()
    return Tariff(prices, read_series(path, CARBON) if has_carbon else None)


# --- Desired profiles as CSV files: reading and writing.
#
# The columns are ``time_s`` (seconds on the clock of the workload; in a periodic profile seconds of the period),
# ``resource``, ``share`` (of the capacity of each node, 0 to 1) or ``amount`` (on each node; of ``power`` the watts of the
# whole machine), and optionally ``nodes``: a node group, or ``*`` for all groups without wishes of their own. A wish holds
# up to the next one of the same nodes and resource. Comment lines ``# period_s = 86400`` and ``# end_s = 604800`` give the
# length of the period and the end of the wishes; ``# origin_s = 30076`` is the second on the clock of the workload from
# which the times are counted, such as the first midnight of a log. Other lines that begin with # are ignored.

COLUMNS = ("time_s", "resource", "share", "amount", "nodes")
SETTING = re.compile(r"#\s*(period_s|end_s|origin_s)\b\s*[=:]?\s*(.*)")


@with_short_repr
@dataclass(frozen=True)
class WishList:
    """The wishes of a file, which need no platform.

    Parameters
    ----------
    wishes : tuple of Wish
        The wishes, in the order of the file.
    period, end : int, optional
        As in ``profile_of``, in seconds.
    origin : int
        As in ``profile_of``, in seconds.

    Examples
    --------
    >>> print(profile_csv(WishList((Wish(0, "cores", 1.0), Wish(28800, "cores", 0.6)), period=86400)), end="")
    # period_s = 86400
    time_s,resource,share,amount,nodes
    0,cores,1.0,,*
    28800,cores,0.6,,*
    """

    wishes: tuple[Wish, ...]
    period: int | None = None
    end: int | None = None
    origin: int = 0


def read_profile(path: str | Path, platform: Platform) -> DesiredProfile:
    """Read a desired profile of a platform from a CSV file; the comment above ``COLUMNS`` describes its columns.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed (``.gz``).
    platform : Platform
        The machine.

    Returns
    -------
    DesiredProfile
        The profile.

    Raises
    ------
    InstanceError
        If the file has faults; the message lists them: file, line, field, expected value, found value.
    WorkloadError
        If there is no such file, or it cannot be read.
    """
    wishes = read_wishes(path, platform)
    return profile_of(platform, wishes.wishes, wishes.period, wishes.end, wishes.origin)


def read_wishes(path: str | Path, platform: Platform | None = None) -> WishList:
    """Read the wishes of a profile file; with a platform, check their groups, resources and amounts.

    Raises
    ------
    InstanceError
        If the file has faults; the message lists them: file, line, field, expected value, found value.
    WorkloadError
        If there is no such file, or it cannot be read.
    """
    sheet = Sheet(Path(path))
    settings = _settings(sheet)
    _check_header(sheet)
    sheet.raise_faults()
    wishes: list[Wish] = []
    lines: dict[tuple[str, str, int], int] = {}
    for row in sheet.rows():
        before = len(sheet.faults)
        wish = _wish(row)
        if len(sheet.faults) > before:
            continue
        fault = own_fault(wish, settings.get("period_s")) or (platform and platform_fault(wish, platform))
        if fault:
            row.add_fault(*fault)
        first = lines.setdefault((wish.nodes, wish.resource, wish.time), row.number)
        if first != row.number:
            row.add_fault("row", f"one wish per time, nodes and resource (line {first} has it too)", "a second one")
        wishes.append(wish)
    period = settings.get("period_s")
    end = settings.get("end_s")
    fault = None
    if not sheet.faults:
        fault = clock_fault(period, end, wishes)
    if fault:
        sheet.add_fault(None, *fault)
    sheet.raise_faults()
    return WishList(tuple(wishes), period, end, settings.get("origin_s", 0))


def _settings(sheet: Sheet) -> dict[str, int]:
    """Return period_s, end_s and origin_s of the comment lines."""
    settings: dict[str, int] = {}
    for number, line in enumerate(sheet.lines, 1):
        parts = SETTING.fullmatch(line.strip())
        if parts is None:
            continue
        name = parts[1]
        text = parts[2].strip()
        least = 1
        if name != "period_s":
            least = -LATEST
        seconds = whole_of(text, least, 10**15)
        if seconds is None:
            more = ""
            if name == "period_s":
                more = " above 0"
            sheet.add_fault(number, name, f"whole seconds{more}, such as {COMMENT} {name} = 86400", text or None)
        elif name in settings:
            sheet.add_fault(number, name, "one line of it", "a second one")
        else:
            settings[name] = seconds
    return settings


def _check_header(sheet: Sheet) -> None:
    header = sheet.header()
    listed = f"the file has {', '.join(header) or 'no columns'}"
    for column in ("time_s", "resource"):
        if column not in header:
            sheet.add_fault(None, column, f"a column of this name; {listed}", None)
    if "share" not in header and "amount" not in header:
        sheet.add_fault(None, "share", f"a column share or amount; {listed}", None)
    for column in header:
        if column not in COLUMNS:
            sheet.add_fault(None, column, f"only the columns {', '.join(COLUMNS)}", "this one")
    if len(set(header)) < len(header):
        sheet.add_fault(None, "header", "each column once", ", ".join(header))


def _wish(row: SheetRow) -> Wish:
    time = row.number_in("time_s", "whole seconds")
    whole = 0
    if time is not None and time == int(time):
        whole = int(time)
    if time is not None and whole != time:
        row.add_fault("time_s", "whole seconds", time)
    if not row.cells["resource"]:
        row.add_fault("resource", "the name of a resource", None)
    share = row.maybe("share", "a share of the capacity, 0 to 1")
    amount = row.maybe("amount")
    return Wish(whole, row.cells["resource"], share, amount, row.cells.get("nodes") or EVERY)


def profile_csv(wishes: WishList, comment: Iterable[str] = ()) -> str:
    """Return wishes as the text of a profile file."""
    lines = [f"{COMMENT} {comment_line(line)}" for line in comment]
    if wishes.period is not None:
        lines += [f"{COMMENT} period_s = {wishes.period}"]
    if wishes.end is not None:
        lines += [f"{COMMENT} end_s = {wishes.end}"]
    if wishes.origin:
        lines += [f"{COMMENT} origin_s = {wishes.origin}"]
    rows = [(w.time, w.resource, w.share, w.amount, w.nodes) for w in wishes.wishes]
    return "".join(f"{line}\n" for line in lines) + to_csv(COLUMNS, rows)


def wishes_of(profile: DesiredProfile) -> WishList:
    """Return a profile as wishes of amounts: a series for each group and resource with a wish, and for the power."""
    capacity = {g.name: g.capacity for g in profile.platform.groups}
    series = [(n, r, steps, float(capacity[n].get(r, 0))) for (n, r), steps in profile.steps.items()]
    if profile.power is not None:
        series += [(EVERY, POWER, profile.power, inf)]
    wishes = []
    for nodes, resource, steps, unlimited in series:
        for t, amount in zip(steps.times, steps.amounts, strict=True):
            if amount == unlimited and t in (ALWAYS, profile.end):
                continue  # no wish, as without the row
            wishes.append(Wish(max(t, ALWAYS + 1), resource, amount=amount, nodes=nodes))
    return WishList(tuple(wishes), profile.period, profile.end)


def write_profile(wishes: WishList | DesiredProfile, path: str | Path, comment: Iterable[str] = ()) -> None:
    """Write a profile as a CSV file that ``read_profile`` reads; the file is complete or not written.

    Parameters
    ----------
    wishes : WishList or DesiredProfile
        The profile.
    path : str or Path
        The file; an existing file is replaced.
    comment : iterable of str
        Lines of a comment that is written first.

    Raises
    ------
    NotReadable
        If the file could not be read again.
    OSError
        If the file cannot be written.
    """
    path = Path(path)
    if isinstance(wishes, DesiredProfile):
        wishes = wishes_of(wishes)
    write_files(path.parent, {path.name: profile_csv(wishes, comment)}, lambda folder: read_wishes(folder / path.name))
