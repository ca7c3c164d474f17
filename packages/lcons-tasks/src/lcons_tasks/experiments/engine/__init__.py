"""The engine of the experiments: cells filled on several cores, stages kept by content, one record.

    Experiment -> cells -> run -> Record -> blocks of a Document -> write_run

A name is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
