"""The engine of the experiments: it fills cells on several cores, keeps stages on disk, makes one record.

Experiment -> cells -> run -> Record -> blocks of a Document -> write_run
"""

from lcons_tasks.experiments.engine._run import Experiment, RunOptions, run, write_run

__all__ = ["Experiment", "RunOptions", "run", "write_run"]
