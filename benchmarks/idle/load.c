/*
 * idle/load.c - which keys are touched in which order, and what going through
 * that order costs alone.
 */
#include <stdlib.h>
#include <string.h>
#include <tickwheel/key.h>

#include "bench.h"
#include "core/bench.h"

enum { CYCLES = 2 }; /* until the order begins anew */

/*
 * Each key has a place in every cycle.  In the steady load that is always the
 * same, but that it is late by up to a ninth of a cycle, of 22.5 s that is 2.5:
 * so it is heard of every 20 to 25 s.  In the frequent one it is any place.
 */
static size_t place_of(const struct idle_load *load, uint64_t *dice,
                       size_t phase, unsigned cycle)
{
    size_t late = load->rhythm == STEADY ? load->keys / 9 : load->keys;
    size_t place = phase + (size_t)bench_below(dice, late);
    return (cycle * load->keys + place) % load->order_count;
}

/* Go through all touches: count those of each place, or with `order`, give each
 * its own, and one to the next that comes there. */
static void visit_touches(const struct idle_load *load, uint32_t *places,
                          uint32_t *order)
{
    uint64_t dice = 88172645463325252;
    for (uint32_t id = 0; id < load->keys; id++) {
        size_t phase = 0;
        if (load->rhythm == STEADY)
            phase = (size_t)bench_below(&dice, load->keys);
        for (unsigned cycle = 0; cycle < CYCLES; cycle++) {
            size_t place = place_of(load, &dice, phase, cycle);
            if (order == NULL)
                places[place + 1]++;
            else
                order[places[place]++] = id;
        }
    }
}

/* Sorted by counting: where several have one place, those behind move on by a
 * few. */
static void fill_order(const struct idle_load *load)
{
    size_t count = load->order_count;
    uint32_t *places = bench_memory((count + 1) * sizeof *places);
    visit_touches(load, places, NULL);
    for (size_t i = 0; i < count; i++)
        places[i + 1] += places[i];
    visit_touches(load, places, load->order);
    free(places);
}

static void write_text(char *text, uint32_t id)
{
    static const char blank[IDLE_TEXT_ROOM] = "user:00000000";
    memcpy(text, blank, sizeof blank);
    for (unsigned at = IDLE_TEXT_SIZE; id > 0; id /= 10)
        text[--at] = (char)('0' + id % 10);
}

struct idle_load idle_load_open(enum idle_rhythm rhythm, size_t keys)
{
    size_t count = CYCLES * keys;
    uint64_t cycle =
        rhythm == STEADY ? 22500 * TKW_MILLISECOND : 1 * TKW_SECOND;
    struct idle_load load = {
        .keys = keys,
        .rhythm = rhythm,
        .gap_ns = cycle / keys,
        .order_count = count,
    };
    load.order = bench_memory(count * sizeof *load.order);
    load.texts = bench_memory(count * sizeof *load.texts);
    fill_order(&load);
    for (size_t i = 0; i < count; i++)
        write_text(load.texts[i], load.order[i]);
    return load;
}

void idle_load_close(struct idle_load *load)
{
    free(load->order);
    free(load->texts);
}

/* A way that does nothing: what is left is the load. */

struct way {
    char nothing;
};

static struct way *way_open(size_t keys)
{
    (void)keys;
    return bench_memory(sizeof(struct way));
}

static void way_close(struct way *way)
{
    free(way);
}

static inline void way_touch(struct way *way, struct tkw_key key, uint64_t now)
{
    __asm__ volatile("" ::"r"(way), "r"(key.bytes), "r"(key.number), "r"(now)
                     : "memory");
}

static size_t way_expire_some(struct way *way, uint64_t now)
{
    (void)way;
    (void)now;
    return 0;
}

static uint64_t way_next(const struct way *way)
{
    (void)way;
    return UINT64_MAX;
}

#define WAY nothing
#define WAY_NAME "the load alone"
#include "play.h"
