"""The tables of profit problems: what each method earns beside the best rule and the bound, and how the machine ran."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...backends.gaps import relative_gap
from ...models.step_function import DAY, HOUR
from ..kinds.profit import END, HORIZON
from ..records.store import Record
from ..runs.view import View
from .methods import MethodRow, ViewResults, boards, spread, status, trouble, verified
from .numbers import NARROW, number, percent, seconds

RULE = "rule:"
STRICT = "-strict"
COLUMNS = (
    "profit, PUE, energy and use of the cores up to the horizon; vs rule: beyond the best rule; gap closed: how much of "
    "what the best rule leaves to the bound; makespan: until the last job has ended"
)
Cell = Callable[[MethodRow], str | Text]


@dataclass(frozen=True)
class ProfitBoard(ViewResults):
    """All runs of one scenario."""

    @cached_property
    def best_rule(self) -> MethodRow | None:
        """The rule that earns most."""
        return self._most(row for row in self.rows if row.method.startswith(RULE))

    @cached_property
    def best_strict(self) -> MethodRow | None:
        """The strict rule that earns most."""
        return self._most(row for row in self.rows if row.method.startswith(RULE) and row.method.endswith(STRICT))

    @cached_property
    def best_search(self) -> MethodRow | None:
        """The method that earns most and is no rule."""
        return self._most(row for row in self.rows if not row.method.startswith(RULE))

    @staticmethod
    def _most(rows: Iterable[MethodRow]) -> MethodRow | None:
        return max((r for r in rows if r.objective is not None), key=lambda r: r.objective or 0.0, default=None)

    def improvement(self, profit: float | None) -> float | None:
        """A profit beside that of the best rule, as a share of it."""
        rule = None if self.best_rule is None else self.best_rule.objective
        return None if profit is None or not rule else (profit - rule) / abs(rule)

    def closed(self, profit: float | None) -> float | None:
        """How much of the gap that the best rule leaves to the bound a profit closes; None where it leaves none."""
        if profit is None or self.best_rule is None or self.bound is None:
            return None
        rule, bound = self.best_rule.objective or 0.0, float(self.bound["bound"])
        return (profit - rule) / (bound - rule) if bound - rule > 1e-6 * abs(bound) else None


def sorted_out(records: Iterable[Record]) -> tuple[list[tuple[str, ProfitBoard]], list[Record]]:
    """The boards of the profit runs among some records, each with its title, and the records that belong to none."""
    all_of_them = list(records)
    earned = {(r["content"], View(**r["view"])) for r in all_of_them if r.get("account")}
    mine: list[Record] = []
    left: list[Record] = []
    for r in all_of_them:
        view = View(**r["view"])
        (mine if view.scenario is not None or (r["content"], view) in earned else left).append(r)
    return [(title, ProfitBoard(board.records)) for title, board in boards(mine)], left


def show(console: Console, found: Sequence[tuple[str, ProfitBoard]]) -> list[str]:
    """Print the tables and notes, and over several scenarios an overview; returns the contradictions found."""
    for title, board in found:
        console.print(table(title, board, console.width))
        for line in [*summary(board), Text(COLUMNS, style="dim")]:
            console.print(line)
        console.print()
    for instance, group in by_instance(found).items():
        if len(group) > 1 and any(board.best_rule for board in group):
            console.print(overview(instance, group))
            console.print(Text(OVERVIEW, style="dim"))
            console.print()
    return [board.contradiction for _, board in found if board.contradiction]


def figure(row: MethodRow, name: str, when: str = HORIZON) -> float | None:
    """The mean of a figure of the account over the seeds."""
    return row.mean(lambda r: ((r.get("account") or {}).get(when) or {}).get(name))


def table(title: str, board: ProfitBoard, width: int = 120) -> Table:
    """A row per method, within ``width`` columns; below 110 it leaves some out."""
    wide = width >= NARROW
    bound = None if board.bound is None else board.bound["bound"]
    columns: list[tuple[str, bool, Cell]] = [
        ("status", True, status),
        ("profit\nEUR", True, lambda row: number(row.objective)),
        ("least..most", wide and any(len(row.records) > 1 for row in board.rows), spread),
        ("vs\nrule", True, lambda row: signed(board.improvement(row.objective))),
        ("gap to\nbound", True, lambda row: precise(relative_gap(row.objective, bound))),
        ("gap\nclosed", wide, lambda row: share(board.closed(row.objective))),
        (f"make-\nspan {unit(board)[0]}", wide, lambda row: makespan(row, unit(board)[1])),
        ("PUE", True, lambda row: fixed(figure(row, "pue"), 4)),
        ("energy\nkWh", wide, lambda row: fixed(figure(row, "energy_kwh"), 1)),
        ("use", wide, lambda row: percent(figure(row, "utilisation"))),
        ("best\nat s", wide, lambda row: seconds(row.mean(lambda r: r["best_s"]))),
        ("time\ns", True, lambda row: seconds(row.mean(lambda r: r["seconds"]["total"]))),
        ("veri-\nfied", True, verified),
    ]
    shown = [(name, cell) for name, when, cell in columns if when]
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    made.add_column(" ", width=1)
    made.add_column("method", overflow="fold", min_width=12)
    for name, _ in shown:
        made.add_column(name, justify="left" if name in ("status", "veri-\nfied") else "right", no_wrap=True)
    winner = board.best
    for row in board.rows:
        won = winner is not None and row.method == winner.method
        cells = [cell(row) for _, cell in shown]
        made.add_row("*" if won else "", Text(row.method), *cells, style="bold green" if won else "")
    return made


def unit(board: ProfitBoard) -> tuple[str, int]:
    """The unit of the makespans: hours up to two days, else days."""
    longest = max((r["makespan"] for r in board.records if r.get("makespan") is not None), default=0)
    return ("h", HOUR) if longest <= 2 * DAY else ("days", DAY)


def makespan(row: MethodRow, length: int) -> str:
    """Mean makespan in a unit of so many seconds."""
    value = row.mean(lambda r: r.get("makespan"))
    return "-" if value is None else f"{value / length:,.2f}"


def signed(value: float | None) -> str:
    """A share as percent, with its sign.

    >>> signed(0.0123), signed(-0.4), signed(None)
    ('+1.23%', '-40.00%', '-')
    """
    return "-" if value is None else f"{100 * value:+,.2f}%"


def precise(value: float | None) -> str:
    """A share as percent, to hundredths: these gaps are small."""
    return "-" if value is None else f"{100 * value:.2f}%"


def share(value: float | None) -> str:
    """A share as whole percent."""
    return "-" if value is None else f"{100 * value:.0f}%"


def fixed(value: float | None, digits: int) -> str:
    """A number to so many digits after the point."""
    return "-" if value is None else f"{value:,.{digits}f}"


def summary(board: ProfitBoard) -> list[Text]:
    """What stands below a table: the best schedule and the best rule with gain and costs, the bound, what needs a word."""
    lines = [Text(f"best schedule: {told(board.schedule)}, verified")] if board.schedule is not None else []
    rule = board.best_rule
    if rule is not None and rule.sound and board.schedule is not None and rule.method != board.schedule["method"]:
        lines.append(Text(f"best rule: {told(max(rule.sound, key=lambda r: float(r['objective'])))}"))
    if board.bound is not None:
        bound = board.bound["bound"]
        gap = "" if board.schedule is None else f", gap {precise(relative_gap(board.schedule['objective'], bound))}"
        room = board.improvement(bound)
        beyond = "" if room is None else f"; no schedule is more than {precise(room)} better than the best rule"
        lines.append(Text(f"best true bound: {number(bound)} EUR by {board.bound['method']}{gap}{beyond}"))
    if board.contradiction:
        lines.append(Text(board.contradiction, style="bold red"))
    for row in board.rows:
        reasons = dict.fromkeys(map(trouble, row.records))
        lines.extend(Text(f"{row.method}: {reason}", style="dim") for reason in reasons if reason)
    return lines


def told(record: Mapping[str, Any]) -> str:
    """A record's money for people, up to the horizon and to the end."""
    said = f"{number(record['objective'])} EUR by {record['method']}"
    account = record.get("account")
    if not account:
        return said
    at, end = account[HORIZON], account[END]
    return (
        f"{said} (gain {number(at['gain'])}, energy of the work {number(at['work_cost'])}, of the cooling "
        f"{number(at['cooling_cost'])}; {number(end['profit'])} EUR and PUE {fixed(end['pue'], 4)} when the last job ends)"
    )


OVERVIEW = (
    "rule: the best one, in EUR; strict: the best strict rule beside it; bound: no schedule is better than the rule by more; "
    "of the others: how much better than the best rule, and how much of the gap that it leaves to the bound they close"
)


def by_instance(found: Iterable[tuple[str, ProfitBoard]]) -> dict[str, list[ProfitBoard]]:
    """The boards of each instance, if they differ in the scenario alone."""
    groups: dict[str, list[ProfitBoard]] = {}
    for _, board in found:
        r = board.records[0]
        first = View(**r["view"]).first
        threads = "1 thread" if r["threads"] == 1 else f"{r['threads']} threads"
        name = f"{r['instance']}{'' if first is None else f', first {first}'}, {threads}"
        groups.setdefault(name, []).append(board)
    return groups


def overview(name: str, group: Sequence[ProfitBoard]) -> Table:
    """A row per scenario: the best rule, the room up to the bound, and what each search makes of it."""
    methods = dict.fromkeys(
        row.method
        for board in group
        for row in board.rows
        if not row.method.startswith(RULE) and row.objective is not None
    )
    made = Table(title=f"{name}: all scenarios", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    made.show_edge = False
    made.add_column("scenario")
    for head in ("best rule", "EUR", "strict", "bound", *(m.replace("@", "\n@").replace(":", ":\n") for m in methods)):
        made.add_column(head, justify="left" if head == "best rule" else "right")
    for board in group:
        rule, strict = board.best_rule, board.best_strict
        known = {row.method: row.objective for row in board.rows}
        cells = [
            "-" if rule is None else rule.method.removeprefix(RULE),
            number(None if rule is None else rule.objective),
            signed(board.improvement(None if strict is None else strict.objective)),
            signed(board.improvement(None if board.bound is None else board.bound["bound"])),
        ]
        cells += [_beside(board, known.get(method)) for method in methods]
        made.add_row(View(**board.records[0]["view"]).scenario or "its own", *cells)
    return made


def _beside(board: ProfitBoard, profit: float | None) -> str:
    closed = board.closed(profit)
    return signed(board.improvement(profit)) + ("" if closed is None else f"\n{share(closed)}")
