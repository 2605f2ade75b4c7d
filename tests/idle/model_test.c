/*
 * idle/model_test.c - random operations on a tracker and on a model of it that
 * is obviously right: an array of keys, each with its last touch and its limit.
 *
 *     idle_model_test             the everyday run
 *     idle_model_test SEED        one case again, as printed
 *     idle_model_test SEED OPS    the same, longer
 */
#include "support/idle.h"

enum { KEYS = 3000, BATCH = 100, CASES = 32 };

#define LAST_TIME (UINT64_MAX - 1)

struct entry {
    bool is_held;
    uint64_t last, limit;
};

struct world {
    struct ledger ledger;
    struct tkw_idle *idle;
    struct entry entries[KEYS];
    struct tkw_idle_config config;
    uint64_t seed;
    uint64_t known; /* so many of the keys are used at all */
    size_t count;
    uint64_t forgotten, expired;
    uint64_t now;      /* the latest time that was asked about */
    uint64_t reached;  /* the latest whose keys were all handed out */
    uint64_t latest;   /* of the limits that passed since, as handed out */
    bool is_disturbed; /* keys changed since: their order is not known */
    unsigned pace;     /* bits of a step of time */
    bool is_poor;      /* there is often no memory ... */
    uint64_t famine;   /* ... and none for so many touches */
};

static uint64_t first_seed = 1, case_count = CASES, ops = 12000;

static uint64_t due_of(const struct entry *entry)
{
    uint64_t left = UINT64_MAX - entry->last;
    return entry->limit > left ? UINT64_MAX : entry->last + entry->limit;
}

/* A time about now, seldom far away; the largest is never. */
static uint64_t some_time(struct world *world)
{
    uint64_t step = random_magnitude(&world->seed, world->pace);
    if (random_below(&world->seed, 8) == 0)
        return world->now - (step < world->now ? step : world->now);
    uint64_t left = LAST_TIME - world->now;
    return world->now + (step < left ? step : left);
}

/* Limits of all magnitudes, none, and what stands for the common one. */
static uint64_t some_limit(struct world *world)
{
    unsigned bits = world->pace < 51 ? world->pace + 10 : 61;
    uint64_t limit = random_magnitude(&world->seed, bits);
    return random_below(&world->seed, 20) == 0 ? TKW_NO_LIMIT : limit;
}

/* Let the next call find no memory, one way or another. */
static void maybe_fail(struct world *world)
{
    if (!world->is_poor)
        return;
    uint64_t skip = random_below(&world->seed, 3);
    uint64_t dice = random_below(&world->seed, 300);
    if (world->famine > 0)
        world->famine--;
    else if (dice == 0)
        world->famine = random_magnitude(&world->seed, 10);
    if (world->famine > 0)
        ledger_fail(&world->ledger, 0, FOR_EVER);
    else if (dice < 100)
        ledger_fail(&world->ledger, skip, dice < 50 ? 1 : FOR_EVER);
}

/* The model's answer, or -ENOMEM if memory was refused and may be needed. */
static bool is_answer(const struct world *world, int answer, int expected,
                      uint64_t failed, bool may_fail)
{
    if (may_fail && answer == -ENOMEM)
        return world->ledger.failed > failed;
    return answer == expected;
}

static void touch(struct world *world)
{
    uint32_t i = (uint32_t)random_below(&world->seed, world->known);
    struct entry *entry = &world->entries[i];
    bool has_limit = random_below(&world->seed, 4) == 0;
    uint64_t time = some_time(world), failed = world->ledger.failed;
    uint64_t given = has_limit ? some_limit(world) : 0;
    uint64_t limit = given != 0 ? given : world->config.limit_ns;
    if (!has_limit && entry->is_held)
        limit = entry->limit;

    int expected = entry->is_held                           ? 0
                   : world->count == world->config.keys_max ? -EAGAIN
                                                            : 1;
    bool may_fail = entry->is_held ? limit < entry->limit : expected == 1;
    maybe_fail(world);
    int answer =
        has_limit ? tkw_idle_touch_limit(world->idle, mixed_key(i), given, time)
                  : tkw_idle_touch(world->idle, mixed_key(i), time);
    ledger_relent(&world->ledger);
    assert_true(is_answer(world, answer, expected, failed, may_fail));
    if (answer < 0)
        return;
    world->count += answer == 1;
    *entry = (struct entry){
        true, entry->is_held && entry->last > time ? entry->last : time, limit};
    world->is_disturbed = true;
}

static void forget(struct world *world)
{
    uint32_t i = (uint32_t)random_below(&world->seed, world->known);
    struct entry *entry = &world->entries[i];
    assert_int_equal(tkw_idle_forget(world->idle, mixed_key(i)),
                     entry->is_held);
    world->count -= entry->is_held;
    world->forgotten += entry->is_held;
    entry->is_held = false;
}

static void query(struct world *world)
{
    uint32_t i = (uint32_t)random_below(&world->seed, world->known);
    const struct entry *entry = &world->entries[i];
    if (entry->is_held)
        assert_stands(world->idle, mixed_key(i), entry->last, entry->limit);
    else
        assert_not_held(world->idle, mixed_key(i));
}

static void walk(struct world *world)
{
    static bool is_met[KEYS];
    struct tkw_idle_cursor cursor = {0};
    size_t count = 0;
    memset(is_met, 0, sizeof is_met);
    for (struct tkw_idle_key one; tkw_idle_walk(world->idle, &cursor, &one);) {
        uint32_t i = mixed_index(one.key);
        assert_true(i < KEYS);
        assert_true(world->entries[i].is_held);
        assert_false(is_met[i]);
        assert_int_equal(one.last_ns, world->entries[i].last);
        assert_int_equal(one.limit_ns, world->entries[i].limit);
        is_met[i] = true;
        count++;
    }
    assert_int_equal(count, world->count);
}

/* With nothing left to do nobody is silent by more than a tick; and `next` is
   less than a tick after the first who will be. */
static void check_lateness(struct world *world)
{
    uint64_t next = tkw_idle_next(world->idle), first = UINT64_MAX;
    uint64_t tick = world->config.tick_ns;
    for (size_t i = 0; i < KEYS; i++) {
        const struct entry *entry = &world->entries[i];
        if (entry->is_held && due_of(entry) < first)
            first = due_of(entry);
    }
    if (first > UINT64_MAX - tick)
        return;
    if (first + tick - 1 <= world->now)
        assert_true(is_unfinished(world->idle, world->now));
    else
        assert_true(next < first + tick);
}

static void see_one_handed_out(struct world *world,
                               const struct tkw_idle_key *silent)
{
    uint32_t i = mixed_index(silent->key);
    assert_true(i < KEYS);
    struct entry *entry = &world->entries[i];
    assert_true(entry->is_held);
    assert_int_equal(silent->last_ns, entry->last);
    assert_int_equal(silent->limit_ns, entry->limit);
    assert_true(due_of(entry) <= world->now);

    uint64_t due = due_of(entry);
    due = due < world->reached ? world->reached : due;
    if (!world->is_disturbed)
        assert_true(world->latest - due < world->config.tick_ns ||
                    world->latest <= due);
    world->latest = due > world->latest ? due : world->latest;
    entry->is_held = false;
}

static void expired(struct world *world)
{
    struct tkw_idle_key silent[BATCH];
    struct tkw_idle_stats before = tkw_idle_read_stats(world->idle);
    size_t room = (size_t)random_below(&world->seed, BATCH + 1);
    uint64_t time = some_time(world), calls = world->ledger.calls;
    if (!is_unfinished(world->idle, world->now)) {
        world->reached = world->latest = world->now;
        world->is_disturbed = false;
    }
    ledger_fail(&world->ledger, 0, FOR_EVER);
    size_t count = tkw_idle_pop_silent(world->idle, silent, room, time);
    ledger_relent(&world->ledger);
    world->now = time > world->now ? time : world->now;
    assert_true(count <= room);
    assert_int_equal(world->ledger.calls, calls);
    for (size_t i = 0; i < count; i++)
        see_one_handed_out(world, &silent[i]);
    world->count -= count;
    world->expired += count;
    struct tkw_idle_stats after = tkw_idle_read_stats(world->idle);
    assert_true(after.checks - before.checks <= room);
    check_lateness(world);
}

static void check_stats(struct world *world)
{
    struct tkw_idle_stats f = tkw_idle_read_stats(world->idle);
    assert_idle_sound(world->idle);
    assert_int_equal(f.keys, world->count);
    assert_int_equal(f.forgotten, world->forgotten);
    assert_int_equal(f.silent, world->expired);
    assert_int_equal(f.bytes, world->ledger.bytes);
}

/* Rings are gone round turn by turn: there time must not run too fast. */
static void world_open(struct world *world, uint64_t seed)
{
    memset(world, 0, sizeof *world);
    world->seed = seed;
    uint64_t *random = &world->seed;
    struct tkw_idle_config *config = &world->config;
    config->geometry = pool_shapes[random_below(random, COUNT_OF(pool_shapes))];
    config->tick_ns = 1 + random_magnitude(random, 30);
    unsigned bits = 0;
    while (config->tick_ns >> bits > 1)
        bits++;
    world->pace = bits + (unsigned)random_below(random, 6);
    if (config->geometry.beyond == TKW_GROW && random_below(random, 4) == 0)
        world->pace += (unsigned)random_below(random, 20);
    config->limit_ns = 1 + random_magnitude(random, world->pace + 9);
    config->keys_max = 1 + (size_t)random_below(random, 2 * KEYS);
    config->start_ns = random_magnitude(random, 63);
    if (random_below(random, 5) == 0)
        config->start_ns = LAST_TIME - random_magnitude(random, 40);
    config->secret[0] = random_below(random, 2) * random_next(random);
    world->is_poor = random_below(random, 2) == 0;
    world->known = KEYS;
    if (random_below(random, 2) == 0)
        world->known >>= random_below(random, 11);
    world->now = world->reached = world->latest = config->start_ns;
    world->idle = idle_of(&world->ledger, *config);
}

static void run_case(uint64_t seed)
{
    static struct world world;
    world_open(&world, seed);
    for (uint64_t i = 0; i < ops; i++) {
        uint64_t dice = random_below(&world.seed, 1000);
        if (dice < 600)
            touch(&world);
        else if (dice < 700)
            forget(&world);
        else if (dice < 800)
            query(&world);
        else if (dice < 998)
            expired(&world);
        else
            walk(&world);
        assert_int_equal(tkw_idle_count(world.idle), world.count);
        if (i % 512 == 0)
            check_stats(&world);
        if (i % 32 == 0)
            check_lateness(&world);
    }
    check_stats(&world);
    idle_done(&world.ledger, world.idle);
}

static void the_tracker_does_what_the_model_does(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < case_count; i++) {
        uint64_t seed = first_seed + i;
        print_message("seed %llu; replay with idle_model_test %llu %llu\n",
                      (unsigned long long)seed, (unsigned long long)seed,
                      (unsigned long long)ops);
        run_case(seed);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tracker_does_what_the_model_does),
    };
    if (argc > 1) {
        first_seed = strtoull(argv[1], NULL, 10);
        case_count = 1;
    }
    if (argc > 2)
        ops = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
