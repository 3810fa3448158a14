"""Bitstreams: stored by their content, named by people."""
