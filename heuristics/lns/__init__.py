"""Large-neighbourhood search for dispatching and profit problems, and the objects it is made of."""

from .acceptance import Acceptance, HillClimbing, RecordToRecord, SimulatedAnnealing, Threshold, Tolerances
from .destroy import AroundTime, CompiledDestroy, ConsecutiveStarts, Destroy, RoomForWaiting, usual_destroy
from .operators import KeyChanges, Operator, OrderMoves
from .orders import Order, Population
from .random_keys import KeyNoise
from .repair import InsertBy, Repair, usual_repair
from .ruin import RuinAndRecreate
from .search import usual_operators, usual_selection
from .selection import Alternate, GainPerSecond, History, RandomChoice, Selection, Turn
from .solver_windows import SolverWindows
from .state import LnsSearch
from .stopping import FirstOf, NoImprovement, Progress, Seconds, Stopping, Turns
from .threads.turns import Gain

__all__ = [
    "Acceptance",
    "Alternate",
    "AroundTime",
    "CompiledDestroy",
    "ConsecutiveStarts",
    "Destroy",
    "FirstOf",
    "Gain",
    "GainPerSecond",
    "HillClimbing",
    "History",
    "InsertBy",
    "KeyChanges",
    "KeyNoise",
    "LnsSearch",
    "NoImprovement",
    "Operator",
    "Order",
    "OrderMoves",
    "Population",
    "Progress",
    "RandomChoice",
    "RecordToRecord",
    "Repair",
    "RoomForWaiting",
    "RuinAndRecreate",
    "Seconds",
    "Selection",
    "SimulatedAnnealing",
    "SolverWindows",
    "Stopping",
    "Threshold",
    "Tolerances",
    "Turn",
    "Turns",
    "usual_destroy",
    "usual_operators",
    "usual_repair",
    "usual_selection",
]
