/*
 * dial/geometry.c - geometry, and the public functions of the dial.
 *
 * A geometry gives the sizes of the lowest levels.  The dial lays out every
 * level that 64-bit time needs at once, because a level without timers costs
 * nothing: dial_next() searches only the levels in `busy`.
 *
 *     sizes {20}      level 1    20 slots of 1        reaches        19 ahead
 *                     level 2    20 slots of 20                     399
 *                     level 3    20 slots of 400                  7,999
 *                     ...
 *                     level 15   12 slots of 20^14    the end of time
 *
 * The windows slide: each level reaches `size` slots ahead of the slot that
 * contains `now`, so a slot is free for the next turn as soon as its time has
 * begun.
 */
#include <tickwheel/dial.h>

#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "inline.h"

static const struct tkw_geometry default_geometry = {.sizes = {128, 512, 64}};

static bool is_power_of_two(uint64_t n)
{
    return (n & (n - 1)) == 0;
}

/* Return the number of sizes before the first 0; or 0, an error, if a size
 * follows that 0. */
static uint32_t sizes_count(const struct tkw_geometry *geometry)
{
    uint32_t count = 0;
    while (count < TKW_SIZES_MAX && geometry->sizes[count] != 0)
        count++;
    for (uint32_t i = count; i < TKW_SIZES_MAX; i++) {
        if (geometry->sizes[i] != 0)
            return 0;
    }
    return count;
}

static void add_level(struct tkw_dial *dial, tkw_tick tick, uint32_t size)
{
    dial->levels[dial->level_count++] = (struct tkw_level){
        .tick = tick,
        .size = size,
        .first = dial->slot_count,
        .size_mask = is_power_of_two(size) ? size - 1 : 0,
        .tick_shift = is_power_of_two(tick) ? (uint8_t)__builtin_ctzll(tick)
                                            : TKW_NO_SHIFT,
    };
    dial->slot_count += size;
}

/*
 * Lay out the levels in an empty dial, without time or memory.  Returns a
 * description of the geometry's fault, or NULL.
 */
static const char *lay_out(struct tkw_dial *dial,
                           const struct tkw_geometry *geometry)
{
    uint32_t given = sizes_count(geometry);
    if (given == 0)
        return "sizes has a size after the 0 that ends it";
    if (geometry->beyond != TKW_GROW && geometry->beyond != TKW_ROUNDS)
        return "beyond is neither TKW_GROW nor TKW_ROUNDS";
    dial->beyond = geometry->beyond;

    tkw_tick tick = 1;
    for (uint32_t i = 0;; i++) {
        uint64_t last = UINT64_MAX / tick; /* the last slot of time */
        uint32_t size = geometry->sizes[i < given ? i : given - 1];

        if (size < 2)
            return "a size is 1; give at least 2 slots to a level";
        if (size - 1 > last) {
            if (i < given)
                return "the sizes span more than 2^64 ticks; give fewer or "
                       "smaller ones";
            size = (uint32_t)last + 1;
        }
        if (size > TKW_SLOTS_MAX - dial->slot_count)
            return "the levels have more than 2^28 slots in all; give smaller "
                   "sizes";
        add_level(dial, tick, size);

        bool is_last_given = i + 1 >= given;
        if (is_last_given && geometry->beyond == TKW_ROUNDS)
            return NULL;
        if (size - 1 == last) /* all of time is covered */
            return is_last_given ? NULL
                                 : "the sizes span more than 2^64 ticks; give "
                                   "fewer or smaller ones";
        tick *= size;
    }
}

/* Compute for each bit length of a distance the first level that it may fit
 * in. */
static void index_distances(struct tkw_dial *dial)
{
    for (unsigned bits = 1; bits <= 64; bits++) {
        tkw_tick distance = UINT64_C(1) << (bits - 1);
        uint32_t i = dial->lowest[bits - 1];
        while (i + 1 < dial->level_count &&
               distance / dial->levels[i].tick >= dial->levels[i].size)
            i++;
        dial->lowest[bits] = (uint8_t)i;
    }
}

static const struct tkw_geometry *or_default(const struct tkw_geometry *given,
                                             struct tkw_geometry *storage)
{
    if (given == NULL)
        return &default_geometry;
    static const uint32_t none[TKW_SIZES_MAX];
    if (memcmp(given->sizes, none, sizeof none) != 0)
        return given;
    *storage = default_geometry;
    storage->beyond = given->beyond;
    return storage;
}

static const char *lay_out_any(struct tkw_dial *dial,
                               const struct tkw_geometry *geometry)
{
    struct tkw_geometry storage;
    memset(dial, 0, sizeof *dial);
    return lay_out(dial, or_default(geometry, &storage));
}

const char *tkw_geometry_fault(const struct tkw_geometry *geometry)
{
    struct tkw_dial dial;
    return lay_out_any(&dial, geometry);
}

size_t tkw_dial_words(const struct tkw_geometry *geometry)
{
    struct tkw_dial dial;
    if (lay_out_any(&dial, geometry) != NULL)
        return 0;

    size_t words = 0;
    for (uint32_t i = 0; i < dial.level_count; i++)
        words += bits_words(dial.levels[i].size);
    return words;
}

int tkw_dial_init(struct tkw_dial *dial, const struct tkw_geometry *geometry,
                  tkw_tick start, uint64_t *words)
{
    struct tkw_dial fresh;
    if (lay_out_any(&fresh, geometry) != NULL)
        return -EINVAL;
    index_distances(&fresh);

    for (uint32_t i = 0; i < fresh.level_count; i++) {
        struct tkw_level *level = &fresh.levels[i];
        level->hand = level_number(level, start);
        level->start = level->hand * level->tick;
        if (words != NULL) {
            uint32_t count = bits_words(level->size);
            level->occupancy = memset(words, 0, count * sizeof *words);
            words += count;
        }
    }
    fresh.now = start;
    *dial = fresh;
    return 0;
}

struct tkw_spot tkw_dial_where(const struct tkw_dial *dial, tkw_tick deadline)
{
    if (deadline <= dial->now)
        return (struct tkw_spot){.expiration = deadline};

    uint64_t number;
    const struct tkw_level *level = dial_level(dial, deadline, &number);
    return (struct tkw_spot){
        .level = (uint32_t)(level - dial->levels) + 1,
        .slot = level_slot(level, number),
        .expiration = number * level->tick,
        .rounds = (number - level->hand) / level->size,
    };
}

tkw_tick tkw_dial_next(const struct tkw_dial *dial)
{
    return dial_next(dial);
}

bool tkw_dial_is_occupied(const struct tkw_dial *dial, uint32_t level,
                          uint32_t slot)
{
    TKW_ASSERT(level >= 1);
    TKW_ASSERT(level <= dial->level_count);
    TKW_ASSERT(slot < dial->levels[level - 1].size);
    const uint64_t *occupancy = dial->levels[level - 1].occupancy;
    return occupancy != NULL && bits_has(occupancy, slot);
}

void tkw_dial_turn(struct tkw_dial *dial, tkw_tick now)
{
    TKW_ASSERT(now >= dial->now);
    if (now > dial->now)
        dial_turn(dial, now);
}

/*
 * Returns whether a bit past the last slot is set, or a summary bit differs
 * from whether the word below it has a bit set.
 */
static bool find_in_occupancy(const struct tkw_dial *dial, uint32_t i,
                              struct tkw_fault *fault)
{
    const uint64_t *words = dial->levels[i].occupancy;
    uint32_t size = dial->levels[i].size;
    uint32_t rest = size % 64;
    if (rest != 0 && fault_unless(fault, "occupancy word past the last slot",
                                  words[size / 64] >> rest, 0))
        return fault_in(fault, i + 1, TKW_NO_SLOT);

    uint32_t slots = 64; /* that a summary bit covers */
    for (uint32_t tier = bits_tier(size); tier > 1; slots *= 64) {
        const uint64_t *above = words + tier;
        for (uint32_t j = 0; j < tier; j++) {
            if (fault_unless(fault, "summary bit from the slot on",
                             bits_has(above, j), words[j] != 0))
                return fault_in(fault, i + 1, j * slots);
        }
        words = above;
        tier = bits_tier(tier);
    }
    return false;
}

/* Compare the fields that follow from sizes alone with those of a new layout.
 * Returns whether one differs. */
static bool find_in_layout(const struct tkw_dial *dial, struct tkw_fault *fault)
{
    struct tkw_dial fresh = {.slot_count = 0};
    for (uint32_t i = 0; i < dial->level_count; i++) {
        const struct tkw_level *level = &dial->levels[i];
        const struct tkw_level *own = &fresh.levels[i];
        tkw_tick tick = i > 0 ? level[-1].tick * level[-1].size : 1;
        add_level(&fresh, level->tick, level->size);
        if (fault_unless(fault, "number of the level's first slot",
                         level->first, own->first) ||
            fault_unless(fault, "mask for slot numbers", level->size_mask,
                         own->size_mask) ||
            fault_unless(fault, "logarithm of a slot's length",
                         level->tick_shift, own->tick_shift) ||
            fault_unless(fault, "length of a slot in ticks", level->tick, tick))
            return fault_in(fault, i + 1, TKW_NO_SLOT);
    }
    index_distances(&fresh);
    for (unsigned bits = 0; bits <= 64; bits++) {
        if (fault_unless(fault, "index of the lowest level for a distance",
                         dial->lowest[bits], fresh.lowest[bits]))
            return true;
    }
    return fault_unless(fault, "number of slots of all levels",
                        dial->slot_count, fresh.slot_count);
}

static bool find_in_level(const struct tkw_dial *dial, uint32_t i,
                          struct tkw_fault *fault)
{
    const struct tkw_level *level = &dial->levels[i];
    if (fault_unless(fault, "number of the current slot", level->hand,
                     dial->now / level->tick) ||
        fault_unless(fault, "tick at which the current slot begins",
                     level->start, level->hand * level->tick))
        return fault_in(fault, i + 1, TKW_NO_SLOT);

    bool is_filled = false;
    if (level->occupancy != NULL) {
        if (find_in_occupancy(dial, i, fault))
            return true;
        is_filled = bits_find(level->occupancy, level->size, 0) != BITS_NONE;
    }
    if (fault_unless(fault, "busy bit of the level", dial->busy >> i & 1,
                     is_filled))
        return fault_in(fault, i + 1, TKW_NO_SLOT);
    return false;
}

bool tkw_dial_find_fault(const struct tkw_dial *dial, struct tkw_fault *fault)
{
    if (find_in_layout(dial, fault))
        return true;
    if (dial->level_count < 64 &&
        fault_unless(fault, "busy word past the last level",
                     dial->busy >> dial->level_count, 0))
        return true;
    for (uint32_t i = 0; i < dial->level_count; i++) {
        if (find_in_level(dial, i, fault))
            return true;
    }
    return false;
}

bool tkw_dial_check(const struct tkw_dial *dial)
{
    struct tkw_fault ignored;
    return !tkw_dial_find_fault(dial, &ignored);
}

tkw_tick tkw_tick_after(tkw_tick now, tkw_tick delay)
{
    return delay < TKW_NEVER - now ? now + delay : TKW_NEVER;
}

tkw_tick tkw_tick_now(uint64_t time, uint64_t unit)
{
    TKW_ASSERT(unit != 0);
    return time / unit;
}

tkw_tick tkw_tick_deadline(uint64_t time, uint64_t unit)
{
    TKW_ASSERT(unit != 0);
    if (time == UINT64_MAX) /* a saturated sum means never */
        return TKW_NEVER;
    return time / unit + (time % unit != 0);
}
