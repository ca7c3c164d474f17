"""Work on shards for tests, in a module that worker processes can import."""

import os
import signal
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from lcons_core import InvalidInput
from lcons_decode.shards import RowWork


@dataclass(frozen=True)
class Doubles:
    """Doubles `number`. The first worker that sees `kill` is killed, by a mark in a folder; with `always`,
    each is."""

    marks: str
    kill: int = -1
    always: bool = False

    def settings(self):
        return {"work": "doubles"}

    def begin(self, shard):
        return RowWork(shard, self.answer, {"double": int})

    def answer(self, rows, places):
        for row, place in zip(rows, places, strict=True):
            if not isinstance(row.get("number"), int):
                raise InvalidInput(f"{place}: expected a column 'number', found {', '.join(row)}; add it.")
            mark = Path(self.marks, "killed")
            if row["number"] == self.kill and (self.always or not mark.exists()):
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return [{"double": 2 * row["number"]} for row in rows], Counter(tokens=len(rows))
