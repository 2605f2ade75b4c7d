/*
 * servers/crowd.c - many jobs that come due within one second, and how that
 * delays the clients of other tubes.
 *
 *     put the crowd          quiet              the crowd is drained
 *     |---------------------|------------------|================|-----|
 *     begin            bystanders begin       due              end
 *     |----------------- --delay --------------|
 *
 * Every server accepts whole seconds.  A job that is put at time t gets the
 * delay due - t, rounded up to whole seconds.  It comes due at most one second
 * after `due`, and jobs that are put evenly come due evenly.
 *
 * The connections that put the crowd then drain it, each by a waiting reserve.
 * After a job a worker sends
 *
 *     delete, reserve                    with a single send(); or
 *     delete-batch, reserve-batch        with --batch
 *
 * reserve-batch never waits.  A worker that gets an empty batch sends a waiting
 * reserve again.
 */
#include <stdlib.h>

#include "bystander.h"
#include "flood.h"
#include "lateness.h"
#include "loop.h"
#include "support.h"
#include "workload.h"

/* From the last put until the crowd comes due: a second until the first job of
 * a bystander is due, and time to measure without a crowd. */
enum { QUIET_SECONDS = 3 };

struct crowd {
    const struct options *options;
    struct worker *workers; /* one for each connection of the flood */
    struct flood flood;
    struct bystanders bystanders;
    struct lateness lateness; /* of the crowd */
    struct histogram late;    /* upper bounds */
    uint64_t due_ns;
    uint64_t end_ns; /* when the last job was deleted */
    uint32_t deleted_count;
    uint64_t cpu_before_ns; /* when the first job arrived */
    uint64_t cpu_ns;        /* processor time of this client since then */
    uint64_t first_ns;      /* when the first job arrived */
};

struct worker {
    struct crowd *crowd;
    struct buffer ids; /* of the batch that is being received */
};

static uint32_t delay_until_due(struct flood *flood, uint32_t index,
                                uint64_t now)
{
    struct crowd *crowd = flood->owner;
    uint64_t due = flood->begin_ns + flood->delay_s * NS_PER_S;
    uint64_t left_s = due > now ? (due - now + NS_PER_S - 1) / NS_PER_S : 0;
    uint32_t delay_ms = (uint32_t)(left_s * MS_PER_S);
    lateness_sent(&crowd->lateness, index, delay_ms, now);
    return delay_ms;
}

static void require_quiet(const struct crowd *crowd)
{
    const struct flood *flood = &crowd->flood;
    if (flood->put_count < flood->jobs)
        fail("%u of %llu jobs were put within --delay %llu: give a longer "
             "delay or fewer jobs",
             flood->put_count, (unsigned long long)flood->jobs,
             (unsigned long long)flood->delay_s);
    uint64_t took_s = (flood->end_ns - flood->begin_ns) / NS_PER_S + 1;
    unsigned long long least_s = took_s + QUIET_SECONDS;
    if (least_s > flood->delay_s)
        fail("the puts took %llu s: give --delay %llu or more",
             (unsigned long long)took_s, least_s);
}

static void put_crowd(struct crowd *crowd, struct loop *loop)
{
    char tube[TUBE_NAME_MAX];
    workload_tube(tube, "crowd");
    flood_init(&crowd->flood, crowd->options);
    crowd->flood.seconds = crowd->flood.delay_s;
    crowd->flood.tube = tube;
    crowd->flood.delay_ms = delay_until_due;
    crowd->flood.owner = crowd;
    flood_run(&crowd->flood, loop);
    require_quiet(crowd);
    crowd->due_ns = crowd->flood.begin_ns + crowd->flood.delay_s * NS_PER_S;
}

static void count_deleted(struct crowd *crowd, uint32_t count, uint64_t now)
{
    crowd->deleted_count += count;
    if (crowd->deleted_count < crowd->flood.put_count)
        return;
    crowd->end_ns = now;
    crowd->cpu_ns = cpu_ns() - crowd->cpu_before_ns;
    bystanders_stop(&crowd->bystanders, now);
}

static void note_arrival(struct crowd *crowd, const struct answer *answer)
{
    if (crowd->first_ns == 0) {
        crowd->first_ns = answer->received_ns;
        crowd->cpu_before_ns = cpu_ns();
    }
    struct late late =
        lateness_received(&crowd->lateness, connection_index(&answer->reply),
                          answer->received_ns);
    histogram_add(&crowd->late, late.most_ns);
}

static void reserve_next(struct crowd *crowd, struct connection *connection,
                         uint64_t now)
{
    uint64_t batch = crowd->options->number[BATCH];
    if (batch == 0)
        connection_reserve(connection, now);
    else
        connection_reserve_batch(connection, batch, now);
}

/* Adds a job of a batch to `worker->ids`, and deletes them after the last. */
static void take_from_batch(struct worker *worker,
                            struct connection *connection,
                            const struct answer *answer)
{
    note_arrival(worker->crowd, answer);
    if (buffer_count(&worker->ids) > 0)
        buffer_append_text(&worker->ids, " ");
    buffer_append_number(&worker->ids, answer->reply.number);
    if (answer->batch_left > 0)
        return;
    connection_delete_batch(connection, &worker->ids, answer->received_ns);
    buffer_drop(&worker->ids, buffer_count(&worker->ids));
    reserve_next(worker->crowd, connection, answer->received_ns);
}

static void handle_worker(struct connection *connection,
                          const struct answer *answer)
{
    struct worker *worker = connection->owner;
    struct crowd *crowd = worker->crowd;
    uint64_t now = answer->received_ns;
    switch (answer->request.verb) {
    case VERB_RESERVE:
        note_arrival(crowd, answer);
        connection_delete(connection, answer->reply.number, now);
        reserve_next(crowd, connection, now);
        break;
    case VERB_RESERVE_BATCH:
        if (answer->reply.word == REPLY_RESERVED)
            take_from_batch(worker, connection, answer);
        else if (answer->batch_left == 0)
            connection_reserve(connection, now);
        break;
    case VERB_DELETE:
        count_deleted(crowd, 1, now);
        break;
    case VERB_DELETE_BATCH:
        count_deleted(crowd, (uint32_t)answer->reply.number, now);
        break;
    default:
        break;
    }
}

/* Makes workers of the connections that put the crowd, which are the first of
 * the loop. */
static void start_workers(struct crowd *crowd, struct loop *loop)
{
    uint64_t count = crowd->flood.connections;
    crowd->workers = must_allocate(count, sizeof *crowd->workers);
    for (uint64_t i = 0; i < count; i++) {
        struct connection *connection = loop->list[i];
        crowd->workers[i].crowd = crowd;
        connection->owner = &crowd->workers[i];
        connection->handle = handle_worker;
        connection_reserve(connection, now_ns());
        connection_flush(connection);
    }
}

static void drain(struct crowd *crowd, struct loop *loop)
{
    uint64_t seconds = crowd->options->number[SECONDS];
    uint64_t limit = crowd->flood.begin_ns + seconds * NS_PER_S;
    bystanders_expect_crowd(&crowd->bystanders, crowd->due_ns);
    loop->pass_ns_max = 0;
    while (!bystanders_are_done(&crowd->bystanders)) {
        if (now_ns() >= limit)
            fail("%u of %u jobs were deleted within --seconds %llu, and %u of "
                 "%u of the bystanders",
                 crowd->deleted_count, crowd->flood.put_count,
                 (unsigned long long)seconds, crowd->bystanders.deleted_count,
                 crowd->bystanders.sent_count);
        loop_pass(loop, bystanders_send_due(&crowd->bystanders, limit));
    }
}

static void report_crowd(const struct crowd *crowd, const struct loop *loop,
                         struct report *report)
{
    double drained_ns = (double)(crowd->end_ns - crowd->due_ns);
    double busy_ns = (double)(crowd->end_ns - crowd->first_ns);
    double put_ns = (double)(crowd->flood.end_ns - crowd->flood.begin_ns);
    report_add(report, "jobs", crowd->deleted_count);
    report_add(report, "put_seconds", put_ns / (double)NS_PER_S);
    report_add(report, "drain_seconds", drained_ns / (double)NS_PER_S);
    report_add(report, "drained_per_s",
               crowd->deleted_count * (double)NS_PER_S / drained_ns);
    report_add(report, "client_cpu_percent",
               100 * (double)crowd->cpu_ns / (busy_ns > 0 ? busy_ns : 1));
    report_add(report, "client_pass_max_us",
               (double)loop->pass_ns_max / NS_PER_US);
    report_add(report, "crowd_earliest_us",
               (double)crowd->late.least / NS_PER_US);
    bystanders_report(&crowd->bystanders, report);
}

static void run_crowd(const struct options *options, struct report *report)
{
    struct crowd *crowd = must_allocate(1, sizeof *crowd);
    crowd->options = options;
    struct loop loop;
    loop_open(&loop, &options->address, options->number[BODY]);
    put_crowd(crowd, &loop);
    bystanders_open(&crowd->bystanders, &loop, options->number[BYSTANDERS]);
    start_workers(crowd, &loop);
    drain(crowd, &loop);
    report_crowd(crowd, &loop, report);

    loop_close(&loop);
    for (uint64_t i = 0; i < crowd->flood.connections; i++)
        buffer_close(&crowd->workers[i].ids);
    free(crowd->workers);
    bystanders_close(&crowd->bystanders);
    lateness_close(&crowd->lateness);
    free(crowd);
}

const struct workload crowd_workload = {
    .name = "crowd",
    .takes = TAKES(CONNECTIONS) | TAKES(PIPELINE) | TAKES(BODY) | TAKES(JOBS) |
             TAKES(SECONDS) | TAKES(DELAY) | TAKES(BATCH) | TAKES(BYSTANDERS),
    .defaults = {[CONNECTIONS] = 16,
                 [PIPELINE] = 64,
                 [BODY] = 100,
                 [JOBS] = 1000000,
                 [SECONDS] = 600,
                 [DELAY] = 60,
                 [BYSTANDERS] = 10},
    .delay_min = 1 + QUIET_SECONDS,
    .run = run_crowd,
};
