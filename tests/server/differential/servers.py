"""Servers under test: each on a free port of the loopback, stopped by its
process id."""
import os
import shutil
import signal
import socket
import subprocess
import time

import wire

START_MAX = 10  # seconds until a server accepts
STOP_MAX = 10   # seconds until a server ends after SIGTERM


# Ends the command when this program ends, however it does.
MORTAL = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []

running = set()  # all servers that were started and not stopped


class Broken(Exception):
    """A server does not start."""


def kill_all():
    """For a signal handler."""
    for server in list(running):
        server.process.kill()


def hold_port():
    """A socket bound to a free port.  While it is open, the system gives that
    port to nobody else; a server may still bind it, because both sockets allow
    reuse and this one does not listen."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


class Server:
    def __init__(self, binary, options=()):
        self.binary = binary
        self.links = {}  # by the number of the script's connection
        with hold_port() as held:
            self.port = held.getsockname()[1]
            self.process = subprocess.Popen(
                [*MORTAL, binary, "-l", "127.0.0.1", "-p", str(self.port), *options],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            running.add(self)
            try:
                self.control = self.connected()
            except BaseException:
                self.stop()
                raise

    def connected(self):
        """A connection, as soon as the server accepts."""
        limit = time.monotonic() + START_MAX
        while True:
            try:
                return wire.Link(self.port)
            except ConnectionRefusedError:
                pass
            if self.process.poll() is not None:
                raise Broken(f"{self.binary} exits with "
                             f"{self.process.returncode} at its start")
            if time.monotonic() > limit:
                raise Broken(f"{self.binary} does not accept connections")
            time.sleep(0.001)

    def open(self, number):
        """Open a connection.  Returns whether the server accepts it."""
        try:
            self.links[number] = wire.Link(self.port)
        except OSError:
            return False
        return True

    def drain(self):
        os.kill(self.process.pid, signal.SIGUSR1)

    def state(self):
        """For the report of a mismatch."""
        status = self.process.poll()
        return "runs" if status is None else f"has exited with {status}"

    def stop(self):
        for link in self.links.values():
            link.close()
        if hasattr(self, "control"):
            self.control.close()
        self.process.terminate()
        try:
            self.process.wait(STOP_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        running.discard(self)
