"""`lcons grammar`: constraints as a grammar for language models. Only click is imported here."""

from __future__ import annotations

from pathlib import Path

import click

from lcons_cli.console import write_lines
from lcons_cli.options import INPUT, OUTPUT, check_output

ENDINGS = {".lark": "lark", ".regex": "regex", ".schema": "json-schema", ".json": "json-schema"}


@click.command(short_help="Write constraints as a grammar for language models.")
@click.argument("constraints", type=INPUT, nargs=-1, required=True, metavar="CONSTRAINT.json...")
@click.option(
    "--to",
    "form",
    type=click.Choice(["lark", "regex", "json-schema"]),
    help="Default: by the ending of the output file, else lark.",
)
@click.option("-o", "--output", type=OUTPUT, help="The file to write. Default: stdout.")
@click.option(
    "--separator",
    default=" ",
    metavar="TEXT",
    help="What stands between two labels; \\n is a new line. Default: a space.",
)
@click.option(
    "--end",
    default="",
    metavar="TEXT",
    help="What stands after the last label, for Outlines; \\n is a new line.",
)
def grammar(
    constraints: tuple[str, ...], form: str | None, output: str | None, separator: str, end: str
) -> None:
    """Write the label sequences, tuples or records that satisfy all constraints as a grammar.

    lark is for llguidance, regex for Outlines, json-schema for both. Tuples and records are written as
    json-schema. A constraint that reads the input (as POS tags) has no grammar.

    \b
    Example:
      lcons grammar bigrams.json -o bigrams.lark
      lcons grammar bigrams.json fields.json --to regex --end '\\n'
    """
    from lcons_contrib.llm.grammars import write_grammar
    from lcons_core import load

    check_output(output, *constraints)
    text = write_grammar(
        [load(path) for path in constraints],
        form or ENDINGS.get(Path(output or "").suffix.lower(), "lark"),
        separator=separator.replace("\\n", "\n"),
        end=end.replace("\\n", "\n"),
    )
    write_lines(text.split("\n"), output)
