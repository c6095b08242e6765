"""The pool of threads: as many at once as it may, never more, and nothing is lost where no thread can be had."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from typing import Any

import pytest
from fdc_toolchain.engine import pool as module
from fdc_toolchain.engine.pool import Pool

SOON = 60.0


def collected(pool: Pool[Any, Any], many: int) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    while len(found) < many:
        some = pool.collect(SOON)
        assert some, f"{len(found)} of {many} came back"
        found += some
    assert pool.open == 0
    return found


@pytest.mark.parametrize(("size", "many"), [(1, 1), (1, 5), (8, 8), (8, 24), (40, 200)])
def test_as_many_jobs_run_at_once_as_the_pool_has_room_for_and_never_more(
    size: int, many: int
) -> None:
    together = threading.Barrier(size)  # opens only when that many jobs are in it at once
    lock, running, most = threading.Lock(), 0, 0

    def work(job: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(SOON)
        with lock:
            running -= 1
        return -job

    pool = Pool(work, size)
    pool.submit(list(range(many)))
    assert sorted(collected(pool, many)) == [(job, -job) for job in range(many)]
    assert most == size
    pool.close()


def test_jobs_that_come_while_all_threads_are_busy_get_threads_of_their_own() -> None:
    gates = [threading.Event() for _ in range(4)]
    entered: list[threading.Event] = [threading.Event() for _ in range(4)]

    def work(job: int) -> None:
        entered[job].set()
        assert gates[job].wait(SOON)

    pool = Pool(work, 4)
    for jobs in ([0], [1, 2], [3]):
        pool.submit(jobs)
        for job in jobs:
            assert entered[job].wait(SOON)
    for gate in gates:
        gate.set()
    assert sorted(collected(pool, 4)) == [(job, None) for job in range(4)]
    pool.close()


def test_what_the_work_raises_comes_back_in_the_place_of_its_job() -> None:
    wrong = KeyboardInterrupt("one")

    def work(job: int) -> int:
        if job == 1:
            raise wrong
        return job

    pool = Pool(work, 2)
    pool.submit([0, 1, 2])
    assert sorted(collected(pool, 3), key=lambda one: one[0]) == [(0, 0), (1, wrong), (2, 2)]
    pool.close()


def test_where_no_thread_more_can_be_had_those_that_are_there_do_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[Callable[..., Any]] = []
    start = _thread.start_new_thread

    def scarce(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
        if len(begun) == 2:
            raise RuntimeError("can't start new thread")
        begun.append(function)
        return start(function, arguments)

    monkeypatch.setattr(module._thread, "start_new_thread", scarce)
    pool = Pool(lambda job: job + 1, 8)
    pool.submit(list(range(50)))
    assert sorted(collected(pool, 50)) == [(job, job + 1) for job in range(50)]
    assert len(begun) == 2
    pool.submit([7])
    assert collected(pool, 1) == [(7, 8)]
    pool.close()


def test_where_no_thread_at_all_can_be_had_whoever_hands_jobs_over_hears_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(module._thread, "start_new_thread", none)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        Pool(lambda job: job, 8).submit([1])


def test_threads_that_come_after_the_end_was_said_end_too() -> None:
    gate, ended = threading.Event(), threading.Semaphore(0)

    class Watched(Pool[int, bool]):
        def _serve(self) -> None:
            super()._serve()
            ended.release()

    pool = Watched(lambda job: gate.wait(SOON), 6)
    pool.submit([0, 1])
    pool.close()  # the driver leaves while effects are under way
    gate.set()
    assert len(collected(pool, 2)) == 2
    for _ in range(pool._threads):
        assert ended.acquire(timeout=SOON)
