"""The paper's printed coefficient tables (Appendix C, "Learned Constraints") and its designed constraints."""

from lcons_core import FeatureSpace, RectifierNetwork, Rules, one_hot

ENTITIES = ("NoEnt", "Person", "Location", "Organization")
RELATIONS = ("NoRel", "Kill", "LiveIn", "WorkFor", "LocatedAt", "OrgBasedIn")

# relation: (source, target); the relation in the opposite direction must be NoRel.
DESIGNED = {
    "Kill": ("Person", "Person"),
    "LiveIn": ("Person", "Location"),
    "WorkFor": ("Person", "Organization"),
    "LocatedAt": ("Location", "Location"),
    "OrgBasedIn": ("Organization", "Location"),
}

SOURCE_RELATION = FeatureSpace([one_hot("source", ENTITIES), one_hot("relation", RELATIONS)])
RELATION_TARGET = FeatureSpace([one_hot("relation", RELATIONS), one_hot("target", ENTITIES)])
RELATION_RELATION = FeatureSpace([one_hot("relation 1", RELATIONS), one_hot("relation 2", RELATIONS)])

# Each printed row: the coefficients of a learned inequality, its bias last.
PRINTED = {
    "source-relation": (
        (-1.98, 3.53, -1.90, 0.11, 2.66, -2.84, -2.84, -2.84, 2.58, 0.43, 0.32),
        (-1.61, -1.48, 3.50, 0.92, 1.15, 1.02, 1.02, 1.02, -3.96, -1.38, 1.46),
        (-3.59, 2.04, 1.60, 1.03, 3.81, -1.82, -1.82, -1.82, -1.38, -0.95, 0.78),
    ),
    "relation-target": (
        (2.68, -3.17, -0.55, 2.68, -0.55, -0.55, -1.58, 3.15, 0.53, -2.70, 1.02),
        (2.72, 2.42, -1.39, -2.55, -1.39, -1.39, -2.51, -2.27, 1.54, 2.31, 0.85),
        (5.40, -0.74, -1.94, 0.13, -1.94, -1.94, -4.10, 0.88, 2.08, -0.39, 0.86),
    ),
    "relation-relation": (
        (4.95, -1.65, -1.65, -1.65, -1.65, -1.65, 5.06, -1.53, -1.53, -1.53, -1.53, -1.53, -2.41),
    ),
}

SPACES = {
    "source-relation": SOURCE_RELATION,
    "relation-target": RELATION_TARGET,
    "relation-relation": RELATION_RELATION,
}


def designed(table: str) -> Rules:
    """The designed constraints on the pairs of one table."""
    rules = Rules(SPACES[table])
    for relation, (source, target) in DESIGNED.items():
        if table == "source-relation":
            rules = rules.needs({"relation": relation}, {"source": source})
        elif table == "relation-target":
            rules = rules.needs({"relation": relation}, {"target": target})
        else:
            rules = rules.needs({"relation 1": relation}, {"relation 2": "NoRel"})
    return rules


def printed_network(table: str) -> RectifierNetwork:
    """The network behind the table: its units are the first rows, K = 2, 2 and 1, one a single unit."""
    units = PRINTED[table][:2]
    return RectifierNetwork([[-c for c in row[:-1]] for row in units], [1 - row[-1] for row in units])
