"""What writes a bitstream into a region: one module a way of doing it, behind one Protocol."""
