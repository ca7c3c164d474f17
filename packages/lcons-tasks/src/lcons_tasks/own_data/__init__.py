"""The user's own labelled data: read a file, learn a constraint from it, and judge it on held-out data.

    file -> format (`_formats`) -> Structures | PsiTable, Split -> Recipe -> Learned

Each rule in words is followed by three numbers: `[support 313; expected 300 by chance, seen 7]`. The support
is the number of valid training parts that its premise covers. The next two are the number of valid parts that
the rule would forbid by chance, if its conditions were independent, and the number that it does forbid. The
expected number shows how much evidence a rule has: a rule about a label that was seen once may have a large
support and an expected number near 0. All three are counted on all training data.

Not in the paper: all of this folder.
"""

# Names that are not in `__all__` are for the other packages of lcons.
from lcons_tasks.own_data._data import Data as Data
from lcons_tasks.own_data._data import PsiTable, Structures
from lcons_tasks.own_data._data import Split as Split
from lcons_tasks.own_data._data import contiguous_folds as contiguous_folds
from lcons_tasks.own_data._data import recorded_split as recorded_split
from lcons_tasks.own_data._data import split as split
from lcons_tasks.own_data._datasets import from_dataset
from lcons_tasks.own_data._formats import read_data, read_words
from lcons_tasks.own_data._formats import tell_format as tell_format
from lcons_tasks.own_data._learn import Learned, learn
from lcons_tasks.own_data._recommendation import upper_bound as upper_bound
from lcons_tasks.own_data._summary import summarise as summarise
from lcons_tasks.own_data._summary import summary_dict as summary_dict

__all__ = [
    "Learned",
    "PsiTable",
    "Structures",
    "from_dataset",
    "learn",
    "read_data",
    "read_words",
]
