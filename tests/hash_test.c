/*
 * hash_test.c - SipHash by the numbers others have published, and its secret.
 */
#include "support.h"

#include "hash.h"

static bool has_no_random;
static const unsigned char *random_bytes;

/* What the system gives a process, or as the test wants it. */
unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);
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
    {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

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

/* A number is hashed as its bytes, lowest first, on machines of any order. */
static void hashes_a_number_as_its_bytes(void **state)
{
    (void)state;
    unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
    assert_int_equal(hash_number(&counting, UINT64_C(0x0807060504030201)),
                     hash_bytes(&counting, bytes, 8));
}

/* Without a secret of its own each table would collide where the others do. */
static void draws_another_secret_for_each_salt(void **state)
{
    (void)state;
    struct hash_secret one = {0}, same, other = {0};
    hash_draw(&one, &one);
    hash_draw(&same, &one);
    hash_draw(&other, &other);
    assert_memory_equal(&one, &same, sizeof one);
    assert_int_not_equal(one.word[0], other.word[0]);
    assert_int_not_equal(one.word[1], other.word[1]);
    assert_int_not_equal(one.word[0], one.word[1]);
}

/* What the system gave decides, and is not shown. */
static void draws_from_what_the_system_gives(void **state)
{
    (void)state;
    static const unsigned char first[16] = {1}, second[16] = {2};
    struct hash_secret one, other, none;
    random_bytes = first;
    hash_draw(&one, &counting);
    random_bytes = second;
    hash_draw(&other, &counting);
    random_bytes = NULL;
    assert_int_not_equal(one.word[0], other.word[0]);
    assert_memory_not_equal(&one, first, sizeof one);

    has_no_random = true;
    hash_draw(&none, &counting);
    has_no_random = false;
    assert_int_not_equal(none.word[0], none.word[1]);
    assert_int_not_equal(none.word[0], one.word[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_siphash),
        cmocka_unit_test(uses_one_round_and_three),
        cmocka_unit_test(hashes_a_number_as_its_bytes),
        cmocka_unit_test(draws_another_secret_for_each_salt),
        cmocka_unit_test(draws_from_what_the_system_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
