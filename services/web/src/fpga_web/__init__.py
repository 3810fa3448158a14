"""The console: shows what the manager answers, under the signed-in user's rights."""

__version__ = "0.1.0"
