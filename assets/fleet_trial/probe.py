"""Looks from the inside whether this is an isolating sandbox: what a script could reach, and which limits hold."""

import contextlib
import importlib.util
import os
import platform
import signal
import socket
import time

from fleet_trial import limits

PROCESSES = 12


def reaches_network(port):
    """Whether a server on the loopback address of the host answers, or another interface exists."""
    with open("/proc/net/dev") as devices:
        names = [line.split(":")[0].strip() for line in devices if ":" in line]
    if any(name != "lo" for name in names):
        return True
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
        return True
    except OSError:
        return False


def sees_process(pid, began):
    """Whether a process of the host is visible: the same id, and begun at the same moment."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[19] == began
    except OSError:
        return False


def capabilities():
    with open("/proc/self/status") as status:
        sets = dict(line.split(":", 1) for line in status)
    return int(sets["CapEff"], 16) | int(sets["CapPrm"], 16)


def writes(folder):
    path = os.path.join(folder, f".trial-{os.getpid()}")
    try:
        with open(path, "w") as file:
            file.write("x")
        os.unlink(path)
        return True
    except OSError:
        return False


def limits_processes():
    """Whether a limit of processes holds; they all end with this function."""
    children = []
    try:
        for _ in range(4 * PROCESSES):
            child = os.fork()
            if child == 0:
                time.sleep(30)
                os._exit(0)
            children.append(child)
        return False
    except BlockingIOError:
        return True
    finally:
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)


def limits_memory(memory_mb):
    try:
        return len(bytearray((memory_mb + 256) * limits.MEBIBYTE)) == 0
    except MemoryError:
        return True


def probe(task):
    """What is wrong with this sandbox, as sentences, and the libraries that scripts find in it."""
    found = {
        f"a file of the host is visible ({task['marker']})": os.path.exists(task["marker"]),
        "the network is reachable": reaches_network(task["port"]),
        "processes of the host are visible": sees_process(task["pid"], task["began"]),
        "a variable of the environment is visible": task["variable"] in os.environ,
        "it has privileges (capabilities)": capabilities() != 0,
        "the folders of the host are writable": any(writes(folder) for folder in task["folders"]),
        "it has no folder to write in": not writes("."),
    }
    problems = [problem for problem, isFound in found.items() if isFound]
    libraries = [name for name in ("numpy", "pandas", "sklearn") if importlib.util.find_spec(name) is not None]
    if not problems:
        limits.apply(task["memoryMb"], PROCESSES, 8, 120)
        if not limits_processes():
            problems.append("the number of processes is not limited")
        if not limits_memory(task["memoryMb"]):
            problems.append("memory is not limited")
    return {"problems": problems, "python": platform.python_version(), "libraries": libraries}
