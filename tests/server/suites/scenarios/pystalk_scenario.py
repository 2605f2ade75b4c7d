"""A job's life with the client pystalk.

usage: pystalk_scenario.py PORT"""
import sys
import time

import pystalk
from cases import case, raises

DELAY = 1

client = pystalk.BeanstalkClient("127.0.0.1", int(sys.argv[1]))
client.use("mail")
client.watchlist = {"mail"}
case("a new server has no jobs", client.stats()["total-jobs"], 0)

start = time.monotonic()
_, job_id = client.put_job(b"a\r\nb\x00", pri=7, delay=DELAY, ttr=60)
case("a delayed job is not reserved", raises(
    pystalk.BeanstalkError, client.reserve_job, 0), True)
case("peek-delayed finds it", client.peek_delayed().job_id, job_id)
case("its statistics say so", client.stats_job(job_id)["state"], "delayed")

job = client.reserve_job(timeout=10)
case("it is reserved", (job.job_id, job.job_data), (job_id, b"a\r\nb\x00"))
case("not before its delay ends", time.monotonic() - start >= DELAY, True)

client.release_job(job_id, pri=3)
stats = client.stats_job(job_id)
case("a released job is ready", (stats["state"], stats["pri"]), ("ready", 3))

client.reserve_job(timeout=0)
client.bury_job(job_id)
case("peek-buried finds a buried job", client.peek_buried().job_id, job_id)
client.kick_jobs(10)
case("peek-ready finds a kicked job", client.peek_ready().job_id, job_id)

client.reserve_job(timeout=0)
client.delete_job(job_id)
case("a deleted job is gone", raises(
    pystalk.BeanstalkError, client.stats_job, job_id), True)

client.pause_tube("mail", 3600)
stats = client.stats_tube("mail")
case("the tube's statistics", (
    stats["name"], stats["total-jobs"], stats["cmd-delete"], stats["pause"]),
    ("mail", 1, 1, 3600))
case("the server's statistics", (
    client.stats()["cmd-bury"], client.stats()["current-jobs-ready"]), (1, 0))
case("the tubes", sorted(client.list_tubes()), ["default", "mail"])
client.close()
