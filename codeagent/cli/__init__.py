"""cli (L6): from the command line to `Options` and back to an exit code. Imports everything below; nothing imports it.

`argv` (pure) says in Typer's words what Typer itself cannot be told; `main` declares the flags; one file per command
group; `entry` is the one place where errors become sentences and exit codes; `start` opens the REPL without Typer.
"""
