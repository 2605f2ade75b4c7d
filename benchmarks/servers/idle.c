/*
 * servers/idle.c - many connections that send nothing: the memory that the
 * server needs for each, and whether they slow down another client.
 *
 * The other client runs cycles on one connection, before and while the silent
 * connections are open.
 *
 * A server with one listening socket accepts connections in the order in which
 * they were opened.  So the first reply to a connection that is opened after
 * the silent ones proves that the server has accepted all of them.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cycles.h"
#include "loop.h"
#include "support.h"
#include "workload.h"

/* Files that this program opens besides the silent connections. */
enum { FILES_SPARE = 32, ACCEPT_SECONDS = 10 };

static void require_files(uint64_t count)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur < count + FILES_SPARE)
        fail("%llu connections need a higher limit of open files: "
             "ulimit -n is %llu",
             (unsigned long long)count, (unsigned long long)limit.rlim_cur);
}

/* Waits until a new connection gets a reply: then the server has accepted all
 * connections that were opened before. */
static void await_acceptance(const struct options *options)
{
    struct loop loop;
    loop_open(&loop, &options->address, options->number[BODY]);
    struct connection *last = loop_connect(&loop, NULL, NULL);
    uint64_t begin = now_ns();
    connection_line(last, VERB_LIST_TUBE_USED, NULL, begin);
    connection_flush(last);
    uint64_t limit = begin + ACCEPT_SECONDS * NS_PER_S;
    while (loop.pending_count > 0) {
        if (now_ns() >= limit)
            fail("the server at %s does not answer behind %llu silent "
                 "connections: is its limit of open files too low?",
                 options->address.text,
                 (unsigned long long)options->number[CONNECTIONS]);
        loop_pass(&loop, limit);
    }
    loop_close(&loop);
}

/* Fails if the server has closed one of the connections. */
static void require_open(const int *fds, uint64_t count)
{
    struct pollfd *polls = must_allocate(count, sizeof *polls);
    for (uint64_t i = 0; i < count; i++)
        polls[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    int ready = poll(polls, count, 0);
    free(polls);
    if (ready < 0)
        fail("cannot poll %llu connections", (unsigned long long)count);
    if (ready > 0)
        fail("the server closed %d of %llu silent connections", ready,
             (unsigned long long)count);
}

static void probe(const struct options *options, struct report *report,
                  const char *name)
{
    struct cycles cycles = {.connections = 1,
                            .jobs = UINT32_MAX,
                            .seconds = options->number[SECONDS]};
    cycles_run(&cycles, &options->address, options->number[BODY]);
    report_times(report, name, &cycles.times);
}

static void run_idle(const struct options *options, struct report *report)
{
    uint64_t count = options->number[CONNECTIONS];
    uint64_t pid = options->number[PID];
    require_files(count);
    int *fds = must_allocate(count, sizeof *fds);

    probe(options, report, "alone_cycle");
    uint64_t before = pid == 0 ? 0 : resident_bytes(pid);
    uint64_t begin = now_ns();
    for (uint64_t i = 0; i < count; i++)
        fds[i] = address_connect(&options->address);
    await_acceptance(options);
    uint64_t end = now_ns();
    probe(options, report, "crowded_cycle");
    uint64_t after = pid == 0 ? 0 : resident_bytes(pid);
    require_open(fds, count);
    for (uint64_t i = 0; i < count; i++)
        close(fds[i]);
    free(fds);

    report_add(report, "connections", (double)count);
    report_add(report, "connect_seconds",
               (double)(end - begin) / (double)NS_PER_S);
    if (pid == 0)
        return;
    report_add(report, "rss_before_kib", (double)before / 1024);
    report_add(report, "rss_after_kib", (double)after / 1024);
    report_add(report, "rss_per_connection_bytes",
               ((double)after - (double)before) / (double)count);
}

const struct workload idle_workload = {
    .name = "idle",
    .takes = TAKES(CONNECTIONS) | TAKES(BODY) | TAKES(SECONDS) | TAKES(PID),
    .defaults = {[CONNECTIONS] = 10000, [BODY] = 100, [SECONDS] = 2},
    .run = run_idle,
};
