#!/usr/bin/env python3
"""A disk that fails: the server stops, and what it acknowledged is there.

From some call on, syncs or writes of the log fail.  The server must end with
status 1 and one line that names the fault, acknowledge nothing more, and have
all acknowledged jobs after the next start.

    fault_test.py SERVER PRELOAD
"""
import os
import shutil
import subprocess
import sys
import tempfile

from kill_test import PATIENCE, Client, Gone, Server

FAULTS = {  # FAULT -> what the line says
    "sync:30:5": "Input/output error",
    "sync:1:5": "Input/output error",
    "write:40:28": "No space left on device",
    "write:25:5": "Input/output error",
}


def start(server, preload, fault, directory):
    path = os.path.join(directory, "socket")
    process = subprocess.Popen(
        [server, "-b", os.path.join(directory, "store"), "-l", "unix:" + path],
        env={**os.environ, "LD_PRELOAD": preload, "FAULT": fault},
        stderr=subprocess.PIPE, text=True)
    return process, path


def put_until_gone(path):
    """Put jobs until the server ends.  Return those that were acknowledged."""
    acknowledged = {}
    try:
        client = Client(path)
        for serial in range(100000):
            body = f"body {serial}"
            words, _ = client.ask(f"put 1 {serial % 3600} 60 {len(body)}\r\n{body}")
            if words[0] == "INSERTED":
                acknowledged[int(words[1])] = body
    except (Gone, OSError):
        pass
    return acknowledged


def run(server, preload, fault, message, directory):
    process, path = start(server, preload, fault, directory)
    line = process.stderr.readline()
    acknowledged = put_until_gone(path) if "event=start" in line else {}
    status = process.wait(PATIENCE)
    lines = [] if "event=start" in line else [line]
    lines += process.stderr.readlines()
    process.stderr.close()
    faults = []
    if status != 1:
        faults.append(f"the status is {status}")
    if len(lines) != 1 or message not in lines[0]:
        faults.append(f"the lines are {lines}")
    sound = Server(server, directory, [])
    client = Client(sound.path)
    for number, body in acknowledged.items():
        words, found = client.ask(f"peek {number}")
        if found != body:
            faults.append(f"job {number} is lost: {words}")
    client.close()
    sound.stop()
    print(f"{fault}: acknowledged {len(acknowledged)}, then: {lines}")
    return [f"{fault}: {text}" for text in faults]


def main():
    server, preload = sys.argv[1:]
    faults = []
    for fault, message in FAULTS.items():
        directory = tempfile.mkdtemp(prefix="tickwheel-fault-")
        try:
            faults += run(server, preload, fault, message, directory)
        finally:
            shutil.rmtree(directory)
    print("\n".join(faults[:10]), file=sys.stderr, end="")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
