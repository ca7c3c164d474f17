"""The labels of the task, in the paper's order, and how Roth and Yih's corpus writes them.

Paper: Sec. 4 and Appendix C. The first label of each is "none".
"""

from __future__ import annotations

ENTITIES = ("NoEnt", "Person", "Location", "Organization")
RELATIONS = ("NoRel", "Kill", "LiveIn", "WorkFor", "LocatedAt", "OrgBasedIn")
NO_ENTITY, NO_RELATION = ENTITIES[0], RELATIONS[0]

# Other names a candidate that is neither person, place nor organisation.
ENTITY_NAMES = {"Peop": "Person", "Loc": "Location", "Org": "Organization", "Other": NO_ENTITY}
RELATION_NAMES = {
    "Kill": "Kill",
    "Live_In": "LiveIn",
    "Work_For": "WorkFor",
    "Located_In": "LocatedAt",
    "OrgBased_In": "OrgBasedIn",
}
