#!/usr/bin/env python3
"""Kill the server in a loop, and hold its store against a ledger.

Clients put, reserve, release, bury and delete jobs, and write down what the
server has acknowledged.  After a random number of acknowledgements the server is
killed (SIGKILL).  Then it starts again, and

  - each job whose put was acknowledged is there, with its body and its state,
    unless its deletion was sent;
  - no job whose deletion was acknowledged is there;
  - no job was reserved before its time.

    kill_test.py SERVER [--rounds N] [--seed N] [--sync OPTION]
"""
import argparse
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

THREADS = 4
PATIENCE = 60  # seconds, for a server that never answers
DELAYS = ("0", "0", "0", "1", "2", "3600")


class Gone(Exception):
    """The server was killed."""


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def send(self, text):
        try:
            self.socket.sendall(text.encode() + b"\r\n")
        except (ConnectionError, BrokenPipeError) as error:
            raise Gone from error

    def receive(self):
        """Return the words of a reply, and its body or None."""
        try:
            words = self.file.readline().decode().split()
            if not words:
                raise Gone
            if words[0] not in ("RESERVED", "FOUND", "OK"):
                return words, None
            size = int(words[-1])
            body = self.file.read(size + 2)
            if len(body) < size + 2:
                raise Gone
            return words, body[:-2].decode()
        except ConnectionError as error:
            raise Gone from error

    def ask(self, text):
        self.send(text)
        return self.receive()

    def close(self):
        self.file.close()
        self.socket.close()


class Ledger:
    """What was sent, and what was acknowledged."""

    def __init__(self):
        self.lock = threading.Lock()
        self.due = {}  # body -> the earliest time at which it may be reserved
        self.body = {}  # id -> body, of jobs that exist
        self.buried = set()  # ids that are known to be buried
        self.doubtful = set()  # ids whose deletion or burial was sent
        self.gone = set()  # ids whose deletion was acknowledged
        self.faults = []
        self.acknowledged = 0

    def blame(self, fault):
        with self.lock:
            self.faults.append(fault)

    def count(self):
        with self.lock:
            self.acknowledged += 1

    def has_put(self, number, body):
        with self.lock:
            if number not in self.gone and number not in self.doubtful:
                self.body[number] = body

    def is_reserved(self, number, body, now):
        with self.lock:
            if body not in self.due:
                self.faults.append(f"job {number} has a body nobody sent")
            elif now < self.due[body]:
                self.faults.append(f"job {number} is reserved too early")
            if number in self.gone:
                self.faults.append(f"deleted job {number} is reserved")
            self.body[number] = body

    def deletes(self, number):
        with self.lock:
            self.doubtful.add(number)
            self.buried.discard(number)

    def has_deleted(self, number):
        with self.lock:
            self.doubtful.discard(number)
            self.gone.add(number)
            self.body.pop(number, None)

    def has_buried(self, number):
        with self.lock:
            self.doubtful.discard(number)
            self.buried.add(number)


class Worker(threading.Thread):
    def __init__(self, path, ledger, name, seed):
        super().__init__()
        self.path, self.ledger, self.prefix = path, ledger, name
        self.random = random.Random(seed)
        self.serial = 0

    def run(self):
        try:
            self.client = Client(self.path)
            while True:
                if self.random.random() < 0.5:
                    self.put()
                else:
                    self.reserve()
        except (Gone, OSError):
            pass

    def expect(self, command, word):
        words, _ = self.client.ask(command)
        if words[0] != word:
            self.ledger.blame(f"{command.split(chr(13))[0]}: {words}")
        self.ledger.count()

    def put(self):
        self.serial += 1
        delay = self.random.choice(DELAYS)
        body = f"{self.prefix}-{self.serial}-" + "x" * self.random.randrange(300)
        with self.ledger.lock:
            self.ledger.due[body] = time.monotonic() + float(delay)
        words, _ = self.client.ask(f"put 1 {delay} 60 {len(body)}\r\n{body}")
        if words[0] != "INSERTED":
            self.ledger.blame(f"put: {words}")
            return
        self.ledger.has_put(int(words[1]), body)
        self.ledger.count()

    def reserve(self):
        words, body = self.client.ask("reserve-with-timeout 0")
        if words[0] != "RESERVED":
            return
        number = int(words[1])
        self.ledger.is_reserved(number, body, time.monotonic())
        choice = self.random.random()
        if choice < 0.7:
            self.ledger.deletes(number)
            self.expect(f"delete {number}", "DELETED")
            self.ledger.has_deleted(number)
        elif choice < 0.9:
            self.expect(f"release {number} 5 {self.random.choice(DELAYS)}",
                        "RELEASED")
        else:
            with self.ledger.lock:
                self.ledger.doubtful.add(number)
            self.expect(f"bury {number} 5", "BURIED")
            self.ledger.has_buried(number)


class Server:
    def __init__(self, program, directory, options):
        self.path = os.path.join(directory, "socket")
        self.process = subprocess.Popen(
            [program, "-b", os.path.join(directory, "store"),
             "-l", "unix:" + self.path, *options],
            stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        if "event=start" not in line:
            raise SystemExit(f"the server does not start: {line}")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def stop(self):
        self.process.terminate()
        status = self.process.wait(PATIENCE)
        self.process.stderr.close()
        if status != 0:
            raise SystemExit(f"the server ends with status {status}")


def verify(path, ledger):
    """Compare the server with the ledger, and settle what was doubtful."""
    client = Client(path)
    numbers = sorted(ledger.body.keys() | ledger.doubtful | ledger.gone)
    for number in numbers:
        words, body = client.ask(f"peek {number}")
        is_there = words[0] == "FOUND"
        if number in ledger.gone:
            if is_there:
                ledger.blame(f"deleted job {number} is back")
            continue
        if number in ledger.doubtful and not is_there:
            ledger.body.pop(number, None)
            ledger.buried.discard(number)
            continue
        if not is_there:
            ledger.blame(f"job {number} is lost: {words}")
        elif number in ledger.body and body != ledger.body[number]:
            ledger.blame(f"job {number} has another body")
        if number in ledger.buried:
            _, text = client.ask(f"stats-job {number}")
            if text is None or "\nstate: buried\n" not in text:
                ledger.blame(f"job {number} is not buried any more")
    ledger.doubtful.clear()
    if len(ledger.gone) > 2000:
        ledger.gone = set(sorted(ledger.gone)[-1000:])
    client.close()


def wait_for(ledger, goal, workers):
    """Wait until `goal` replies were acknowledged."""
    while any(worker.is_alive() for worker in workers):
        with ledger.lock:
            if ledger.acknowledged >= goal or ledger.faults:
                return
        workers[0].join(0.001)


def run_round(arguments, directory, ledger, options, number, chance):
    server = Server(arguments.server, directory, options)
    verify(server.path, ledger)
    workers = [Worker(server.path, ledger, f"{number}-{i}", chance.random())
               for i in range(THREADS)]
    goal = ledger.acknowledged + chance.randrange(1, 400)
    for worker in workers:
        worker.start()
    wait_for(ledger, goal, workers)
    server.kill()
    for worker in workers:
        worker.join(PATIENCE)


def run(arguments, directory):
    chance = random.Random(arguments.seed)
    options = arguments.sync.split()
    ledger = Ledger()
    for number in range(arguments.rounds):
        run_round(arguments, directory, ledger, options, number, chance)
        if ledger.faults:
            break
    server = Server(arguments.server, directory, options)
    verify(server.path, ledger)
    server.stop()
    check = subprocess.run(
        [arguments.server, "--check", os.path.join(directory, "store")],
        capture_output=True, text=True, check=False)
    if check.returncode != 0:
        ledger.blame(check.stderr.strip())
    print(f"rounds: {number + 1}, acknowledged: {ledger.acknowledged}, "
          f"jobs at the end: {len(ledger.body)}; {check.stdout.strip()}")
    return ledger.faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("server")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--sync", default="", help="such as -F or '-f 20'")
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = random.randrange(1 << 32)
    print(f"seed: {arguments.seed}")
    directory = tempfile.mkdtemp(prefix="tickwheel-kill-")
    try:
        faults = run(arguments, directory)
    finally:
        shutil.rmtree(directory)
    for fault in faults[:10]:
        print(fault, file=sys.stderr)
    if faults:
        print(f"again: {sys.argv[0]} {arguments.server} --seed "
              f"{arguments.seed}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
