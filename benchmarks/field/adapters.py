"""The adapters of the peers: to build them, to ask them.

benchmarks/peers/README.md has the contract.  An adapter whose tools are not
there is no failure: Missing says what is missing, for the report."""
import json
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "benchmarks" / "peers"
BUILD = ROOT / "build" / "field"


class Missing(Exception):
    """Why there is no such adapter."""


class Failed(Exception):
    """Why a measurement has no result."""


class TooLong(Failed):
    """It was stopped."""


class Cannot(Failed):
    """This much of it the peer cannot do."""


CANNOT = 3  # what an adapter exits with then


def order(command, directory=None, **environment):
    """Run a command to its end; its output matters only if it fails."""
    done = subprocess.run(command, cwd=directory, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment}, check=False)
    if done.returncode != 0:
        log = BUILD / "build.log"
        log.write_text(done.stdout)
        last = (done.stdout.strip().splitlines() or ["no output"])[-1]
        raise Missing(f"{command[0]} failed: {last[:100]} (all of it is in "
                      f"{log.relative_to(ROOT)})")


def need(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            raise Missing(f"{tool} is not installed")


def copied(name):
    """A copy of an adapter's sources, to be built there: cargo and go write
    beside them."""
    target = BUILD / name
    shutil.copytree(SOURCES / name, target, dirs_exist_ok=True)
    return target


def build_c():
    need("cmake", "gcc")
    options = ["-DTICKWHEEL_TESTS=OFF", "-DTICKWHEEL_TOOLS=OFF",
               "-DTICKWHEEL_BENCH=ON"]
    timeout = BUILD / "timeout"
    if (timeout / "ext" / "timeouts" / "timeout.c").exists():
        options.append(f"-DTICKWHEEL_WAHERN_TIMEOUT={timeout}")
    order(["cmake", "--preset", "release", "-B", str(BUILD / "c"), *options],
          ROOT)
    order(["cmake", "--build", str(BUILD / "c"), "--target", "bench_field"])
    return [str(BUILD / "c" / "benchmarks" / "peers" / "bench_field")]


def build_java():
    need("java", "mvn")
    out = BUILD / "java"
    order(["mvn", "-q", "-B", "-f", str(SOURCES / "java" / "pom.xml"),
           f"-Dout={out}", "package"])
    flags = (SOURCES / "java" / "flags").read_text().split()
    return ["java", *flags, "-cp", f"{out}/lib/*", "tickwheel.bench.Main"]


def build_go():
    need("go")
    directory = copied("go")
    order(["go", "build", "-buildvcs=false", "-o", "adapter", "."], directory,
          GOTOOLCHAIN="local")
    return [str(directory / "adapter")]


def build_rust():
    need("cargo")
    directory = copied("rust")
    order(["cargo", "build", "--release", "--quiet"], directory)
    return [str(directory / "target" / "release" / "peers")]


BUILDERS = {"C": build_c, "Java": build_java, "Go": build_go,
            "Rust": build_rust}


class Adapter:
    def __init__(self, command):
        self.command = command
        self.described = json.loads(self.ask("describe"))
        self.peers = {peer["name"]: peer for peer in self.described["peers"]}

    def ask(self, *words, limit=60):
        """What it answers.  Failed says why it does not."""
        try:
            done = subprocess.run([*self.command, *map(str, words)], text=True,
                                  capture_output=True, timeout=limit,
                                  check=False)
        except subprocess.TimeoutExpired as error:
            raise TooLong(f"takes more than {limit:.0f} s") from error
        except OSError as error:
            raise Failed(str(error)) from error
        if done.returncode != 0:
            said = done.stderr.strip().splitlines() or [
                f"ended with status {done.returncode}"]
            kind = Cannot if done.returncode == CANNOT else Failed
            raise kind(said[-1][:200])
        return done.stdout

    def run(self, cell, seed, limit):
        """Measure a cell once: a value for each name."""
        answer = self.ask("run", cell.peer, cell.workload, cell.n, cell.delays,
                          seed, limit=limit)
        pairs = [line.split() for line in answer.splitlines()]
        try:
            return {name: float(value) for name, value in pairs}
        except ValueError as error:
            raise Failed(f"answers what is no result: {error}") from error


def throws_as(first, other):
    """Do two adapters throw the same dice?"""
    return all(first.ask("dice", 10000, delays, 7) ==
               other.ask("dice", 10000, delays, 7)
               for delays in ("uniform", "log-uniform"))


def build(languages, tell):
    """The adapters that can be had, and what is missing, each told."""
    BUILD.mkdir(parents=True, exist_ok=True)
    adapters, missing = [], []
    for language in languages:
        tell(f"building the adapter in {language}")
        try:
            adapter = Adapter(BUILDERS[language]())
            if adapters and not throws_as(adapters[0], adapter):
                raise Missing("it throws other dice than the first adapter")
            adapters.append(adapter)
            missing += [{"what": peer["name"], "why": peer["why"]}
                        for peer in adapter.described.get("missing", [])]
        except (Missing, Failed) as error:
            missing.append({"what": f"{language}, and all its peers",
                            "why": str(error)})
            tell(f"no {language}: {error}")
    return adapters, missing
