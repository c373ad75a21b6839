"""A Python that has imported scikit-learn once: each script that it is asked for runs in a fork of it.

    python3 forking-python.py FOLDER

Puts a program `python3` into the folder, prints a line, and serves that program until its standard input ends. The
program runs as `python3` would: with its arguments, standard streams, working directory, environment and signals.
"""

import gc
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import traceback

import sklearn.datasets
import sklearn.decomposition
import sklearn.metrics
import sklearn.model_selection
import sklearn.neighbors
import sklearn.preprocessing
import sklearn.svm  # noqa: F401

# Without site-packages and environment it starts in a tenth of the time.
CLIENT = """#!{interpreter} -ISs
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
asked = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(asked).to_bytes(4, "big")], [0, 1, 2])
server.sendall(asked)
answers = server.makefile("r")
pid = int(answers.readline())
for one in (signal.SIGINT, signal.SIGTERM):
    signal.signal(one, lambda number, frame: os.kill(pid, number))
code = int(answers.readline())
if code < 0:
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


def receive(connection):
    """The three standard streams of a client, and what it is to run."""
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    text = connection.makefile("rb").read(int.from_bytes(size, "big"))
    return streams, json.loads(text)


def run_script(program, arguments):
    """As `python3 ARGUMENTS` does: gives the exit code."""
    sys.executable = program
    code = 0
    try:
        if arguments[0] == "-c":
            sys.argv = ["-c", *arguments[2:]]
            sys.path.insert(0, "")
            exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
        else:
            sys.argv = arguments
            sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    return code


def become(streams, folder, environment):
    """Gives this process the streams, the working directory and the environment of the client."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    paths = environment.get("PYTHONPATH", "")
    sys.path[:0] = [path for path in paths.split(os.pathsep) if path]


def serve(connection):
    """Runs what a client asks for, in a process of its own, and says how that ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    streams, (argv, folder, environment) = receive(connection)
    pid = os.fork()
    if pid == 0:
        connection.close()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        become(streams, folder, environment)
        code = run_script(os.path.abspath(argv[0]), argv[1:])
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    for stream in streams:
        os.close(stream)
    connection.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def main():
    folder = os.path.abspath(sys.argv[1])
    address = os.path.join(folder, "socket")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    program = os.path.join(folder, "python3")
    with open(program, "w", encoding="utf-8") as file:
        file.write(CLIENT.format(interpreter=sys.executable, address=address))
    os.chmod(program, 0o755)
    # Nobody waits for the processes that serve; Ctrl-C in a terminal is for the clients.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    print("ready", flush=True)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    selector.register(sys.stdin, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is sys.stdin:
                return
            connection, _ = listener.accept()
            if os.fork() == 0:
                selector.close()
                listener.close()
                serve(connection)
                os._exit(0)
            connection.close()


main()
