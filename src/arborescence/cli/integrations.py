"""``arborescence integrations``: which parsers can decode with this library here."""

from __future__ import annotations

from arborescence.cli.options import Arguments, usage_errors
from arborescence.cli.progress import say
from arborescence.errors import ArborescenceError


def integrations(
    tools: Arguments = None,
    check: bool = True,
) -> None:
    """Show which parsers can decode with this library here, and check them.

    For each: its version, what arborescence.integrations.patch(...) would replace, and how both
    decoders do on 200 random graphs.

    Parameters
    ----------
    tools
        Names of packages; nothing: all that are known.
    check
        Compare both decoders on random graphs.

    Examples
    --------
    arborescence integrations
    arborescence integrations stanza supar
    """
    from arborescence.integrations import TOOLS, patching

    failed = []
    for tool in tools or TOOLS:
        with usage_errors():
            module = patching.module_of(tool)
        version = patching.version_of(tool)
        if version is None:
            say(f"{tool}: not installed")
        elif version not in module.VERSIONS:
            known = ", ".join(module.VERSIONS)
            say(f"{tool} {version}: not known, so it is left alone; known: {known}")
        else:
            say(f"{tool} {version}")
            if not described(tool, check):
                failed.append(tool)
    if failed:
        raise ArborescenceError(f"{', '.join(failed)}: the check failed, so do not install it")


def described(tool: str, check: bool) -> bool:
    """Write what would be replaced, and what a check found; tell whether all is well."""
    from arborescence.integrations import patching

    try:
        names = patching.places(tool)
    except ImportError as error:
        say(f"    cannot be imported here: {error}")
        return True
    for name in names:
        say(f"    replaces {name}")
    if not check:
        return True
    found = patching.check(tool)
    say(
        f"    on {sum(found)} random graphs: the same weight {found.same} times, a better tree "
        f"{found.better} times, one where {tool} finds none {found.broken} times"
        + (f", wrong {found.wrong} times" if found.wrong else "")
    )
    return not found.wrong
