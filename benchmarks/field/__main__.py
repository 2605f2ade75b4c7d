"""./bench: tickwheel beside its peers, on the same work, in one run."""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

import adapters
import charts
import measure
import page
import plan
import table
from results import Results

REPORTS = adapters.ROOT / "docs" / "reports"
RECORD = REPORTS / "benchmarks" / "field.json"
LANGUAGES = list(adapters.BUILDERS)


def listed(known, what, kind=str):
    """An option's comma-separated list, of known names only."""
    def read(text):
        try:
            parts = [kind(part.strip()) for part in text.split(",")]
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"'{text}' is not a list of {what}"
                                             ) from error
        for part in parts:
            if known and part not in known:
                raise argparse.ArgumentTypeError(
                    f"there is no {what} '{part}'; there are "
                    f"{', '.join(known)}")
        return parts
    return read


def whole(least, most):
    def read(text):
        if not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"is '{text}'; give a whole number from {least:,} to {most:,}")
        return int(text)
    return read


def options():
    parser = argparse.ArgumentParser(
        prog="./bench", allow_abbrev=False,
        description="Measure tickwheel beside other timer libraries, on the "
        "same work, in one run: an hour; two minutes with --quick.  Print a "
        "table; write results, charts and a page to build/field.",
        epilog="./bench --setup (alone) installs the tools and libraries of "
        "the peers, with apt as root or with sudo.  Peers whose tools are "
        "missing are left out, and the report lists them.")
    parser.add_argument("--quick", action="store_true",
                        help="take two minutes: C only, fewer sizes, one repeat")
    parser.add_argument("--languages", metavar="LIST",
                        type=listed(LANGUAGES, "language"),
                        help=f"some of {', '.join(LANGUAGES)}; C is always included")
    parser.add_argument("--peers", metavar="LIST", type=listed(None, "peer"),
                        help="measure only these; a wrong name prints all names")
    parser.add_argument("--workloads", metavar="LIST",
                        type=listed(plan.WORKLOADS, "workload"),
                        help=f"some of {', '.join(plan.WORKLOADS)}")
    parser.add_argument("--n", metavar="LIST", type=listed(None, "n",
                        whole(1, 100_000_000)), help="numbers of timers, for "
                        "workloads that are measured at several")
    parser.add_argument("--repeats", metavar="N", type=whole(1, 99),
                        help="number of repeats; default 3, with --quick 1")
    parser.add_argument("--seed", metavar="N", type=whole(1, 2**63 - 1),
                        default=1, help="seed of the random numbers; default 1")
    parser.add_argument("--record", action="store_true",
                        help="write the results to docs/reports and README.md")
    parser.add_argument("--pages", action="store_true",
                        help="measure nothing: write table, charts and pages "
                        "of the recorded results again")
    return parser


def cpu_model():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    kernel = ".".join(platform.release().split(".")[:2])
    return {"cpu": cpu_model(), "processors": os.cpu_count(),
            "kernel": f"{platform.system()} {kernel}",
            "memory_gb": round(memory / 2**30)}


def commit():
    said = subprocess.run(["git", "describe", "--always", "--dirty"], text=True,
                          cwd=adapters.ROOT, capture_output=True, check=False)
    return said.stdout.strip() or "unknown"


def tell(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def as_cells(measured):
    for cell, own in measured.items():
        row = cell._asdict()
        if own.skipped is not None:
            row["skipped"] = own.skipped
        else:
            row["values"] = own.values
        if own.failures:
            row["failures"] = own.failures
        yield row


def check_peers(wanted, built):
    known = [name for adapter in built for name in adapter.peers]
    unknown = [name for name in wanted or [] if name not in known]
    if unknown:
        sys.exit(f"bench: there is no peer {', '.join(unknown)}; there are "
                 f"{', '.join(known)}")


def build_all(chosen):
    """The adapters, what is missing, and the cells with whom to ask."""
    languages = chosen.languages or (["C"] if chosen.quick else LANGUAGES)
    languages = ["C"] + [name for name in languages if name != "C"]
    built, missing = adapters.build(languages, tell)
    if not built:
        sys.exit("bench: there is nothing to measure; give other options")
    check_peers(chosen.peers, built)
    rows = plan.chosen(plan.quick() if chosen.quick else plan.full(),
                       chosen.workloads, chosen.n)
    cells = plan.cells(rows, built, chosen.peers)
    if not cells:
        sys.exit("bench: none of these peers can do any of these workloads; "
                 "give others")
    return built, missing, cells


def take(chosen):
    """Build and measure: after each repeat, what field.json of docs/reports
    holds."""
    began = time.time()
    built, missing, cells = build_all(chosen)
    repeats = chosen.repeats or (1 if chosen.quick else 3)
    share = measure.QUICK_SHARE if chosen.quick else 1
    tell(f"{len(cells)} cells, {repeats} times")
    found = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        "commit": commit(),
        "command": " ".join(["./bench", *sys.argv[1:]]),
        "seed": chosen.seed, "repeats": 0, "is_quick": chosen.quick,
        "machine": machine(),
        "adapters": [adapter.described for adapter in built],
        "missing": missing,
    }
    for measured in measure.measure_all(cells, chosen.seed, repeats, share):
        found["repeats"] += 1
        found["seconds"] = round(time.time() - began)
        found["cells"] = list(as_cells(measured))
        yield found


def write_json(found, path):
    """One line a cell, so that two runs can be compared by diff."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {name: value for name, value in found.items() if name != "cells"}
    lines = ",\n".join("  " + json.dumps(cell) for cell in found["cells"])
    text = json.dumps(head, indent=1)[:-2] + ',\n "cells": [\n' + lines + "\n]}\n"
    path.write_text(text)


def write_pages(results, docs, readme):
    """Charts, the page, and the README's part."""
    try:
        charts.draw(results, docs / "benchmarks")
    except charts.NoGnuplot as error:
        tell(f"no charts: {error}")
    page.write(results, docs / "benchmarks.md")
    if readme is not None:
        page.write_readme(results, readme)


def main():
    chosen = options().parse_args()
    if chosen.pages:
        if not RECORD.exists():
            sys.exit(f"bench: there is no {RECORD.relative_to(adapters.ROOT)}; "
                     "write it with --record")
        results = Results(json.loads(RECORD.read_text()))
        table.write(results, sys.stdout)
        write_pages(results, REPORTS, adapters.ROOT / "README.md")
        return
    own = adapters.BUILD / "benchmarks" / "field.json"
    for found in take(chosen):
        write_json(found, RECORD if chosen.record else own)
    results = Results(found)
    table.write(results, sys.stdout)
    if chosen.record:
        write_pages(results, REPORTS, adapters.ROOT / "README.md")
    else:
        write_pages(results, adapters.BUILD, None)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nbench: interrupted")
