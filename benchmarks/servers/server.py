"""The servers under test: their list, and how to start and stop them."""
import collections
import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

READY_SECONDS = 20
STOP_SECONDS = 10
PR_SET_PDEATHSIG = 1

# `program` is a path.  `arguments` follow -l and -p.  A durable server gets
# -b DIRECTORY as well.
Kind = collections.namedtuple("Kind", "name program arguments is_durable")


class ServerError(Exception):
    """One line: the server does not run."""


def kinds(tickwheeld, beanstalkd, is_durable):
    """The servers to measure.  Ours is the first of each group."""
    found = [Kind("tickwheeld", tickwheeld, [], False),
             Kind("beanstalkd", beanstalkd, [], False)]
    if is_durable:
        found += [Kind("tickwheeld -b", tickwheeld, [], True),
                  Kind("beanstalkd -f0", beanstalkd, ["-f0"], True),
                  Kind("beanstalkd -f50", beanstalkd, ["-f50"], True)]
    return found


def version(program):
    """The first line that `program -v` prints."""
    try:
        said = subprocess.run([program, "-v"], capture_output=True, text=True,
                              timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return (said.stdout + said.stderr).strip().split("\n")[0] or "unknown"


def start(command, processors=None, **options):
    """Start a process that ends with this one, even if this one is killed.  It
    gets no Ctrl-C from the terminal.  `processors` are those it may use."""
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def prepare():
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        if processors:
            os.sched_setaffinity(0, processors)

    return subprocess.Popen(command, preexec_fn=prepare, start_new_session=True,
                            stdin=subprocess.DEVNULL, **options)


def stop(process, seconds=STOP_SECONDS):
    """End `process`, by its pid, and wait until it has ended."""
    try:
        process.terminate()
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    finally:
        process.kill()
        process.wait()


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def last_line(path):
    lines = path.read_text(errors="replace").strip().split("\n")
    return lines[-1]


class Server:
    """A running server; a context manager that stops it."""

    def __init__(self, kind, data, processors=None):
        """`data` is the directory for the files of durable servers."""
        self.kind = kind
        self.data = data
        self.processors = processors
        self.process = None
        self.files = None
        self.port = None

    def __enter__(self):
        self.files = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=self.data))
        try:
            self.launch()
            self.await_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process is not None:
            stop(self.process)
        shutil.rmtree(self.files, ignore_errors=True)

    def launch(self):
        self.port = free_port()
        command = [self.kind.program, "-l", "127.0.0.1", "-p", str(self.port)]
        if self.kind.is_durable:
            store = self.files / "store"
            store.mkdir()
            command += ["-b", str(store)]
        # A server must not take over a socket that a service manager passed on.
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith(("LISTEN_", "NOTIFY_"))}
        with open(self.files / "log", "wb") as log:
            try:
                self.process = start(command + self.kind.arguments,
                                     self.processors, env=clean, stdout=log,
                                     stderr=log)
            except OSError as error:
                raise ServerError(f"cannot start {command[0]}: "
                                  f"{error.strerror}") from error

    def await_ready(self):
        limit = time.monotonic() + READY_SECONDS
        while True:
            ended = self.process.poll()
            if ended is not None:
                raise ServerError(f"{self.kind.name} ended with status {ended}"
                                  f"{self.last_words()}")
            try:
                socket.create_connection(self.address(), 1).close()
                break
            except OSError:
                pass
            if time.monotonic() > limit:
                raise ServerError(f"{self.kind.name} does not listen after "
                                  f"{READY_SECONDS} s{self.last_words()}")
            time.sleep(0.02)
        # If another process took the port first, ours ends now.
        time.sleep(0.1)
        if self.process.poll() is not None:
            raise ServerError(f"{self.kind.name} ended at once"
                              f"{self.last_words()}")

    def has_batches(self):
        """Whether the server knows tickwheeld's extensions.  SERVER.md says how
        to ask: beanstalkd rejects `cancel` as a whole."""
        try:
            with socket.create_connection(self.address(), 5) as probe:
                probe.sendall(b"cancel -\r\n")
                return not probe.recv(100).startswith(b"UNKNOWN_COMMAND")
        except OSError as error:
            raise ServerError(f"{self.kind.name} does not answer `cancel -`: "
                              f"{error}{self.obituary()}") from error

    def address(self):
        return "127.0.0.1", self.port

    def pid(self):
        return self.process.pid

    def cpu_seconds(self):
        """Processor time of all threads, the ended ones included; None if the
        server has ended."""
        try:
            # What clock_getcpuclockid(3) computes.
            return time.clock_gettime((~self.process.pid << 3) | 2)
        except OSError:
            return None

    def last_words(self):
        """The last line that the server printed, for messages."""
        words = last_line(self.files / "log")
        return f": {words}" if words else ""

    def obituary(self):
        """How the server ended, for messages; empty if it runs."""
        try:
            # A lost connection is noticed before the process has ended.
            ended = self.process.wait(1)
        except subprocess.TimeoutExpired:
            return ""
        how = f"signal {-ended}" if ended < 0 else f"status {ended}"
        return f"; the server ended with {how}{self.last_words()}"


def is_in_memory(directory):
    """Whether files there are never written to a disk, so that a sync is
    free."""
    best, kind = "", ""
    place = str(pathlib.Path(directory).resolve())
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        mount, file_system = line.split()[1:3]
        inside = place == mount or place.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, file_system
    return kind in ("tmpfs", "ramfs")
