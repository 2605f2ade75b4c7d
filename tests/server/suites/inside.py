"""Runs a command beside a server, in a new network namespace.

usage: unshare --net --pid --fork --kill-child inside.py SERVER PORT COMMAND...

The server listens on PORT of the loopback.  Its messages go to stderr.  Exits as
the command does, or with 99 if the server does not start or ends by itself.  The
process namespace ends whatever the command has left running."""
import signal
import socket
import subprocess
import sys
import time

START_MAX = 10  # seconds until the server accepts
STOP_MAX = 10   # seconds until it ends after SIGTERM
SERVER_FAILED = 99


def accepts(port):
    try:
        with socket.create_connection(("127.0.0.1", port)):
            return True
    except ConnectionRefusedError:
        return False


def start(server, port):
    """The server's process, as soon as it accepts, or None."""
    process = subprocess.Popen([server, "-l", "127.0.0.1", "-p", str(port)],
                               stdout=sys.stderr)
    limit = time.monotonic() + START_MAX
    while process.poll() is None and time.monotonic() < limit:
        if accepts(port):
            return process
        time.sleep(0.01)
    print(f"{server} does not accept connections", file=sys.stderr)
    process.kill()
    process.wait()
    return None


def main():
    server, port, *command = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    process = start(server, int(port))
    if process is None:
        return SERVER_FAILED
    status = subprocess.run(command, check=False).returncode
    if process.poll() is not None:
        print(f"the server has ended with {process.returncode}",
              file=sys.stderr)
        return SERVER_FAILED
    process.terminate()
    try:
        process.wait(STOP_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        print("the server does not end after SIGTERM", file=sys.stderr)
        return SERVER_FAILED
    return status


if __name__ == "__main__":
    sys.exit(main())
