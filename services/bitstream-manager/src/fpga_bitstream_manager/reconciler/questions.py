"""Asks several nodes at a time, so that one that does not answer keeps nobody else waiting."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

QUESTIONS_AT_A_TIME: Final = 8

Subject = TypeVar("Subject")


def ask_all(ask: Callable[[Subject], None], subjects: Iterable[Subject]) -> None:
    """Call ``ask`` with each subject; every one is asked before the first failure is raised."""
    waiting = list(subjects)
    if not waiting:
        return
    with ThreadPoolExecutor(QUESTIONS_AT_A_TIME, thread_name_prefix="ask") as pool:
        questions = [pool.submit(ask, subject) for subject in waiting]
    for question in questions:
        question.result()
