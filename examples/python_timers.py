#!/usr/bin/env python3
"""python_timers.py - from Python, by ctypes: a timer that calls a function.

The shared library is loaded, and what its headers declare is said again in
Python.  ctypes lets a thread of the library call Python safely.  Keep what is
called back referenced for as long as its timer is pending.

    python3 python_timers.py [PATH OF libtickwheel.so]

A library that is installed is found without a path; otherwise it is where you
have built it: build/libtickwheel.so after `cmake -B build && cmake --build build`.
"""

import ctypes
import sys
import threading

MILLISECOND = 1_000_000
SECOND = 1000 * MILLISECOND


class Firing(ctypes.Structure):
    _fields_ = [("service", ctypes.c_void_p), ("handle", ctypes.c_uint64),
                ("due_ns", ctypes.c_uint64), ("now_ns", ctypes.c_uint64),
                ("overruns", ctypes.c_uint64)]


CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Firing))
DROP = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Task(ctypes.Structure):
    _fields_ = [("callback", CALLBACK), ("argument", ctypes.c_void_p), ("drop", DROP)]


def load(path):
    library = ctypes.CDLL(path)
    library.tkw_version.restype = ctypes.c_char_p
    library.tkw_service_open.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p]
    library.tkw_service_arm.argtypes = [
        ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint64, Task]
    library.tkw_service_cancel.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    library.tkw_service_close.argtypes = [ctypes.c_void_p] * 3
    return library


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "libtickwheel.so.0.10"
    try:
        library = load(path)
    except OSError as error:
        sys.exit(f"{error}\nGive the path of libtickwheel.so: it is where you have "
                 "built it, build/libtickwheel.so, say.")
    print("tickwheel", library.tkw_version().decode())

    service = ctypes.c_void_p()
    if library.tkw_service_open(ctypes.byref(service), None) != 0:
        sys.exit("no timers")

    is_ready = threading.Event()

    @CALLBACK
    def ring(_argument, firing):
        is_early = firing.contents.now_ns < firing.contents.due_ns
        print("the egg is ready" + (", too early" if is_early else ""))
        is_ready.set()

    task = Task(callback=ring)
    egg, tea = ctypes.c_uint64(), ctypes.c_uint64()
    library.tkw_service_arm(service, ctypes.byref(egg), 50 * MILLISECOND, task)
    library.tkw_service_arm(service, ctypes.byref(tea), 180 * SECOND, task)
    if library.tkw_service_cancel(service, tea) == 1:
        print("no tea then")
    is_ready.wait()
    library.tkw_service_close(service, None, None)


if __name__ == "__main__":
    main()
