"""Command lines that a server must reject, each with one reply.

Most are those of tests/server/protocol/near_misses.h, which has beanstalkd's
replies.  Others are made by chance.  They leave out two faults of beanstalkd that
tickwheeld does not share; server/protocol/parser.c describes them:

- a CR that no LF follows;
- a line of more than 224 bytes in which the CR of the CRLF is the last of 224
  bytes."""
import ast
import pathlib
import re

from command import JOB

HEADER = (pathlib.Path(__file__).resolve().parents[1] / "protocol"
          / "near_misses.h")

LINE_MAX = 224  # with CRLF

# What no number may look like.  "1.5" is missing: tickwheeld accepts fractions
# of seconds.
BAD_NUMBERS = (b"", b"-1", b"+1", b"x", b"1x", b"0x1", b"\t1", b"1\t", b"1,",
               b"-", b"18446744073709551616", b"99999999999999999999999999")
BAD_SHORT_NUMBERS = BAD_NUMBERS + (b"4294967296", b"18446744073709551615")

# The arguments of a command: "i" is an id, "n" a number of 32 bits.
ARGUMENTS = {b"delete": "i", b"release": "inn", b"bury": "in", b"touch": "i",
             b"peek": "i", b"kick-job": "i", b"stats-job": "i",
             b"reserve-job": "i", b"put": "nnnn"}

BAD_TUBES = (b"-a", b"a b", b"a\t", b"a*b", b"a:b", b"a\x00b", b"\xc3\xa4",
             b" a", b"a ", b"a,b", b"x" * 201)
TUBE_VERBS = (b"use", b"watch", b"ignore", b"stats-tube")


def near_misses():
    """The lines of both tables of rejected lines in near_misses.h."""
    text = HEADER.read_text(encoding="utf-8")
    lines = []
    for name in ("unknown_lines", "bad_lines"):
        table = re.search(rf"\b{name}\[\] = \{{\n(.*?)\n\}};", text, re.S)[1]
        table = re.sub(r"/\*.*?\*/", "", table, flags=re.S)
        lines += [ast.literal_eval("b" + literal) for literal
                  in re.findall(r'"(?:[^"\\]|\\.)*"', table)]
    return lines


NEAR_MISSES = near_misses()


def bad_arguments(rng):
    """A command with one argument that is wrong, or with too many."""
    if rng.random() < 0.25:
        return b"%b %b" % (rng.choice(TUBE_VERBS), rng.choice(BAD_TUBES))
    verb = rng.choice(list(ARGUMENTS))
    kinds = ARGUMENTS[verb]
    words = [JOB if kind == "i" else b"0" for kind in kinds]
    bad = rng.randrange(len(kinds) + 1)
    if bad == len(kinds):
        words.append(b"1")
    else:
        words[bad] = rng.choice(BAD_NUMBERS if kinds[bad] == "i"
                                else BAD_SHORT_NUMBERS)
    return b" ".join([verb, *words])


def long_line(rng):
    """A line that is too long, by one byte or by many."""
    length = rng.choice((223, 223, 224, 225, 300, 1000, 5000))
    if (length + 1) % LINE_MAX == 0:  # the CR would be the last of 224 bytes
        length += 1
    start = rng.choice((b"use ", b"put 0 0 1 0", b"delete 1", b"x", b"\n"))
    return start.ljust(length, rng.choice((b" ", b"0", b"x")))


def noise(rng):
    """Bytes that begin no command, without CR."""
    size = rng.randrange(1, 60)
    return b"\x7f" + rng.randbytes(size).replace(b"\r", b"\n")


def with_nul(rng):
    line = rng.choice((b"stats", b"use a", b"list-tubes", b"delete 1",
                       b"watch default", b"kick 1"))
    at = rng.randrange(len(line) + 1)
    return line[:at] + b"\0" + line[at:]


def bad_line(rng):
    made = rng.random()
    if made < 0.55:
        return rng.choice(NEAR_MISSES)
    if made < 0.80:
        return bad_arguments(rng)
    if made < 0.87:
        return long_line(rng)
    if made < 0.94:
        return noise(rng)
    return with_nul(rng)
