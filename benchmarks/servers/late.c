/*
 * servers/late.c - how late jobs arrive at workers that wait for them.
 *
 * One connection puts the jobs, workers on other connections receive them by
 * waiting reserves.  lateness.h says how lateness is measured.
 *
 * The puts are spread evenly over one second.  Job k of n is put at k / n of
 * that second; its delay is --delay and
 *
 *     k mod span seconds                 so a server that reads whole seconds
 *                                        gets due times that are spread evenly
 *                                        over `span` seconds
 *     k / n * span, in milliseconds      with --fractions
 *
 * A server that is too slow for this gets the puts later, and comes due later;
 * the report says how long the puts took.
 */
#include <stdlib.h>

#include "lateness.h"
#include "loop.h"
#include "support.h"
#include "workload.h"

#define PUTTING_NS NS_PER_S

struct late_run {
    const struct options *options;
    struct connection *producer;
    uint32_t jobs;
    uint32_t sent_count;
    uint32_t inserted_count;
    uint32_t deleted_count;
    uint64_t begin_ns;
    uint64_t put_end_ns; /* of the last INSERTED reply */
    struct lateness lateness;
    struct late_summary summary;
    struct histogram replies; /* of the puts */
};

static void handle_inserted(struct connection *connection,
                            const struct answer *answer)
{
    struct late_run *run = connection->owner;
    if (answer->request.verb != VERB_PUT)
        return;
    lateness_inserted(&run->lateness, answer->request.index,
                      answer->received_ns);
    histogram_add(&run->replies,
                  (int64_t)(answer->received_ns - answer->request.sent_ns));
    run->inserted_count++;
    run->put_end_ns = answer->received_ns;
}

/* A worker deletes a job and reserves the next one with a single send(). */
static void handle_job(struct connection *connection,
                       const struct answer *answer)
{
    struct late_run *run = connection->owner;
    if (answer->request.verb == VERB_DELETE)
        run->deleted_count++;
    if (answer->request.verb != VERB_RESERVE)
        return;
    struct late late = lateness_received(
        &run->lateness, connection_index(&answer->reply), answer->received_ns);
    late_summary_add(&run->summary, &late);
    connection_delete(connection, answer->reply.number, answer->received_ns);
    connection_reserve(connection, answer->received_ns);
}

static uint64_t put_time_ns(const struct late_run *run, uint32_t index)
{
    return run->begin_ns + index * PUTTING_NS / run->jobs;
}

static uint32_t delay_of(const struct late_run *run, uint32_t index)
{
    uint64_t span = run->options->number[SPAN];
    uint64_t offset_ms = run->options->number[FRACTIONS]
                             ? index * span * MS_PER_S / run->jobs
                             : index % span * MS_PER_S;
    return (uint32_t)(run->options->number[DELAY] * MS_PER_S + offset_ms);
}

/* Puts the jobs whose time has come, as far as --pipeline permits.  Returns the
 * time of the next put, or `limit_ns` if replies must come first. */
static uint64_t put_due(struct late_run *run, uint64_t limit_ns)
{
    uint64_t pipeline = run->options->number[PIPELINE];
    uint64_t next = limit_ns;
    while (run->sent_count < run->jobs &&
           run->sent_count - run->inserted_count < pipeline) {
        uint64_t now = now_ns();
        next = put_time_ns(run, run->sent_count);
        if (next > now)
            break;
        struct put put = {run->sent_count, delay_of(run, run->sent_count), now};
        lateness_sent(&run->lateness, put.index, put.delay_ms, now);
        connection_put(run->producer, &put);
        connection_flush(run->producer);
        run->sent_count++;
        next = limit_ns;
    }
    return next;
}

static void put_and_receive(struct late_run *run, struct loop *loop)
{
    run->begin_ns = now_ns();
    uint64_t limit = run->begin_ns + run->options->number[SECONDS] * NS_PER_S;
    while (run->deleted_count < run->jobs) {
        if (now_ns() >= limit)
            fail("%u of %u jobs were received and deleted within --seconds %u",
                 run->deleted_count, run->jobs,
                 (unsigned)run->options->number[SECONDS]);
        loop_pass(loop, put_due(run, limit));
    }
}

static void open_all(struct late_run *run, struct loop *loop)
{
    char tube[TUBE_NAME_MAX];
    workload_tube(tube, "late");
    run->producer = loop_connect(loop, handle_inserted, run);
    connection_enter(run->producer, tube);
    for (uint64_t i = 0; i < run->options->number[CONNECTIONS]; i++)
        connection_enter(loop_connect(loop, handle_job, run), tube);
    loop_settle_soon(loop);
    for (size_t i = 1; i < loop->count; i++) {
        connection_reserve(loop->list[i], now_ns());
        connection_flush(loop->list[i]);
    }
}

static void run_late(const struct options *options, struct report *report)
{
    struct late_run *run = must_allocate(1, sizeof *run);
    run->options = options;
    run->jobs = (uint32_t)options->number[JOBS];
    struct loop loop;
    loop_open(&loop, &options->address, options->number[BODY]);
    open_all(run, &loop);
    put_and_receive(run, &loop);

    report_add(report, "jobs", run->jobs);
    report_add(report, "put_seconds",
               (double)(run->put_end_ns - run->begin_ns) / (double)NS_PER_S);
    late_summary_report(&run->summary, "late", report);
    report_times_briefly(report, "put_reply", &run->replies);
    report_add(report, "client_pass_max_us",
               (double)loop.pass_ns_max / NS_PER_US);
    loop_close(&loop);
    lateness_close(&run->lateness);
    free(run);
}

const struct workload late_workload = {
    .name = "late",
    .takes = TAKES(CONNECTIONS) | TAKES(PIPELINE) | TAKES(BODY) | TAKES(JOBS) |
             TAKES(SECONDS) | TAKES(DELAY) | TAKES(SPAN) | TAKES(FRACTIONS),
    .defaults = {[CONNECTIONS] = 16,
                 [PIPELINE] = 16,
                 [BODY] = 100,
                 [JOBS] = 10000,
                 [SECONDS] = 120,
                 [DELAY] = 3,
                 [SPAN] = 5},
    .run = run_late,
};
