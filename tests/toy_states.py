"""A dispatcher that starts a job where it may not."""

from schedlab.simulation import Decision, Start


class OnDrainingNode:
    name = "on-draining-node"

    def begin(self, platform, queues, seed):
        pass

    def decide(self, moment):
        return Decision([Start("long", {"n4": 1})])
