"""Makes a failing script short."""
import dataclasses
import time


def shrink(steps, fails, seconds):
    """The shortest list found within `seconds` for which `fails` is true.  It is
    true for `steps`.

    Removes chunks: halves first, single steps last.  Then makes the steps that
    are left simpler, one by one."""
    limit = time.monotonic() + seconds

    def is_enough(candidate):
        return time.monotonic() < limit and fails(candidate)

    size = max(len(steps) // 2, 1)
    while True:
        shorter = without_chunks(steps, size, is_enough)
        if size == 1 and len(shorter) == len(steps):
            break
        steps, size = shorter, max(size // 2, 1)
    return simplified(steps, is_enough)


def without_chunks(steps, size, is_enough):
    """Without each chunk of `size` steps that is not needed."""
    at = 0
    while at < len(steps):
        candidate = steps[:at] + steps[at + size:]
        if candidate and is_enough(candidate):
            steps = candidate
        else:
            at += size
    return steps


def simplified(steps, is_enough):
    for at, step in enumerate(steps):
        for simpler in simpler_steps(step):
            candidate = steps[:at] + [simpler] + steps[at + 1:]
            if is_enough(candidate):
                steps = candidate
                break
    return steps


def simpler_steps(step):
    """Simpler ones, the simplest first."""
    alone = dataclasses.replace(step, is_joined=False)
    if step.act == "send":
        alone.cut = 0
    command = step.command
    if command and command.verb == "put" and len(command.body) > 1:
        head = command.line.rsplit(b" ", 1)[0]
        short = dataclasses.replace(command, line=head + b" 1", body=b"x")
        yield dataclasses.replace(alone, command=short)
    if alone != step:
        yield alone
