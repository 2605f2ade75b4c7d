/*
 * servers/flood.c - put many jobs as fast as the server accepts them.
 *
 * Each connection has `pipeline` puts on their way; each reply sends one more.
 * So a server that stalls gets fewer puts, and `replies` shows the stall once
 * for each put on its way: the rate is what this measures.
 */
#include "flood.h"

#include "support.h"

enum { GRACE_SECONDS = 30 };

void flood_init(struct flood *flood, const struct options *options)
{
    *flood = (struct flood){
        .connections = options->number[CONNECTIONS],
        .pipeline = options->number[PIPELINE],
        .jobs = options->number[JOBS],
        .seconds = options->number[SECONDS],
        .delay_s = options->number[DELAY],
        .span_s = options->number[SPAN],
    };
}

static void put_next(struct flood *flood, struct connection *connection,
                     uint64_t now)
{
    if (flood->put_count >= flood->jobs || now >= flood->stop_ns)
        return;
    uint32_t index = flood->put_count++;
    struct put put = {index, flood->delay_ms(flood, index, now), now};
    connection_put(connection, &put);
}

static void handle_reply(struct connection *connection,
                         const struct answer *answer)
{
    struct flood *flood = connection->owner;
    if (answer->request.verb != VERB_PUT)
        return;
    histogram_add(&flood->replies,
                  (int64_t)(answer->received_ns - answer->request.sent_ns));
    flood->end_ns = answer->received_ns;
    put_next(flood, connection, answer->received_ns);
}

void flood_run(struct flood *flood, struct loop *loop)
{
    size_t first = loop->count;
    for (uint64_t i = 0; i < flood->connections; i++)
        connection_enter(loop_connect(loop, handle_reply, flood), flood->tube);
    loop_settle_soon(loop);

    uint64_t cpu_before = cpu_ns();
    flood->begin_ns = flood->end_ns = now_ns();
    flood->stop_ns = flood->begin_ns + flood->seconds * NS_PER_S;
    for (size_t i = first; i < loop->count; i++) {
        for (uint64_t k = 0; k < flood->pipeline; k++)
            put_next(flood, loop->list[i], now_ns());
        connection_flush(loop->list[i]);
    }
    loop_settle(loop, flood->stop_ns + GRACE_SECONDS * NS_PER_S);
    flood->cpu_ns = cpu_ns() - cpu_before;
}

void flood_report(const struct flood *flood, struct report *report)
{
    double ns = (double)(flood->end_ns - flood->begin_ns);
    report_add(report, "puts", flood->put_count);
    report_add(report, "puts_per_s",
               flood->put_count * (double)NS_PER_S / (ns > 0 ? ns : 1));
    report_add(report, "client_cpu_percent",
               100 * (double)flood->cpu_ns / (ns > 0 ? ns : 1));
}
