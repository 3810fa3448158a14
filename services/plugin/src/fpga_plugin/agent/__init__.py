"""The node agent: what the manager may ask of this node, above all to program a region."""
