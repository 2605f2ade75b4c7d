"""Cases of server_test.py: clients that behave well or badly."""
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import unittest

from harness import Client, Server, has_sanitizer

MIB = 1 << 20


class Connections(unittest.TestCase):
    """How connections begin and end."""

    def test_bytes_may_come_one_by_one(self):
        with Server() as server, Client(server) as client:
            for byte in b"put 0 0 60 5\r\nhello\r\n":
                client.send(bytes([byte]))
            self.assertEqual(client.line(), "INSERTED 1")

    def test_ten_thousand_commands_in_one_write(self):
        with Server() as server, Client(server) as client:
            client.send(b"".join(b"put 0 0 60 %d\r\n%s\r\n" % (len(b), b) for b in
                                 (b"%d" % i for i in range(10000))))
            for i in range(1, 10001):
                self.assertEqual(client.line(), f"INSERTED {i}")
            client.send(b"".join(b"delete %d\r\n" % i for i in range(1, 10001)))
            for _ in range(10000):
                self.assertEqual(client.line(), "DELETED")

    def test_pipelined_reserves_get_their_jobs(self):
        with Server() as server, Client(server) as client:
            count = 1000
            client.send(b"put 0 0 60 1\r\nx\r\n" * count + b"reserve\r\n" * count)
            for i in range(1, count + 1):
                self.assertEqual(client.line(), f"INSERTED {i}")
            for i in range(1, count + 1):
                line = client.line()
                self.assertEqual(line, f"RESERVED {i} 1")
                self.assertEqual(client.body(line), b"x")

    def test_end_after_commands_gets_all_replies(self):
        # As printf ... | nc -N does.
        with Server() as server, Client(server) as client:
            client.send(b"use a\r\n" * 5000 + b"use b")
            client.finish()
            for _ in range(5000):
                self.assertEqual(client.line(), "USING a")
            self.assertIsNone(client.line())

    def test_quit_gets_the_replies_before_it(self):
        with Server() as server, Client(server) as client:
            client.send(b"use a\r\nquit\r\nuse b\r\n")
            self.assertEqual(client.line(), "USING a")
            self.assertIsNone(client.line())

    def test_reserve_that_waits_ends_with_its_connection(self):
        with Server() as server, Client(server) as other:
            for behind in (b"", b"use a\r\n", b"reserve\r\nuse a\r\n"):
                with Client(server) as worker:
                    worker.send(b"reserve\r\n" + behind)
                    other.wait_for_stat("current-waiting", 1)
                    worker.finish()
                    self.assertEqual(worker.line(), "TIMED_OUT")
                    if behind.startswith(b"reserve"):
                        self.assertEqual(worker.line(), "TIMED_OUT")
                    if behind:
                        self.assertEqual(worker.line(), "USING a")
                    self.assertIsNone(worker.line())
                other.wait_for_stat("current-connections", 1)

    def test_job_of_a_lost_worker_goes_to_one_that_waits(self):
        with Server() as server, Client(server) as second:
            with Client(server) as first:
                first.put(b"x")
                self.assertEqual(first.ask("reserve"), "RESERVED 1 1")
                second.send(b"reserve\r\n")
            self.assertEqual(second.line(), "RESERVED 1 1")

    def test_commands_before_a_reset_are_executed(self):
        with Server() as server, Client(server) as other:
            with Client(server) as client:
                client.send(b"put 0 0 60 1\r\nx\r\n" * 100)
                client.reset()
            other.wait_for_stat("current-connections", 1)
            self.assertEqual(other.stats()["current-jobs-ready"], "100")

    def test_commands_are_executed_though_their_replies_cannot_be_sent(self):
        # Through a unix socket: close() of TCP may lose what it has not sent.
        count = 3000
        with tempfile.TemporaryDirectory() as folder, \
                Server("-l", f"unix:{folder}/socket") as server, \
                Client(server) as other:
            with Client(server) as client:
                client.send(b"put 0 0 60 1\r\nx\r\n" * count)
            other.wait_for_stat("current-connections", 1)
            self.assertEqual(other.stats()["current-jobs-ready"], str(count))

    def test_client_may_read_late(self):
        body = b"x" * 60000
        count = 300
        with Server() as server, Client(server) as other, \
                Client(server, SO_RCVBUF=65536) as client:
            client.put(body)
            client.send(b"peek 1\r\n" * count)
            # The server stops when the buffers are full.
            self.assertLess(other.wait_until_it_rests("cmd-peek"), count)
            for _ in range(count):
                self.assertEqual(client.body(client.line()), body)

    def test_body_longer_than_all_buffers_arrives(self):
        body = bytes(range(256)) * (1 << 16)
        with Server("-z", str(len(body))) as server, Client(server) as client:
            client.put(body)
            line = client.ask("peek 1")
            self.assertEqual(line, f"FOUND 1 {len(body)}")
            self.assertEqual(client.body(line), body)

    def test_silent_server_sleeps(self):
        with Server() as server, Client(server) as worker, \
                Client(server) as client:
            worker.send(b"reserve\r\nuse behind\r\n")
            client.put(b"x", delay=3600)
            client.wait_for_stat("current-waiting", 1)
            before = server.wake_ups()
            # One second, by the server's own clock.
            self.assertEqual(client.ask("reserve-with-timeout 1"), "TIMED_OUT")
            self.assertLess(server.wake_ups() - before, 10)

    def test_half_a_body_makes_no_job(self):
        with Server() as server, Client(server) as other:
            with Client(server) as client:
                client.send(b"put 0 0 60 100\r\nhalf of it")
                other.wait_for_stat("current-connections", 2)
            other.wait_for_stat("current-connections", 1)
            self.assertEqual(other.stats()["total-jobs"], "0")
            self.assertEqual(other.put(b"x"), "INSERTED 2")


class BadClients(unittest.TestCase):
    """Clients that are broken, or want to break the server."""

    def assert_has_not_grown(self, server, before):
        if not has_sanitizer():
            self.assertLess(server.resident() - before, 2 * MIB)

    def assert_serves(self, server):
        with Client(server) as client:
            self.assertEqual(client.ask("use a"), "USING a")

    def test_http_gets_one_line_and_the_end(self):
        with Server() as server:
            for request in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                            b"POST /put HTTP/1.0\r\n\r\n"):
                with Client(server) as client:
                    client.send(request)
                    self.assertEqual(client.line(), "UNKNOWN_COMMAND")
                    self.assertIsNone(client.line())

    def test_capital_letters_are_no_http(self):
        with Server() as server, Client(server) as client:
            self.assertEqual(client.ask("GET / HTTPS"), "UNKNOWN_COMMAND")
            self.assertEqual(client.ask("GET / HTTP/1.1"), "UNKNOWN_COMMAND")
            self.assertEqual(client.ask("use a"), "USING a")

    def test_endless_line_takes_no_memory(self):
        with Server() as server, Client(server) as client:
            before = server.resident()
            for _ in range(20):
                client.send(b"x" * MIB)
            self.assert_serves(server)
            self.assert_has_not_grown(server, before)
            self.assertEqual(client.ask(""), "BAD_FORMAT")
            self.assertEqual(client.ask("use a"), "USING a")

    def test_nuls_are_refused(self):
        with Server() as server, Client(server) as client:
            self.assertEqual(client.ask("\0"), "BAD_FORMAT")
            self.assertEqual(client.ask("use a\0b"), "BAD_FORMAT")
            self.assertEqual(client.put(b"\0" * 9), "INSERTED 1")
            line = client.ask("reserve")
            self.assertEqual(client.body(line), b"\0" * 9)

    def test_body_that_is_too_long_is_skipped(self):
        with Server("-z", "10") as server, Client(server) as client:
            self.assertEqual(client.put(b"x" * MIB), "JOB_TOO_BIG")
            self.assertEqual(client.put(b"x" * 10), "INSERTED 1")

    def flood(self, client, command):
        """Send commands and read no reply, until the server reads no more."""
        client.socket.setblocking(False)
        sent = 0
        data = command * (65536 // len(command))
        try:
            while True:
                sent += client.socket.send(data)
                # More than the buffers of both systems: nothing stops us.
                self.assertLess(sent, 512 * MIB)
        except BlockingIOError:
            client.socket.settimeout(1)
        return sent

    def test_client_that_never_reads_is_held_back(self):
        for command in (b"peek 1\r\n", b"use a\r\n", b"stats\r\n",
                        b"list-tubes\r\n", b"nonsense\r\n"):
            with self.subTest(command=command), Server() as server, \
                    Client(server, SO_SNDBUF=65536, SO_RCVBUF=65536) as client:
                client.put(b"x" * 65000)
                before = server.resident()
                try:
                    while True:
                        # Blocked for long: the server does not read.
                        self.flood(client, command)
                        client.send(command)
                except TimeoutError:
                    pass
                self.assert_serves(server)
                self.assert_has_not_grown(server, before)

    def test_client_that_never_reads_does_not_disturb_others(self):
        with Server() as server, Client(server) as bad, Client(server) as good:
            good.put(b"x" * 65000)
            self.flood(bad, b"peek 1\r\n")
            for i in range(1000):
                self.assertEqual(good.ask(f"use t{i}"), f"USING t{i}")

    def test_flood_of_commands_does_not_disturb_others(self):
        with Server() as server, Client(server) as good:
            command = [sys.executable, "-c", FLOOD, *server.names[0].split(":")]
            floods = [subprocess.Popen(command, stdout=subprocess.PIPE)
                      for _ in range(2)]
            try:
                for flood in floods:
                    flood.stdout.readline()
                for i in range(200):
                    self.assertEqual(good.ask(f"use t{i}"), f"USING t{i}")
            finally:
                for flood in floods:
                    flood.kill()
                    flood.communicate()


# Sends commands for ever, and reads the replies.
FLOOD = """
import socket, sys, threading
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def send():
    while True:
        connection.sendall(b"use flood\\r\\n" * 10000)
threading.Thread(target=send, daemon=True).start()
is_announced = False
while connection.recv(1 << 20):
    if not is_announced:
        print("flooding", flush=True)
    is_announced = True
"""


class Crowds(unittest.TestCase):
    COUNT = 10000

    def test_silent_connections_cost_little(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard < self.COUNT + 100:
            print(f"skipped: {self.COUNT} silent connections: the limit of "
                  f"descriptors is {hard}")
            self.skipTest("too few descriptors")
        with Server() as server, Client(server) as client:
            client.ask("use a")
            before = server.resident()
            command = [sys.executable, pathlib.Path(__file__).parent / "silent.py",
                       *server.names[0].split(":"), str(self.COUNT)]
            with subprocess.Popen(command, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as crowd:
                self.assertEqual(int(crowd.stdout.readline()), self.COUNT)
                client.wait_for_stat("current-connections", self.COUNT + 1)
                cost = (server.resident() - before) / self.COUNT
                print(f"figures: {cost:.0f} bytes per silent connection")
                if not has_sanitizer():
                    self.assertLess(cost, 2048)
                self.assertEqual(client.put(b"x"), "INSERTED 1")
                crowd.communicate()
            client.wait_for_stat("current-connections", 1)

    def test_connections_beyond_the_descriptors_wait(self):
        with Server("-V", descriptors=64) as server:
            allowed = int(server.start.split("connections-max=")[1].split()[0])
            clients = [Client(server) for _ in range(allowed + 5)]
            try:
                server.wait_for("event=not-accepting")
                for client in clients[:allowed]:
                    self.assertEqual(client.ask("use a"), "USING a")
                for client in clients[:5]:
                    client.close()
                for client in clients[allowed:]:
                    self.assertEqual(client.ask("use b"), "USING b")
            finally:
                for client in clients:
                    client.close()
