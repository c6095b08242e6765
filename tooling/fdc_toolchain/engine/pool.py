"""A few threads that perform effects, so that the branches of a fork do not wait for each other."""

from __future__ import annotations

import _thread
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")
MANY, TOGETHER = 16, 0.001
"""Where so many jobs run, those that end within so many seconds are collected together: what is collected is committed
at once, and each commit costs the threads that work a turn of Python's lock, and the disk a write."""


class Pool(Generic[Job, Result]):
    """Runs `work` on jobs, on threads that start when they are needed and never outlive the process.

    What `work` raises comes back in the job's place; nothing is lost.
    """

    def __init__(self, work: Callable[[Job], Result], size: int) -> None:
        self._work = work
        self._size = size
        self._threads = 0
        self._open = 0
        self._growing = _thread.allocate_lock()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._results: SimpleQueue[tuple[Job, Result | BaseException]] = SimpleQueue()

    @property
    def open(self) -> int:
        """Jobs that have not been collected."""
        return self._open

    def submit(self, jobs: list[Job]) -> None:
        """Hands jobs over."""
        self._open += len(jobs)
        for job in jobs:
            self._jobs.put(job)
        self._grow()

    def _grow(self) -> None:
        """Starts one thread more where a job waits for one. Each thread starts the next one before it works.

        Threads that one loop starts wait together for Python's lock, which that loop holds; so does the driver for them
        afterwards. Not `threading.Thread`, whose start waits until the thread runs. Like its daemons these do not keep
        the process from leaving when a tool hangs.
        """
        if self._threads == self._size or self._jobs.empty():
            return
        with self._growing:
            if self._threads < min(self._size, self._open):
                try:
                    _thread.start_new_thread(self._serve, ())
                except (RuntimeError, MemoryError):
                    if not self._threads:
                        raise
                    return  # those that are there do all
                self._threads += 1

    def collect(self, timeout: float | None = None) -> list[tuple[Job, Result | BaseException]]:
        """Waits for one result at least, and takes along what else is there. Empty after `timeout` seconds."""
        try:
            out = [self._results.get(timeout=timeout)]
        except Empty:
            return []
        if self._open >= MANY:
            time.sleep(TOGETHER)
        while True:
            try:
                out.append(self._results.get_nowait())
            except Empty:
                self._open -= len(out)
                return out

    def close(self) -> None:
        """Lets the threads end, once they are idle."""
        self._jobs.put(None)

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._grow()
            try:
                self._results.put((job, self._work(job)))
            except BaseException as raised:
                self._results.put((job, raised))
        self._jobs.put(None)  # for the next
