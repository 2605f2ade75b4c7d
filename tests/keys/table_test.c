/*
 * keys/table_test.c - the hash table under the tracker and the purgatory.
 *
 * Built twice: as it is, and with so few slots a segment and so small a
 * directory that a few keys fill them (TABLE_IS_TINY).
 */
#include "support/pool.h"

#include <errno.h>
#include <stdio.h>

#include "keys/table.h"

enum { KEYS = 2000, TEXT_MAX = 24 };

/* A table, and what should be in it: by number, whether there is a number key,
 * and a text key, and the value of each. */
struct bench {
    struct ledger ledger;
    struct table table;
    uint64_t value[2][KEYS]; /* 0: not there */
    size_t count;
};

static struct tkw_key key_of(bool is_text, unsigned number, char *text)
{
    if (!is_text)
        return tkw_key_number(number);
    snprintf(text, TEXT_MAX, "%x", number * 77777777u);
    return tkw_key_text(text);
}

static void assert_table_sound(const struct table *table)
{
    struct tkw_fault fault;
    assert_false(tkw__table_find_fault(table, &fault));
}

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){.count = 0};
    ledger_init(&bench->ledger);
    struct hash_secret secret = tkw__hash_secret_of((uint64_t[2]){1, 2}, NULL);
    assert_int_equal(
        tkw__table_open(&bench->table, &bench->ledger.allocator, secret), 0);
}

static void bench_close(struct bench *bench)
{
    assert_int_equal(bench->table.bytes, bench->ledger.bytes);
    tkw__table_close(&bench->table);
    assert_int_equal(bench->ledger.blocks, 0);
    assert_int_equal(bench->ledger.bytes, 0);
}

static struct table_slot *find_slot(struct bench *bench, struct tkw_key key)
{
    return table_find(&bench->table, key, table_hash(&bench->table, key));
}

/* Insert a key, or try to.  Returns what the table said. */
static int insert(struct bench *bench, bool is_text, unsigned number,
                  uint64_t value)
{
    char text[TEXT_MAX];
    struct tkw_key key = key_of(is_text, number, text);
    struct table_slot *slot = NULL;
    int error = tkw__table_insert(&bench->table, &slot, key,
                                  table_hash(&bench->table, key));
    if (error != 0)
        return error;
    assert_ptr_equal(slot, find_slot(bench, key));
    assert_int_equal(slot->value[0], 0);
    slot->value[0] = value;
    slot_set_extra(slot, value + 1);
    bench->value[is_text][number] = value;
    bench->count++;
    return 0;
}

static void take_out(struct bench *bench, bool is_text, unsigned number)
{
    char text[TEXT_MAX];
    struct tkw_key key = key_of(is_text, number, text);
    uint64_t hash = table_hash(&bench->table, key);
    struct table_bytes *bytes = tkw__table_remove(
        &bench->table, table_find(&bench->table, key, hash), hash);
    assert_int_equal(bytes != NULL, is_text);
    if (bytes != NULL)
        tkw__table_release_bytes(&bench->table, bytes);
    bench->value[is_text][number] = 0;
    bench->count--;
}

/* Everything is there, and nothing else. */
static void assert_as_noted(struct bench *bench)
{
    assert_int_equal(bench->table.count, bench->count);
    assert_table_sound(&bench->table);
    for (unsigned i = 0; i < 2 * KEYS; i++) {
        char text[TEXT_MAX];
        struct tkw_key key = key_of(i % 2, i / 2, text);
        const struct table_slot *slot = find_slot(bench, key);
        uint64_t value = bench->value[i % 2][i / 2];
        assert_int_equal(slot != NULL, value != 0);
        if (slot == NULL)
            continue;
        assert_int_equal(slot->value[0], value);
        assert_int_equal(slot_extra(slot), value + 1);
        assert_int_equal(slot_key(slot).number, key.number);
    }
}

/* Keys come and go in any order, and each is found as long as it is there. */
static void holds_what_was_put_in_and_nothing_else(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    struct bench bench;
    bench_open(&bench);
    for (unsigned round = 0; round < 40; round++) {
        unsigned keys = 1 + (unsigned)random_below(&random, KEYS);
        for (unsigned i = 0; i < 1000; i++) {
            unsigned number = (unsigned)random_below(&random, keys);
            bool is_text = random_below(&random, 2);
            if (bench.value[is_text][number] != 0)
                take_out(&bench, is_text, number);
            else
                (void)insert(&bench, is_text, number, i + 1);
        }
        assert_as_noted(&bench);
    }
    bench_close(&bench);
}

/* A cursor meets each key once, whatever shares the directory's entries. */
static void visits_every_key_once(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    for (unsigned i = 0; i < KEYS; i++)
        (void)insert(&bench, i % 3 == 0, i, i + 1);

    size_t visited = 0;
    uint64_t cursor = 0;
    for (struct table_slot *slot;
         (slot = tkw__table_next(&bench.table, &cursor)) != NULL; visited++) {
        assert_int_not_equal(slot->value[0], 0);
        slot->value[0] = 0;
    }
    assert_int_equal(visited, bench.count);
    bench_close(&bench);
}

/* A number is not the bytes that look like it, nor are bytes their beginning,
 * and a 0 among them is a byte like others. */
static void tells_keys_apart(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    const uint64_t number = UINT64_C(0x0807060504030201);
    const struct tkw_key keys[] = {
        tkw_key_number(number),
        tkw_key_number(0),
        tkw_key_bytes("\1\2\3\4\5\6\7\10", 8),
        tkw_key_bytes("\0", 1),
        tkw_key_bytes("\0\0", 2),
        tkw_key_bytes(NULL, 0),
        tkw_key_text("a"),
        tkw_key_text("ab"),
    };
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct table_slot *slot;
        assert_null(find_slot(&bench, keys[i]));
        assert_int_equal(tkw__table_insert(&bench.table, &slot, keys[i],
                                           table_hash(&bench.table, keys[i])),
                         0);
        slot->value[0] = i;
    }
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        assert_int_equal(find_slot(&bench, keys[i])->value[0], i);
        struct tkw_key stored = slot_key(find_slot(&bench, keys[i]));
        assert_int_equal(stored.number, keys[i].number);
        assert_int_equal(stored.bytes != NULL, keys[i].bytes != NULL);
        assert_ptr_not_equal(stored.bytes, i > 1 ? keys[i].bytes : "");
    }
    assert_ptr_equal(find_slot(&bench, tkw_key_bytes("", 0)),
                     find_slot(&bench, tkw_key_bytes(NULL, 0)));
    bench_close(&bench);
}

/* Bytes whose hashes are the same are not the same bytes; nor is a number that
 * happens to be their address. */
static void tells_keys_of_one_hash_apart(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    const uint64_t hash = 77;
    struct table_slot *slot;
    const char *texts[] = {"one", "two", "three"};
    for (uint64_t i = 0; i < COUNT_OF(texts); i++) {
        struct tkw_key key = tkw_key_text(texts[i]);
        assert_null(table_find(&bench.table, key, hash));
        assert_int_equal(tkw__table_insert(&bench.table, &slot, key, hash), 0);
        slot->value[0] = i;
    }
    for (uint64_t i = 0; i < COUNT_OF(texts); i++) {
        slot = table_find(&bench.table, tkw_key_text(texts[i]), hash);
        assert_int_equal(slot->value[0], i);
        assert_null(table_find(&bench.table, tkw_key_number(slot->key), hash));
    }
    bench_close(&bench);
}

/* Whichever allocation fails: the key is not there, all others are, and when
 * there is memory again it can be. */
static void a_key_without_memory_is_not_there(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    struct bench bench;
    bench_open(&bench);
    unsigned failed = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        ledger_fail(&bench.ledger, random_below(&random, 3), 1 + i % 2);
        bool is_text = i % 4 == 0;
        if (insert(&bench, is_text, i, i + 1) == -ENOMEM) {
            ledger_relent(&bench.ledger);
            failed++;
            (void)insert(&bench, is_text, i, i + 1);
        }
        ledger_relent(&bench.ledger);
    }
    assert_true(failed > 0);
    assert_as_noted(&bench);
    bench_close(&bench);
}

/* A table that cannot grow fills what it has, all but one slot, and then says
 * so; what leaves makes room. */
static void fills_up_without_memory(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    ledger_fail(&bench.ledger, 0, FOR_EVER);
    unsigned count = 0;
    while (insert(&bench, false, count, 1) == 0)
        count++;
    assert_int_equal(count, TKW_TABLE_SLOTS - 1);
    assert_as_noted(&bench);
    take_out(&bench, false, 1);
    assert_int_equal(insert(&bench, false, count, 1), 0);
    assert_int_equal(insert(&bench, false, 1, 1), -ENOMEM);
    assert_as_noted(&bench);
    bench_close(&bench);
}

static void open_fails_without_memory(void **state)
{
    (void)state;
    struct ledger ledger;
    ledger_init(&ledger);
    struct table table;
    for (unsigned i = 0; i < 2; i++) {
        ledger_fail(&ledger, i, 1);
        struct hash_secret secret =
            tkw__hash_secret_of((uint64_t[2]){1, 2}, NULL);
        assert_int_equal(tkw__table_open(&table, &ledger.allocator, secret),
                         -ENOMEM);
        assert_int_equal(ledger.blocks, 0);
    }
}

/* Set a field to a wrong value, and assert how the fault is described. */
#define ASSERT_TABLE_SEEN(table, field, wrong, ...)              \
    do {                                                         \
        __typeof__(field) right = (field);                       \
        struct tkw_fault found_fault;                            \
        (field) = (wrong);                                       \
        assert_true(tkw__table_find_fault(table, &found_fault)); \
        ASSERT_FAULT(&found_fault, __VA_ARGS__);                 \
        (field) = right;                                         \
        assert_table_sound(table);                               \
    } while (0)

/* A table with a broken invariant is seen, and the fault described. */
static void check_sees_what_is_wrong(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    (void)insert(&bench, false, 1, 1);
    (void)insert(&bench, true, 2, 2);
    struct table *table = &bench.table;
    struct table_slot *number = find_slot(&bench, tkw_key_number(1));
    struct table_segment *segment = table->directory[0];
    assert_table_sound(table);

    ASSERT_TABLE_SEEN(table, table->count, 3,
                      "number of keys of the table is 3, expected 2");
    ASSERT_TABLE_SEEN(table, number->key, number->key + 1,
                      "a key is not where a search looks for it");
    ASSERT_TABLE_SEEN(table, segment->used, 3,
                      "number of keys of a table's segment is 3, expected 2");
    ASSERT_TABLE_SEEN(
        table, segment->used, TKW_TABLE_SLOTS,
        "number of keys of a table's segment is %d, expected at most %d",
        TKW_TABLE_SLOTS, TKW_TABLE_SLOTS - 1);
    ASSERT_TABLE_SEEN(table, segment->depth, segment->depth + 1,
                      "depth of a table's segment is %" PRIu32
                      ", expected at most %" PRIu32,
                      table->depth + 1, table->depth);

    uint64_t cursor = 0;
    struct table_slot *text = tkw__table_next(table, &cursor);
    if (!slot_is_bytes(text))
        text = tkw__table_next(table, &cursor);
    struct tkw_key key = slot_key(text);
    uint64_t hash = table_hash(table, key);
    unsigned char *bytes = slot_bytes(text)->bytes;
    bytes[0] ^= 1;
    uint64_t other = table_hash(table, key);
    bytes[0] ^= 1;
    ASSERT_TABLE_SEEN(table, bytes[0], bytes[0] ^ 1,
                      "hash of a key is %" PRIu64 ", expected %" PRIu64, hash,
                      other);
    bench_close(&bench);
}

#ifdef TABLE_IS_TINY

/* At its greatest depth a segment is not split any more: full is full. */
static void stops_growing_at_its_greatest_depth(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    unsigned failed = 0;
    for (unsigned i = 0; i < KEYS; i++)
        failed += insert(&bench, false, i, 1) == -ENOMEM;
    assert_int_equal(bench.table.depth, TKW_TABLE_DEPTH_MAX);
    assert_true(failed > 0);
    assert_true(bench.count <= (TKW_TABLE_SLOTS - 1) << TKW_TABLE_DEPTH_MAX);
    assert_as_noted(&bench);
    bench_close(&bench);
}

#else

/* How many slots a look at a key has to pass. */
static uint64_t steps_to(const struct table *table, struct tkw_key key)
{
    uint64_t hash = table_hash(table, key);
    const struct table_slot *slot = table_find(table, key, hash);
    uint64_t at = (uint64_t)(slot - table_segment(table, hash)->slots);
    return (at - hash) % TKW_TABLE_SLOTS;
}

/* Keys that are alike in whatever bits a simple hash looks at: in this one they
 * must not meet.  Nor may any step allocate more than a segment and the
 * directory. */
static void keys_that_are_alike_do_not_meet(void **state)
{
    (void)state;
    enum { MANY = 50000 };
    for (unsigned shift = 0; shift <= 48; shift += 8) {
        struct bench bench;
        bench_open(&bench);
        for (uint64_t i = 0; i < MANY; i++) {
            struct table_slot *slot;
            struct tkw_key key = tkw_key_number(i << shift);
            uint64_t before = bench.ledger.calls;
            assert_int_equal(tkw__table_insert(&bench.table, &slot, key,
                                               table_hash(&bench.table, key)),
                             0);
            assert_true(bench.ledger.calls <= before + 2);
        }
        uint64_t total = 0, most = 0;
        for (uint64_t i = 0; i < MANY; i++) {
            uint64_t steps = steps_to(&bench.table, tkw_key_number(i << shift));
            total += steps;
            most = steps > most ? steps : most;
        }
        assert_true(total < 2 * MANY); /* 1 is what theory says, at most */
        assert_true(most < 100);
        assert_true(bench.table.depth <= 9);
        bench_close(&bench);
    }
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_what_was_put_in_and_nothing_else),
        cmocka_unit_test(visits_every_key_once),
        cmocka_unit_test(tells_keys_apart),
        cmocka_unit_test(tells_keys_of_one_hash_apart),
        cmocka_unit_test(a_key_without_memory_is_not_there),
        cmocka_unit_test(fills_up_without_memory),
        cmocka_unit_test(open_fails_without_memory),
        cmocka_unit_test(check_sees_what_is_wrong),
#ifdef TABLE_IS_TINY
        cmocka_unit_test(stops_growing_at_its_greatest_depth),
#else
        cmocka_unit_test(keys_that_are_alike_do_not_meet),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
