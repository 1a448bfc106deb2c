"""The processes of node managers simulated in this process: the same packets, which no network carries."""

from __future__ import annotations

from collections.abc import Mapping

from .block import Block


class LocalLink:
    """A link to blocks in this process; one that does not answer is silent at once.

    Parameters
    ----------
    processes : int
        Number of blocks.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.simulation.dardis.dispatcher import Dardis
    >>> from schedlab.simulation.dardis.network import Network
    >>> dispatcher = Dardis("throughput", connect=Network(processes=4).over(LocalLink(3)))
    >>> run = sl.simulate("eurora_99", dispatcher=dispatcher)
    >>> run.schedule() == sl.simulate("eurora_99", dispatcher="dardis:throughput").schedule()
    True
    """

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._blocks = [Block() for _ in range(processes)]

    def exchange(self, packets: Mapping[int, bytes], seconds: float) -> dict[int, bytes]:
        """Return the answers."""
        answers = {k: self._blocks[k].handle(packet) for k, packet in packets.items()}
        return {k: answer for k, answer in answers.items() if answer is not None}

    def close(self) -> None:
        """Do nothing: there is no process to end."""
