"""What a fork may take, and what the forks took."""

from __future__ import annotations

import math
import resource
import signal

MEMORY = 2 << 30
"""Bytes that a fork may take beyond what it begins with."""


def limit(cpu: float, first: float = 0.0) -> None:
    """From here on this process may take so many seconds of a processor (0: as many as it likes), and MEMORY more; fewer
    (`first`, 0: no fewer) until `further` is called."""
    if cpu:
        whole = math.ceil(cpu)
        soft = min(whole, math.ceil(first)) if first else whole
        resource.setrlimit(resource.RLIMIT_CPU, (soft, whole + 1))
        if whole != cpu:  # the timer counts parts of a second
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, cpu)
    try:
        with open("/proc/self/statm", encoding="ascii") as text:
            now = int(text.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        wanted = now + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))
    except (OSError, ValueError):
        return  # another system


def further() -> None:
    """This process may take all the seconds of a processor that `limit` was given."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if 0 <= soft < hard - 1:
        resource.setrlimit(resource.RLIMIT_CPU, (hard - 1, hard))


def cpu_used() -> float:
    """Seconds of a processor that the forks that have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
