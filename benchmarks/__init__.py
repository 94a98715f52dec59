"""Figures, each a command that prints them: `python -m benchmarks.start`, `.rounds`, `.size`, `.idle`, `.installed`.

Nothing here is an assertion. Ratios are taken in one run against something else on the same machine.
"""
