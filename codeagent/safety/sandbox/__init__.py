"""The sandbox of commands: what they may write, read and reach, kept by the system and not by their good will.

`policy` says what holds, `places` where caches and keys lie. Three means keep it: `landlock` (Linux, no root, by the
kernel alone), bubblewrap and macOS's sandbox-exec (`wrapping`, a program around the command). `refusals` reads in the
output of a command what was refused; `Sandbox` picks the means and asks the person to lift it.
"""
