"""Tells the manager what this node is: cards, holders, pools, and where its agent answers."""
