/*
 * servers/bystander.c - clients of other tubes.
 *
 * The schedule is one for all: number k of it belongs to bystander k modulo
 * `count`, and is a put and a command.
 */
#include "bystander.h"

#include <stdlib.h>

#include "support.h"
#include "workload.h"

#define PERIOD_NS (20 * (uint64_t)NS_PER_MS) /* of each bystander */

enum { JOB_DELAY_MS = 1000 }; /* the shortest that every server accepts */

struct bystander {
    char tube[TUBE_NAME_MAX];
    struct connection *producer;
    struct connection *worker;
    struct connection *reader;
};

/*
 * Returns whether the time from `from_ns` until `until_ns` overlaps `phase`.  A
 * reply that the crowd delays belongs to the crowd, although its command was
 * sent before.
 */
static bool overlaps(const struct bystanders *bystanders, unsigned phase,
                     uint64_t from_ns, uint64_t until_ns)
{
    if (until_ns < bystanders->due_ns)
        return phase == PHASE_QUIET;
    if (phase == PHASE_DUE)
        return from_ns < bystanders->due_ns + NS_PER_S;
    return phase == PHASE_CROWD &&
           (bystanders->drained_ns == 0 || from_ns < bystanders->drained_ns);
}

static void handle_inserted(struct connection *connection,
                            const struct answer *answer)
{
    struct bystanders *bystanders = connection->owner;
    const struct request *request = &answer->request;
    if (request->verb != VERB_PUT)
        return;
    uint64_t now = answer->received_ns;
    lateness_inserted(&bystanders->lateness, request->index, now);
    for (unsigned i = 0; i < PHASES; i++)
        if (overlaps(bystanders, i, request->sent_ns, now))
            histogram_add(&bystanders->phases[i].puts,
                          (int64_t)(now - request->sent_ns));
}

static void handle_job(struct connection *connection,
                       const struct answer *answer)
{
    struct bystanders *bystanders = connection->owner;
    uint64_t now = answer->received_ns;
    if (answer->request.verb == VERB_DELETE)
        bystanders->deleted_count++;
    if (answer->request.verb != VERB_RESERVE)
        return;
    struct late late = lateness_received(&bystanders->lateness,
                                         connection_index(&answer->reply), now);
    for (unsigned i = 0; i < PHASES; i++)
        if (overlaps(bystanders, i, late.due_ns, now))
            late_summary_add(&bystanders->phases[i].late, &late);
    connection_delete(connection, answer->reply.number, now);
    connection_reserve(connection, now);
}

static void handle_command(struct connection *connection,
                           const struct answer *answer)
{
    struct bystanders *bystanders = connection->owner;
    const struct request *request = &answer->request;
    if (request->verb != VERB_LIST_TUBE_USED &&
        request->verb != VERB_PEEK_DELAYED && request->verb != VERB_STATS_TUBE)
        return;
    bystanders->answered_count++;
    uint64_t now = answer->received_ns;
    for (unsigned i = 0; i < PHASES; i++)
        if (overlaps(bystanders, i, request->sent_ns, now))
            histogram_add(&bystanders->phases[i].commands,
                          (int64_t)(now - request->sent_ns));
}

void bystanders_open(struct bystanders *bystanders, struct loop *loop,
                     uint64_t count)
{
    bystanders->count = count;
    bystanders->each = must_allocate(count, sizeof *bystanders->each);
    for (uint64_t i = 0; i < count; i++) {
        struct bystander *one = &bystanders->each[i];
        workload_tube(one->tube, "bystander");
        one->producer = loop_connect(loop, handle_inserted, bystanders);
        one->worker = loop_connect(loop, handle_job, bystanders);
        one->reader = loop_connect(loop, handle_command, bystanders);
        connection_enter(one->producer, one->tube);
        connection_enter(one->worker, one->tube);
        connection_enter(one->reader, one->tube);
    }
    loop_settle_soon(loop);
}

void bystanders_close(struct bystanders *bystanders)
{
    free(bystanders->each);
    lateness_close(&bystanders->lateness);
}

void bystanders_expect_crowd(struct bystanders *bystanders, uint64_t due_ns)
{
    bystanders->begin_ns = now_ns();
    bystanders->due_ns = due_ns;
    for (uint64_t i = 0; i < bystanders->count; i++) {
        struct connection *worker = bystanders->each[i].worker;
        connection_reserve(worker, bystanders->begin_ns);
        connection_flush(worker);
    }
}

void bystanders_stop(struct bystanders *bystanders, uint64_t drained_ns)
{
    bystanders->drained_ns = drained_ns;
}

static void send_put(struct bystanders *bystanders, struct bystander *one,
                     uint32_t k, uint64_t now)
{
    struct put put = {k, JOB_DELAY_MS, now};
    lateness_sent(&bystanders->lateness, k, JOB_DELAY_MS, now);
    connection_put(one->producer, &put);
    connection_flush(one->producer);
}

static void send_command(struct bystander *one, uint64_t round, uint64_t now)
{
    static const enum verb verbs[] = {VERB_LIST_TUBE_USED, VERB_PEEK_DELAYED,
                                      VERB_STATS_TUBE};
    enum verb verb = verbs[round % (sizeof verbs / sizeof *verbs)];
    connection_line(one->reader, verb,
                    verb == VERB_STATS_TUBE ? one->tube : NULL, now);
    connection_flush(one->reader);
}

uint64_t bystanders_send_due(struct bystanders *bystanders, uint64_t limit_ns)
{
    uint64_t step = PERIOD_NS / bystanders->count;
    if (bystanders->drained_ns != 0)
        return limit_ns;
    for (;;) {
        uint32_t k = bystanders->sent_count;
        uint64_t now = now_ns();
        uint64_t next = bystanders->begin_ns + k * step;
        if (next > now)
            return next < limit_ns ? next : limit_ns;
        struct bystander *one = &bystanders->each[k % bystanders->count];
        send_put(bystanders, one, k, now);
        send_command(one, k / bystanders->count, now);
        bystanders->sent_count++;
    }
}

bool bystanders_are_done(const struct bystanders *bystanders)
{
    return bystanders->drained_ns != 0 &&
           bystanders->deleted_count == bystanders->sent_count &&
           bystanders->answered_count == bystanders->sent_count;
}

void bystanders_report(const struct bystanders *bystanders,
                       struct report *report)
{
    static const char *const names[PHASES][3] = {
        [PHASE_QUIET] = {"quiet_late", "quiet_put", "quiet_command"},
        [PHASE_DUE] = {"due_late", "due_put", "due_command"},
        [PHASE_CROWD] = {"late", "put", "command"},
    };
    for (unsigned i = 0; i < PHASES; i++) {
        const struct experience *phase = &bystanders->phases[i];
        late_summary_report(&phase->late, names[i][0], report);
        report_times(report, names[i][1], &phase->puts);
        report_times(report, names[i][2], &phase->commands);
    }
}
