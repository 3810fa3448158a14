"""``make demo``: the whole platform on this machine, and a short story that shows what it does."""
