"""The kinds of files and names that ``bench show`` shows: each recognises its own, and prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from ...instances import UnknownInstance
from ...instances.classic import is_classic
from ...instances.files.folder import SETTINGS as INSTANCE
from ...instances.sites import read_site
from ...instances.sites.read import is_site
from ..errors import WrongUse
from ..missing_files import check_file, near_files
from ..replays.open_log import check_there, open_log, read_log, time_zone
from ..replays.settings import SETTINGS, ReplaySettings, read_settings
from ..runs.view import open_instance
from .instances import Composition, show_composition, show_instance
from .logs import (
    is_cooling,
    is_log,
    is_profile,
    meant,
    not_recognised,
    show_cooling,
    show_forecasts,
    show_jobs,
    show_log,
    show_profile,
)
from .sites import show_site


@dataclass(frozen=True)
class Shown:
    """What a user wants to see: the options of ``bench show``.

    Parameters
    ----------
    name
        A file, a folder, or the name of something that is shipped.
    settings
        Settings of logs, as the user gives them.
    plot
        File of a picture to write.
    composition
        Whether only the numbers of jobs per queue, accelerator and number of cores are printed.
    forecasts
        The names of forecasts whose scores are printed.
    drop_impossible
        Whether jobs that can never fit are left out.
    """

    name: str
    settings: Mapping[str, Any]
    plot: Path | None = None
    composition: bool = False
    forecasts: str | None = None
    drop_impossible: bool = False

    def __post_init__(self) -> None:
        if self.forecasts is not None and (self.composition or self.plot is not None):
            raise WrongUse("--forecasts: a table of its own; leave out --composition and --plot")
        if self.composition and self.plot is not None:
            raise WrongUse("--composition: a table without a picture; leave out --plot")

    @property
    def is_file(self) -> bool:
        """Whether the name is that of a file, other than the settings of an instance."""
        path = Path(self.name)
        return path.is_file() and path.name != INSTANCE

    @property
    def of_logs(self) -> list[str]:
        """The settings of logs that are given, as options."""
        return [SETTINGS[name].flag for name, value in self.settings.items() if value not in (None, False)]

    @property
    def options(self) -> list[str]:
        """The options that are given and that not all kinds of files take."""
        given = {
            "--forecasts": self.forecasts is not None,
            "--composition": self.composition,
            "--plot": self.plot is not None,
        }
        return [*self.of_logs, *(option for option, is_given in given.items() if is_given)]


class FileKind(Protocol):
    """A kind of file that ``bench show`` shows."""

    @property
    def what(self) -> str:
        """Its name in messages, in the singular."""

    @property
    def takes(self) -> Sequence[str]:
        """The options that it obeys; ``OF_LOGS`` for all settings of logs."""

    def recognises(self, shown: Shown) -> bool:
        """Return whether the name is that of such a file."""

    def show(self, shown: Shown, console: Console) -> None:
        """Print the file, and draw it on request."""


OF_LOGS = "settings of logs"
HOW_TO_READ = {"format", "zone", "columns"}  # settings of logs that need no machine


class ProfileFile:
    """A CSV file with the desired use of a machine."""

    what = "desired profile"
    takes = ("--plot",)

    def recognises(self, shown: Shown) -> bool:
        """Return whether the file has the columns of a desired profile."""
        return is_profile(shown.name)

    def show(self, shown: Shown, console: Console) -> None:
        """Print the wishes."""
        show_profile(console, shown.name, shown.plot)


class SiteFile:
    """The description of a machine: a ``site.toml``, files of Slurm or PBS, or a folder of them."""

    what = "site"
    takes = ("--plot", "--zone")

    def recognises(self, shown: Shown) -> bool:
        """Return whether a file or a folder describes a site."""
        return is_site(shown.name)

    def show(self, shown: Shown, console: Console) -> None:
        """Print nodes, partitions and QOS."""
        show_site(console, read_site(shown.name, zone=time_zone(shown.settings["zone"]) or UTC), shown.plot)


class LogFile:
    """The log of a machine, in one of the formats of logs."""

    what = "log"
    takes = (OF_LOGS, "--forecasts", "--composition", "--plot")

    def recognises(self, shown: Shown) -> bool:
        """Return whether options name a format, or the content is that of a log."""
        if not shown.is_file or is_classic(shown.name):
            return False
        named = shown.settings["format"] is not None or shown.settings["columns"] is not None
        return named or is_log(shown.name)

    def show(self, shown: Shown, console: Console) -> None:
        """Print how the log was read, with its jobs; or the scores of forecasts, or the composition of the jobs."""
        values, _ = read_settings(shown.settings)
        replay = ReplaySettings(trace=True, **values)
        read_alone = not (values.keys() - HOW_TO_READ or shown.forecasts or shown.composition or shown.plot)
        if read_alone and (trace := read_log(shown.name, replay)).platform is None and not trace.sizes:
            show_jobs(console, trace.workload)
            return
        _, workload, platform, _ = open_log(shown.name, replay)
        if shown.forecasts is not None:
            show_forecasts(console, workload, shown.forecasts)
        elif shown.composition:
            show_composition(console, {workload.name: Composition.of_workload(workload)})
        else:
            show_log(console, workload, platform, time_zone(shown.settings["zone"]), shown.plot)


class CoolingTable:
    """A shipped cooling table, or one in a CSV file."""

    what = "cooling table"
    takes = ("--plot",)

    def recognises(self, shown: Shown) -> bool:
        """Return whether the name is that of a cooling table, or of a CSV file that is nothing else."""
        return is_cooling(shown.name)

    def show(self, shown: Shown, console: Console) -> None:
        """Print PUE and cooling power by temperature and IT power."""
        show_cooling(console, shown.name, shown.plot)


class InstanceFile:
    """A shipped instance, the folder of an instance, or a file of a benchmark library."""

    what = "instance"
    takes = ("--composition",)

    def recognises(self, shown: Shown) -> bool:
        """Return whether the name is one that is shipped, a folder, or a file of a benchmark library."""
        return not shown.is_file or is_classic(shown.name)

    def show(self, shown: Shown, console: Console) -> None:
        """Print the main facts, or the composition of the jobs."""
        try:
            check_there(shown.name)
            instance = open_instance(shown.name, shown.drop_impossible)
        except UnknownInstance as e:
            raise meant(e, shown.name) from e
        if shown.composition:
            show_composition(console, {instance.name: Composition.of_instance(instance)})
        else:
            show_instance(console, instance, shown.name)


KINDS: Sequence[FileKind] = (ProfileFile(), SiteFile(), LogFile(), CoolingTable(), InstanceFile())
"""The first kind that recognises a name shows it."""


def show_file(shown: Shown, console: Console) -> None:
    """Print what a user wants to see.

    Raises
    ------
    WrongUse
        The file is of no known kind, or an option is for other kinds.
    UnknownInstance, UnknownCooling, InstanceError, WorkloadError
        There is no such file, or it has faults.
    """
    if Path(shown.name).suffix and near_files(Path(shown.name)):
        check_file(Path(shown.name))
    kind = next((kind for kind in KINDS if kind.recognises(shown)), None)
    if kind is None:
        raise not_recognised(shown.name)
    of_logs = shown.of_logs
    for option in shown.options:
        group = OF_LOGS if option in of_logs else option
        if group not in kind.takes and option not in kind.takes:
            if kind is KINDS[-1]:  # which recognises any name
                check_there(shown.name)
            takers = [f"{other.what}s" for other in KINDS if group in other.takes]
            others = " and ".join(takers) if len(takers) > 1 else f"{takers[0]} only"
            results = "; bench plot draws results" if option == "--plot" else ""
            raise WrongUse(
                f"{option}: for {others}; {shown.name} is no {' and no '.join(w[:-1] for w in takers)}{results}"
            )
    kind.show(shown, console)
