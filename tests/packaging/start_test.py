#!/usr/bin/env python3
"""Follows docs/guide/start.md: every command of the page runs, in order, in a copy of
the tree, and each program that the page names is there under its name.

usage: start_test.py TREE

A line that is indented by four spaces, outside a fence, is a command.  "Save this as
`NAME`" names the next fence of C.  A fence marked text or output, after a command and
before the next program, is what the command prints.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COPIED = ("CMakeLists.txt", "CMakePresets.json", "cmake", "include", "src", "cli",
          "benchmarks/core", "server", "scripts", "docs/man", "examples")


def copy(tree, to):
    for name in COPIED:
        path = tree / name
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, to / name)
        else:
            shutil.copy(path, to / name)


def blocks(page):
    """The page as (kind, text): command, fence of a language, or prose."""
    for part in re.split(r"^(```\w*\n.*?^```\n)", page, flags=re.M | re.S):
        fence = re.fullmatch(r"```(\w*)\n(.*?)```\n", part, re.S)
        if fence:
            yield fence[1], fence[2]
            continue
        for line in part.splitlines():
            yield ("command", line.strip()) if line.startswith("    ") else ("prose", line)


def run(command, directory):
    done = subprocess.run(command, shell=True, cwd=directory, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"start.md: `{command}` ends with {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


def follow(page, directory):
    name, output, commands, compared = None, None, 0, 0
    prose = ""
    for kind, text in blocks(page):
        if kind == "prose":
            prose = f"{prose} {text}" if text else ""
            found = re.search(r"[Ss]ave this as `([\w.]+)`", prose)
            name = found[1] if found else name
        elif kind == "command":
            output = run(text, directory)
            commands += 1
        elif kind == "c":
            if name:
                (directory / name).write_text(text)
            name, output = None, None
        elif kind in ("text", "output") and output is not None:
            if output != text:
                sys.exit(f"start.md shows\n{text}but the command prints\n{output}")
            compared += 1
    print(f"{commands} commands, {compared} outputs compared")
    if commands == 0 or compared == 0:
        sys.exit("start.md has no command, or shows no output of one")


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as directory:
        copy(tree, pathlib.Path(directory))
        follow((tree / "docs/guide/start.md").read_text(), pathlib.Path(directory))


if __name__ == "__main__":
    main()
