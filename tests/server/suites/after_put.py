"""Puts a job, and becomes another command.

usage: after_put.py PORT HEX COMMAND...

HEX is the job's body, in hexadecimal digits."""
import os
import socket
import sys

port, digits, *command = sys.argv[1:]
body = bytes.fromhex(digits)
with socket.create_connection(("127.0.0.1", int(port))) as connection:
    connection.sendall(b"put 0 0 60 %d\r\n%b\r\n" % (len(body), body))
    reply = connection.makefile("rb").readline()
if not reply.startswith(b"INSERTED "):
    sys.exit(f"after_put.py: put gets {reply!r}")
os.execvp(command[0], command)
