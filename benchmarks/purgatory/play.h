/*
 * purgatory/play.h - the load, compiled around one way.  Included at the end of
 * the way's file, which has defined WAY (its symbol), WAY_NAME, and
 *
 *     struct way;
 *     static struct way *way_open(const struct purgatory_setting *setting);
 *     static void way_close(struct way *way, uint64_t made,
 *                           uint64_t completed);
 *     static void way_report_bytes(struct way *way,
 *                                struct purgatory_bytes *bytes);
 *     static struct request *way_make(void);   allocated, zeroed
 *     static bool way_watch(struct way *way, struct request *request);
 *     static size_t way_check(struct way *way, uint64_t key);
 *
 * way_watch() says whether the request was completed at once; way_check() how
 * many were.  is_met(), which comes before all of that, is in
 * purgatory_request.h.
 */
#include "bench.h"
#include "core/bench.h"
#include "core/trial.h"

static uint64_t shared_key(struct purgatory_lane *lane, unsigned kind)
{
    return kind * PURGATORY_KEYS + bench_below(&lane->dice, PURGATORY_KEYS);
}

static struct request *make_request(struct purgatory_lane *lane)
{
    struct request *request = way_make();
    for (unsigned i = 0; i < 2; i++) {
        if (lane->load == UNIQUE) {
            request->keys[i] = lane->next_key++;
            continue;
        }
        uint64_t key = shared_key(lane, i);
        request->keys[i] = key;
        request->seen[i] = lane->events->counts[key];
    }
    request->events = lane->load == SHARED ? lane->events : NULL;
    return request;
}

/* Have so many more wait. */
static void add_requests(struct way *way, struct purgatory_lane *lane,
                         size_t count)
{
    while (count > 0) {
        struct request *request = make_request(lane);
        if (lane->load == UNIQUE)
            lane->ring[lane->at] = request;
        lane->made++;
        if (way_watch(way, request))
            lane->completed++; /* something happened just now */
        else
            count--;
    }
}

static void fill_lane(void *state, struct purgatory_lane *lane)
{
    for (lane->at = 0; lane->at < lane->outstanding; lane->at++)
        add_requests(state, lane, 1);
    lane->at = 0;
}

static void step_unique(struct way *way, struct purgatory_lane *lane)
{
    struct request *oldest = lane->ring[lane->at];
    uint64_t key = oldest->keys[lane->at % 2];
    oldest->is_met = true;
    trial_must(way_check(way, key) == 1, "a check did not complete its own");
    lane->completed++;
    add_requests(way, lane, 1);
    lane->at = lane->at + 1 < lane->outstanding ? lane->at + 1 : 0;
}

static void step_shared(struct way *way, struct purgatory_lane *lane)
{
    uint64_t key = shared_key(lane, lane->at++ % 2);
    lane->events->counts[key]++;
    size_t count = way_check(way, key);
    lane->completed += count;
    add_requests(way, lane, count);
}

static void step_lane(void *state, struct purgatory_lane *lane, unsigned steps)
{
    while (steps-- > 0) {
        if (lane->load == UNIQUE)
            step_unique(state, lane);
        else
            step_shared(state, lane);
    }
}

static void *open_way(const struct purgatory_setting *setting)
{
    return way_open(setting);
}

static void close_way(void *state, uint64_t made, uint64_t completed)
{
    way_close(state, made, completed);
}

static void report_bytes(void *state, struct purgatory_bytes *bytes)
{
    way_report_bytes(state, bytes);
}

#define SYMBOL_OF_WAY_(way) purgatory_way_##way
#define SYMBOL_OF_WAY(way) SYMBOL_OF_WAY_(way)

const struct purgatory_way SYMBOL_OF_WAY(WAY) = {
    .name = WAY_NAME,
    .open = open_way,
    .fill = fill_lane,
    .step = step_lane,
    .report_bytes = report_bytes,
    .close = close_way,
};
