"""``make bench``: the figures that users feel, on simulated hardware and real processes."""
