"""A command group that lists when no subcommand is named: ``fpgactl loads -o json``."""

import click

HELP = ("-h", "--help")


class ListingGroup(click.Group):
    """A group whose default subcommand is ``list``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``list`` in front of options, or in place of nothing."""
        if not args or (args[0].startswith("-") and args[0] not in HELP):
            args = ["list", *args]
        return super().parse_args(ctx, args)
