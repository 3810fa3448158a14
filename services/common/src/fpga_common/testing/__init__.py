"""Simulated cards, a FakeKubelet, a FakeCluster and a whole platform on loopback.

The demo, the project's tests and users' own tests run on it. No product image contains it.
"""
