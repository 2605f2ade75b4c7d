#!/usr/bin/env python3
"""Walks the include graph: no layer includes one above it, and private.h of a
folder is included from that folder, its tests and the proof programs only.

usage: layers_test.py TREE
"""
import pathlib
import re
import sys

# What each layer may include, besides itself and what is below these.
ABOVE = {"base": (), "dial": ("base",), "wheel": ("dial",), "pool": ("dial",),
         "os": ("base",), "keys": ("base",), "service": ("pool", "os"),
         "idle": ("keys", "service"), "purgatory": ("keys", "service")}
# The parts of tickwheeld: each may include these, and public headers.
PARTS = {"protocol": (), "store": (), "engine": ("protocol", "store"),
         "net": ("protocol", "store", "engine")}
# Public headers whose name is not that of their folder.
LAYER_OF = {"export": "base", "version": "base", "key": "keys", "clock": "os",
            "epoll": "service", "libuv": "service", "libevent": "service",
            "monitor": "idle"}
# Programs include public headers.  These look inside, and say why.
EXCEPTIONS = {
    "cli/sim/engine_pool.c": "draws the slots in which timers of a pool wait",
    "benchmarks/idle/scan.c": "compares trackers on one hash table, ours",
    "benchmarks/idle/heap.c": "compares trackers on one hash table, ours",
    "benchmarks/purgatory/naive.c": "compares waiting on one hash table, ours",
}
PART = re.compile(r'^\s*#\s*include\s+[<"](\w+)/(\w+\.h)[>"]', re.M)
# These tests look inside the layers that they prove.
PROOFS = ("support", "exhaustive", "model", "sched", "soak", "fuzz")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<tickwheel/(\w+)\.h>)', re.M)


def below(layer):
    """The layers that one may include, itself among them."""
    return {layer}.union(*(below(lower) for lower in ABOVE[layer]))


def includes(tree, path):
    """The layers that a file includes, each with the name it is included by."""
    for private, public in INCLUDE.findall(path.read_text()):
        if public:
            yield LAYER_OF.get(public, public), f"<tickwheel/{public}.h>"
        elif (path.parent / private).exists():
            if path.is_relative_to(tree / "src"):
                yield path.parent.name, private
        elif (tree / "src" / private).exists():
            yield private.split("/")[0], private


def faults(tree):
    for path in sorted(tree.glob("src/*/*.[ch]")):
        layer = path.parent.name
        for other, name in includes(tree, path):
            if other not in below(layer):
                yield path, name, f"{layer} is below {other}"
            elif name.endswith("private.h") and other != layer:
                yield path, name, f"it is private to src/{other}"
    for path in sorted(tree.glob("include/tickwheel/*.h")):
        layer = LAYER_OF.get(path.stem, path.stem)
        for other, name in includes(tree, path):
            if other not in below(layer):
                yield path, name, f"{layer} is below {other}"
    for top in ("cli", "benchmarks", "examples"):
        for path in sorted((tree / top).rglob("*.[ch]")):
            for other, name in includes(tree, path):
                if not name.startswith("<") and \
                        str(path.relative_to(tree)) not in EXCEPTIONS:
                    yield path, name, f"it is private to src/{other}"
    for path in sorted((tree / "tests").rglob("*.[ch]")):
        of = path.relative_to(tree / "tests").parts[0]
        for other, name in includes(tree, path):
            if name.endswith("/private.h") and of not in (other, *PROOFS):
                yield path, name, f"it is private to src/{other}"


def faults_of_parts(tree):
    """What parts of the server include from parts that they must not know."""
    for path in sorted(tree.glob("server/*/*.[ch]")):
        part = path.parent.name
        for other, name in PART.findall(path.read_text()):
            if other in PARTS and other != part and other not in PARTS[part]:
                yield path, f"{other}/{name}", f"{part} must not know {other}"
            elif (tree / "src" / other / name).exists():
                yield path, f"{other}/{name}", f"it is private to src/{other}"
            elif other in PARTS and other != part and name == "private.h":
                yield path, f"{other}/{name}", f"it is private to {other}"


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    count = 0
    for path, name, why in [*faults(tree), *faults_of_parts(tree)]:
        print(f"{path.relative_to(tree)} includes {name}: {why}")
        count += 1
    files = len(list(tree.glob("src/*/*.[ch]")))
    print(f"{files} files of src, {count} faults")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
