/*
 * toy.c - which memory makes up the state, and how far time matters.
 */
#include "toy.h"

#include <string.h>

/* As in model/engine_wheel.c, whose operations are the ones used. */
struct wheel_engine {
    struct tkw_wheel *wheel;
    size_t timer_count;
    struct tkw_timer timers[];
};

/*
 * With TKW_ROUNDS a turn of the last level, and one tick more; growing, the
 * same of the first level that is not given.
 */
static tkw_tick find_reach(const struct tkw_geometry *geometry)
{
    tkw_tick span = 1;
    uint32_t last = 1;

    for (size_t i = 0; i < TKW_SIZES_MAX && geometry->sizes[i] != 0; i++) {
        last = geometry->sizes[i];
        if (span > TOY_REACH_MAX)
            return span;
        span *= last;
    }
    return (geometry->beyond == TKW_ROUNDS ? span : span * last) + 1;
}

/*
 * Adding a whole turn of a level to all times moves its hand, and the hands of
 * the levels below, back to the slot where they were.  So with TKW_ROUNDS a
 * turn of the last level changes nothing.  Growing, nothing is ever filed
 * above the first level whose slots are as long as the reach, because what is
 * armed lies in its present slot or the next: a turn of that level will do.
 */
static tkw_tick find_period(const struct ladder *ladder, tkw_tick reach)
{
    uint32_t level = 0;

    if (ladder->is_rounds)
        return ladder_turn(ladder);
    while (ladder->ticks[level] < reach)
        level++;
    return ladder->ticks[level] * ladder->sizes[level];
}

const char *toy_fault(const struct toy_config *config)
{
    const char *fault = tkw_geometry_fault(&config->geometry);

    if (fault != NULL)
        return fault;
    if (config->geometry.sizes[0] == 0)
        return "no sizes";
    if (find_reach(&config->geometry) > TOY_REACH_MAX)
        return "not a toy: the levels reach too far";
    if (config->timer_count < 1 || config->timer_count > TOY_TIMERS_MAX)
        return "not a toy: 1 to 6 timers";
    return NULL;
}

static void add_region(struct toy *toy, void *at, size_t bytes)
{
    toy->regions[toy->region_count++] = (struct toy_region){at, bytes};
    toy->bytes += bytes;
}

bool toy_open(struct toy *toy, const struct toy_config *config)
{
    struct judge *judge = &toy->judge;
    size_t count = config->timer_count;
    struct world world = {.geometry = config->geometry, .timer_count = count};
    struct ladder ladder;

    *toy = (struct toy){.config = *config};
    ladder_init(&ladder, &config->geometry);
    toy->reach = find_reach(&config->geometry);
    toy->period = find_period(&ladder, toy->reach);
    world.start = toy->period; /* not 0, so that there is a past */
    if (!judge_open(judge, &engine_wheel, &world, 1))
        return false;

    struct wheel_engine *engine = judge->self;
    struct oracle *oracle = &judge->oracle;
    toy->wheel = engine->wheel;
    toy->timers = engine->timers;
    add_region(toy, judge, sizeof *judge);
    add_region(toy, toy->wheel, tkw_wheel_bytes(&config->geometry));
    add_region(toy, toy->timers, count * sizeof toy->timers[0]);
    add_region(toy, oracle->timers, count * sizeof oracle->timers[0]);
    add_region(toy, oracle->pending, count * sizeof oracle->pending[0]);
    add_region(toy, oracle->ready, 2 * count * sizeof oracle->ready[0]);
    add_region(toy, judge->ledger.filings,
               count * sizeof judge->ledger.filings[0]);
    return true;
}

void toy_close(struct toy *toy)
{
    judge_close(&toy->judge);
}

void toy_save(const struct toy *toy, void *memory)
{
    char *to = memory;

    for (size_t i = 0; i < toy->region_count; i++) {
        memcpy(to, toy->regions[i].at, toy->regions[i].bytes);
        to += toy->regions[i].bytes;
    }
}

void toy_restore(struct toy *toy, const void *memory)
{
    const char *from = memory;

    for (size_t i = 0; i < toy->region_count; i++) {
        memcpy(toy->regions[i].at, from, toy->regions[i].bytes);
        from += toy->regions[i].bytes;
    }
}

static size_t number(const struct toy *toy, const struct tkw_link *link)
{
    return (size_t)(TKW_CONTAINER(link, const struct tkw_timer, link) -
                    toy->timers);
}

/*
 * What was armed, or postponed, for the very tick under way costs the advance
 * nothing; what was filed meanwhile was filed from that tick.
 */
static void correct_filings(struct toy *toy)
{
    struct filing *filings = toy->judge.ledger.filings;
    const struct tkw_wheel *wheel = toy->wheel;

    for (const struct tkw_link *link = wheel->late.next; link != &wheel->late;
         link = link->next)
        filings[number(toy, link)].is_late = true;
    for (uint32_t id = 0; id < toy->config.timer_count; id++) {
        if (!filings[id].is_late || filings[id].deadline <= wheel->dial.now)
            continue;
        filings[id].at = wheel->dial.now;
        filings[id].is_late = false;
    }
}

/*
 * The wheel does not remember what tick it was to advance to, so an advance
 * that stopped and has since got to the end of a tick might as well have been
 * to that tick, and one that has not, to the tick it is in.  There what it
 * touched, and does not show, is what is due.  And what has come to be with
 * those that never expire wakes nobody any more.
 */
void toy_look_inside(struct toy *toy)
{
    struct judge *judge = &toy->judge;
    const struct tkw_wheel *wheel = toy->wheel;

    judge->is_unfinished = wheel->is_mid_tick;
    judge->farthest = wheel->dial.now;
    judge->allowance = 0;
    for (const struct tkw_link *link = wheel->due.next; link != &wheel->due;
         link = link->next)
        judge->allowance++;
    for (const struct tkw_link *link = wheel->never.next; link != &wheel->never;
         link = link->next)
        judge->oracle.timers[number(toy, link)].is_free = false;
    if (wheel->is_mid_tick)
        correct_filings(toy);
    else
        judge->idle_stops = 0;
}
