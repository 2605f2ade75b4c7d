/*
 * idle/keys_test.c - which keys are the same to the tracker and which are not:
 * numbers, bytes, their lengths; and that it has a copy of its own.
 */
#include "support/idle.h"

/* Add each, see that it stands apart from all others, and that each goes
   alone. */
static void assert_all_different(const struct tkw_key *keys, size_t count)
{
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
    for (size_t i = 0; i < count; i++) {
        assert_not_held(idle, keys[i]);
        idle_add(idle, keys[i], 1000 + i);
    }
    for (size_t i = 0; i < count; i++)
        assert_stands(idle, keys[i], 1000 + i, DEFAULT_LIMIT);
    for (size_t i = 0; i < count; i++) {
        assert_true(tkw_idle_forget(idle, keys[i]));
        assert_not_held(idle, keys[i]);
        assert_int_equal(tkw_idle_count(idle), count - 1 - i);
    }
    idle_done(&ledger, idle);
}

/* Numbers, their bytes in memory, their digits, and as many bytes. */
static void a_number_and_bytes_are_never_the_same_key(void **state)
{
    (void)state;
    uint64_t five = 5, zero = 0;
    const struct tkw_key keys[] = {
        tkw_key_number(5),           tkw_key_bytes(&five, sizeof five),
        tkw_key_text("5"),           tkw_key_text("55555"),
        tkw_key_number(0),           tkw_key_bytes(&zero, sizeof zero),
        tkw_key_text("0"),           tkw_key_bytes(NULL, 0),
        tkw_key_number(UINT64_MAX),  tkw_key_number(8),
        tkw_key_number(UINT32_MAX),  tkw_key_number(UINT64_C(1) << 32),
        tkw_key_number(INT64_MAX),   tkw_key_number(UINT64_C(1) << 63),
        tkw_key_number(0x3535353535)};
    assert_all_different(keys, COUNT_OF(keys));
}

/* Wherever the tracker keeps the bytes of a key: a number that is their address
   does not lead to them. */
static void a_number_is_not_the_address_of_bytes(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
    for (uint32_t i = 1; i <= 600; i++) {
        struct tkw_idle_cursor walk = {0};
        struct tkw_idle_key silent;
        idle_add(idle, mixed_key(2 * i + 1), 0);
        while (i % 40 == 0 && tkw_idle_walk(idle, &walk, &silent)) {
            uint64_t address = (uintptr_t)silent.key.bytes;
            for (uint64_t before = 0; before <= 64; before += 8)
                assert_not_held(idle, tkw_key_number(address - before));
        }
    }
    idle_done(&ledger, idle);
}

/* A zero ends a text, not a key; and their number counts. */
static void zeros_inside_bytes_count(void **state)
{
    (void)state;
    const struct tkw_key keys[] = {
        tkw_key_text(""),           tkw_key_bytes("\0", 1),
        tkw_key_bytes("\0\0", 2),   tkw_key_bytes("\0\0\0\0\0\0\0\0", 8),
        tkw_key_bytes("a", 1),      tkw_key_bytes("a\0", 2),
        tkw_key_bytes("a\0b", 3),   tkw_key_bytes("a\0c", 3),
        tkw_key_bytes("\0a", 2),    tkw_key_bytes("aaaaaaaa", 8),
        tkw_key_bytes("aaaaaaa", 7)};
    assert_all_different(keys, COUNT_OF(keys));
}

static void no_bytes_are_one_key_whatever_the_pointer(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
    idle_add(idle, tkw_key_bytes(NULL, 0), 1);
    idle_refresh(idle, tkw_key_text(""), 2);
    idle_refresh(idle, tkw_key_bytes("abc", 0), 3);
    assert_stands(idle, tkw_key_bytes(NULL, 0), 3, DEFAULT_LIMIT);
    assert_true(tkw_idle_forget(idle, tkw_key_bytes(&ledger, 0)));
    assert_int_equal(tkw_idle_count(idle), 0);
    idle_done(&ledger, idle);
}

/* Every length up to some, of one content: each is the others' beginning. */
static void keys_of_every_length_are_different(void **state)
{
    (void)state;
    static unsigned char bytes[600];
    struct tkw_key keys[COUNT_OF(bytes) + 1];
    for (size_t i = 0; i < COUNT_OF(bytes); i++)
        bytes[i] = 'x';
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        keys[i] = tkw_key_bytes(bytes, i);
    assert_all_different(keys, COUNT_OF(keys));
}

/* Long, and unlike in one byte: the first, the last, or one between. */
static void long_keys_are_compared_to_the_end(void **state)
{
    (void)state;
    enum { LENGTH = 100003, COPIES = 5 };
    static unsigned char bytes[COPIES][LENGTH];
    struct tkw_key keys[COPIES + 1];
    memset(bytes, 'y', sizeof bytes);
    bytes[1][0] ^= 1;
    bytes[2][LENGTH - 1] ^= 1;
    bytes[3][LENGTH / 2] ^= 1;
    bytes[4][LENGTH - 8] ^= 128;
    for (size_t i = 0; i < COPIES; i++)
        keys[i] = tkw_key_bytes(bytes[i], LENGTH);
    keys[COPIES] = tkw_key_bytes(bytes[0], LENGTH - 1);
    assert_all_different(keys, COUNT_OF(keys));
}

/* The caller's bytes may change, and may lie at any address. */
static void bytes_are_copied(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
    char mine[32] = "  alice of the wonderland";
    idle_add(idle, tkw_key_text(mine + 2), 5);
    memset(mine, '?', sizeof mine - 1);
    assert_stands(idle, tkw_key_text("alice of the wonderland"), 5,
                  DEFAULT_LIMIT);
    for (size_t i = 0; i < 8; i++) {
        memset(mine, 0, sizeof mine);
        memcpy(mine + i, "alice of the wonderland", 24);
        idle_refresh(idle, tkw_key_bytes(mine + i, 23), 6 + i);
    }
    assert_int_equal(tkw_idle_count(idle), 1);
    idle_done(&ledger, idle);
}

/* Refused unread, and known to be held by nobody. */
static void a_key_of_too_many_bytes_is_refused(void **state)
{
    (void)state;
    const uint64_t lengths[] = {UINT64_C(1) << 31, (UINT64_C(1) << 31) + 1,
                                UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1,
                                UINT64_C(1) << 63, UINT64_MAX};
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
    idle_add(idle, tkw_key_text("x"), 0);
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        struct tkw_key key = {"x", lengths[i]};
        assert_int_equal(tkw_idle_touch(idle, key, 1), -EINVAL);
        assert_int_equal(tkw_idle_touch_limit(idle, key, 1, 1), -EINVAL);
        assert_false(tkw_idle_forget(idle, key));
        assert_not_held(idle, key);
        assert_int_equal(tkw_idle_count(idle), 1);
    }
    assert_stands(idle, tkw_key_text("x"), 0, DEFAULT_LIMIT);
    idle_done(&ledger, idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_and_bytes_are_never_the_same_key),
        cmocka_unit_test(a_number_is_not_the_address_of_bytes),
        cmocka_unit_test(zeros_inside_bytes_count),
        cmocka_unit_test(no_bytes_are_one_key_whatever_the_pointer),
        cmocka_unit_test(keys_of_every_length_are_different),
        cmocka_unit_test(long_keys_are_compared_to_the_end),
        cmocka_unit_test(bytes_are_copied),
        cmocka_unit_test(a_key_of_too_many_bytes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
