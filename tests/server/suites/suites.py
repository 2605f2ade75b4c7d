"""The suites: how each is run, and how its results are read."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import typing

import install

HERE = pathlib.Path(__file__).resolve().parent
# A command in namespaces of its own, which ends with this program.
UNSHARE = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--pid",
           "--fork", "--kill-child"] + (
    [] if os.geteuid() == 0 else ["--user", "--map-root-user"])

SECONDS_MAX = 300       # a command
TEST_SECONDS_MAX = 30   # a test of nodestalker
PYSTALKD_RUNS = 5


@dataclasses.dataclass
class Result:
    """What came out of a suite.  `failed` has the cases and why."""
    passed: int = 0
    failed: dict = dataclasses.field(default_factory=dict)

    def forgive(self, cases):
        """Count failed cases as passed."""
        for case in cases:
            del self.failed[case]
            self.passed += 1


class Bench:
    """A server binary, and a directory to install into."""

    def __init__(self, server, root):
        self.server = server
        self.root = root

    def run(self, command, port=11300, directory=None, seconds=SECONDS_MAX,
            **environment):
        """Run a command beside a fresh server on `port` of its own namespace.
        Returns its status (None: it took too long), and all it has printed."""
        words = [*UNSHARE, sys.executable, str(HERE / "inside.py"),
                 self.server, str(port), *map(str, command)]
        with subprocess.Popen(
                words, cwd=directory, text=True, errors="replace",
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1",
                     **environment}) as process:
            try:
                output, _ = process.communicate(timeout=seconds)
                return process.returncode, output
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
                return None, output


def ended(status, output):
    """Why a command has failed as a whole."""
    last = (output.strip().splitlines() or ["no output"])[-1]
    return f"{'takes too long' if status is None else status}: {last[:200]}"


def of_scenario(status, output):
    """Lines "ok NAME" and "failed NAME: WHY"."""
    result = Result(len(re.findall(r"^ok ", output, re.M)))
    for name, why in re.findall(r"^failed ([^:]*): (.*)", output, re.M):
        result.failed[name] = why
    if status != 0:
        result.failed["the whole"] = ended(status, output)
    return result


def of_unittest(status, output):
    """The output of unittest and of nose."""
    found = re.search(r"^Ran (\d+) tests? in", output, re.M)
    if not found:
        return Result(0, {"the whole": ended(status, output)})
    result = Result()
    for name in re.findall(r"^(?:FAIL|ERROR): (.*)", output, re.M):
        result.failed[name] = "fails"
    result.passed = int(found[1]) - len(result.failed)
    return result


def fivebeans(bench):
    modules = install.node(bench.root)
    status, output = bench.run(
        [modules / ".bin" / "mocha", "-t", "8000", "-R", "json", "test/"],
        directory=modules / "fivebeans")
    start = output.find('{\n  "stats"')
    if start < 0:
        return Result(0, {"the whole": ended(status, output)})
    found, _ = json.JSONDecoder().raw_decode(output[start:])
    return Result(len(found["passes"]), {
        case["fullTitle"]: case["err"].get("message", "")
        for case in found["failures"]})


# Tests that reserve what nodestalker's own mock of a server would send: the body
# to put before them.  None: the mock would send an incomplete reply.
EXPECTED_JOBS = {
    "reserve_buffer": bytes(4),  # its Buffer.alloc(4, [1, 2, 3, 4]) is zeros
    "reserve_with_timeout": b"test",
    "reserve_jobs_multichunk": b"test\r\ntest",
    "utf8_reserve": "Sp\u0131n\u0308al Tap".encode(),
    "reserve_jobs_multichunk_timeout": None,
}


def nodestalker(bench):
    folder = install.node(bench.root) / "nodestalker"
    result = Result()
    for test in sorted((folder / "tests").glob("test_*.js")):
        name = test.stem.removeprefix("test_")
        body = EXPECTED_JOBS.get(name, b"")
        if body is None:
            result.failed[name] = "needs the mock"
            continue
        prepare = [sys.executable, HERE / "after_put.py", "11333", body.hex()]
        status, output = bench.run(
            (prepare if body else []) + ["node", test], 11333, folder,
            TEST_SECONDS_MAX, BEANSTALKD="1")
        if status == 0:
            result.passed += 1
        else:
            result.failed[name] = ended(status, output)
    return result


def pystalkd(bench):
    """The client strips white space from bodies, and takes CRLF at the end of 4,096
    bytes for the end of a reply.  Its tests use random bodies: about one run in
    seven fails with any server.  A case has failed if it fails in every run."""
    folder = install.pystalkd(bench.root)
    result = None
    for _ in range(PYSTALKD_RUNS):
        found = of_unittest(*bench.run(
            [sys.executable, "test.py"], directory=folder,
            PYTHONPATH=str(install.python(bench.root))))
        if result is not None:
            found.forgive(found.failed.keys() - result.failed.keys())
        result = found
        if not result.failed:
            break
    return result


def pybeanstalk(bench):
    """Its tests start servers themselves, as tests.cfg says."""
    python, folder = install.python_2(), install.pybeanstalk(bench.root)
    server = pathlib.Path(bench.server)
    config = folder / "tests" / "tests.cfg"
    text = re.sub(r"^BPATH = .*", f"BPATH = {server.parent}/",
                  config.read_text(), flags=re.M)
    config.write_text(re.sub(r"^BEANSTALKD = .*",
                             f"BEANSTALKD = {server.name}", text, flags=re.M))
    return of_unittest(*bench.run(
        [python, "-m", "nose", "-v", "test_Proto", "test_errors",
         "test_ServerConn", "test_MultiServerConn"],
        directory=folder / "tests",
        PYTHONPATH=str(install.old_python(bench.root))))


def beanstalkc(bench):
    python, folder = install.python_2(), install.beanstalkc(bench.root)
    result = Result()
    for page in ("README.mkd", "TUTORIAL.mkd", "test/no-yaml.mkd"):
        status, output = bench.run(
            [python, "-m", "doctest", "-v", page], 14711, folder,
            PYTHONPATH=str(install.old_python(bench.root)))
        found = re.search(r"^(\d+) passed and \d+ failed", output, re.M)
        if not found:
            result.failed[page] = ended(status, output)
            continue
        result.passed += int(found[1])
        for line, text in re.findall(
                r'^File ".*", line (\d+), in .*\nFailed example:\n +(.*)',
                output, re.M):
            result.failed[f"{page}:{line}"] = text
    return result


def scenario_in_python(name, bench):
    return of_scenario(*bench.run(
        [sys.executable, HERE / "scenarios" / f"{name}_scenario.py", "11300"],
        PYTHONPATH=str(install.python(bench.root))))


def greenstalk(bench):
    return scenario_in_python("greenstalk", bench)


def pystalk(bench):
    return scenario_in_python("pystalk", bench)


def jackd(bench):
    return of_scenario(*bench.run(
        ["node", HERE / "scenarios" / "jackd_scenario.js", "11300"],
        NODE_PATH=str(install.node(bench.root))))


def beanstalk_client(bench):
    return of_scenario(*bench.run(
        ["java", "-cp", f"{install.java(bench.root)}/*",
         HERE / "scenarios" / "Scenario.java", "11300"]))


class Suite(typing.NamedTuple):
    install: typing.Callable  # takes the directory; may raise install.Missing
    run: typing.Callable      # takes a Bench, returns a Result
    what: str


# By name.
SUITES = {
    "fivebeans": Suite(install.node, fivebeans, "its own tests, npm"),
    "nodestalker": Suite(install.node, nodestalker, "its own tests, npm"),
    "pystalkd": Suite(install.pystalkd, pystalkd, "its own tests, PyPI"),
    "pybeanstalk": Suite(install.pybeanstalk, pybeanstalk,
                         "its own tests, PyPI, Python 2.7"),
    "beanstalkc": Suite(install.beanstalkc, beanstalkc,
                        "the examples in its documentation, PyPI, Python 2.7"),
    "greenstalk": Suite(install.python, greenstalk, "our scenario, PyPI"),
    "pystalk": Suite(install.python, pystalk, "our scenario, PyPI"),
    "jackd": Suite(install.node, jackd, "our scenario, npm"),
    "BeanstalkClient": Suite(install.java, beanstalk_client,
                             "our scenario, Maven"),
}
