"""The cluster: stores bitstreams, queues loads, knows every node."""

__version__ = "0.1.0"
