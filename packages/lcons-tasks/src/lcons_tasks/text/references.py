"""The tokens of a bibliographic reference, with exact offsets.

A token is a run of letters and digits, or one other character: in references every mark of punctuation may
end a field, so `433-460` is three tokens and `W.-P.` five. White space is in no token; everything else is in
one, so that labelled tokens map back onto the text exactly.

Paper: Sec. 5. Differs from the paper: there `433-460` is one token.
"""

from __future__ import annotations

import re

from lcons_tasks.text.tokens import Token

TOKEN = re.compile(r"\w+|[^\w\s]")


def reference_tokens(text: str) -> list[Token]:
    """The tokens of `text`, in order.

    >>> [token.text for token in reference_tokens("Mind, 59(4):433-460.")]
    ['Mind', ',', '59', '(', '4', ')', ':', '433', '-', '460', '.']
    """
    return [Token(found.group(), *found.span()) for found in TOKEN.finditer(text)]
