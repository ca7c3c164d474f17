"""`lcons schema`: a typed relation schema, learned from annotated passages or read, in words and as a file.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import Say, opened, say_nothing, say_on_stderr
from lcons_cli.options import FILE, common_options
from lcons_cli.output import check_target

if TYPE_CHECKING:
    from lcons_core.relations import EntityGraph, LearnedSchema, RelationSchema

FORMS = ("json", "gliner2", "shacl")


@click.command(short_help="Learn which relations can hold between which entities.")
@click.argument("file", type=FILE)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="The file for the schema.")
@click.option(
    "--to",
    "form",
    type=click.Choice(FORMS),
    default="json",
    show_default=True,
    help="The form of the file. json: for `lcons extract --schema`. gliner2: for `JointSchema.from_json` of"
    " gliner2.joint_ie. shacl: shapes in Turtle.",
)
@click.option(
    "--odds",
    type=click.FloatRange(min=0, min_open=True),
    help="Learn a maximum, symmetric and inverse only with better odds than this.  [default: 2]",
)
@click.option(
    "--no-entity", multiple=True, metavar="TYPE", help="A type that is never an endpoint, such as NoEnt."
)
@common_options(
    "Print also the rules that were not learned.", json="Print the schema as JSON.", seed="unused"
)
def schema(
    file: str,
    output: str | None,
    form: str,
    odds: float | None,
    no_entity: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Learn a relation schema from FILE, and print its rules and the evidence for each.

    FILE has one annotated passage per line, a JSON object: entities, each with its label; and relations, each
    with its label, its source and its target, which count entities from 0. `lcons extract` and GLiNER2's
    JointResult.to_dict write such objects. Twenty to fifty passages show most rules, and a few wrong labels
    are tolerated. FILE can also be a schema that this command wrote.

    Rules: endpoint types; at most k relations per head and per tail; symmetric; inverse; acyclic; no self
    loops. For each: in how many of the cases it holds, the odds, and with 95% confidence the largest share
    of cases that break it.

    \b
    Example:
      lcons schema passages.jsonl -o schema.json
      lcons schema schema.json --to gliner2 -o joint_schema.json
      lcons extract --schema schema.json news.txt
    """
    from lcons_core.relations import LearnedSchema, schema_to_dict

    say: Say = say_nothing if quiet else say_on_stderr
    check_target(output, file)
    found = _read(file, odds, no_entity)
    if output is not None:
        _write(found, form, output)
        say(f"written to {output}: {_size(found)}")
    if as_json:
        click.echo(json.dumps(schema_to_dict(found), ensure_ascii=False, indent=2))
    elif form != "json" and output is None:
        click.echo(_text(found, form), nl=False)
    elif isinstance(found, LearnedSchema):
        shown = [own for own in found.evidence if own.learned or verbose]
        for own in sorted(shown, key=lambda own: not own.learned):
            click.echo(own.words())
        say(f"{_size(found)}; estimated share of wrong labels: {found.wrong_labels:.1%}")
    else:
        for sentence in found.words():
            click.echo(sentence)


def _read(file: str, odds: float | None, no_entity: tuple[str, ...]) -> RelationSchema | LearnedSchema:
    """The schema of a file of passages, or a schema that is read."""
    from lcons_core import InvalidInput
    from lcons_core.relations import learn_schema, schema_from_dict
    from lcons_core.storage import parse

    with opened(file) as source:
        text = "".join(source)
    if text.lstrip().startswith("{") and '"format"' in text.partition(":")[0]:
        if odds is not None or no_entity:
            raise InvalidInput(
                f"{file!r} is a schema, so nothing is learned; leave out --odds and --no-entity."
            )
        return schema_from_dict(parse(text))
    settings: dict[str, Any] = {} if odds is None else {"odds": odds}
    return learn_schema(_graphs(file, text), no_entity=no_entity, **settings)


def _graphs(file: str, text: str) -> list[EntityGraph]:
    from lcons_core import InvalidInput
    from lcons_core.relations import read_graph
    from lcons_core.storage import parse

    graphs = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                data = parse(line)
            except InvalidInput as error:
                raise InvalidInput(
                    f"{file}:{number}: expected a passage as a JSON object: {str(error).rstrip('.')}; correct"
                    " the line."
                ) from None
            graphs.append(read_graph(data, f"{file}:{number}"))
    return graphs


def _text(found: RelationSchema | LearnedSchema, form: str) -> str:
    from lcons_core.relations import LearnedSchema, schema_to_gliner2, schema_to_shacl

    plain = found.schema if isinstance(found, LearnedSchema) else found
    if form == "shacl":
        return schema_to_shacl(plain)
    return json.dumps(schema_to_gliner2(plain), ensure_ascii=False, indent=2) + "\n"


def _write(found: RelationSchema | LearnedSchema, form: str, output: str) -> None:
    from lcons_core import LconsError
    from lcons_core.relations import save_schema
    from lcons_core.storage import replacing

    if form == "json":
        save_schema(found, output)
        return
    try:
        with replacing(output) as target:
            target.write(_text(found, form).encode())
    except OSError as error:
        raise LconsError(
            f"cannot write {output!r}: {error.strerror or error}; name a file in another directory."
        ) from None


def _size(found: RelationSchema | LearnedSchema) -> str:
    from lcons_core.relations import LearnedSchema

    plain = found.schema if isinstance(found, LearnedSchema) else found
    rules = len(plain.words())
    return f"{len(plain.entities)} entity types, {len(plain.relations)} relations, {rules} rules"
