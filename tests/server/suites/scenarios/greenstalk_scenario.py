"""A job's life with the client greenstalk.

usage: greenstalk_scenario.py PORT"""
import sys
import time

import greenstalk
from cases import case, raises

DELAY = 1

with greenstalk.Client(("127.0.0.1", int(sys.argv[1])), use="mail",
                       watch="mail", encoding=None) as client:
    case("a new server has no jobs", client.stats()["total-jobs"], 0)

    start = time.monotonic()
    job_id = client.put(b"a\r\nb\x00", priority=7, delay=DELAY, ttr=60)
    case("a delayed job is not reserved", raises(
        greenstalk.TimedOutError, client.reserve, 0), True)
    case("peek-delayed finds it", client.peek_delayed().id, job_id)
    case("its statistics say so", client.stats_job(job_id)["state"], "delayed")

    job = client.reserve(timeout=10)
    case("it is reserved", (job.id, job.body), (job_id, b"a\r\nb\x00"))
    case("not before its delay ends", time.monotonic() - start >= DELAY, True)
    client.touch(job)

    client.release(job, priority=3)
    stats = client.stats_job(job)
    case("a released job is ready", (stats["state"], stats["pri"]),
         ("ready", 3))

    job = client.reserve(timeout=0)
    client.bury(job)
    case("peek-buried finds a buried job", client.peek_buried().id, job_id)
    case("kick counts it", client.kick(10), 1)
    case("peek-ready finds a kicked job", client.peek_ready().id, job_id)

    job = client.reserve_job(job_id)
    client.delete(job)
    case("a deleted job is gone", raises(
        greenstalk.NotFoundError, client.peek, job_id), True)

    stats = client.stats_tube("mail")
    case("the tube's statistics", (
        stats["name"], stats["total-jobs"], stats["cmd-delete"]),
        ("mail", 1, 1))
    case("the server's statistics", (
        client.stats()["cmd-bury"], client.stats()["current-jobs-ready"]),
        (1, 0))
    case("the tubes", sorted(client.tubes()), ["default", "mail"])
