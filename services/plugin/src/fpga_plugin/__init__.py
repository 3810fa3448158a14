"""One node: finds its cards, watches their health, serves the kubelet, programs, reports."""

__version__ = "0.1.0"
