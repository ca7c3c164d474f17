from ._blocks import Statement, by_group, by_measure, check, curve, gains, headline, table
from ._choice import choose, choose_weights
from ._experiment import Experiment, Flag, RunOptions, flag, option
from ._jobs import Event, OnEvent, Phase, Piece, Tell, run_phase
from ._kept import Stages
from ._record import Record, RecordCell
from ._run import PAGE, REPORT, RESULTS, run, write_run

__all__ = [
    "PAGE",
    "REPORT",
    "RESULTS",
    "Event",
    "Experiment",
    "Flag",
    "OnEvent",
    "Phase",
    "Piece",
    "Record",
    "RecordCell",
    "RunOptions",
    "Stages",
    "Statement",
    "Tell",
    "by_group",
    "by_measure",
    "check",
    "choose",
    "choose_weights",
    "curve",
    "flag",
    "gains",
    "headline",
    "option",
    "run",
    "run_phase",
    "table",
    "write_run",
]
