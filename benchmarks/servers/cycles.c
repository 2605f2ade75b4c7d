/*
 * servers/cycles.c - put, reserve and delete, again and again.
 *
 * A connection may reserve the job of another one.  No reserve waits for long:
 * each connection puts before it reserves, so there are never more reserves
 * than jobs.
 */
#include "cycles.h"

#include <stdlib.h>

#include "support.h"
#include "workload.h"

enum { GRACE_SECONDS = 30 };

/* A connection in its cycle. */
struct cyclist {
    struct cycles *cycles;
    uint64_t put_ns; /* when the present cycle began */
};

static void begin_cycle(struct cyclist *cyclist, struct connection *connection,
                        uint64_t now)
{
    struct cycles *cycles = cyclist->cycles;
    if (cycles->put_count >= cycles->jobs || now >= cycles->stop_ns)
        return;
    cyclist->put_ns = now;
    struct put put = {.index = cycles->put_count++, .sent_ns = now};
    connection_put(connection, &put);
}

static void go_on(struct connection *connection, const struct answer *answer)
{
    struct cyclist *cyclist = connection->owner;
    struct cycles *cycles = cyclist->cycles;
    uint64_t now = answer->received_ns;
    switch (answer->request.verb) {
    case VERB_PUT:
        connection_reserve(connection, now);
        break;
    case VERB_RESERVE:
        connection_delete(connection, answer->reply.number, now);
        break;
    case VERB_DELETE:
        histogram_add(&cycles->times, (int64_t)(now - cyclist->put_ns));
        cycles->done_count++;
        cycles->end_ns = now;
        begin_cycle(cyclist, connection, now);
        break;
    default:
        break;
    }
}

static void enter_all(struct loop *loop, struct cyclist *cyclists, size_t count)
{
    char tube[TUBE_NAME_MAX];
    workload_tube(tube, "cycles");
    for (size_t i = 0; i < count; i++)
        connection_enter(loop_connect(loop, go_on, &cyclists[i]), tube);
    loop_settle_soon(loop);
}

void cycles_run(struct cycles *cycles, const struct address *address,
                size_t body_size)
{
    size_t count = cycles->connections;
    struct cyclist *cyclists = must_allocate(count, sizeof *cyclists);
    struct loop loop;
    loop_open(&loop, address, body_size);
    enter_all(&loop, cyclists, count);

    uint64_t cpu_before = cpu_ns();
    cycles->begin_ns = cycles->end_ns = now_ns();
    cycles->stop_ns = cycles->begin_ns + cycles->seconds * NS_PER_S;
    for (size_t i = 0; i < count; i++) {
        cyclists[i].cycles = cycles;
        begin_cycle(&cyclists[i], loop.list[i], now_ns());
        connection_flush(loop.list[i]);
    }
    loop_settle(&loop, cycles->stop_ns + GRACE_SECONDS * NS_PER_S);
    cycles->cpu_ns = cpu_ns() - cpu_before;
    loop_close(&loop);
    free(cyclists);
}

static void run_cycles(const struct options *options, struct report *report)
{
    struct cycles cycles = {.connections = options->number[CONNECTIONS],
                            .jobs = options->number[JOBS],
                            .seconds = options->number[SECONDS]};
    cycles_run(&cycles, &options->address, options->number[BODY]);
    double ns = (double)(cycles.end_ns - cycles.begin_ns);
    report_add(report, "cycles", cycles.done_count);
    report_add(report, "cycles_per_s",
               cycles.done_count * (double)NS_PER_S / (ns > 0 ? ns : 1));
    report_add(report, "client_cpu_percent",
               100 * (double)cycles.cpu_ns / (ns > 0 ? ns : 1));
    report_times(report, "cycle", &cycles.times);
}

const struct workload cycles_workload = {
    .name = "cycles",
    .takes = TAKES(CONNECTIONS) | TAKES(BODY) | TAKES(JOBS) | TAKES(SECONDS),
    .defaults =
        {[CONNECTIONS] = 10, [BODY] = 100, [JOBS] = 1000000, [SECONDS] = 5},
    .run = run_cycles,
};
