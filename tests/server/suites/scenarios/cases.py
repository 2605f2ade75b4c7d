"""Prints the results of a scenario as the runner reads them: one line a case,
"ok NAME" or "failed NAME: WHY"."""


def case(name, found, wanted):
    if found == wanted:
        print("ok", name, flush=True)
    else:
        print(f"failed {name}: {found!r} instead of {wanted!r}", flush=True)


def raises(error, call, *arguments):
    try:
        call(*arguments)
    except error:
        return True
    return False
