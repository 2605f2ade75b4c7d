/*
 * packaging/interface_test.c - what the library shows besides its layers: its
 * version, and functions for those who cannot inline them.
 */
#include <stdio.h>
#include <string.h>

#include <sys/epoll.h>
#include <unistd.h>

#include <tickwheel.h>

#include "support/core.h"

static void the_version_is_the_same_however_it_is_said(void **state)
{
    (void)state;
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", TKW_VERSION_MAJOR,
             TKW_VERSION_MINOR, TKW_VERSION_PATCH);
    assert_string_equal(text, TKW_VERSION);
    assert_string_equal(tkw_version(), TKW_VERSION);
}

/* A call by a pointer that nobody can see through is not inlined. */
static void keys_can_be_made_without_inlining(void **state)
{
    (void)state;
    struct tkw_key (*volatile number)(uint64_t) = tkw_key_number;
    struct tkw_key (*volatile bytes)(const void *, size_t) = tkw_key_bytes;
    struct tkw_key (*volatile text)(const char *) = tkw_key_text;
    assert_null(number(7).bytes);
    assert_int_equal(number(7).number, 7);
    assert_memory_equal(bytes("alice", 3).bytes, "ali", 3);
    assert_int_equal(bytes("alice", 3).number, 3);
    assert_non_null(bytes(NULL, 0).bytes);
    assert_int_equal(text("alice").number, 5);
}

static void epoll_can_be_told_without_inlining(void **state)
{
    (void)state;
    int (*volatile add)(struct tkw_service *, int, epoll_data_t) =
        tkw_epoll_add;
    int (*volatile remove)(struct tkw_service *, int) = tkw_epoll_remove;
    struct tkw_service *service;
    struct tkw_service_config config = {.driver = TKW_DRIVER_NONE};
    assert_int_equal(tkw_service_open(&service, &config), 0);
    int epoll = epoll_create1(0);
    assert_true(epoll >= 0);
    assert_int_equal(add(service, epoll, (epoll_data_t){.u32 = 7}), 0);
    assert_int_equal(add(service, epoll, (epoll_data_t){.u32 = 7}), -EEXIST);
    assert_int_equal(remove(service, epoll), 0);
    assert_int_equal(remove(service, epoll), -ENOENT);
    close(epoll);
    assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_the_same_however_it_is_said),
        cmocka_unit_test(keys_can_be_made_without_inlining),
        cmocka_unit_test(epoll_can_be_told_without_inlining),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
