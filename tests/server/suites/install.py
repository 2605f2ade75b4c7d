"""Installs the clients and their suites with their ordinary package managers, all
below one directory.  What is there already is not installed again.

The package managers use the registries that they are configured for."""
import functools
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

SCENARIOS = pathlib.Path(__file__).resolve().parent / "scenarios"

NPM = ("fivebeans@1.5.0", "mocha@3.0.2", "must@0.13.2",
       "nodestalker@0.1.22", "jackd@2.2.2")
PIP = ("pystalkd==1.3.0", "greenstalk==2.1.1", "pystalk==0.9.1", "attrs",
       "pyyaml")
PIP_2 = ("nose==1.3.7", "pyyaml==5.4.1", "pybeanstalk==1.0rc1",
         "beanstalkc==0.4.0")


class Missing(Exception):
    """Why something is not installed."""


def need(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            raise Missing(f"{tool} is not installed")


def order(command):
    """Run a command.  Its output matters only if it fails."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no output"])[-1]
        raise Missing(f"{' '.join(command[:3])} failed: {last[:200]}")


def once(directory, wanted, fill):
    """Call `fill` with `directory`, unless it has been filled as `wanted`."""
    mark = directory / "installed"
    text = "\n".join(wanted) + "\n"
    if not mark.exists() or mark.read_text() != text:
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        fill(directory)
        mark.write_text(text)
    return directory


def node(root):
    """The folder node_modules with the clients in JavaScript."""
    need("node", "npm")

    def fill(directory):
        order(["npm", "install", "--silent", "--no-save", "--no-package-lock",
               "--ignore-scripts", "--prefix", str(directory), *NPM])
    return once(root / "npm", NPM, fill) / "node_modules"


def python(root):
    """The folder with the clients in Python 3."""
    def fill(directory):
        order([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
               "--target", str(directory), *PIP])
    return once(root / "python3", PIP, fill)


@functools.cache
def python_2():
    """A Python 2.7 that works: python2.7, python2, or one of pyenv."""
    found = glob.glob(os.path.expanduser(
        "~/.pyenv/versions/2.7*/bin/python2.7"))
    for name in ("python2.7", "python2", *found):
        try:
            done = subprocess.run([name, "-m", "pip", "--version"],
                                  capture_output=True, check=False)
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            return name
    raise Missing("there is no Python 2.7 with pip")


def old_python(root):
    """The folder with the clients in Python 2."""
    def fill(directory):
        order([python_2(), "-m", "pip", "install", "--quiet", "--no-deps",
               "--target", str(directory), *PIP_2])
    return once(root / "python2", PIP_2, fill)


def sources(root, package, interpreter):
    """The unpacked source package: the installed one has no tests."""
    name, version = package.split("==")

    def fill(directory):
        order([interpreter, "-m", "pip", "download", "--quiet", "--no-deps",
               "--no-binary", ":all:", "--dest", str(directory), package])
        for archive in directory.glob("*.tar.gz"):
            with tarfile.open(archive) as file:
                file.extractall(directory)
        for archive in directory.glob("*.zip"):
            with zipfile.ZipFile(archive) as file:
                file.extractall(directory)
    return once(root / "sources" / name, (package,), fill) / (
        f"{name}-{version}")


def pystalkd(root):
    """The folder of its source package; likewise below."""
    python(root)
    return sources(root, "pystalkd==1.3.0", sys.executable)


def pybeanstalk(root):
    old_python(root)
    return sources(root, "pybeanstalk==1.0rc1", python_2())


def beanstalkc(root):
    old_python(root)
    return sources(root, "beanstalkc==0.4.0", python_2())


def java(root):
    """The folder with the client's jar."""
    need("java", "mvn")
    pom = SCENARIOS / "pom.xml"

    def fill(directory):
        order(["mvn", "-q", "-B", "-f", str(pom), f"-Dout={directory}",
               "package"])
    return once(root / "java", (pom.read_text(),), fill)
