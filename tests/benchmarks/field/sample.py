#!/usr/bin/env python3
"""Made-up results of ./bench, in the form of the real ones, for the tests.

usage: sample.py FILE

The numbers are of the size that such peers have, so that charts look like real
ones.  They say nothing about anybody.
"""
import json
import math
import random
import sys

SIZES = (1000, 10000, 100000, 1000000, 10000000)
WORKLOADS = ("arm", "cancel", "cancel+drop", "rearm", "touch", "fire-steps",
             "fire-jumps", "worst-step", "empty", "bytes", "d1", "d2", "d3")
CALLS = ("real-calls", "real-late", "real-idle", "real-d1", "real-d2", "real-d3")
PAIRS = ("real-pairs-1", "real-pairs-2")
PERCENTS = (0, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100)

# In virtual time at 100,000: arm, cancel, rearm, touch, fire, empty; bytes; and
# how much more it is for each factor of ten, the worst step in us.
SPEEDS = {
    "wheel": (7.0, 5.5, 11, 8, 46, 5.2, 34, 1.5, 42),
    "pool": (7.6, 4.3, 24, 10.6, 40, 13, 42, 1.25, 30),
    "heap": (6.8, 14, 27, 101, 104, 0.6, 33, 1.9, 47),
    "libuv": (57, 114, 280, 236, 404, 210, 153, 2.0, 700),
    "libevent": (33, 59, 183, 263, 610, 190, 139, 1.8, 900),
    "libevent_common": (21, 17, 36, 41, 130, 185, 131, 1.6, 800),
    "libev": (12.4, 19, 37, 42, 160, 180, 67, 2.0, 66),
    "glib": (190, 260, 480, 510, 2200, 900, 210, 3.0, 4000),
    "timeout": (3.9, 4.1, 10.8, 19, 102, 4.1, 73, 2.2, 1900),
    "agrona": (6.1, 5.1, 14, 31, 140, 3.3, 16, 1.8, 2500),
    "kafka_wheel": (38, 41, 88, 150, 480, 30, 72, 1.8, 9000),
    "tokio_sleep": (52, 39, 66, 72, 230, 31, 250, 1.7, 5000),
    "tokio_delayqueue": (29, 47, 85, 90, 190, 26, 92, 1.7, 5200),
}
# In real time: arm, cancel, rearm, bytes, pairs in 1 and 2 threads (0: it is
# not thread-safe), late at the median and factor to 99%, earliest, idle 1, 1M.
SERVICES = {
    "service": (31, 24, 90, 48, 21, 41, 580, 1.8, 31, 0.001, 0.001),
    "libuv": (78, 420, 562, 152, 11, 0, 540, 2, -420, 0.001, 0.002),
    "libevent": (60, 210, 420, 139, 12, 0, 600, 2, -12, 0.001, 0.002),
    "libev": (13, 63, 128, 64, 33, 0, 90, 4, -60, 0.002, 0.002),
    "glib": (200, 900, 1300, 210, 2.1, 0, 900, 6, 40, 0.003, 0.004),
    "timerfd": (640, 510, 720, 620, 0.9, 1.1, 70, 5, 8, 0.001, 0.001),
    "kafka": (70, 271, 1068, 70, 11.2, 2.0, 46, 9, -977, 0.25, 0.30),
    "netty": (64, 101, 792, 72, 15.1, 8.4, 1036, 1.9, 24, 2.15, 33),
    "jdk": (67, 437, 2448, 102, 9.7, 6.6, 106, 1.6, 14, 0.25, 0.23),
    "go_timingwheel": (128, 390, 850, 80, 7.2, 6.5, 134, 5, -979, 0.018, 0.004),
    "go_afterfunc": (78, 128, 563, 80, 8.0, 11.1, 551, 2, 0, 0.009, 0.036),
    "tokio_sleep": (90, 120, 300, 250, 9, 6, 620, 2.4, 100, 0.002, 0.002),
}
ADAPTERS = (
    ("C", "gcc 12.2.0", "-O3", {
        "wheel": "tickwheel wheel", "pool": "tickwheel pool",
        "service": "tickwheel service", "heap": "4-ary heap", "libuv": "libuv",
        "libevent": "libevent", "libevent_common": "libevent, common timeouts",
        "libev": "libev", "glib": "GLib main loop", "timerfd": "timerfd + epoll",
        "timeout": "wahern/timeout"}),
    ("Java", "OpenJDK 17.0.1", "-Xms4g -Xmx4g", {
        "kafka": "Kafka SystemTimer", "kafka_wheel": "Kafka TimingWheel",
        "netty": "Netty HashedWheelTimer", "agrona": "Agrona DeadlineTimerWheel",
        "jdk": "JDK ScheduledThreadPool"}),
    ("Go", "go 1.26", "", {"go_timingwheel": "RussellLuo/timingwheel",
                           "go_afterfunc": "Go time.AfterFunc"}),
    ("Rust", "rustc 1.95", "--release", {
        "tokio_sleep": "tokio sleep", "tokio_delayqueue": "tokio DelayQueue"}),
)


def describe(language, toolchain, flags, titles):
    peers = []
    for name, title in titles.items():
        can, cannot = [], {}
        if name in SPEEDS:
            can += [w for w in WORKLOADS if (name, w) != ("agrona", "fire-jumps")]
        else:
            cannot[""] = "has a clock of its own"
        if name in SERVICES:
            can += CALLS + PAIRS[:2 if SERVICES[name][5] else 1]
            if not SERVICES[name][5]:
                cannot["real-pairs-2"] = "one thread uses it"
        else:
            cannot[""] = "has no clock and no thread"
        if name == "agrona":
            cannot["fire-jumps"] = "does not say when the next is due"
        peers.append({"name": name, "title": title, "version": "1.2.3",
                      "settings": "tick 1 ms", "can": can, "cannot": cannot})
    return {"language": language, "toolchain": toolchain, "flags": flags,
            "peers": peers}


def samples(dice, value, noise=0.04):
    return [float(f"{value * dice.uniform(1 - noise, 1 + noise):.4g}")
            for _ in range(3)]


def virtual_value(name, workload, n, delays):
    arm, cancel, rearm, touch, fire, empty, size, growth, worst = SPEEDS[name]
    grown = growth ** max(-1, math.log10(n / 100000)) * (
        2 if delays == "log-uniform" else 1)
    sparse = 60000 / n * empty  # steps with nothing due, shared by all timers
    return {"arm": arm * (1 + (n > 1000000) / 9), "cancel": cancel * grown,
            "cancel+drop": cancel * grown * 1.3, "rearm": rearm * grown,
            "touch": touch * grown, "fire-steps": fire * grown + sparse,
            "fire-jumps": fire * grown, "empty": empty, "bytes": size,
            "worst-step": worst * 1000 * (n / 100000) ** (
                0.9 if worst > 1000 else 0.4),
            "d1": touch * 1.5, "d2": fire + arm, "d3": cancel + arm}[workload]


def virtual_cells(dice):
    for name in SPEEDS:
        for workload in WORKLOADS:
            sizes = {"d1": (100000,), "d2": (1000000,), "d3": (300000,)}.get(
                workload, SIZES)
            kinds = [(n, "uniform") for n in sizes]
            if sizes is SIZES:
                kinds.append((1000000, "log-uniform"))
            for n, delays in kinds:
                cell = {"peer": name, "workload": workload, "n": n,
                        "delays": delays}
                if (name, workload) == ("agrona", "fire-jumps"):
                    continue
                if name == "glib" and n > 1000000:
                    yield {**cell, "skipped": "would take 40 minutes"}
                    continue
                value = virtual_value(name, workload, n, delays)
                unit = "bytes" if workload == "bytes" else "ns"
                values = {unit: samples(dice, value)}
                if workload == "d2":
                    values["worst_ns"] = samples(dice, SPEEDS[name][-1] * 1000)
                yield {**cell, "values": values}


def lateness(dice, late, factor, earliest):
    """Percentiles that rise: from the earliest, by the factor to 99%."""
    values = {}
    for percent in PERCENTS:
        x = 5 if percent == 100 else -math.log10(1 - percent / 100)
        if x < 0.301:
            value = earliest + (late - earliest) * (x / 0.301) ** 0.3
        else:
            value = late * factor ** ((x - 0.301) / 1.7)
        values[f"late_us_{percent}"] = samples(dice, value, 0.1)
    return values


def real_values(dice, name, n):
    (arm, cancel, rearm, size, one, two, late, factor, earliest, idle_1,
     idle_million) = SERVICES[name]
    idle = idle_1 if n == 1 else idle_million
    return {
        "real-calls": {"arm_ns": samples(dice, arm), "bytes": [size] * 3,
                       "rearm_ns": samples(dice, rearm),
                       "cancel_ns": samples(dice, cancel)},
        "real-pairs-1": {"million_a_second": samples(dice, one)},
        "real-pairs-2": {"million_a_second": samples(dice, two)},
        "real-late": {**lateness(dice, late, factor, earliest),
                      "early": [n // 3 if earliest < 0 else 0] * 3,
                      "cpu_ns": samples(dice, 10 * arm)},
        "real-idle": {"percent": samples(dice, idle)},
        "real-d1": {"percent": samples(dice, 0.3 + rearm / 500 + idle)},
        "real-d2": {"arm_ns": samples(dice, arm), "bytes": [size] * 3,
                    "percent": samples(dice, idle),
                    "drain_ms": samples(dice, arm * 10),
                    "cpu_ns": samples(dice, arm * 10)},
        "real-d3": {"million_a_second": samples(dice, 400 / (arm + cancel)),
                    "bytes": [size] * 3},
    }


def real_cells(dice):
    sizes = {"real-calls": (100000, 1000000), "real-late": (100000, 1000000),
             "real-idle": (1, 1000000), "real-d1": (100000,),
             "real-d2": (1000000,), "real-d3": (300000,)}
    for name in SERVICES:
        for workload in CALLS + PAIRS[:2 if SERVICES[name][5] else 1]:
            for n in sizes.get(workload, (1,)):
                cell = {"peer": name, "workload": workload, "n": n,
                        "delays": "uniform"}
                if name == "timerfd" and n == 1000000:
                    yield {**cell, "skipped": "needs a million file descriptors"}
                else:
                    yield {**cell, "values": real_values(dice, name, n)[workload]}


def beside_cells(dice):
    for n, ns in zip(SIZES, (0.8, 0.9, 1.4, 6.6, 8.8)):
        yield {"peer": "floor", "workload": "touch-memory", "n": n,
               "delays": "uniform", "values": {"ns": samples(dice, ns)}}
    yield {"peer": "nothing", "workload": "real-d1", "n": 100000,
           "delays": "uniform", "values": {"percent": samples(dice, 0.2)}}


def sample():
    dice = random.Random(1)
    return {
        "time": "2026-11-16T12:00:00Z", "commit": "abc1234", "command": "./bench",
        "seconds": 3312, "seed": 1, "repeats": 3, "is_quick": False,
        "machine": {"cpu": "AMD EPYC", "processors": 2, "kernel": "Linux 6.18",
                    "memory_gb": 23},
        "adapters": [describe(*adapter) for adapter in ADAPTERS],
        "missing": [],
        "cells": [*virtual_cells(dice), *real_cells(dice), *beside_cells(dice)],
    }


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(sample(), file, indent=1)
