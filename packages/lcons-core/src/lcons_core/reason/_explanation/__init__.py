"""explain: a constraint as rules in words, each proved.

A rule is a partial assignment all of whose completions are rejected. On small domains (at most
`enumeration` cells, 10^7 unless told, of the product of n_axis + 1) the rules are minimal, merged into
boxes and complete: their union is the rejected set. On larger domains they are the strongest found, each
proved by a row of Theorem 1.

With examples a rule has figures: its support (the valid parts that its premise covers), its exceptions (those
that it forbids) and how many exceptions are expected by chance, if its conditions were independent. The last
alone says what a rule rests on: where it is small, that none was seen means little, whatever the support.

Paper: Sec. 4 interprets one learned inequality by hand ("Location cannot Kill", since
-1.90 - 2.84 + 0.32 < 0), which `why` does for any assignment.

Not in the paper: `explain`. "A general method for interpreting learned constraints is a direction of
future research."
"""
