"""The system calls a sandboxed interpreter may make, as a seccomp program for the Linux kernel (seccomp(2), bpf).

A filter once installed can be neither removed nor loosened, whatever the code does and whoever it runs as. Everything that
is not listed fails with "Operation not permitted": opening any file, sockets, new processes and threads, signals to others,
reading another process, raising limits. What is left is computing, and reading and writing the pipes it already has.
"""

from __future__ import annotations

import platform
import struct
import sys

# name -> (x86_64, aarch64); None: the call does not exist there.
_CALLS: dict[str, tuple[int | None, int]] = {
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "fstat": (5, 80), "lseek": (8, 62),
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "mremap": (25, 216),
    "madvise": (28, 233), "rt_sigreturn": (15, 139), "restart_syscall": (219, 128), "futex": (202, 98),
    "sched_yield": (24, 124), "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "clock_gettime": (228, 113),
    "gettimeofday": (96, 169), "getpid": (39, 172), "getrandom": (318, 278), "exit": (60, 93), "exit_group": (231, 94),
}  # fmt: skip
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # audit name of the machine, column of _CALLS
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # refuse = fail with errno 1, EPERM


def unsupported() -> str | None:
    """Why there is no filter for this machine, as a sentence; None when there is one."""
    if sys.platform == "linux" and platform.machine() in _MACHINES:
        return None
    return (
        f"Code of a model is run only behind a kernel filter, which needs Linux on x86_64 or aarch64; this is {sys.platform} "
        f"on {platform.machine()}. Run ace_bench in a Linux container or virtual machine."
    )


def program() -> bytes:
    """The filter for this machine: instructions of 8 bytes each. A ValueError with the sentence of `unsupported`."""
    if (why := unsupported()) is not None:
        raise ValueError(why)
    machine, column = _MACHINES[platform.machine()]
    numbers = [pair[column] for pair in _CALLS.values() if pair[column] is not None]
    lines = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    for i, number in enumerate(numbers):
        lines.append((_EQUAL, len(numbers) - i, 0, number or 0))  # jump to the last line
    lines += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)
