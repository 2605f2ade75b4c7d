/*
 * server/net/buffer_test.c - bytes that wait, in order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <net/buffer.h>
#include <string.h>

#include "memory.h"

/* Append and consume pieces of all sizes: bytes come out as they went in. */
static void bytes_keep_their_order(void **state)
{
    struct memory memory;
    struct tkd_buffer buffer = {0};
    unsigned char in = 0, out = 0;
    (void)state;
    memory_init(&memory);
    for (size_t round = 0; round < 3000; round++) {
        char piece[997];
        size_t size = (round * 131) % sizeof piece;
        for (size_t i = 0; i < size; i++)
            piece[i] = (char)in++;
        assert_true(tkd_buffer_append(&buffer, &memory.allocator, piece, size));
        size_t taken = (round * 257) % (tkd_buffer_size(&buffer) + 1);
        for (size_t i = 0; i < taken; i++)
            assert_int_equal((unsigned char)tkd_buffer_bytes(&buffer)[i],
                             out++);
        tkd_buffer_consume(&buffer, &memory.allocator, taken);
    }
    tkd_buffer_clear(&buffer, &memory.allocator);
    assert_int_equal(memory.bytes, 0);
}

static void an_empty_buffer_has_no_memory(void **state)
{
    struct memory memory;
    struct tkd_buffer buffer = {0};
    (void)state;
    memory_init(&memory);
    assert_null(tkd_buffer_bytes(&buffer));
    assert_true(tkd_buffer_append(&buffer, &memory.allocator, NULL, 0));
    assert_int_equal(memory.bytes, 0);
    assert_true(tkd_buffer_append(&buffer, &memory.allocator, "abc", 3));
    tkd_buffer_consume(&buffer, &memory.allocator, 2);
    assert_memory_equal(tkd_buffer_bytes(&buffer), "c", 1);
    tkd_buffer_consume(&buffer, &memory.allocator, 1);
    assert_int_equal(memory.bytes, 0);
}

/* A stream through a buffer that is never empty must not make it grow. */
static void a_stream_needs_bounded_memory(void **state)
{
    struct memory memory;
    struct tkd_buffer buffer = {0};
    (void)state;
    memory_init(&memory);
    for (size_t i = 0; i < 10000; i++) {
        assert_true(
            tkd_buffer_append(&buffer, &memory.allocator, "0123456789", 10));
        if (i > 0)
            tkd_buffer_consume(&buffer, &memory.allocator, 10);
        assert_true(memory.bytes <= 1024);
    }
    tkd_buffer_clear(&buffer, &memory.allocator);
}

static void a_refused_allocation_changes_nothing(void **state)
{
    struct memory memory;
    struct tkd_buffer buffer = {0};
    char large[5000] = {0};
    (void)state;
    memory_init(&memory);
    assert_true(tkd_buffer_append(&buffer, &memory.allocator, "abc", 3));
    memory.left = 0;
    assert_false(
        tkd_buffer_append(&buffer, &memory.allocator, large, sizeof large));
    assert_false(
        tkd_buffer_append(&buffer, &memory.allocator, large, SIZE_MAX));
    assert_int_equal(tkd_buffer_size(&buffer), 3);
    assert_memory_equal(tkd_buffer_bytes(&buffer), "abc", 3);
    tkd_buffer_clear(&buffer, &memory.allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_keep_their_order),
        cmocka_unit_test(an_empty_buffer_has_no_memory),
        cmocka_unit_test(a_stream_needs_bounded_memory),
        cmocka_unit_test(a_refused_allocation_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
