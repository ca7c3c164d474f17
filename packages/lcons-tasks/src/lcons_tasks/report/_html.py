"""Markup as a type of its own: text is escaped wherever it enters, so that no label can become markup."""

from __future__ import annotations

from html import escape

VOID = frozenset({"br", "img", "input", "meta"})

# What HTML cannot hold, even escaped.
_UNPRINTABLE = dict.fromkeys((*range(9), 11, *range(14, 32), 127), "\N{REPLACEMENT CHARACTER}")


class Html(str):
    """Markup, as opposed to text that is still to be escaped."""

    __slots__ = ()


def text(value: object) -> Html:
    """The markup of a value: itself where it is markup, else escaped.

    >>> text("<b>"), text(Html("<b>"))
    ('&lt;b&gt;', '<b>')
    """
    if isinstance(value, Html):
        return value
    return Html(escape(str(value).translate(_UNPRINTABLE)))


def element(name: str, /, *children: object, **attributes: object) -> Html:
    """An element; children that are None are left out, as are attributes that are None or False.

    An underscore in an attribute's name is a hyphen, at its end nothing (`class_`, `aria_label`).

    >>> element("td", "<", class_="n", hidden=True, title=None)
    '<td class="n" hidden>&lt;</td>'
    """
    opened = f"<{name}"
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        opened += f" {key.removesuffix('_').replace('_', '-')}"
        if value is not True:
            opened += f'="{text(str(value))}"'
    if name in VOID:
        return Html(f"{opened}>")
    return Html(f"{opened}>{joined(*children)}</{name}>")


def joined(*children: object, by: str = "") -> Html:
    """Children one after another, those that are None left out."""
    return Html(text(by).join(text(child) for child in children if child is not None))
