/*
 * keys/hash_test.c - SipHash by the numbers others have published, and its
 * secret.
 */
#include "support/core.h"

#include "keys/hash.h"

static bool has_no_random;
static const unsigned char *random_bytes;

/* What the system gives a process, or as the test wants it.  The names are the
 * linker's. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
unsigned long __real_getauxval(unsigned long type);
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
unsigned long __wrap_getauxval(unsigned long type);
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
unsigned long __wrap_getauxval(unsigned long type)
{
    if (has_no_random)
        return 0;
    if (random_bytes != NULL)
        return (unsigned long)random_bytes;
    return __real_getauxval(type);
}

/* The secret 00 01 .. 0f, and the bytes 00 01 .. of the published numbers. */
static const struct hash_secret counting = {
    .word = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

static uint64_t sip_of_counting(size_t count, unsigned rounds, unsigned last)
{
    unsigned char bytes[64];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    return hash_sip(&counting, bytes, count, rounds, last);
}

/* The numbers of the paper's authors, for 2 and 4 rounds. */
static void is_siphash(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        uint64_t hash;
    } published[] = {
        {0, UINT64_C(0x726fdb47dd0e0e31)},  {1, UINT64_C(0x74f839c593dc67fd)},
        {7, UINT64_C(0xab0200f58b01d137)},  {8, UINT64_C(0x93f5f5799a932462)},
        {9, UINT64_C(0x9e0082df0ba9e4b0)},  {15, UINT64_C(0xa129ca6149be45e5)},
        {16, UINT64_C(0x3f2acc7f57c29bdb)}, {63, UINT64_C(0x958a324ceb064572)},
    };
    for (size_t i = 0; i < COUNT_OF(published); i++)
        assert_int_equal(sip_of_counting(published[i].count, 2, 4),
                         published[i].hash);
}

/* One round and three are what is used, as by Rust's hash maps. */
static void uses_one_round_and_three(void **state)
{
    (void)state;
    assert_int_equal(sip_of_counting(0, 1, 3), UINT64_C(0xabac0158050fc4dc));
    unsigned char bytes[20] = "nineteen characters";
    assert_int_equal(hash_bytes(&counting, bytes, 19),
                     hash_sip(&counting, bytes, 19, 1, 3));
}

/* The same by hand: the product of 64 by 64 bits, its halves put together. */
static void folds_the_halves_of_a_product(void **state)
{
    (void)state;
    assert_int_equal(hash_fold(UINT64_MAX, UINT64_MAX), UINT64_MAX);
    assert_int_equal(hash_fold(UINT64_MAX, 2), UINT64_MAX);
    assert_int_equal(hash_fold(UINT64_C(1) << 32, UINT64_C(1) << 32), 1);
    assert_int_equal(hash_fold(3, 5), 15);
    assert_int_equal(
        hash_fold(UINT64_C(0x123456789abcdef0), UINT64_C(0xfedcba9876543210)),
        UINT64_C(0x121fa00ad77d7422) ^ UINT64_C(0x236d88fe5618cf00));
}

/* Each bit of a number decides about each bit of its hash, half of the time. */
static void every_bit_of_a_number_counts(void **state)
{
    (void)state;
    enum { SAMPLES = 2000 };
    struct hash_secret secret = tkw__hash_secret_of((uint64_t[2]){1, 2}, NULL);
    uint64_t random = random_seed();
    for (unsigned in = 0; in < 64; in++) {
        unsigned flips[64] = {0};
        for (unsigned i = 0; i < SAMPLES; i++) {
            uint64_t number = random_next(&random);
            uint64_t changed = hash_number(&secret, number) ^
                               hash_number(&secret, number ^ UINT64_C(1) << in);
            for (unsigned out = 0; out < 64; out++)
                flips[out] += (unsigned)(changed >> out & 1);
        }
        for (unsigned out = 0; out < 64; out++) {
            assert_true(flips[out] > SAMPLES * 40 / 100);
            assert_true(flips[out] < SAMPLES * 60 / 100);
        }
    }
}

static const uint64_t none[2];

/* Without a secret of its own each table would collide where the others do. */
static void draws_another_secret_for_each_salt(void **state)
{
    (void)state;
    int salts[2] = {0};
    struct hash_secret one = tkw__hash_secret_of(none, &salts[0]);
    struct hash_secret same = tkw__hash_secret_of(none, &salts[0]);
    struct hash_secret other = tkw__hash_secret_of(none, &salts[1]);
    assert_memory_equal(&one, &same, sizeof one);
    for (unsigned i = 0; i < 2; i++)
        assert_int_not_equal(one.word[i], other.word[i]);
    for (unsigned i = 0; i < 4; i++)
        assert_int_not_equal(one.factor[i], other.factor[i]);
    assert_int_not_equal(one.word[0], one.word[1]);
}

/* A secret that is given is taken, half of it 0 or not. */
static void takes_a_secret_that_is_given(void **state)
{
    (void)state;
    const uint64_t given[][2] = {{1, 2}, {0, 2}, {1, 0}};
    for (unsigned i = 0; i < COUNT_OF(given); i++) {
        struct hash_secret secret = tkw__hash_secret_of(given[i], &given);
        assert_memory_equal(secret.word, given[i], sizeof secret.word);
        assert_int_not_equal(secret.factor[1], secret.factor[3]);
    }
}

/* What the system gave decides, and is not shown. */
static void draws_from_what_the_system_gives(void **state)
{
    (void)state;
    static const unsigned char first[16] = {1}, second[16] = {2};
    random_bytes = first;
    struct hash_secret one = tkw__hash_secret_of(none, &counting);
    random_bytes = second;
    struct hash_secret other = tkw__hash_secret_of(none, &counting);
    random_bytes = NULL;
    assert_int_not_equal(one.word[0], other.word[0]);
    assert_memory_not_equal(one.word, first, sizeof one.word);

    has_no_random = true;
    struct hash_secret neither = tkw__hash_secret_of(none, &counting);
    has_no_random = false;
    assert_int_not_equal(neither.word[0], neither.word[1]);
    assert_int_not_equal(neither.word[0], one.word[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_siphash),
        cmocka_unit_test(uses_one_round_and_three),
        cmocka_unit_test(folds_the_halves_of_a_product),
        cmocka_unit_test(every_bit_of_a_number_counts),
        cmocka_unit_test(takes_a_secret_that_is_given),
        cmocka_unit_test(draws_another_secret_for_each_salt),
        cmocka_unit_test(draws_from_what_the_system_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
