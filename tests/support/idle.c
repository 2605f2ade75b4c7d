/*
 * support/idle.c - see idle.h.
 */
#include "idle.h"

struct tkw_idle *idle_of(struct ledger *ledger, struct tkw_idle_config config)
{
    struct tkw_idle *idle = NULL;
    ledger_init(ledger);
    config.allocator = &ledger->allocator;
    assert_null(tkw_idle_config_fault(&config));
    assert_int_equal(tkw_idle_open(&idle, &config), 0);
    assert_non_null(idle);
    return idle;
}

struct tkw_idle *idle_with(struct ledger *ledger, uint64_t tick_ns,
                           uint64_t limit_ns)
{
    return idle_of(ledger, (struct tkw_idle_config){.tick_ns = tick_ns,
                                                    .limit_ns = limit_ns});
}

void idle_done(struct ledger *ledger, struct tkw_idle *idle)
{
    assert_idle_sound(idle);
    assert_int_equal(tkw_idle_read_stats(idle).bytes, ledger->bytes);
    tkw_idle_close(idle);
    assert_int_equal(ledger->blocks, 0);
    assert_int_equal(ledger->bytes, 0);
}

void assert_idle_sound(const struct tkw_idle *idle)
{
    struct tkw_idle_stats f = tkw_idle_read_stats(idle);
    struct tkw_idle_cursor walk = {0};
    size_t count = 0;
    for (struct tkw_idle_key one; tkw_idle_walk(idle, &walk, &one);)
        count++;
    assert_true(tkw_idle_check(idle));
    assert_int_equal(f.keys, tkw_idle_count(idle));
    assert_int_equal(f.keys, count);
    assert_int_equal(f.added, f.forgotten + f.silent + f.keys);
    assert_int_equal(f.checks, f.silent + f.refiles);
}

bool is_same_key(struct tkw_key a, struct tkw_key b)
{
    if ((a.bytes == NULL) != (b.bytes == NULL) || a.number != b.number)
        return false;
    return a.bytes == NULL || memcmp(a.bytes, b.bytes, (size_t)a.number) == 0;
}

/* Room for a number of four bytes and up to so many more. */
#define TAIL_MAX 90

struct tkw_key mixed_key(uint32_t i)
{
    static unsigned char bytes[sizeof i + TAIL_MAX];
    if (i % 2 == 0)
        return tkw_key_number(i);
    if (i == 1)
        return tkw_key_bytes(NULL, 0);
    size_t tail = i * 7 % TAIL_MAX;
    memcpy(bytes, &i, sizeof i);
    memset(bytes + sizeof i, i % 3 == 0 ? 0 : (int)(i % 251), tail);
    return tkw_key_bytes(bytes, sizeof i + tail);
}

uint32_t mixed_index(struct tkw_key key)
{
    uint32_t i = 1;
    if (key.bytes == NULL)
        i = (uint32_t)key.number;
    else if (key.number != 0)
        memcpy(&i, key.bytes, sizeof i);
    assert_true(is_same_key(key, mixed_key(i)));
    return i;
}

void idle_add(struct tkw_idle *idle, struct tkw_key key, uint64_t now)
{
    assert_int_equal(tkw_idle_touch(idle, key, now), 1);
}

void idle_refresh(struct tkw_idle *idle, struct tkw_key key, uint64_t now)
{
    assert_int_equal(tkw_idle_touch(idle, key, now), 0);
}

void assert_stands(const struct tkw_idle *idle, struct tkw_key key,
                   uint64_t last, uint64_t limit)
{
    struct tkw_idle_key silent = {.last_ns = ~last, .limit_ns = ~limit};
    assert_true(tkw_idle_query(idle, key, &silent));
    assert_true(tkw_idle_query(idle, key, NULL));
    assert_true(is_same_key(silent.key, key));
    assert_int_equal(silent.last_ns, last);
    assert_int_equal(silent.limit_ns, limit);
}

void assert_not_held(const struct tkw_idle *idle, struct tkw_key key)
{
    struct tkw_idle_key silent;
    assert_false(tkw_idle_query(idle, key, &silent));
    assert_false(tkw_idle_query(idle, key, NULL));
}

bool is_unfinished(const struct tkw_idle *idle, uint64_t now)
{
    uint64_t next = tkw_idle_next(idle);
    return next <= now && next != UINT64_MAX;
}

size_t idle_take(struct tkw_idle *idle, uint64_t now,
                 struct tkw_idle_key *silent, size_t room)
{
    struct tkw_idle_key some[7];
    size_t taken = 0, calls = 0;
    do {
        size_t count = tkw_idle_pop_silent(idle, some, COUNT_OF(some), now);
        assert_true(count <= COUNT_OF(some));
        assert_true(taken + count <= room);
        for (size_t i = 0; i < count; i++)
            silent[taken++] = some[i];
        assert_true(++calls < 1000000);
    } while (is_unfinished(idle, now));
    return taken;
}

void assert_none_silent(struct tkw_idle *idle, uint64_t now)
{
    struct tkw_idle_key silent[1];
    assert_int_equal(idle_take(idle, now, silent, 0), 0);
}

void assert_one_silent(struct tkw_idle *idle, uint64_t now, uint64_t number)
{
    struct tkw_idle_key silent[1], before = {.limit_ns = 0};
    assert_true(tkw_idle_query(idle, tkw_key_number(number), &before));
    assert_int_equal(idle_take(idle, now, silent, 1), 1);
    assert_true(is_same_key(silent[0].key, tkw_key_number(number)));
    assert_int_equal(silent[0].last_ns, before.last_ns);
    assert_int_equal(silent[0].limit_ns, before.limit_ns);
    assert_not_held(idle, tkw_key_number(number));
}

uint64_t idle_sleep(struct tkw_idle *idle, struct tkw_idle_key *silent,
                    size_t *wakes)
{
    uint64_t now = 0;
    for (*wakes = 0; tkw_idle_next(idle) != UINT64_MAX; ++*wakes) {
        now = tkw_idle_next(idle);
        if (idle_take(idle, now, silent, 1) != 0)
            break;
        assert_true(*wakes < 100000);
    }
    return now;
}

static void write_down(void *context, const struct tkw_idle_key *silent,
                       size_t count)
{
    struct stage *stage = context;
    uint64_t now = tkw_service_now(stage->scene.service);
    stage->batches++;
    stage->is_wrong |= count < 1 || count > TKW_SILENT_MAX;
    for (size_t i = 0; i < count && stage->count < REPORTED_MAX; i++) {
        stage->is_wrong |= now - silent[i].last_ns < silent[i].limit_ns;
        stage->reported[stage->count] = silent[i];
        stage->index[stage->count++] = mixed_index(silent[i].key);
    }
    if (stage->act != NULL)
        stage->act(stage, silent, count);
}

struct tkw_monitor_config stage_config(struct stage *stage)
{
    return (struct tkw_monitor_config){
        .idle = {.limit_ns = LIMIT,
                 .tick_ns = TICK,
                 .allocator = &stage->account.allocator},
        .on_silent = write_down,
        .context = stage,
        .shards = 1,
    };
}

void stage_set(struct stage *stage, struct tkw_service_config config)
{
    memset(stage, 0, sizeof *stage);
    account_init(&stage->account);
    config.tick_ns = 10;
    scene_open(&stage->scene, START, config);
}

void stage_open_monitor(struct stage *stage, struct tkw_monitor_config config)
{
    assert_null(tkw_monitor_config_fault(&config));
    assert_int_equal(
        tkw_monitor_open(&stage->monitor, stage->scene.service, &config), 0);
}

void stage_open(struct stage *stage, uint32_t shards)
{
    stage_set(stage, (struct tkw_service_config){.shards = 1,
                                                 .driver = TKW_DRIVER_NONE});
    struct tkw_monitor_config config = stage_config(stage);
    config.shards = shards;
    stage_open_monitor(stage, config);
}

void stage_close(struct stage *stage)
{
    struct tkw_idle_stats f = tkw_monitor_read_stats(stage->monitor);
    assert_int_equal(f.keys, tkw_monitor_count(stage->monitor));
    assert_int_equal(f.added, f.forgotten + f.silent + f.keys);
    assert_int_equal(f.silent, stage->count);
    assert_in_range(f.bytes, 1, account_bytes(&stage->account));
    assert_false(stage->is_wrong);
    assert_int_equal(tkw_monitor_close(stage->monitor), 0);
    assert_int_equal(tkw_service_count(stage->scene.service), 0);
    account_done(&stage->account);
    scene_close(&stage->scene);
}

size_t stage_go(struct stage *stage, uint64_t after_start)
{
    size_t before = stage->count;
    tkw_manual_clock_set(stage->scene.manual, START + after_start);
    if (stage->scene.driver == TKW_DRIVER_THREAD)
        tkw_manual_clock_settle(stage->scene.manual);
    else
        while (tkw_service_run(stage->scene.service, 0) > 0)
            continue;
    return stage->count - before;
}

void stage_add(struct stage *stage, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        assert_int_equal(tkw_monitor_touch(stage->monitor, mixed_key(i)), 1);
}
