/*
 * service/libuv_test.c - timers in a libuv loop.
 */
#define _POSIX_C_SOURCE 200809L

#include "loop_scenes.h"

#include <tickwheel/libuv.h>

/* The adapter is memory of its own, freed as soon as it may be. */
struct loop {
    uv_loop_t loop;
    struct tkw_uv *timers; /* NULL: none */
    uv_poll_t other;
    void (*ready)(void *);
    void *context;
    uv_timer_t guard; /* a minute */
    bool has_slept;   /* that minute */
};

static void on_guard(uv_timer_t *guard)
{
    ((struct loop *)guard->data)->has_slept = true;
}

static void *loop_open(void)
{
    struct loop *loop = calloc(1, sizeof *loop);
    assert_non_null(loop);
    assert_int_equal(uv_loop_init(&loop->loop), 0);
    assert_int_equal(uv_timer_init(&loop->loop, &loop->guard), 0);
    loop->guard.data = loop;
    return loop;
}

static void loop_turn(void *context, bool waits)
{
    struct loop *loop = context;
    if (waits)
        uv_timer_start(&loop->guard, on_guard, 60000, 0);
    uv_run(&loop->loop, waits ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    uv_timer_stop(&loop->guard);
    assert_false(loop->has_slept);
}

/* libuv counts the handles that are left. */
static void loop_close(void *context)
{
    struct loop *loop = context;
    uv_close((uv_handle_t *)&loop->guard, NULL);
    uv_run(&loop->loop, UV_RUN_NOWAIT);
    assert_null(loop->timers);
    assert_int_equal(uv_loop_close(&loop->loop), 0);
    free(loop);
}

static int loop_attach(void *context, struct tkw_service *service)
{
    struct loop *loop = context;
    struct tkw_uv *timers = malloc(sizeof *timers);
    assert_non_null(timers);
    int error = tkw_uv_open(timers, &loop->loop, service);
    if (error != 0) {
        free(timers);
        return error;
    }
    assert_null(loop->timers);
    assert_int_equal(timers->budget, LOOP_BUDGET);
    loop->timers = timers;
    return 0;
}

static void free_timers(struct tkw_uv *timers)
{
    free(timers);
}

static void loop_detach(void *context)
{
    struct loop *loop = context;
    tkw_uv_close(loop->timers, free_timers);
    loop->timers = NULL;
}

static void on_other(uv_poll_t *other, int status, int events)
{
    struct loop *loop = other->data;
    (void)status;
    (void)events;
    loop->ready(loop->context);
}

static void loop_watch(void *context, int fd, void (*ready)(void *),
                       void *ready_context)
{
    struct loop *loop = context;
    loop->ready = ready;
    loop->context = ready_context;
    assert_int_equal(uv_poll_init(&loop->loop, &loop->other, fd), 0);
    loop->other.data = loop;
    assert_int_equal(uv_poll_start(&loop->other, UV_READABLE, on_other), 0);
}

static void loop_unwatch(void *context)
{
    struct loop *loop = context;
    uv_close((uv_handle_t *)&loop->other, NULL);
}

static void loop_limit(void *context, int budget)
{
    ((struct loop *)context)->timers->budget = budget;
}

static struct loop_kind kind = LOOP_KIND;

static int use_kind(void **state)
{
    *state = &kind;
    return 0;
}

/* UV_EEXIST, and the first goes on as if nothing had happened. */
static void a_loop_takes_a_service_once(void **state)
{
    struct stage stage;
    struct tkw_uv second;
    struct probe probe = {0};
    stage_open(&stage, *state);
    struct loop *loop = stage.loop;
    probe_arm(&stage.scene, &probe, 100);
    assert_int_equal(tkw_uv_open(&second, &loop->loop, stage.scene.service),
                     UV_EEXIST);
    stage_go(&stage, 1100);
    assert_int_equal(ran(&probe), 1);
    stage_close(&stage);
}

static void count_closed(struct tkw_uv *uv)
{
    ++*(unsigned *)uv->data;
}

/* Not inside of close: who closes may still use it. */
static void closed_is_called_once_by_the_loop(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct scene scene;
    unsigned closed = 0;
    struct tkw_uv timers = {.data = &closed};
    assert_int_equal(uv_loop_init(&loop), 0);
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    assert_int_equal(tkw_uv_open(&timers, &loop, scene.service), 0);
    assert_ptr_equal(timers.service, scene.service);
    tkw_uv_close(&timers, count_closed);
    assert_int_equal(closed, 0);
    scene_close(&scene); /* fine from here on */
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(closed, 1);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* It keeps uv_run() from returning, unless it is told not to. */
static void an_open_service_keeps_the_loop_alive(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct scene scene;
    struct tkw_uv timers;
    assert_int_equal(uv_loop_init(&loop), 0);
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    assert_int_equal(tkw_uv_open(&timers, &loop, scene.service), 0);
    assert_true(uv_loop_alive(&loop));
    uv_unref((uv_handle_t *)&timers.poll);
    assert_false(uv_loop_alive(&loop));
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    tkw_uv_close(&timers, NULL);
    scene_close(&scene);
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_SCENES,
        cmocka_unit_test(a_budget_below_one_is_no_bound),
        cmocka_unit_test(a_loop_takes_a_service_once),
        cmocka_unit_test(closed_is_called_once_by_the_loop),
        cmocka_unit_test(an_open_service_keeps_the_loop_alive),
    };
    return cmocka_run_group_tests(tests, use_kind, NULL);
}
