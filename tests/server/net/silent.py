"""Opens silent connections to a server and keeps them until its input ends.

usage: silent.py HOST PORT COUNT

A process of its own, so that the descriptors of client and server count
separately.  Prints one line when all connections are open.
"""
import resource
import socket
import sys


def main():
    host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    connections = [socket.create_connection((host, port)) for _ in range(count)]
    print(len(connections), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
