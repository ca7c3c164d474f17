from ._blocks import Statement, by_group, by_measure, check, curve, gains, headline, table
from ._choice import choose, choose_weights
from ._experiment import Experiment, RunOptions, option
from ._kept import Stages
from ._record import Record, RecordCell
from ._run import PAGE, REPORT, RESULTS, Progress, in_parallel, run, write_run
from ._template import render

__all__ = [
    "PAGE",
    "REPORT",
    "RESULTS",
    "Experiment",
    "Progress",
    "Record",
    "RecordCell",
    "RunOptions",
    "Stages",
    "Statement",
    "by_group",
    "by_measure",
    "check",
    "choose",
    "choose_weights",
    "curve",
    "gains",
    "headline",
    "in_parallel",
    "option",
    "render",
    "run",
    "table",
    "write_run",
]
