"""Loads: what may be asked, what follows what, and where it is written.

``planning`` decides with values; ``history`` writes with conditional updates; ``requests``,
``attempts`` and ``upkeep`` are what callers, workers and the reconciler do in one transaction;
``service`` is what the API calls. Nothing here knows HTTP, gRPC, Celery or Kubernetes.
"""
