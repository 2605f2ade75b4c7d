#!/usr/bin/env python3
"""beanstalkd behind a proxy that alters about one reply in a thousand: for the
tests of differential.py, which has to find and shrink it.

usage: altering_proxy.py -l ADDR -p PORT -z BYTES

Which replies are altered depends only on the body of the job in them, so that a
short script can show the fault again.  SIGTERM ends the proxy and beanstalkd,
SIGUSR1 goes on to beanstalkd."""
import asyncio
import signal
import subprocess
import sys
import zlib

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import servers  # noqa: E402
import wire  # noqa: E402

ONE_IN = 1000
BODY_MIN = 4  # shorter bodies occur too often


def altered(reply):
    """The reply, with one bit of its body flipped if it is one to alter."""
    found = wire.BODY.match(reply)
    if not found or reply.startswith(b"OK") or int(found[1]) < BODY_MIN:
        return reply
    body = reply[found.end():]
    if zlib.crc32(body) % ONE_IN:
        return reply
    return reply[:found.end()] + bytes([body[0] ^ 1]) + body[1:]


async def forward(reader, writer):
    """Copy bytes up to their end."""
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def forward_replies(reader, writer):
    replies = wire.Replies()
    while data := await reader.read(1 << 16):
        replies.feed(data)
        while (reply := replies.next()) is not None:
            writer.write(altered(reply))
        await writer.drain()
    writer.close()


async def connect(port):
    """Connect to beanstalkd, as soon as it accepts."""
    while True:
        try:
            return await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.001)


async def serve(reader, writer, port):
    """Handle one connection of a client."""
    up_reader, up_writer = await connect(port)
    try:
        await asyncio.gather(forward(reader, up_writer),
                             forward_replies(up_reader, writer))
    except ConnectionError:
        pass
    finally:
        up_writer.close()
        writer.close()


async def run(beanstalkd, address, port, up_port):
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    loop.add_signal_handler(signal.SIGTERM, ended.set_result, None)
    loop.add_signal_handler(signal.SIGUSR1, beanstalkd.send_signal,
                            signal.SIGUSR1)
    listener = await asyncio.start_server(
        lambda reader, writer: serve(reader, writer, up_port), address, port)
    await ended
    listener.close()


def main():
    words = sys.argv[1:]
    options = dict(zip(words[::2], words[1::2]))
    with servers.hold_port() as held:
        up_port = held.getsockname()[1]
        beanstalkd = subprocess.Popen(
            [*servers.MORTAL, "beanstalkd", "-l", "127.0.0.1", "-p",
             str(up_port), "-z", options["-z"]])
        try:
            asyncio.run(run(beanstalkd, options["-l"], int(options["-p"]),
                            up_port))
        finally:
            beanstalkd.terminate()
            beanstalkd.wait()


if __name__ == "__main__":
    main()
