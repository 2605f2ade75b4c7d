/*
 * base/bits_test.c - the set of small numbers against a plain array of bools.
 */
#include "support/core.h"

#include "base/bits.h"

struct twin {
    uint32_t size;
    uint64_t *words;
    bool *members;
};

static struct twin twin_of(uint32_t size)
{
    struct twin twin = {.size = size};
    twin.words = calloc(bits_words(size), sizeof(*twin.words));
    twin.members = calloc(size, sizeof(*twin.members));
    assert_non_null(twin.words);
    assert_non_null(twin.members);
    return twin;
}

static void twin_free(struct twin *twin)
{
    free(twin->words);
    free(twin->members);
}

static void twin_add(struct twin *twin, uint32_t i)
{
    bits_add(twin->words, twin->size, i);
    twin->members[i] = true;
}

static bool naive_is_empty(const struct twin *twin)
{
    for (uint32_t i = 0; i < twin->size; i++) {
        if (twin->members[i])
            return false;
    }
    return true;
}

static void twin_remove(struct twin *twin, uint32_t i)
{
    bool is_empty = bits_remove(twin->words, twin->size, i);
    twin->members[i] = false;
    assert_int_equal(is_empty, naive_is_empty(twin));
}

/* From every position, the size itself included: what a scan would find. */
static void assert_twins_agree(const struct twin *twin)
{
    uint32_t next = BITS_NONE;
    assert_int_equal(bits_find(twin->words, twin->size, twin->size), next);
    for (uint32_t i = twin->size; i-- > 0;) {
        if (twin->members[i])
            next = i;
        assert_int_equal(bits_find(twin->words, twin->size, i), next);
        assert_int_equal(bits_has(twin->words, i), twin->members[i]);
    }
}

static void assert_all_words_are_zero(const struct twin *twin)
{
    for (uint32_t i = 0; i < bits_words(twin->size); i++)
        assert_int_equal(twin->words[i], 0);
}

/* A tier too few overruns memory, one too many wastes it. */
static void words_of_all_tiers_are_counted(void **state)
{
    (void)state;
    static const struct {
        uint32_t size;
        uint32_t words;
    } rows[] = {{2, 1},
                {63, 1},
                {64, 1},
                {65, 3},
                {128, 3},
                {256, 5},
                {4096, 65},
                {4097, 65 + 3},
                {262144, 4096 + 64 + 1},
                {262145, 4097 + 65 + 2 + 1}};

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(bits_words(rows[i].size), rows[i].words);
}

static void an_empty_set_finds_nothing(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= 5000; size += 1 + size / 7) {
        struct twin twin = twin_of(size);
        assert_twins_agree(&twin);
        twin_free(&twin);
    }
}

static void a_full_set_finds_every_member(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= 5000; size += 1 + size / 7) {
        struct twin twin = twin_of(size);
        for (uint32_t i = 0; i < size; i++)
            twin_add(&twin, i);
        assert_twins_agree(&twin);
        for (uint32_t i = 0; i < size; i++)
            assert_int_equal(bits_remove(twin.words, size, i), i + 1 == size);
        assert_all_words_are_zero(&twin);
        twin_free(&twin);
    }
}

/* Each member alone, in every size around the edges of words and tiers. */
static void one_member_is_found_from_everywhere(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= 200; size++) {
        struct twin twin = twin_of(size);
        for (uint32_t i = 0; i < size; i++) {
            twin_add(&twin, i);
            assert_twins_agree(&twin);
            twin_remove(&twin, i);
            assert_all_words_are_zero(&twin);
        }
        twin_free(&twin);
    }
}

/* Both ends of each word, where a shift by 64 or a summary off by one hides. */
static void members_at_the_edges_of_words_are_found(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {4095, 4096, 4097, 4160, 5000};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        struct twin twin = twin_of(sizes[s]);
        for (uint32_t i = 63; i + 1 < sizes[s]; i += 64 * 9) {
            twin_add(&twin, i);
            assert_twins_agree(&twin);
            twin_add(&twin, i + 1);
            assert_twins_agree(&twin);
            twin_remove(&twin, i);
            assert_twins_agree(&twin);
        }
        twin_free(&twin);
    }
}

/* Adding twice and removing what is not there change nothing. */
static void adding_and_removing_twice_is_harmless(void **state)
{
    (void)state;
    struct twin twin = twin_of(4097);
    twin_add(&twin, 4096);
    twin_add(&twin, 4096);
    twin_remove(&twin, 17);
    assert_twins_agree(&twin);
    twin_remove(&twin, 4096);
    twin_remove(&twin, 4096);
    assert_all_words_are_zero(&twin);
    twin_free(&twin);
}

static void random_sets_agree_with_an_array(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (unsigned run = 0; run < 60; run++) {
        struct twin twin = twin_of(2 + (uint32_t)random_below(&seed, 4999));
        for (unsigned step = 0; step < 200; step++) {
            uint32_t i = (uint32_t)random_below(&seed, twin.size);
            if (random_below(&seed, 3) == 0)
                twin_remove(&twin, i);
            else
                twin_add(&twin, i);
            if (step % 40 == 0)
                assert_twins_agree(&twin);
        }
        assert_twins_agree(&twin);
        twin_free(&twin);
    }
}

/* Four tiers: 300,000 numbers, crowded and sparse. */
static void large_sets_agree_with_an_array(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    static const uint32_t sizes[] = {65536, 262144, 262145, 300000};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        struct twin twin = twin_of(sizes[s]);
        for (unsigned members = 1; members < 20000; members *= 8) {
            for (unsigned i = 0; i < members; i++)
                twin_add(&twin, (uint32_t)random_below(&seed, twin.size));
            assert_twins_agree(&twin);
        }
        for (uint32_t i = 0; i < twin.size; i++) {
            bits_remove(twin.words, twin.size, i);
            twin.members[i] = false;
        }
        assert_all_words_are_zero(&twin);
        twin_free(&twin);
    }
}

/* Behind the last member comes the first again, a whole turn after itself. */
static void the_next_is_found_going_round(void **state)
{
    (void)state;
    for (uint32_t size = 2; size < 200; size += 33) {
        struct twin twin = twin_of(size);
        twin_add(&twin, 1);
        assert_int_equal(bits_ahead(twin.words, size, 0), 1);
        assert_int_equal(bits_ahead(twin.words, size, 1), size);
        twin_add(&twin, size - 1);
        assert_int_equal(bits_ahead(twin.words, size, size - 1), 2);
        twin_free(&twin);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_is_found_going_round),
        cmocka_unit_test(words_of_all_tiers_are_counted),
        cmocka_unit_test(an_empty_set_finds_nothing),
        cmocka_unit_test(a_full_set_finds_every_member),
        cmocka_unit_test(one_member_is_found_from_everywhere),
        cmocka_unit_test(members_at_the_edges_of_words_are_found),
        cmocka_unit_test(adding_and_removing_twice_is_harmless),
        cmocka_unit_test(random_sets_agree_with_an_array),
        cmocka_unit_test(large_sets_agree_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
