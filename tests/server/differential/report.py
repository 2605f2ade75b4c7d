"""What a mismatch looks like to a reader."""
import os
import shlex
import sys

import masks
import wire

BYTES_MAX = 120  # printed of a command or a reply
LINES_MAX = 60   # printed of a transcript, the last ones


def text(data):
    """Bytes as they would be typed, cut after BYTES_MAX."""
    if data is None:
        return "no reply"
    if isinstance(data, str):
        return data
    if data == wire.CLOSED:
        return "the server has closed the connection"
    shown = repr(data[:BYTES_MAX])[2:-1]
    rest = len(data) - BYTES_MAX
    return shown + (f" ... and {rest:,} bytes" if rest > 0 else "")


def name(number):
    return "control" if number is None else f"c{number}"


def transcript(log):
    lines = []
    for number, act, data in log:
        if act == "sends":
            lines.append(f"{name(number)} > {text(data)}")
        elif act == "gets":
            lines.append(f"{name(number)} <     {text(data)}")
        else:
            lines.append(f"{name(number)} {act}" if number is not None else act)
    skipped = len(lines) - LINES_MAX
    if skipped > 0:
        lines[:skipped] = [f"... {skipped} lines before"]
    return lines


def differences(name, ours, theirs):
    """Pairs of what differs: both replies, or lines of both statistics."""
    if ours and theirs and name in masks.STATISTICS:
        lines = [masks.masked(name, reply).split(b"\n")
                 for reply in (ours, theirs)]
        if len(lines[0]) == len(lines[1]) > 2:
            return [pair for pair in zip(*lines) if pair[0] != pair[1]]
    return [(ours, theirs)]


def first_difference(ours, theirs):
    """Which byte of two replies differs first, if they are too long to see it."""
    if not (isinstance(ours, bytes) and isinstance(theirs, bytes)):
        return []
    at = len(os.path.commonprefix([ours, theirs]))
    return [f"    from byte {at:,} on"] if at >= BYTES_MAX else []


def mismatch(failure, replay):
    """The lines of the report of `failure`.  `replay` is the command that plays
    the script again."""
    found = failure.mismatch
    lines = transcript(failure.log)
    lines.append(f"{name(found.connection)} gets different replies:")
    for ours, theirs in differences(found.name, found.ours, found.theirs):
        lines += [f"    ours:   {text(ours)}", f"    theirs: {text(theirs)}"]
        lines += first_difference(ours, theirs)
    lines.append(f"ours {failure.states[0]}, theirs {failure.states[1]}")
    lines.append("play it again: " + shlex.join([sys.executable, *replay]))
    return lines
