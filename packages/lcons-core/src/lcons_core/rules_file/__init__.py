"""Designed rules as plain text, a rule a line, read by the names of a space.

    # who can be the source of what
    relation Kill or LiveIn needs source Person
    source Location cannot go with relation Kill
    forbid: source Location, relation not NoRel
    allow only: relation NoRel
    allow only: source Person, relation Kill

| rule | the points that it leaves |
|---|---|
| `A needs B` | those of A are in B |
| `A cannot go with B` | none is in A and in B |
| `forbid: A` | none is in A |
| `allow only: A` | each is in A, or in another `allow only:` of the file |

A and B are conditions joined by commas (or `and`), which hold together; all rules of a file hold together. A
condition names a block and what it may be:

    one-hot   source Person           source Person or Location        source not Person
    binary    exists title            exists not title
    count     count author >= 3       count author 0 or 2 to 4         count author not 0

A name that has blanks may be written as it is. In double quotes it is read as it stands (`\\"`, `\\\\` and
`\\n` are a quote, a backslash and a line end), which a name needs that begins with #, that has a comma or a
quote, or that is a word of this format: `or`, `and`, `not`, `needs`, `cannot`, `go`, `with`, `to`. What
follows a # at the start of a line or after a blank is a comment.

Not in the paper: files of rules; the paper has its designed constraints in a table (Appendix C).
"""

from lcons_core.rules_file.reading import load_rules, parse_rules
from lcons_core.rules_file.writing import box_text, rules_text

__all__ = ["box_text", "load_rules", "parse_rules", "rules_text"]
