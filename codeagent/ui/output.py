"""The terminal as something to write to: a frame leaves in one piece, so that nothing flickers."""

from __future__ import annotations

import sys

from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from codeagent.ui.look import Look


class FrameOutput(Vt100_Output):
    """Keeps what is written while `held`, and hands it on in one write when let go."""

    held = False

    def flush(self) -> None:
        if self.held:
            return
        try:
            super().flush()
        except OSError:
            self._buffer.clear()  # the terminal has gone; there is nobody left to see it


def open_output(look: Look) -> FrameOutput:
    """Standard output as a terminal. It is never asked where its cursor is: the answer would come as keys."""
    depth = ColorDepth.DEPTH_4_BIT if look.colour else ColorDepth.DEPTH_1_BIT
    output = FrameOutput.from_pty(sys.stdout, term=look.environ.get("TERM"), default_color_depth=depth)
    assert isinstance(output, FrameOutput)
    output.enable_cpr = False
    return output
