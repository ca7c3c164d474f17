from lcons_core.optimisers._add import Added as Added
from lcons_core.optimisers._add import add_to as add_to
