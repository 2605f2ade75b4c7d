#!/usr/bin/env python3
"""Stores that the server refuses: one line that names the file, and status 1.

    refusal_test.py SERVER
"""
import os
import shutil
import subprocess
import sys
import tempfile

from kill_test import PATIENCE, Client, Server


def refuse(server, arguments, words):
    """Run a server that must not start.  Return the faults."""
    run = subprocess.run([server, *arguments], capture_output=True, text=True,
                         timeout=PATIENCE, check=False)
    lines = run.stderr.splitlines()
    print(run.stderr.strip())
    if run.returncode != 1 or len(lines) != 1:
        return [f"{arguments}: status {run.returncode}, lines {lines}"]
    return [f"{arguments}: no '{word}' in {lines[0]}" for word in words
            if word not in lines[0]]


def fill(server, directory, count):
    """Put jobs, and leave a store that was not closed."""
    running = Server(server, directory, [])
    client = Client(running.path)
    for serial in range(count):
        words, _ = client.ask(f"put 1 3600 60 100\r\n{serial:0100d}")
        assert words[0] == "INSERTED", words
    client.close()
    return running


def flip_a_bit(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 16]))


def newest_log(store):
    logs = [name for name in os.listdir(store)
            if name.endswith(".log") and name[0].isdigit()]
    return os.path.join(store, max(logs))


def run(server, directory):
    store = os.path.join(directory, "store")
    other = ["-b", store, "-l", "unix:" + os.path.join(directory, "other")]
    running = fill(server, directory, 200)
    faults = refuse(server, other, [store, "another process uses this store"])
    running.kill()
    log = newest_log(store)
    flip_a_bit(log, os.path.getsize(log) // 4)
    faults += refuse(server, other, [log, "damaged", "restore a backup"])
    faults += refuse(server, ["--check", store], [log, "damaged"])
    shutil.rmtree(store)
    with open(store, "w", encoding="ascii"):
        pass
    faults += refuse(server, other, [store, "Not a directory"])
    os.unlink(store)
    faults += refuse(server, ["-b", store + "/a/b", *other[2:]],
                     [store, "make it"])
    return faults


def main():
    directory = tempfile.mkdtemp(prefix="tickwheel-refusal-")
    try:
        faults = run(sys.argv[1], directory)
    finally:
        shutil.rmtree(directory)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
