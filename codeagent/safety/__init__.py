"""safety (L1): may it act?

`Permissions` judges each action by rules, mode, where it reaches and what was granted, and asks the person where these
do not decide. `rules` reads and matches rules, `commands` knows which commands only look, `places` where paths lie,
`threats` and `losses` what a command would destroy; `sandbox` keeps commands within bounds; `checkpoints` can take back
what tools changed.
May import core only.
"""
