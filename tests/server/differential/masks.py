"""What may differ between two replies.

masked() replaces these parts of a reply, and nothing else:

what                                  why
------------------------------------  ---------------------------------------
order of list-tubes and               each server keeps its own order; the
list-tubes-watched                    lines are sorted, the byte count stays
pid, id, rusage-utime, rusage-stime,  they describe the process
uptime
version                               they are different programs
binlog-max-size                       an option of beanstalkd's log, which a
                                      server without -b does not use
age                                   depends on the speed of the machine;
                                      rounded down to 1,000 s
time-left, pause-time-left            likewise; rounded up to 1,000 s, because
                                      everyday scripts use multiples of it.
                                      Scripts with --timing mask all of it
reserves, with --durable              a worker has reserved a job when its
                                      RESERVED is sent, which may wait for the
                                      disk; statistics do not wait
quotes around values                  beanstalkd 1.12 prints most strings of
                                      statistics without quotes, 1.13 and
                                      tickwheeld print them with quotes
keys of `stats` after `platform`      tickwheeld's own
byte count of statistics              follows from the quotes and the keys;
                                      wire.py checks that CRLF follows so
                                      many bytes
"""
import re

PROCESS = {b"pid", b"id", b"rusage-utime", b"rusage-stime", b"uptime",
           b"version", b"binlog-max-size"}
LAST_KEY = b"platform"  # of `stats`

LISTS = {"list-tubes", "list-tubes-watched"}
STATISTICS = {"stats", "stats-job", "stats-tube"}

# What statistics look like in all versions: lines of a key and a value.
FORM = re.compile(rb"OK \d+\r\n---\n((?:[^:\n]+: [^\n]*\n)*)\r\n")


def masked(name, reply, is_timed=False, is_durable=False):
    """The reply to the command `name`, without what may differ."""
    if not reply or not reply.startswith(b"OK "):
        return reply
    if name in LISTS:
        head, *lines = reply.split(b"\n")
        return b"\n".join([head, *sorted(lines)])
    if name in STATISTICS:
        found = FORM.fullmatch(reply)
        if not found:
            return reply
        return statistics(name, found[1], is_timed, is_durable)
    return reply


def statistics(name, text, is_timed, is_durable):
    lines = []
    for line in text.splitlines():
        key, value = line.split(b": ", 1)
        if is_durable and key == b"reserves":
            value = b"*"
        lines.append(b"%b: %b\n" % (key, value_of(name, key, value, is_timed)))
        if name == "stats" and key == LAST_KEY:
            break
    return b"".join(lines)


def value_of(name, key, value, is_timed):
    if name == "stats" and key in PROCESS:
        return b"*"
    if key == b"age":
        return rounded(value, 0)
    if key in (b"time-left", b"pause-time-left"):
        return b"*" if is_timed else rounded(value, 999)
    if len(value) >= 2 and value[:1] == value[-1:] == b'"':
        return value[1:-1]
    return value


def rounded(value, bias):
    """A number of seconds, in thousands.  Anything else stays as it is."""
    if not value.isdigit():
        return value
    return b"%d thousand" % ((int(value) + bias) // 1000)
