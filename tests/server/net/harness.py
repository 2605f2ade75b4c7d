"""A tickwheeld under test, and a client that speaks its protocol.

A test waits for events: a line of the server's log, a reply, the end of a
connection.  LIMIT bounds such a wait, so that a broken server fails the test
instead of stopping it; no test asserts how long something takes.
"""
import fcntl
import os
import pathlib
import queue
import re
import signal
import socket
import subprocess
import sys
import threading

LIMIT = 60

BINARY = None  # the path of tickwheeld; set by the test program

# Starts a server with the descriptors in its first argument as 3, 4, ...
# LISTEN_PID has to be the number of the server's process.
LAUNCHER = """
import os, sys
passed = [int(n) for n in sys.argv[1].split(",")]
for i, number in enumerate(passed):
    os.dup2(number, 3 + i)
os.environ["LISTEN_FDS"] = str(len(passed))
os.environ.setdefault("LISTEN_PID", str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
"""


def has_sanitizer():
    """Return whether the server keeps memory that it has freed, to find uses
    of it.  Then its memory says nothing."""
    return b"__asan_init" in pathlib.Path(BINARY).read_bytes()


def environment(changes):
    """Return our environment, without that of a service manager."""
    ours = {name: value for name, value in os.environ.items()
            if name not in ("LISTEN_FDS", "LISTEN_PID", "NOTIFY_SOCKET")}
    return {**ours, **(changes or {})}


class Server:
    """A server that has started.  Leaving the context ends it."""

    def __init__(self, *options, env=None, passed=(), descriptors=None):
        """`passed`: sockets that become descriptors 3, 4, ... of LISTEN_FDS.
        `descriptors`: the limit of open ones."""
        command = [BINARY, "-p", "0", *options]
        high = [fcntl.fcntl(sock, fcntl.F_DUPFD, 100) for sock in passed]
        if passed:
            numbers = ",".join(str(number) for number in high)
            command = [sys.executable, "-c", LAUNCHER, numbers, *command]
        if descriptors:
            command = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh",
                       *command]
        self.process = subprocess.Popen(
            command, env=environment(env), stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, pass_fds=high)
        for number in high:
            os.close(number)
        self.is_deaf = False
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        try:
            self.start = self.wait_for("event=start")
        except AssertionError:
            self.__exit__()
            raise
        self.names = re.search(r"address=(\S+)", self.start)[1].split(",")

    def _read(self):
        for line in self.process.stderr:
            self.lines.put(line.decode().rstrip("\n"))
            if self.is_deaf:
                self.process.stderr.close()
                break
        self.lines.put(None)

    def rest(self):
        """Return the lines up to the end of the log."""
        lines = []
        while (line := self.lines.get(timeout=LIMIT)) is not None:
            lines.append(line)
        return lines

    def wait_for(self, text):
        """Return the next line of the log that contains `text`."""
        seen = []
        while True:
            line = self.lines.get(timeout=LIMIT)
            if line is None:
                raise AssertionError(f"no {text!r} in the log: {seen}")
            if text in line:
                return line
            seen.append(line)

    def close_log(self):
        """Close our end of the log as soon as one more line has come."""
        self.is_deaf = True

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        """Return the exit status."""
        return self.process.wait(timeout=LIMIT)

    def stop(self):
        self.signal(signal.SIGTERM)
        return self.wait()

    def resident(self):
        """Return the memory of the process, in bytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.M)[1]) * 1024

    def wake_ups(self):
        """Return how often the process has slept, plus 100 for each second of
        processor time."""
        folder = pathlib.Path(f"/proc/{self.process.pid}")
        status = (folder / "status").read_text()
        slept = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M)[1]
        times = (folder / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
        ticks = sum(int(time) for time in times)
        return int(slept) + 100 * ticks // os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.reader.join(LIMIT)
        self.process.stderr.close()


class Client:
    """A connection.  Leaving the context closes it."""

    def __init__(self, where, **options):
        """`where`: a server, or one of its names."""
        name = where.names[0] if isinstance(where, Server) else where
        if name.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            address = name.removeprefix("unix:")
        else:
            host, port = name.rsplit(":", 1)
            host = host.strip("[]")
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self.socket = socket.socket(family)
            address = (host, int(port))
        self.socket.settimeout(LIMIT)
        for option, value in options.items():
            self.socket.setsockopt(socket.SOL_SOCKET, getattr(socket, option), value)
        try:
            self.socket.connect(address)
        except OSError:
            self.socket.close()
            raise
        self.file = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data)

    def line(self):
        """Return the next line of a reply, without its CRLF, or None at the end
        of the connection."""
        line = self.file.readline()
        return line.removesuffix(b"\r\n").decode() if line else None

    def ask(self, command):
        """Send a command and return the line of its reply."""
        self.send(command.encode() + b"\r\n")
        return self.line()

    def body(self, line):
        """Return the body that follows the line of a reply."""
        size = int(line.split()[-1])
        return self.file.read(size + 2)[:-2]

    def put(self, body=b"", pri=0, delay=0, ttr=60):
        self.send(b"put %d %d %d %d\r\n%s\r\n" % (pri, delay, ttr, len(body), body))
        return self.line()

    def stats(self):
        pairs = self.body(self.ask("stats")).decode().splitlines()[1:]
        return dict(pair.split(": ", 1) for pair in pairs if ": " in pair)

    def wait_for_stat(self, name, value):
        """Ask until a statistic has a value: the server notices the end of
        another connection in its own time."""
        while int(self.stats()[name]) != value:
            pass

    def wait_until_it_rests(self, name):
        """Ask until a statistic has not changed for a while."""
        values = [self.stats()[name]]
        while values.count(values[-1]) < 50:
            values = values[-49:] + [self.stats()[name]]
        return int(values[-1])

    def is_cut_off(self):
        """Return whether the server has closed the connection: it executes no
        command."""
        try:
            return self.ask("use a") is None
        except ConnectionError:
            return True

    def finish(self):
        """Send the end of the connection, and keep reading."""
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self):
        """Close with a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                               b"\1\0\0\0\0\0\0\0")
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def run_to_end(*options, env=None):
    """Run a server that does not start.  Return its status and its lines."""
    done = subprocess.run([BINARY, *options], env=environment(env), text=True,
                          capture_output=True, timeout=LIMIT, check=False)
    return done.returncode, done.stderr.splitlines()
