/*
 * service/libevent_test.c - timers in a libevent loop.
 */
#define _POSIX_C_SOURCE 200809L

#include "loop_scenes.h"

#include <tickwheel/libevent.h>

/* The adapter is memory of its own, freed as soon as it may be. */
struct loop {
    struct event_base *base;
    struct tkw_event *timers; /* NULL: none */
    struct event *other;
    void (*ready)(void *);
    void *context;
    struct event *guard; /* a minute */
    bool has_slept;      /* that minute */
};

static void on_guard(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    ((struct loop *)context)->has_slept = true;
}

static void *loop_open(void)
{
    struct loop *loop = calloc(1, sizeof *loop);
    assert_non_null(loop);
    loop->base = event_base_new();
    assert_non_null(loop->base);
    loop->guard = evtimer_new(loop->base, on_guard, loop);
    assert_non_null(loop->guard);
    return loop;
}

static void loop_turn(void *context, bool waits)
{
    struct loop *loop = context;
    if (waits)
        evtimer_add(loop->guard, &(struct timeval){.tv_sec = 60});
    event_base_loop(loop->base, EVLOOP_ONCE | (waits ? 0 : EVLOOP_NONBLOCK));
    evtimer_del(loop->guard);
    assert_false(loop->has_slept);
}

static int events_of(struct event_base *base)
{
    return event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED);
}

static void loop_close(void *context)
{
    struct loop *loop = context;
    assert_null(loop->timers);
    assert_int_equal(events_of(loop->base), 0);
    event_free(loop->guard);
    event_base_free(loop->base);
    free(loop);
}

static int loop_attach(void *context, struct tkw_service *service)
{
    struct loop *loop = context;
    struct tkw_event *timers = malloc(sizeof *timers);
    assert_non_null(timers);
    int error = tkw_event_open(timers, loop->base, service);
    if (error != 0) {
        free(timers);
        return error;
    }
    assert_null(loop->timers);
    assert_ptr_equal(timers->service, service);
    assert_int_equal(timers->budget, LOOP_BUDGET);
    loop->timers = timers;
    return 0;
}

/* In a callback, too: it is the caller's at once. */
static void loop_detach(void *context)
{
    struct loop *loop = context;
    tkw_event_close(loop->timers);
    free(loop->timers);
    loop->timers = NULL;
}

static void on_other(evutil_socket_t fd, short what, void *context)
{
    struct loop *loop = context;
    (void)fd;
    (void)what;
    loop->ready(loop->context);
}

static void loop_watch(void *context, int fd, void (*ready)(void *),
                       void *ready_context)
{
    struct loop *loop = context;
    loop->ready = ready;
    loop->context = ready_context;
    loop->other =
        event_new(loop->base, fd, EV_READ | EV_PERSIST, on_other, loop);
    assert_non_null(loop->other);
    assert_int_equal(event_add(loop->other, NULL), 0);
}

static void loop_unwatch(void *context)
{
    struct loop *loop = context;
    event_free(loop->other);
}

static void loop_limit(void *context, int budget)
{
    ((struct loop *)context)->timers->budget = budget;
}

static struct loop_kind kind = LOOP_KIND;

/* libevent's memory: the allocation with this number fails; 0: none does. */
static unsigned fails_at, allocations;

static void *failing_realloc(void *memory, size_t bytes)
{
    return ++allocations == fails_at ? NULL : realloc(memory, bytes);
}

static void *failing_malloc(size_t bytes)
{
    return failing_realloc(NULL, bytes);
}

/* Before libevent allocates anything. */
static int use_kind(void **state)
{
    event_set_mem_functions(failing_malloc, failing_realloc, free);
    *state = &kind;
    return 0;
}

/* Wherever opening fails, the loop is as it was, and can have the service
   later. */
static void opening_without_memory_changes_nothing(void **state)
{
    unsigned failures = 0;
    for (int error = -ENOMEM; error != 0; failures++) {
        struct stage stage = {.kind = *state};
        struct probe probe = {0};
        stage.loop = stage.kind->open();
        struct loop *loop = stage.loop;
        scene_open_tens(&stage.scene, 1000, TKW_DRIVER_NONE);
        allocations = 0;
        fails_at = failures + 1;
        error = stage.kind->attach(loop, stage.scene.service);
        fails_at = 0;
        if (error != 0) {
            assert_int_equal(error, -ENOMEM);
            assert_int_equal(events_of(loop->base), 0);
            assert_int_equal(stage.kind->attach(loop, stage.scene.service), 0);
        }
        stage.fd = tkw_service_fd(stage.scene.service);
        probe_arm(&stage.scene, &probe, 100);
        stage_go(&stage, 1100);
        assert_int_equal(ran(&probe), 1);
        stage_close(&stage);
    }
    assert_true(failures > 2); /* of event_new() and of event_add() */
}

static void break_the_loop(struct probe *probe)
{
    struct stage *stage = TKW_CONTAINER(probe->scene, struct stage, scene);
    event_base_loopbreak(((struct loop *)stage->loop)->base);
}

/* Its callbacks are callbacks of the loop, which they may end. */
static void a_timer_ends_the_loop(void **state)
{
    struct stage stage;
    struct probe probe = {.act = break_the_loop};
    stage_open(&stage, *state);
    probe_arm(&stage.scene, &probe, 0);
    assert_int_equal(event_base_dispatch(((struct loop *)stage.loop)->base), 0);
    assert_int_equal(ran(&probe), 1);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_SCENES,
        cmocka_unit_test(a_budget_below_one_is_no_bound),
        cmocka_unit_test(opening_without_memory_changes_nothing),
        cmocka_unit_test(a_timer_ends_the_loop),
    };
    return cmocka_run_group_tests(tests, use_kind, NULL);
}
