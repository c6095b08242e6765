"""What a fork may take, and what the forks took."""

from __future__ import annotations

import math
import resource
import signal

MEMORY = 2 << 30
"""Bytes that a fork may take beyond what it begins with."""


def limit(cpu: float) -> None:
    """From here on this process may take so many seconds of a processor (0: as many as it likes), and MEMORY more."""
    if cpu:
        whole = math.ceil(cpu)
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
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


def cpu_used() -> float:
    """Seconds of a processor that the forks that have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
