"""Commands of other packages, which register them under the entry points `lcons.commands`.

    [project.entry-points."lcons.commands"]
    count = "my_package:count"  # a click command

`lcons --help` lists them under a heading of their own. A command of lcons itself has precedence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# Commands that lcons-contrib brings, so that `lcons` can name it where it is missing.
IN_CONTRIB = frozenset(["ask", "calibrate", "grammar", "repair"])


class ExtensibleGroup(click.Group):
    """A group whose commands are its own and those of the entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *sorted(contributed(self))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        entries = contributed(self)
        if cmd_name in entries:
            return entries[cmd_name].load()
        if cmd_name in IN_CONTRIB:
            ctx.fail(f"`{cmd_name}` is a command of lcons-contrib: run `pip install lcons-contrib`.")
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        entries = contributed(self)
        names_of_lcons = [name for name in self.list_commands(ctx) if name not in entries]
        for heading, names in (("Commands", names_of_lcons), ("Commands of other packages", sorted(entries))):
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, command.get_short_help_str(60)) for name, command in commands if command]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def contributed(group: click.Group) -> dict[str, EntryPoint]:
    """The entry points of commands that the group itself does not have, by name."""
    from importlib.metadata import entry_points  # slow to import, and commands of lcons do not need it

    entries = entry_points(group="lcons.commands")
    return {entry.name: entry for entry in entries if entry.name not in group.commands}
