"""Cases of server_test.py: addresses, service managers, signals."""
import os
import signal
import socket
import tempfile
import unittest

from harness import Client, Server, run_to_end


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
        return True
    except OSError:
        return False


class Folder(unittest.TestCase):
    """A case with an empty folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "socket")
        self.name = f"unix:{self.path}"

    def assert_serves(self, where):
        with Client(where) as client:
            self.assertEqual(client.ask("use mail"), "USING mail")

    def assert_refused(self, *options, status=1, words=()):
        """The server prints one line, and does not start."""
        actual, lines = run_to_end(*options)
        self.assertEqual((actual, len(lines)), (status, 1), lines)
        self.assertTrue(lines[0].startswith("tickwheeld: "), lines)
        for word in words:
            self.assertIn(word, lines[0])


class Addresses(Folder):
    def test_start_message_names_what_operators_need(self):
        with Server("--max-connections", "7") as server:
            self.assertRegex(server.start, r"version=\d+\.\d+\.\d+")
            self.assertRegex(server.start, r"address=127\.0\.0\.1:[1-9]\d*")
            self.assertIn("connections-max=7", server.start)
            self.assertIn("lost when the server ends", server.start)
            self.assert_serves(server)
            self.assertEqual(server.stop(), 0)

    def test_all_addresses_are_served(self):
        addresses = ["127.0.0.1", self.name, "localhost"]
        if has_ipv6():
            addresses.append("::1")
        options = [f"--listen={address}" for address in addresses]
        with Server(*options) as server:
            self.assertEqual(len(server.names), len(addresses))
            for name in server.names:
                self.assert_serves(name)

    def test_port_in_use_is_refused_with_its_address(self):
        with Server() as server:
            port = server.names[0].rsplit(":", 1)[1]
            self.assert_refused("-p", port, words=("127.0.0.1", port, "-p"))

    def test_bad_options_are_refused_with_a_remedy(self):
        self.assert_refused("-b", "", status=2, words=("-b", "directory"))
        self.assert_refused("--no-such", status=2, words=("--help",))
        self.assert_refused("-z", "1073741825", status=2, words=("1073741824",))
        self.assert_refused("-u", "no such user", words=("-u",))

    def test_unix_socket_is_removed_at_the_end(self):
        with Server("-l", self.name) as server:
            self.assert_serves(server)
            self.assertEqual(server.stop(), 0)
        self.assertFalse(os.path.exists(self.path))

    def test_unix_socket_without_server_is_replaced(self):
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(self.path)
        with Server("-l", self.name) as server:
            self.assert_serves(server)

    def test_unix_socket_with_server_is_kept(self):
        with Server("-l", self.name) as server:
            self.assert_refused("-l", self.name, words=(self.path, "in use"))
            self.assert_serves(server)

    def test_file_that_is_no_socket_is_kept(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("precious")
        self.assert_refused("-l", self.name, words=(self.path, "not a socket"))
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_socket_of_a_successor_is_kept(self):
        with Server("-l", self.name) as server:
            os.rename(self.path, self.path + ".old")
            with Server("-l", self.name) as successor:
                server.stop()
                self.assert_serves(successor)

    def test_more_connections_than_allowed_wait_for_a_close(self):
        with Server("--max-connections", "2") as server:
            first, second, third = (Client(server) for _ in range(3))
            with second, third:
                self.assertEqual(first.ask("use a"), "USING a")
                self.assertEqual(second.ask("use b"), "USING b")
                third.send(b"use c\r\n")
                self.assertEqual(second.stats()["current-connections"], "2")
                first.close()
                self.assertEqual(third.line(), "USING c")


class Managers(Folder):
    def listening(self, family, address):
        sock = socket.socket(family)
        self.addCleanup(sock.close)
        sock.bind(address)
        sock.listen()
        return sock

    def test_sockets_of_systemd_replace_the_options(self):
        tcp = self.listening(socket.AF_INET, ("127.0.0.1", 0))
        unix = self.listening(socket.AF_UNIX, self.path)
        with Server("-l", "192.0.2.1", passed=(tcp, unix)) as server:
            self.assertEqual(server.names, ["127.0.0.1:%d" % tcp.getsockname()[1],
                                            self.name])
            for name in server.names:
                self.assert_serves(name)
            self.assertEqual(server.stop(), 0)
        self.assertTrue(os.path.exists(self.path), "systemd owns the path")

    def test_sockets_of_another_process_are_ignored(self):
        tcp = self.listening(socket.AF_INET, ("127.0.0.1", 0))
        with Server(passed=(tcp,), env={"LISTEN_PID": "1"}) as server:
            port = tcp.getsockname()[1]
            self.assertNotEqual(server.names, [f"127.0.0.1:{port}"])
            self.assert_serves(server)

    def test_socket_that_does_not_listen_is_refused(self):
        with socket.socket() as idle:
            with self.assertRaisesRegex(AssertionError, "descriptor 3"):
                Server(passed=(idle,))

    def assert_notified(self, address, variable):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(address)
            with Server(env={"NOTIFY_SOCKET": variable}) as server:
                self.assertEqual(manager.recv(99), b"READY=1")
                self.assert_serves(server)
                server.signal(signal.SIGTERM)
                self.assertEqual(manager.recv(99), b"STOPPING=1")
                self.assertEqual(server.wait(), 0)

    def test_manager_is_notified_at_a_path(self):
        self.assert_notified(self.path, self.path)

    def test_manager_is_notified_at_an_abstract_socket(self):
        name = f"tickwheeld-test-{os.getpid()}"
        self.assert_notified(f"\0{name}", f"@{name}")

    def test_absent_manager_is_no_fault(self):
        with Server(env={"NOTIFY_SOCKET": self.path}) as server:
            self.assert_serves(server)


class Signals(Folder):
    def test_term_and_int_end_the_server(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Server() as server, Client(server) as idle, \
                    Client(server) as worker:
                worker.send(b"reserve\r\n")
                idle.wait_for_stat("current-waiting", 1)
                server.signal(number)
                self.assertIsNone(idle.line())
                self.assertIsNone(worker.line())
                self.assertEqual(server.wait(), 0)

    def test_term_delivers_the_replies_to_executed_commands(self):
        body = b"x" * 60000
        with Server("-VV") as server, Client(server, SO_RCVBUF=4096) as client:
            client.put(body)
            client.send(b"peek 1\r\n" * 100)
            server.wait_for("verb=peek")
            server.signal(signal.SIGTERM)
            server.wait_for("event=stop")
            count = 0
            while (line := client.line()) is not None:
                self.assertEqual(line, "FOUND 1 60000")
                self.assertEqual(client.body(line), body)
                count += 1
            self.assertGreaterEqual(count, 1)
            self.assertEqual(server.wait(), 0)

    def fill(self, client, other):
        """Have the server keep replies that the client does not read."""
        client.put(b"x" * 60000)
        client.send(b"peek 1\r\n" * 300)
        self.assertLess(other.wait_until_it_rests("cmd-peek"), 300)

    def test_nothing_is_executed_after_term(self):
        with Server() as server, Client(server, SO_RCVBUF=4096) as full, \
                Client(server) as other:
            self.fill(full, other)
            server.signal(signal.SIGTERM)
            server.wait_for("event=stop")
            self.assertIsNone(server.process.poll())
            self.assertTrue(other.is_cut_off())
            with self.assertRaises(ConnectionError):
                Client(server)

    def test_peer_that_does_not_read_is_cut_off_after_term(self):
        with Server() as server, Client(server, SO_RCVBUF=4096) as full, \
                Client(server) as other:
            self.fill(full, other)
            server.signal(signal.SIGTERM)
            server.wait_for("event=cut-off connections=1")
            self.assertEqual(server.wait(), 0)

    def test_second_term_ends_at_once(self):
        with Server() as server, Client(server, SO_RCVBUF=4096) as full, \
                Client(server) as other:
            self.fill(full, other)
            server.signal(signal.SIGTERM)
            server.wait_for("event=stop")
            server.signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 0)
            self.assertEqual(server.rest(), [])

    def test_usr1_refuses_new_jobs_only(self):
        with Server() as server, Client(server) as client:
            client.put(b"kept")
            server.signal(signal.SIGUSR1)
            server.wait_for("event=drain")
            self.assertEqual(client.put(b"late"), "DRAINING")
            self.assertEqual(client.ask("reserve"), "RESERVED 1 4")

    def test_pipe_is_ignored(self):
        with Server() as server, Client(server) as client:
            server.signal(signal.SIGPIPE)
            self.assertEqual(client.ask("use a"), "USING a")
            self.assertIsNone(server.process.poll())

    def test_log_without_reader_is_no_fault(self):
        with Server("-VV") as server, Client(server) as client:
            server.close_log()
            for i in range(100):
                self.assertEqual(client.ask(f"use t{i}"), f"USING t{i}")
