#!/usr/bin/env python3
"""./bench servers: tickwheeld beside beanstalkd, on the same work, in one run.

Read in this order: plan.py, server.py, then this file and summary.py.
"""
import argparse
import json
import os
import pathlib
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import plan
import server as servers
import summary

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILDS = [ROOT / "build" / "run", ROOT / "build" / "release"]
CLIENT_SECONDS_MAX = 1800


class MeasureError(Exception):
    """One line: a measurement failed."""


class MeasureSkipped(Exception):
    """One line: the server cannot do this."""


def tell(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def refuse(text):
    tell(text)
    sys.exit(2)


def whole(least, most):
    def read(text):
        if not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"is '{text}'; give a whole number from {least} to {most}")
        return int(text)
    return read


def listed(text):
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in plan.GROUPS:
            raise argparse.ArgumentTypeError(
                f"there is no workload '{name}'; there are "
                f"{', '.join(plan.GROUPS)}")
    return names


def options():
    parser = argparse.ArgumentParser(
        prog="./bench servers", allow_abbrev=False,
        description="Measure tickwheeld beside beanstalkd without -b, in one "
        "run: 15 minutes; two minutes with --quick.  Each measurement gets a "
        "server of its own on a free port of 127.0.0.1.  Print tables of the "
        "medians and of the targets.",
        epilog="Exit status: 0, also if targets are missed; 1 if a measurement "
        "failed; 2 after a wrong option.")
    parser.add_argument("--quick", action="store_true",
                        help="take two minutes: smaller sizes, one repeat")
    parser.add_argument("--durable", action="store_true",
                        help="also measure puts and cycles of tickwheeld -b and "
                        "of beanstalkd -f0 and -f50; five minutes more")
    parser.add_argument("--workloads", metavar="LIST", type=listed,
                        default=plan.GROUPS,
                        help=f"some of {', '.join(plan.GROUPS)}")
    parser.add_argument("--repeats", metavar="N", type=whole(1, 99),
                        help="number of repeats; default 3, with --quick 1")
    parser.add_argument("--pin", action="store_true",
                        help="run the client on the last processor and the "
                        "servers on the others; only on a machine that does "
                        "nothing else")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path,
                        help="write all values to FILE, after each repeat")
    parser.add_argument("--tickwheeld", metavar="PATH",
                        help="default: build/run/server/tickwheeld, or that of "
                        "build/release; left out if there is none")
    parser.add_argument("--beanstalkd", metavar="PATH", default="beanstalkd",
                        help="default: the one in PATH")
    parser.add_argument("--client", metavar="PATH",
                        help="bench_servers; default: that of build/run, or of "
                        "build/release")
    parser.add_argument("--data", metavar="DIR", type=pathlib.Path,
                        default=ROOT / "build" / "servers",
                        help="for the files of the servers; default "
                        "build/servers; must be on a disk with --durable")
    return parser


def built(*parts):
    for build in BUILDS:
        if (build.joinpath(*parts)).exists():
            return str(build.joinpath(*parts))
    return None


def client_of(chosen):
    client = chosen.client or built("benchmarks", "bench_servers")
    if client is None or shutil.which(client) is None:
        refuse("there is no program bench_servers; ./bench servers builds it, "
               "--client names another")
    return shutil.which(client)


def kinds_of(chosen):
    """The servers whose programs exist."""
    ours = chosen.tickwheeld or built("server", "tickwheeld") or "tickwheeld"
    if chosen.tickwheeld and shutil.which(ours) is None:
        refuse(f"--tickwheeld: there is no program {ours}")
    found = []
    for kind in servers.kinds(ours, chosen.beanstalkd, chosen.durable):
        program = shutil.which(kind.program)
        if program is None:
            tell(f"there is no program {kind.program}: {kind.name} is left out")
        else:
            found.append(kind._replace(program=program))
    return found


def processors_of(chosen):
    """Those of the client and those of the servers; None: any."""
    allowed = sorted(os.sched_getaffinity(0))
    if not chosen.pin:
        return None, None
    if len(allowed) < 2:
        refuse("--pin needs two processors")
    return {allowed[-1]}, set(allowed[:-1])


def raise_file_limit():
    """Client and servers inherit it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def cpu_model():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def machine():
    return {"cpu": cpu_model(), "processors": len(os.sched_getaffinity(0)),
            "kernel": platform.release(),
            "load_average": round(os.getloadavg()[0], 2)}


def commit():
    said = subprocess.run(["git", "describe", "--always", "--dirty"], text=True,
                          cwd=ROOT, capture_output=True, check=False)
    return said.stdout.strip() or "unknown"


def write_json(found, path):
    """All or nothing: an interrupted write leaves the file as it was."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False,
                                     prefix=path.name + ".") as file:
        try:
            json.dump(found, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


class Runner:
    """Runs the measures, and keeps their values."""

    def __init__(self, chosen, client, kinds):
        self.sizes = plan.QUICK if chosen.quick else plan.FULL
        self.repeats = chosen.repeats or self.sizes.repeats
        self.measures = plan.measures(self.sizes, chosen.workloads)
        self.client, self.kinds, self.data = client, kinds, chosen.data
        self.client_on, self.servers_on = processors_of(chosen)
        self.runs = {}      # as in summary.py
        self.failures = []  # lines

    def leave_out_broken(self):
        """Leave out the servers that do not start, so that each fails once and
        not in every measure."""
        for kind in list(self.kinds):
            try:
                with servers.Server(kind, self.data):
                    pass
            except servers.ServerError as error:
                self.kinds.remove(kind)
                self.failures.append(f"{error}; it is left out")
                tell(self.failures[-1])

    def run(self, repeat):
        for measure in self.measures:
            for kind in plan.turns(self.kinds, repeat):
                if plan.applies(measure, kind):
                    self.measure_once(measure, kind, repeat)

    def measure_once(self, measure, kind, repeat):
        what = f"{measure.name}, {kind.name}"
        tell(f"repeat {repeat + 1} of {self.repeats}: {what}")
        try:
            values = self.values(measure, kind)
        except MeasureSkipped as reason:
            tell(f"left out: {what}: {reason}")
            return
        except (MeasureError, servers.ServerError) as error:
            values = None
            self.failures.append(f"{what}: {error}")
            tell(f"FAILED: {what}: {error}")
        self.runs.setdefault((kind.name, measure.name), []).append(values)

    def values(self, measure, kind):
        with servers.Server(kind, self.data, self.servers_on) as server:
            if measure.name == "crowd-batch" and not server.has_batches():
                raise MeasureSkipped("it has no reserve-batch")
            arguments = [str(word) for word in measure.arguments]
            if measure.group in ("idle", "fill"):
                arguments += ["--pid", str(server.pid())]
            if measure.group == "crowd":
                delay = plan.crowd_delay(self.sizes.crowd_jobs,
                                         self.fill_rates())
                arguments += ["--delay", str(delay)]
            before = server.cpu_seconds()
            values = self.ask_client(server, arguments)
            add_processor_time(values, measure.group, before,
                               server.cpu_seconds())
            if measure.group == "fill":
                values["rest_cpu_percent"] = self.rest(server)
        return values

    def fill_rates(self):
        return [values["puts_per_s"] for (_, name), own in self.runs.items()
                for values in own if name == "fill" and values is not None]

    def ask_client(self, server, arguments):
        """Run bench_servers; its values."""
        command = [self.client, *arguments, "--json", "--connect",
                   "{}:{}".format(*server.address())]
        client = servers.start(command, self.client_on, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            said, wrong = client.communicate(timeout=CLIENT_SECONDS_MAX)
        except subprocess.TimeoutExpired as error:
            raise MeasureError("bench_servers took more than "
                               f"{CLIENT_SECONDS_MAX} s") from error
        finally:
            servers.stop(client)
        if client.returncode != 0:
            words = wrong.strip().split("\n")[0] or (
                f"bench_servers ended with status {client.returncode}")
            raise MeasureError(words + server.obituary())
        return json.loads(said)["values"]

    def rest(self, server):
        """Percent of a processor that the server uses while all its jobs are
        far away and nobody is connected."""
        time.sleep(0.5)
        begin, before = time.monotonic(), server.cpu_seconds()
        time.sleep(self.sizes.rest_seconds)
        seconds, after = time.monotonic() - begin, server.cpu_seconds()
        if before is None or after is None:
            raise MeasureError("the server ended at rest" + server.obituary())
        return 100 * (after - before) / seconds


def add_processor_time(values, group, before, after):
    """What the server used for the rates of puts and cycles."""
    each = {"puts": "put", "cycles": "cycle"}.get(group)
    if each is None or before is None or after is None or not values[group]:
        return
    used = after - before
    seconds = values[group] / values[f"{group}_per_s"]
    values[f"server_us_per_{each}"] = 1e6 * used / values[group]
    values["server_cpu_percent"] = 100 * used / seconds


def targets_of(chosen):
    groups = [summary.memory_targets()]
    if chosen.durable:
        groups.append(summary.durable_targets())
    measured = {measure.name for measure
                in plan.measures(plan.QUICK, chosen.workloads)}
    kept = [[target for target in group if target.measure in measured]
            for group in groups]
    return [group for group in kept if group]


def as_json(runner, head, targets):
    """What --json writes."""
    judged = []
    for target in (target for group in targets for target in group):
        found = summary.judge(runner.runs, target)
        judged.append({**target._asdict(), "verdict": found.verdict,
                       "measured": found.measured and found.measured._asdict()})
    return {**head, "measures": [
        {"server": name, "measure": measure, "repeats": values}
        for (name, measure), values in runner.runs.items()],
        "targets": judged, "failures": runner.failures}


def print_results(runner, head, targets):
    print(f"{head['machine']['cpu']}, {head['machine']['processors']} "
          f"processors, load average {head['machine']['load_average']} at the "
          f"start; {runner.repeats} repeats")
    for is_durable, rows in ((False, summary.memory_rows()),
                             (True, summary.rate_rows())):
        names = [kind.name for kind in runner.kinds
                 if kind.is_durable == is_durable]
        table = names and summary.results_table(runner.runs, names, rows)
        if table:
            print(f"\n{table}")
    for group in targets:
        if any(kind.name == group[0].ours for kind in runner.kinds):
            print(f"\n{summary.targets_table(runner.runs, group)}")
        else:
            print(f"\nno targets: {group[0].ours} was not measured")
    for note in summary.notes(runner.runs):
        print("\n" + textwrap.fill(note, 80))
    for failure in runner.failures:
        print(f"\nFAILED: {failure}")
    sys.stdout.flush()


def prepare(chosen):
    """Check what can be checked before an hour has passed."""
    client, kinds = client_of(chosen), kinds_of(chosen)
    if not kinds:
        refuse("there is no server to measure")
    try:
        chosen.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse(f"--data {chosen.data}: {error.strerror}")
    if chosen.durable and servers.is_in_memory(chosen.data):
        refuse(f"--data {chosen.data} is in memory, where a sync is free; name "
               "a directory on a disk")
    if chosen.json and not os.access(chosen.json.absolute().parent, os.W_OK):
        refuse(f"--json {chosen.json}: the directory cannot be written")
    raise_file_limit()
    return client, kinds


def main():
    chosen = options().parse_args()
    client, kinds = prepare(chosen)
    runner = Runner(chosen, client, kinds)
    targets = targets_of(chosen)
    head = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": commit(),
        "command": " ".join(["./bench", "servers", *sys.argv[1:]]),
        "is_quick": chosen.quick, "is_pinned": chosen.pin, "machine": machine(),
        "servers": {kind.name: servers.version(kind.program) for kind in kinds},
    }
    runner.leave_out_broken()
    if not runner.kinds:
        return 1
    for repeat in range(runner.repeats):
        runner.run(repeat)
        if chosen.json:
            write_json(as_json(runner, head, targets), chosen.json)
    print_results(runner, head, targets)
    return 1 if runner.failures else 0


def end(number, _):
    sys.exit(128 + number)


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        tell("interrupted; all servers are stopped")
        sys.exit(130)
