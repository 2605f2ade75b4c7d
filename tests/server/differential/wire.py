"""A connection to one server: bytes out, replies in."""
import re
import select
import socket

BODY = re.compile(rb"(?:(?:RESERVED|FOUND) \d+|OK) (\d+)\r\n")

CLOSED = b""  # stands for a reply that the server closed the connection instead


class Replies:
    """Splits a stream of bytes into replies."""

    def __init__(self):
        self.bytes = b""
        self.at = 0

    def feed(self, data):
        self.bytes = self.bytes[self.at:] + data
        self.at = 0

    def next(self):
        """The next reply with its body and its CRLF, or None if it is not
        complete.  After a wrong byte count, the reply does not end with CRLF."""
        found = BODY.match(self.bytes, self.at)
        if found:
            end = found.end() + int(found[1]) + 2
        else:
            end = self.bytes.find(b"\r\n", self.at) + 2
        if end < 2 or end > len(self.bytes):
            return None
        reply = self.bytes[self.at:end]
        self.at = end
        return reply

    def left(self):
        """The bytes after the last reply."""
        return self.bytes[self.at:]


class Link:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.replies = Replies()
        self.is_closed = False  # by the server
        self.readable = select.poll()
        self.readable.register(self.socket, select.POLLIN)

    def push(self, data):
        """Send what the socket takes now.  Returns the rest.  A server that has
        closed the connection takes everything."""
        try:
            return data[self.socket.send(data):]
        except BlockingIOError:
            return data
        except (BrokenPipeError, ConnectionResetError):
            return data[len(data):]

    def receive(self, patience):
        """Wait for bytes.  Returns whether any came, or the end.

        beanstalkd sends its next reply after the last one is acknowledged, which
        would take the system 40 ms."""
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        if not self.readable.poll(patience * 1000):
            return False
        try:
            data = self.socket.recv(1 << 18)
        except ConnectionResetError:
            data = b""
        self.replies.feed(data)
        self.is_closed = not data
        return True

    def next_reply(self, patience):
        """The next reply, CLOSED, or None after `patience` seconds."""
        while (reply := self.replies.next()) is None:
            if self.is_closed:
                return CLOSED
            if not self.receive(patience):
                return None
        return reply

    def is_at_end(self, patience):
        """Whether the server closes the connection, and sends nothing before."""
        while not self.is_closed:
            if not self.receive(patience):
                return False
        return not self.replies.left()

    def shut_down(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the server was faster

    def close(self):
        self.socket.close()


def send(links, data, patience):
    """Send to all links at once, while reading what they reply: a server need not
    read on before its replies are read.  Returns the links that take no more
    bytes for `patience` seconds."""
    rest = {link: memoryview(data) for link in links}
    while True:
        rest = {link: link.push(view) for link, view in rest.items()}
        rest = {link: view for link, view in rest.items() if view}
        if not rest:
            return []
        both = select.poll()
        by_number = {}
        for link in rest:
            both.register(link.socket, select.POLLIN | select.POLLOUT)
            by_number[link.socket.fileno()] = link
        ready = both.poll(patience * 1000)
        if not ready:
            return list(rest)
        for number, event in ready:
            if event & select.POLLIN:
                by_number[number].receive(0)
