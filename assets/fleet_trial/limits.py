"""Limits of memory, processes and time for a script, and the system calls that it may not make."""

import contextlib
import ctypes
import os
import platform
import resource
import signal
import struct
import sys
import threading
import time

MEBIBYTE = 2**20
OPEN_FILES = 512
WATCH_SECONDS = 0.1

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38

exceeded = []
"""What all processes of a script together had too much of, in the order in which it was seen."""


def prctl(option, value, pointer=0):
    if ctypes.CDLL(None, use_errno=True).prctl(option, ctypes.c_ulong(value), ctypes.c_void_p(pointer), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")


def end_with_caller():
    """Ends this process, and with it the sandbox, when the process that started it is gone."""
    with contextlib.suppress(OSError):
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def wait():
        # The caller keeps this pipe open as long as it wants an answer. Nothing more comes through it.
        while os.read(0, 65_536) != b"":
            pass
        end_others()
        os._exit(3)

    threading.Thread(target=wait, daemon=True).start()


def others():
    """The other processes of the sandbox."""
    own = {os.getpid(), os.getppid(), 1}
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in own]


def end_others():
    """Ends every process of the script, whatever session it is in."""
    for pid in others():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass


def memory_of(pid):
    """Bytes of memory that are this process's own or shared by processes, without those of files."""
    with open(f"/proc/{pid}/status", "rb") as status:
        kibibytes = [line.split()[1] for line in status if line.startswith((b"RssAnon:", b"RssShmem:"))]
    return sum(map(int, kibibytes)) * 1_024


def used_memory():
    total = 0
    for pid in others():
        with contextlib.suppress(OSError):
            total += memory_of(pid)
    return total


def watch_memory(limit):
    """Ends the processes of the script when they take more than `limit` bytes together."""

    def watch():
        while True:
            time.sleep(WATCH_SECONDS)
            if used_memory() > limit:
                exceeded.append("memory")
                end_others()

    threading.Thread(target=watch, daemon=True).start()


def lower(kind, limit):
    """Sets both limits: without privileges the hard one cannot be raised again."""
    most = resource.getrlimit(kind)[1]
    value = limit if most == resource.RLIM_INFINITY else min(limit, most)
    resource.setrlimit(kind, (value, value))


def apply(memory_mb, processes, disk_mb, seconds):
    """Limits this process and all that it starts. It can still read from and write to what it has open."""
    memory = memory_mb * MEBIBYTE
    watch_memory(memory)
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_NOFILE, OPEN_FILES)
    lower(resource.RLIMIT_FSIZE, disk_mb * MEBIBYTE)
    lower(resource.RLIMIT_CPU, seconds + 10)
    # What libraries map without using it does not count as data.
    lower(resource.RLIMIT_DATA, memory)
    lower(resource.RLIMIT_AS, 4 * memory)
    lower(resource.RLIMIT_NPROC, processes)
    # The script runs as the same user, and must not change this process.
    prctl(PR_SET_DUMPABLE, 0)
    forbid_system_calls()


# Numbers of system calls: x86_64, aarch64. They reach the kernel's less tested parts, make memory that no process has, or
# read other processes.
FORBIDDEN = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
}
CLONE, CLONE3, SOCKET = (56, 220), (435, 435), (41, 198)
ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
NEW_NAMESPACES = 0x7E020000 | 0x80
X32 = 0x40000000

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
AF_UNIX = 1


def filter_of(machine):
    """The program with which the kernel judges each system call."""
    column, architecture = ARCHITECTURES[machine]
    step = lambda code, value, yes=0, no=0: struct.pack("HBBI", code, yes, no, value)
    program = [step(LOAD, ARCHITECTURE), step(EQUAL, architecture, 1, 0), step(RETURN, KILL), step(LOAD, NUMBER)]
    if machine == "x86_64":
        program += [step(AT_LEAST, X32, 0, 1), step(RETURN, ERROR | EPERM)]
    for numbers in FORBIDDEN.values():
        program += [step(EQUAL, numbers[column], 0, 1), step(RETURN, ERROR | EPERM)]
    # The C library then calls the older one, whose flags a filter can see.
    program += [step(EQUAL, CLONE3[column], 0, 1), step(RETURN, ERROR | ENOSYS)]
    program += [
        step(EQUAL, CLONE[column], 0, 4),
        step(LOAD, FIRST_ARGUMENT),
        step(ANY_BIT, NEW_NAMESPACES, 0, 1),
        step(RETURN, ERROR | EPERM),
        step(RETURN, ALLOW),
        step(EQUAL, SOCKET[column], 0, 3),
        step(LOAD, FIRST_ARGUMENT),
        step(EQUAL, AF_UNIX, 1, 0),
        step(RETURN, ERROR | EAFNOSUPPORT),
        step(RETURN, ALLOW),
    ]
    return b"".join(program)


def forbid_system_calls():
    """Forbids them for good. Other machines have the other limits alone."""
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        return
    program = filter_of(machine)
    steps = ctypes.create_string_buffer(program, len(program))
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps)))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, 2, ctypes.addressof(described))


def limited(error):
    """The error of a run, or what it had too much of."""
    if exceeded:
        exceeded.clear()
        return "MemoryError: its processes took more memory than they may together"
    return error
