"""The engine of the experiments: it fills cells on several cores, keeps stages on disk, makes one record.

    Experiment -> cells -> run -> Record -> blocks of a Document -> write_run

Each name is imported on first use.
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._experiment import Experiment as Experiment
    from lcons_tasks.experiments.engine._experiment import RunOptions as RunOptions
    from lcons_tasks.experiments.engine._run import run as run
    from lcons_tasks.experiments.engine._run import write_run as write_run

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"_experiment": ["Experiment", "RunOptions"], "_run": ["run", "write_run"]}
)
