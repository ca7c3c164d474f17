"""explain: a constraint as rules in words, each proved.

A rule is a partial assignment whose completions are all rejected. On small domains (the product of
n_axis + 1 is at most `enumeration`, by default 10^7) the rules are minimal, merged into boxes and complete:
their union is the rejected set. On larger domains they are the strongest rules found, each proved by a row of
Theorem 1.

With examples a rule has three figures: its support (the valid parts that its premise covers), its exceptions
(the valid parts that it forbids), and the number of exceptions expected by chance if its conditions were
independent. Only the last figure measures the evidence for a rule: if it is small, then no exceptions mean
little, even with a large support.

Paper: Sec. 4.1 interprets one learned inequality by hand (Eq. 9: "Location cannot Kill", because
-1.90 - 2.84 + 0.32 < 0); `why` does this for any assignment.

Not in the paper: `explain`. "A general method for interpreting learned constraints is a direction of
future research."
"""
