"""The engine of the experiments: it fills cells on several cores, keeps stages on disk, makes one record.

    Experiment -> cells -> run -> Record -> blocks of a Document -> write_run

Each name is imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
