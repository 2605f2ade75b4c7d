/*
 * idle/memory_test.c - when there is no memory: every allocation fails in turn,
 * once and for ever, with nothing changed, lost or leaked; and looking for the
 * silent needs none at all.
 */
#include "support/idle.h"

/* A failure of one call, or of all from there on. */
static const uint64_t lengths[] = {1, FOR_EVER};

/* Open with the k-th allocation failing.  Returns whether it went well. */
static bool open_all_but(const struct tkw_geometry *geometry, uint64_t k,
                         uint64_t length)
{
    struct ledger ledger;
    ledger_init(&ledger);
    struct tkw_idle_config config = {.geometry = *geometry,
                                     .allocator = &ledger.allocator};
    struct tkw_idle *const mark = (struct tkw_idle *)(void *)&ledger;
    struct tkw_idle *idle = mark;
    ledger_fail(&ledger, k, length);
    int error = tkw_idle_open(&idle, &config);
    if (error == 0) {
        tkw_idle_close(idle);
    } else {
        assert_int_equal(error, -ENOMEM);
        assert_int_not_equal(ledger.failed, 0);
        assert_ptr_equal(idle, mark);
    }
    assert_int_equal(ledger.blocks, 0);
    return error == 0;
}

static void an_open_that_fails_leaks_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 2; i++) {
        uint64_t k = 0;
        while (!open_all_but(&pool_shapes[i / 2], k, lengths[i % 2]))
            k++;
        assert_in_range(k, 1, 1000);
    }
}

enum { KEYS = 5000 };

#define COMMON 1000

/* How the i-th key is touched: at which time, and with which limit (0: the
   common one); a second time with a shorter one. */
static uint64_t last_of(uint32_t i)
{
    return 1 + i * 37 % 500;
}

static uint64_t limit_of(uint32_t i)
{
    return i % 3 == 0 ? 0 : 50 + i * 101 % 3000;
}

static uint64_t shorter_of(uint32_t i)
{
    uint64_t limit = limit_of(i) == 0 ? COMMON : limit_of(i);
    return i % 5 == 0 ? limit / 2 : limit;
}

/* What was so before a call that failed must be so after it. */
static void assert_same_figures(const struct tkw_idle *idle,
                                const struct tkw_idle_stats *before)
{
    struct tkw_idle_stats after = tkw_idle_read_stats(idle);
    after.bytes = before->bytes;
    assert_memory_equal(&after, before, sizeof after);
    assert_idle_sound(idle);
}

/* Add a key with memory failing, or else change nothing, and add it when there
   is some again. */
static void add_or_leave(struct ledger *ledger, struct tkw_idle *idle,
                         uint32_t i)
{
    struct tkw_idle_stats before = tkw_idle_read_stats(idle);
    uint64_t failed = ledger->failed, next = tkw_idle_next(idle);
    int answer =
        tkw_idle_touch_limit(idle, mixed_key(i), limit_of(i), last_of(i));
    assert_int_equal(tkw_idle_read_stats(idle).bytes, ledger->bytes);
    if (answer == 1)
        return;
    assert_int_equal(answer, -ENOMEM);
    assert_true(ledger->failed > failed);
    assert_not_held(idle, mixed_key(i));
    assert_int_equal(tkw_idle_next(idle), next);
    assert_same_figures(idle, &before);
    ledger_relent(ledger);
    assert_int_equal(
        tkw_idle_touch_limit(idle, mixed_key(i), limit_of(i), last_of(i)), 1);
}

/* The same with a limit that may be shorter, for a key that is held. */
static void shorten_or_leave(struct ledger *ledger, struct tkw_idle *idle,
                             uint32_t i)
{
    struct tkw_idle_stats before = tkw_idle_read_stats(idle);
    uint64_t failed = ledger->failed, now = last_of(i) + 1;
    uint64_t limit = limit_of(i) == 0 ? COMMON : limit_of(i);
    int answer = tkw_idle_touch_limit(idle, mixed_key(i), shorter_of(i), now);
    assert_int_equal(tkw_idle_read_stats(idle).bytes, ledger->bytes);
    if (answer == 0)
        return;
    assert_int_equal(answer, -ENOMEM);
    assert_true(shorter_of(i) < limit);
    assert_true(ledger->failed > failed);
    assert_stands(idle, mixed_key(i), now - 1, limit);
    assert_same_figures(idle, &before);
    ledger_relent(ledger);
    assert_int_equal(
        tkw_idle_touch_limit(idle, mixed_key(i), shorter_of(i), now), 0);
}

/* Take what is silent by now; each is met once, and not late.  Returns how
   many. */
static size_t take_some(struct tkw_idle *idle, uint64_t now, bool *is_met)
{
    struct tkw_idle_key silent[11];
    size_t found = 0;
    do {
        size_t count = tkw_idle_pop_silent(idle, silent, COUNT_OF(silent), now);
        for (size_t j = 0; j < count; j++) {
            uint32_t i = mixed_index(silent[j].key);
            uint64_t due = last_of(i) + 1 + shorter_of(i);
            assert_false(is_met[i]);
            assert_true(due <= now && now - due < 35);
            is_met[i] = true;
        }
        found += count;
    } while (is_unfinished(idle, now));
    return found;
}

/* All are found, each in time, without a single allocation. */
static void take_all_without_memory(struct ledger *ledger,
                                    struct tkw_idle *idle)
{
    static bool is_met[KEYS];
    size_t found = 0;
    uint64_t calls = ledger->calls;
    memset(is_met, 0, sizeof is_met);
    ledger_fail(ledger, 0, FOR_EVER);
    for (uint64_t now = 0; tkw_idle_count(idle) > 0; now += 25) {
        assert_true(now < 10000);
        found += take_some(idle, now, is_met);
    }
    assert_int_equal(found, KEYS);
    assert_int_equal(ledger->calls, calls);
    ledger_relent(ledger);
}

/* A tracker's life with the k-th allocation failing.  Returns whether any
   did. */
static bool live_all_but(const struct tkw_geometry *geometry, uint64_t k,
                         uint64_t length)
{
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(
        &ledger, (struct tkw_idle_config){
                     .geometry = *geometry, .tick_ns = 10, .limit_ns = COMMON});
    ledger_fail(&ledger, k, length);
    for (uint32_t i = 0; i < KEYS; i++)
        add_or_leave(&ledger, idle, i);
    for (uint32_t i = 0; i < KEYS; i++)
        shorten_or_leave(&ledger, idle, i);
    bool has_failed = ledger.failed != 0;
    take_all_without_memory(&ledger, idle);
    idle_done(&ledger, idle);
    return has_failed;
}

/* There is an allocation a key of bytes: those alike are not all tried. */
static void a_touch_that_fails_changes_nothing(void **state)
{
    (void)state;
    static const size_t tried[] = {0, 1, 3, 6};
    for (size_t i = 0; i < COUNT_OF(tried) * 2; i++) {
        uint64_t k = 0, lives = 0;
        for (; live_all_but(&pool_shapes[tried[i / 2]], k, lengths[i % 2]);
             lives++)
            k += k < 16 ? 1 : k / 3;
        assert_true(lives > 16);
    }
}

/* Every allocation of the first keys, and those about where things grow. */
static void each_allocation_of_few_keys_may_fail(void **state)
{
    (void)state;
    enum { FEW = 200 };
    for (uint64_t k = 0, failed = 1; failed != 0; k++) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_with(&ledger, 1, COMMON);
        ledger_fail(&ledger, k, lengths[k % 2]);
        for (uint32_t i = 0; i < FEW; i++)
            add_or_leave(&ledger, idle, i);
        for (uint32_t i = 0; i < FEW; i++)
            shorten_or_leave(&ledger, idle, i);
        for (uint32_t i = 0; i < FEW; i++)
            assert_stands(idle, mixed_key(i), last_of(i) + 1, shorter_of(i));
        failed = ledger.failed;
        idle_done(&ledger, idle);
    }
}

/* Shorten a limit, or else change nothing.  Returns whether it failed. */
static bool shorten_or_not(struct tkw_idle *idle, struct tkw_key key,
                           uint64_t limit, uint64_t now)
{
    struct tkw_idle_key before = {.limit_ns = 0};
    assert_true(tkw_idle_query(idle, key, &before));
    int answer = tkw_idle_touch_limit(idle, key, limit, now);
    if (answer == 0) {
        assert_stands(idle, key, now, limit);
        return false;
    }
    assert_int_equal(answer, -ENOMEM);
    assert_stands(idle, key, before.last_ns, before.limit_ns);
    return true;
}

/* All get shorter limits, at a new time, again and again, while there is no
   memory: at some point it is needed, and what fails then was neither touched
   nor shortened. */
static void a_shorter_limit_that_fails_changes_nothing(void **state)
{
    (void)state;
    enum { FEW = 500, ROUNDS = 40 };
    size_t failed = 0;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct ledger ledger;
        struct tkw_idle_key silent[1];
        struct tkw_idle *idle = idle_of(
            &ledger, (struct tkw_idle_config){.geometry = pool_shapes[s],
                                              .tick_ns = 1,
                                              .limit_ns = ROUNDS * FEW});
        for (uint32_t i = 0; i < FEW; i++)
            idle_add(idle, tkw_key_number(i), 5);
        ledger_fail(&ledger, 0, FOR_EVER);
        for (uint32_t i = 0; i < FEW * (ROUNDS - 1); i++)
            failed += shorten_or_not(idle, tkw_key_number(i % FEW),
                                     ROUNDS * FEW - i, 6 + i / FEW);
        assert_idle_sound(idle);
        ledger_relent(&ledger);
        for (uint32_t i = 0; i < FEW; i++)
            assert_false(shorten_or_not(idle, tkw_key_number(i), FEW - i, 100));
        for (uint32_t i = 0; i < FEW; i++) {
            assert_int_equal(idle_take(idle, 101 + i, silent, 1), 1);
            assert_int_equal(silent[0].key.number, FEW - 1 - i);
        }
        idle_done(&ledger, idle);
    }
    assert_true(failed > 0);
}

/* What needs no memory: refreshing, longer limits, none, forgetting, asking. */
static void nothing_but_adding_and_shortening_allocates(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, COMMON);
    for (uint32_t i = 0; i < KEYS; i++)
        idle_add(idle, mixed_key(i), i);
    uint64_t calls = ledger.calls;
    ledger_fail(&ledger, 0, FOR_EVER);
    for (uint32_t i = 0; i < KEYS; i++) {
        const uint64_t limits[] = {COMMON, COMMON + i, TKW_NO_LIMIT};
        idle_refresh(idle, mixed_key(i), i + 1);
        for (size_t j = 0; j < COUNT_OF(limits); j++)
            assert_int_equal(
                tkw_idle_touch_limit(idle, mixed_key(i), limits[j], i), 0);
        assert_stands(idle, mixed_key(i), i + 1, TKW_NO_LIMIT);
    }
    assert_idle_sound(idle);
    assert_none_silent(idle, 100 * COMMON);
    for (uint32_t i = 0; i < KEYS; i++)
        assert_true(tkw_idle_forget(idle, mixed_key(i)));
    assert_int_equal(ledger.calls, calls);
    idle_done(&ledger, idle);
}

/* Refused for want of memory, then of room: each is told as itself. */
static void no_memory_and_no_room_are_different_errors(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle =
        idle_of(&ledger, (struct tkw_idle_config){.keys_max = 1});
    char text[1000] = {'x'};
    struct tkw_key key = tkw_key_bytes(text, sizeof text);
    ledger_fail(&ledger, 0, FOR_EVER);
    assert_int_equal(tkw_idle_touch(idle, key, 0), -ENOMEM);
    ledger_relent(&ledger);
    idle_add(idle, key, 0);
    assert_int_equal(tkw_idle_touch(idle, tkw_key_number(1), 0), -EAGAIN);
    idle_done(&ledger, idle);
}

/*
 * The worst for whoever files without memory: all timers are in one slot, and
 * go from there to as many slots as there are, most of them empty.
 */
static void a_crowd_is_scattered_without_memory(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes) * 2; s++) {
        struct ledger ledger;
        struct tkw_idle_key silent[1];
        uint32_t keys = s % 2 == 0 ? KEYS : 130;
        struct tkw_idle *idle = idle_of(
            &ledger, (struct tkw_idle_config){.geometry = pool_shapes[s / 2],
                                              .tick_ns = 1,
                                              .limit_ns = COMMON});
        for (uint32_t i = 0; i < keys; i++)
            idle_add(idle, tkw_key_number(i), 0);
        uint64_t calls = ledger.calls;
        ledger_fail(&ledger, 0, FOR_EVER);
        for (uint32_t i = 0; i < keys; i++)
            idle_refresh(idle, tkw_key_number(i), 2 + i);
        for (uint32_t i = 0; i < keys; i++) {
            assert_none_silent(idle, COMMON + i + 1);
            assert_int_equal(idle_take(idle, COMMON + i + 2, silent, 1), 1);
            assert_int_equal(silent[0].key.number, i);
        }
        assert_int_equal(ledger.calls, calls);
        idle_done(&ledger, idle);
    }
}

/* Keys come and go for long: memory is for as many as there were at most. */
static void memory_is_used_again(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 10, COMMON);
    uint64_t most = 0;
    for (uint64_t round = 0; round < 40; round++) {
        uint64_t now = round * 3 * COMMON;
        for (uint32_t i = 0; i < KEYS; i++)
            idle_add(idle, mixed_key(i + (uint32_t)round), now);
        for (uint32_t i = 0; round % 2 == 0 && i < KEYS; i++)
            assert_true(tkw_idle_forget(idle, mixed_key(i + (uint32_t)round)));
        most = round < 4 && ledger.bytes > most ? ledger.bytes : most;
        assert_true(ledger.bytes <= most + most / 4);
        assert_int_equal(tkw_idle_read_stats(idle).bytes, ledger.bytes);
        struct tkw_idle_key silent[64];
        do
            tkw_idle_pop_silent(idle, silent, COUNT_OF(silent),
                                now + 2 * COMMON);
        while (is_unfinished(idle, now + 2 * COMMON));
        assert_int_equal(tkw_idle_count(idle), 0);
    }
    idle_done(&ledger, idle);
}

/* Held, handed out and not yet let go of, forgotten: close gives it all back.
   (Every test closes with the ledger even; here is something of everything.) */
static void close_gives_everything_back(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct ledger ledger;
        struct tkw_idle_key silent[40];
        struct tkw_idle *idle = idle_of(
            &ledger, (struct tkw_idle_config){.geometry = pool_shapes[s],
                                              .tick_ns = 1,
                                              .limit_ns = COMMON});
        for (uint32_t i = 0; i < 500; i++)
            idle_add(idle, mixed_key(i), i < 250 ? 0 : 500);
        for (uint32_t i = 0; i < 500; i += 7)
            assert_true(tkw_idle_forget(idle, mixed_key(i)));
        size_t count = 0;
        while (count == 0)
            count = tkw_idle_pop_silent(idle, silent, COUNT_OF(silent), COMMON);
        assert_int_equal(tkw_idle_read_stats(idle).bytes, ledger.bytes);
        idle_done(&ledger, idle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_that_fails_leaks_nothing),
        cmocka_unit_test(a_touch_that_fails_changes_nothing),
        cmocka_unit_test(each_allocation_of_few_keys_may_fail),
        cmocka_unit_test(a_shorter_limit_that_fails_changes_nothing),
        cmocka_unit_test(nothing_but_adding_and_shortening_allocates),
        cmocka_unit_test(no_memory_and_no_room_are_different_errors),
        cmocka_unit_test(a_crowd_is_scattered_without_memory),
        cmocka_unit_test(memory_is_used_again),
        cmocka_unit_test(close_gives_everything_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
