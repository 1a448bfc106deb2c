"""A mode for each task so that the non-renewable resources suffice.

1. Each task gets its shortest mode (ties: the one that needs least of the non-renewable resources).
2. Repair: while a capacity is exceeded, one task changes its mode, so that the excess falls at the least additional
   duration per unit of excess. The excess is the sum, over the resources, of the exceeding share of the capacity.
3. If no change lowers the excess, a depth-first search looks for any choice that suffices. It tries the modes with the
   least demands first, and leaves a branch if the least demands of the tasks that are left exceed a capacity. With two or
   more non-renewable resources the question is NP-complete; the search ends after ``MOST_TRIED`` choices.
4. Shortening: where the remaining capacity allows it, tasks go back to shorter modes, the largest gain first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...models.project.problem import Project
from ...models.project.tasks import Mode
from ..errors import NothingFound
from .network import Network

MOST_TRIED = 200_000
Amounts = tuple[int, ...]


@dataclass
class Budget:
    """The use of the non-renewable resources by the chosen modes.

    Parameters
    ----------
    names
        Names of the non-renewable resources.
    capacity
        Their capacities.
    used
        What the chosen modes use in total.
    """

    names: tuple[str, ...]
    capacity: Amounts
    used: Amounts

    def demands(self, mode: Mode) -> Amounts:
        """Return what a mode uses of each resource."""
        return tuple(mode.demands.get(name, 0) for name in self.names)

    def after(self, old: Mode, new: Mode) -> Amounts:
        """Return the use if a task changes from one mode to another."""
        return tuple(u - o + n for u, o, n in zip(self.used, self.demands(old), self.demands(new), strict=True))

    def excess(self, used: Amounts) -> float:
        """Return the sum over the resources of the share of the capacity that is exceeded."""
        return sum(max(0, u - c) / max(1, c) for u, c in zip(used, self.capacity, strict=True))

    def allows(self, old: Mode, new: Mode) -> bool:
        """Return whether a task may change from one mode to another within the capacities."""
        return new is old or all(u <= c for u, c in zip(self.after(old, new), self.capacity, strict=True))

    def need(self, mode: Mode) -> float:
        """Return the sum over the resources of the share of the capacity that a mode uses."""
        return sum(d / max(1, c) for d, c in zip(self.demands(mode), self.capacity, strict=True))


def feasible_modes(project: Project, net: Network) -> tuple[list[Mode], Budget]:
    """Return a mode for each task so that the non-renewable resources suffice, and what they use.

    Parameters
    ----------
    project
        The project.
    net
        Its tasks.

    Returns
    -------
    list of Mode
        The mode of each task.
    Budget
        What these modes use of the non-renewable resources.

    Raises
    ------
    NothingFound
        There is no such choice, or none was found; the message says which and names the resources.
    """
    limits = [r for r in project.resources if not r.renewable]
    budget = Budget(tuple(r.name for r in limits), tuple(r.capacity for r in limits), (0,) * len(limits))
    _check_least(net, budget)
    modes = [min(options, key=lambda m: (m.duration, budget.need(m))) for options in net.modes]
    budget.used = _total(budget, modes)
    if not _repair(net, budget, modes):
        modes = _search(net, budget)
        budget.used = _total(budget, modes)
    _shorten(net, budget, modes)
    return modes, budget


def _total(budget: Budget, modes: Sequence[Mode]) -> Amounts:
    return tuple(sum(m.demands.get(name, 0) for m in modes) for name in budget.names)


def _check_least(net: Network, budget: Budget) -> None:
    """Raise NothingFound if the least demands of all tasks exceed a capacity."""
    for name, capacity in zip(budget.names, budget.capacity, strict=True):
        least = sum(min(m.demands.get(name, 0) for m in options) for options in net.modes)
        if least > capacity:
            raise NothingFound(
                f"there is no schedule: the tasks use at least {least} of {name!r} in total, which has {capacity}"
            )


def _repair(net: Network, budget: Budget, modes: list[Mode]) -> bool:
    """Change modes until no capacity is exceeded; return False if no change lowers the excess any more."""
    while (excess := budget.excess(budget.used)) > 0:
        best: tuple[float, int, Mode] | None = None
        for k, options in enumerate(net.modes):
            for mode in options:
                gain = 0.0 if mode is modes[k] else excess - budget.excess(budget.after(modes[k], mode))
                if gain > 1e-12:
                    price = (mode.duration - modes[k].duration) / gain
                    if best is None or price < best[0]:
                        best = (price, k, mode)
        if best is None:
            return False
        _, k, mode = best
        budget.used, modes[k] = budget.after(modes[k], mode), mode
    return True


def _search(net: Network, budget: Budget) -> list[Mode]:
    """Search, depth first, for a choice of modes within the capacities. Raises NothingFound."""
    spread = [max(map(budget.need, options)) - min(map(budget.need, options)) for options in net.modes]
    order = sorted(range(len(net.modes)), key=lambda k: -spread[k])
    least = [tuple(min(col) for col in zip(*map(budget.demands, net.modes[k]), strict=True)) for k in order]
    room = [budget.capacity]  # after depth d: capacity minus the least demands of the tasks from depth d on
    for amounts in reversed(least):
        room.append(tuple(c - a for c, a in zip(room[-1], amounts, strict=True)))
    room.reverse()
    chosen: list[Mode] = []
    used = [(0,) * len(budget.names)]
    branches: list[Iterator[Mode]] = [iter(sorted(net.modes[order[0]], key=budget.need))]
    for _ in range(MOST_TRIED):
        mode = next(branches[-1], None)
        if mode is None:
            branches.pop()
            if not branches:
                raise NothingFound(
                    f"there is no schedule: no choice of modes keeps {_listed(budget)} within the capacity"
                )
            chosen.pop()
            used.pop()
            continue
        now = tuple(u + d for u, d in zip(used[-1], budget.demands(mode), strict=True))
        depth = len(chosen) + 1
        if any(u > r for u, r in zip(now, room[depth], strict=True)):
            continue
        chosen.append(mode)
        used.append(now)
        if depth == len(order):
            by_task = dict(zip(order, chosen, strict=True))
            return [by_task[k] for k in range(len(order))]
        branches.append(iter(sorted(net.modes[order[depth]], key=budget.need)))
    raise NothingFound(
        f"no choice of modes was found that keeps {_listed(budget)} within the capacity, among {MOST_TRIED:,} that were tried"
    )


def _listed(budget: Budget) -> str:
    return f"the total use of {', '.join(map(repr, budget.names))}"


def _shorten(net: Network, budget: Budget, modes: list[Mode]) -> None:
    """Give tasks shorter modes where the capacities allow it, the largest gain first."""
    gains = [
        (modes[k].duration - mode.duration, k, mode)
        for k, options in enumerate(net.modes)
        for mode in options
        if mode.duration < modes[k].duration
    ]
    for _, k, mode in sorted(gains, key=lambda gain: -gain[0]):
        if mode.duration < modes[k].duration and budget.allows(modes[k], mode):
            budget.used, modes[k] = budget.after(modes[k], mode), mode
