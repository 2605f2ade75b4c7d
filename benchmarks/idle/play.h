/*
 * idle/play.h - the load, compiled around one way.  Included at the end of the
 * way's file, which has defined WAY (its symbol), WAY_NAME, and
 *
 *     struct way;
 *     static struct way *way_open(size_t keys);
 *     static void way_close(struct way *way);
 *     static void way_touch(struct way *way, struct tkw_key key, uint64_t now);
 *     static size_t way_expire_some(struct way *way, uint64_t now);
 *     static uint64_t way_next(const struct way *way);
 *
 * way_expire_some() is one call as a user would make it; it is made again while
 * way_next() has come.
 */
#include <stdlib.h>
#include <string.h>
#include <tickwheel/key.h>

#include "bench.h"
#include "core/bench.h"
#include "core/trial.h"

/* As the parser of a packet would find it there. */
static inline struct tkw_key key_at(const struct idle_load *load, size_t at,
                                    bool is_text)
{
    return is_text ? tkw_key_bytes(load->texts[at], IDLE_TEXT_SIZE)
                   : tkw_key_number(load->order[at]);
}

static size_t expire_all(void *state, uint64_t now)
{
    struct way *way = state;
    size_t count = 0;
    do
        count += way_expire_some(way, now);
    while (way_next(way) <= now);
    return count;
}

/* Returns when to come again: within a second, since keys are added. */
static uint64_t keep_up(struct way *way, struct idle_play *play, uint64_t now)
{
    double began = trial_cpu_ns();
    play->silent += expire_all(way, now);
    uint64_t next = way_next(way);
    play->upkeep_ns += trial_cpu_ns() - began;
    play->upkeeps++;
    return next < now + TKW_SECOND ? next : now + TKW_SECOND;
}

static inline void play_keys(struct way *way, const struct idle_load *load,
                             struct idle_play *play, size_t touches,
                             bool is_text)
{
    size_t at = play->at;
    uint64_t now = play->now_ns;
    uint64_t due = now;
    for (size_t i = 0; i < touches; i++) {
        if (now >= due)
            due = keep_up(way, play, now);
        way_touch(way, key_at(load, at, is_text), now);
        at = at + 1 < load->order_count ? at + 1 : 0;
        now += load->gap_ns;
    }
    play->at = at;
    play->now_ns = now;
}

static void play_load(void *state, const struct idle_load *load,
                      struct idle_play *play, size_t touches)
{
    if (load->is_text)
        play_keys(state, load, play, touches, true);
    else
        play_keys(state, load, play, touches, false);
}

static void note_call(struct idle_calls *calls, size_t at, double took_ns)
{
    float took = (float)took_ns;
    if (at >= calls->count) {
        calls->count = at + 1;
        calls->least_ns[at] = took;
    }
    if (took < calls->least_ns[at])
        calls->least_ns[at] = took;
}

static void touch_all(struct way *way, size_t keys, uint64_t now,
                      struct idle_calls *calls)
{
    for (uint32_t id = 0; id < keys; id++) {
        double began = bench_now_ns();
        way_touch(way, tkw_key_number(id), now);
        note_call(calls, id, bench_now_ns() - began);
    }
}

/* Returns how many were silent. */
static size_t expire_timed(struct way *way, uint64_t now,
                           struct idle_calls *calls)
{
    size_t count = 0;
    size_t at = 0;
    do {
        double began = bench_now_ns();
        count += way_expire_some(way, now);
        note_call(calls, at++, bench_now_ns() - began);
    } while (way_next(way) <= now);
    return count;
}

static bool stall(void *state, size_t keys, struct idle_calls calls[CALLS])
{
    struct way *way = state;
    const uint64_t later = 10 * TKW_SECOND;
    const uint64_t limit = IDLE_LIMIT_NS + TKW_SECOND;
    touch_all(way, keys, 0, &calls[CALL_ADD]);
    touch_all(way, keys, later, &calls[CALL_TOUCH]);
    return expire_timed(way, limit, &calls[CALL_RECHECK]) == 0 &&
           expire_timed(way, later + limit, &calls[CALL_EXPIRE]) == keys;
}

static void *open_way(size_t keys)
{
    return way_open(keys);
}

static void close_way(void *state)
{
    way_close(state);
}

#define SYMBOL_OF_WAY_(way) idle_way_##way
#define SYMBOL_OF_WAY(way) SYMBOL_OF_WAY_(way)

const struct idle_way SYMBOL_OF_WAY(WAY) = {
    .name = WAY_NAME,
    .open = open_way,
    .close = close_way,
    .play = play_load,
    .expire = expire_all,
    .stall = stall,
};
