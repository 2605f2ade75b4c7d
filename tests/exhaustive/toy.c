/*
 * toy.c - which memory makes up the state, and how far time matters.
 */
#include "toy.h"

#include <stdlib.h>
#include <string.h>

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

/* Read "2,3".  Returns what follows, or NULL if it makes no sense. */
static const char *read_sizes(const char *text, struct tkw_geometry *geometry)
{
    for (size_t i = 0; i < TKW_SIZES_MAX; i++) {
        char *end;
        unsigned long size = strtoul(text, &end, 10);

        if (end == text || *text < '0' || *text > '9' || size > UINT32_MAX)
            return NULL;
        geometry->sizes[i] = (uint32_t)size;
        text = end + (*end == ',');
        if (*end != ',')
            break;
    }
    return text;
}

static bool read_letter(const char **text, char letter)
{
    bool is_there = **text == letter;

    *text += is_there;
    return is_there;
}

/* What comes after the most that is allowed, or 0. */
static uint32_t read_limit(const char **text, char letter)
{
    const char *digit = *text + 1;

    if (**text != letter || *digit < '0' || *digit > '9')
        return 0;
    *text += 2;
    return (uint32_t)(*digit - '0') + 1;
}

bool toy_read(struct toy_config *config, const struct toy_plan *plan)
{
    const char *text;

    *config = (struct toy_config){.timer_count = plan->timer_count,
                                  .depth_max = plan->depth_max};
    text = read_sizes(plan->toy, &config->geometry);
    if (text == NULL)
        return false;
    config->geometry.beyond = read_letter(&text, 'r') ? TKW_ROUNDS : TKW_GROW;
    config->has_postponing = !read_letter(&text, '-');
    config->has_exact_turns = read_letter(&text, '+');
    config->has_keeping = read_letter(&text, 'k');
    config->is_finite = read_letter(&text, 'f');
    config->is_coarse = read_letter(&text, 'a');
    config->dead_limit = read_limit(&text, 'd');
    config->unseen_limit = read_limit(&text, 'u');
    return *text == '\0';
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

void toy_add_region(struct toy *toy, struct toy_region region)
{
    toy->regions[toy->region_count++] = region;
    toy->bytes += region.bytes;
}

static void add(struct toy *toy, void *at, size_t bytes)
{
    toy_add_region(toy, (struct toy_region){.at = at, .bytes = bytes});
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
    toy->period = toy_kind.find_period(config, &ladder, toy->reach);
    world.start = toy->period; /* not 0, so that there is a past */
    if (!judge_open(judge, toy_kind.engine(), &world, 1))
        return false;

    struct oracle *oracle = &judge->oracle;
    add(toy, judge, sizeof *judge);
    toy_kind.add_engine(toy);
    add(toy, oracle->timers, count * sizeof oracle->timers[0]);
    add(toy, oracle->pending, count * sizeof oracle->pending[0]);
    add(toy, oracle->ready, 2 * count * sizeof oracle->ready[0]);
    add(toy, judge->ledger.filings, count * sizeof judge->ledger.filings[0]);
    return true;
}

void toy_close(struct toy *toy)
{
    judge_close(&toy->judge);
}

static size_t bytes_used(const struct toy_region *region)
{
    return region->used != NULL ? *region->used : region->bytes;
}

void toy_save(const struct toy *toy, void *memory)
{
    char *to = memory;

    for (size_t i = 0; i < toy->region_count; i++) {
        const struct toy_region *region = &toy->regions[i];

        memcpy(to, region->at, bytes_used(region));
        to += region->bytes;
    }
}

/* What was not yet used when the state was saved was nobody's. */
void toy_restore(struct toy *toy, const void *memory)
{
    const char *from = memory;

    for (size_t i = 0; i < toy->region_count; i++) {
        const struct toy_region *region = &toy->regions[i];

        memcpy(region->at, from, bytes_used(region));
        from += region->bytes;
    }
}
