"""What the bench needs to know about knapsacks: sizes, a description."""

from __future__ import annotations

from typing import cast

from rich.console import Console

from ...instances import Instance
from ...models.knapsack.problem import Knapsack
from ...models.problem import Problem
from .plain import PlainKind


class KnapsackKind(PlainKind):
    """0-1 knapsacks."""

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of items; a knapsack has no nodes."""
        return str(len(cast(Knapsack, problem).items)), "-"

    def describe(self, console: Console, instance: Instance) -> None:
        """Print the number of items, their weight and the capacity."""
        sack = cast(Knapsack, instance.problem)
        weight = sum(float(item.weight) for item in sack.items)
        console.print(f"{len(sack.items)} items that weigh {weight:g}, capacity {float(sack.capacity):g}")


KNAPSACK = KnapsackKind()
