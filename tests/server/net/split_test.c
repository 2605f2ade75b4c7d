/*
 * server/net/split_test.c - sessions of a real engine: the replies depend on
 * the bytes, not on how they are split.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <net/session.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Every kind of event, a reserve that gets a job, and an unfinished line. */
static const char stream[] =
    "use mail\r\nput 5 0 60 5\r\nhello\r\nput 1 0 60 0\r\n\r\n"
    "put 1 0 60 3\r\nabcXY\r\nnonsense\r\nput x\r\nput 1 0 60 11\r\n"
    "12345678901\r\n"
    "watch mail\r\nignore default\r\nreserve\r\nreserve-with-timeout 0\r\n"
    "reserve-with-timeout 0\r\ndelete 1\r\nstats-job 2\r\nbury 2 7\r\n"
    "kick 10\r\npeek-ready\r\nlist-tubes\r\ntouch 9\r\nquit\r\nuse x\r\n";

enum {
    WHOLE_OUTPUT = 420, /* of the stream: the last reply is that to touch */
    OUTPUT_MAX = 4096,
};

struct scene {
    struct memory memory;
    struct tkd_store *store;
    struct tkd_engine *engine;
    struct tkd_session_config config;
    struct tkd_session session;
    char output[OUTPUT_MAX];
    size_t output_size;
};

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){0};
    memory_init(&scene->memory);
    scene->store = tkd_memory_open(&scene->memory.allocator);
    struct tkd_engine_config config = {
        .allocator = &scene->memory.allocator,
        .store = scene->store,
        .now_ns = UINT64_C(1000000000000),
        .hash_seed = 1,
        .body_max = 10,
    };
    assert_int_equal(tkd_engine_open(&scene->engine, &config), 0);
    scene->config = (struct tkd_session_config){
        .allocator = &scene->memory.allocator,
        .engine = scene->engine,
        .body_max = config.body_max,
    };
    assert_int_equal(
        tkd_session_open(&scene->session, &scene->config, &scene->session), 0);
}

static void close_scene(struct scene *scene)
{
    tkd_session_close(&scene->session);
    tkd_engine_close(scene->engine);
    tkd_store_close(scene->store);
    assert_int_equal(scene->memory.bytes, 0);
}

/* Do what a turn of the server does after reading. */
static void turn(struct scene *scene)
{
    struct tkd_delivery delivery;
    const char *bytes;
    assert_true(tkd_engine_sync(scene->engine));
    while (tkd_engine_pop(scene->engine, &delivery))
        tkd_session_deliver(delivery.user, &delivery);
    size_t size = tkd_session_output(&scene->session, &bytes);
    assert_true(scene->output_size + size <= OUTPUT_MAX);
    if (size > 0)
        memcpy(scene->output + scene->output_size, bytes, size);
    scene->output_size += size;
    tkd_session_sent(&scene->session, size);
}

/* Receive a piece of the stream, from a copy without a byte behind it, so that
 * a sanitizer reports a session that reads past the piece. */
static void receive(struct scene *scene, const char *bytes, size_t size)
{
    if (!tkd_session_wants_input(&scene->session))
        return;
    char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    tkd_session_receive(&scene->session, copy, size);
    free(copy);
    turn(scene);
    while (tkd_session_is_runnable(&scene->session)) {
        tkd_session_run(&scene->session);
        turn(scene);
    }
}

static void assert_same_output(const struct scene *scene,
                               const struct scene *expected)
{
    assert_true(tkd_session_is_over(&scene->session));
    assert_int_equal(scene->output_size, expected->output_size);
    assert_memory_equal(scene->output, expected->output, expected->output_size);
}

/* Compare all splits into three pieces, the first two of them up to `at` and
 * `at + length`. */
static void splits_into_three_pieces(void **state)
{
    struct scene whole, split;
    size_t size = sizeof stream - 1;
    (void)state;
    open_scene(&whole);
    receive(&whole, stream, size);
    assert_int_equal(whole.output_size, WHOLE_OUTPUT);
    for (size_t at = 1; at < size; at++) {
        for (size_t length = 1; length <= 3 && at + length < size; length++) {
            open_scene(&split);
            receive(&split, stream, at);
            receive(&split, stream + at, length);
            receive(&split, stream + at + length, size - at - length);
            assert_same_output(&split, &whole);
            close_scene(&split);
        }
    }
    close_scene(&whole);
}

static void splits_into_bytes(void **state)
{
    struct scene whole, split;
    (void)state;
    open_scene(&whole);
    open_scene(&split);
    receive(&whole, stream, sizeof stream - 1);
    for (size_t i = 0; i < sizeof stream - 1; i++)
        receive(&split, stream + i, 1);
    assert_same_output(&split, &whole);
    close_scene(&whole);
    close_scene(&split);
}

/* Memory that runs out at any place costs at most the connection. */
static void refused_allocations_break_nothing(void **state)
{
    (void)state;
    bool is_refused = true;
    for (size_t left = 0; is_refused; left++) {
        struct scene scene;
        open_scene(&scene);
        scene.memory.left = left;
        receive(&scene, stream, sizeof stream - 1);
        is_refused = scene.memory.is_refused;
        scene.memory.left = SIZE_MAX;
        assert_true(tkd_engine_check(scene.engine));
        close_scene(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_into_three_pieces),
        cmocka_unit_test(splits_into_bytes),
        cmocka_unit_test(refused_allocations_break_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
