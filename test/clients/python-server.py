"""Runs the programs of tests, each in a process forked from this one, which has loaded the client already: to load it takes
ten times as long as what most of them do. Listens on the Unix socket that it is given, and ends with its standard input.

A connection begins with a line of JSON. {"script", "env", "stderr"} starts a program, whose standard input and output the
connection is from then on, after a line with its process ID. {"wait"} is answered with the exit code of the program with that ID.
"""

import asyncio
import gc
import json
import math
import os
import select
import signal
import socket
import sys
import threading
import time

import solution_fleet
from solution_fleet import aio, command, testing


def read_line(connection):
    line = b""
    while not line.endswith(b"\n"):
        line += connection.recv(1 << 20)
    return json.loads(line)


def serve():
    """Returns the script in the process that is to run it."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    print("ready", flush=True)
    # What is there already is not looked at, and so not copied, when a program collects its garbage.
    gc.freeze()
    running = set()
    while True:
        readable, _, _ = select.select([listener, sys.stdin], [], [])
        if listener not in readable:
            for pid in running:
                os.kill(pid, signal.SIGTERM)
                os.waitpid(pid, 0)
            sys.exit()
        connection, _ = listener.accept()
        request = read_line(connection)
        if "wait" in request:
            pid, status = os.waitpid(request["wait"], 0)
            running.discard(pid)
            connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        else:
            pid = os.fork()
            if pid == 0:
                listener.close()
                become(connection, request)
                return request["script"]
            running.add(pid)
        connection.close()


def become(connection, request):
    """Gives this process the streams and the environment of the program."""
    connection.sendall(f"{os.getpid()}\n".encode())
    os.dup2(connection.fileno(), 0)
    os.dup2(connection.fileno(), 1)
    connection.close()
    errors = os.open(request["stderr"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(errors, 2)
    # Python reads this variable only when it starts.
    sys.dont_write_bytecode = request["env"].get("PYTHONDONTWRITEBYTECODE", "") != ""
    os.close(errors)
    # A new reader: the server's might hold what it has read ahead.
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    os.environ.clear()
    os.environ.update(request["env"])
    sys.path[1:1] = os.environ["PYTHONPATH"].split(os.pathsep)
    sys.argv = ["-c"]


SCRIPT = serve()
# At the end of the module, so that the interpreter ends as after any program.
exec(compile(SCRIPT, "<program>", "exec"), {"__name__": "__main__"})
