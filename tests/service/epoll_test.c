/*
 * service/epoll_test.c - timers in an epoll loop.
 */
#define _POSIX_C_SOURCE 200809L

#include "loop_scenes.h"

#include <unistd.h>

#include <tickwheel/epoll.h>

/* A loop as people write it. */
struct loop {
    int epoll;
    struct tkw_service *service; /* NULL: none */
    int budget;
    int other; /* a descriptor */
    void (*ready)(void *);
    void *context;
};

static void *loop_open(void)
{
    struct loop *loop = calloc(1, sizeof *loop);
    assert_non_null(loop);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    assert_true(loop->epoll >= 0);
    return loop;
}

static void loop_close(void *context)
{
    struct loop *loop = context;
    assert_null(loop->service);
    assert_null(loop->ready);
    close(loop->epoll);
    free(loop);
}

static int loop_attach(void *context, struct tkw_service *service)
{
    struct loop *loop = context;
    int error = tkw_epoll_add(service, loop->epoll,
                              (epoll_data_t){.ptr = &loop->service});
    if (error != 0)
        return error;
    loop->service = service;
    loop->budget = LOOP_BUDGET;
    return 0;
}

static void loop_detach(void *context)
{
    struct loop *loop = context;
    assert_int_equal(tkw_epoll_remove(loop->service, loop->epoll), 0);
    loop->service = NULL;
}

static void loop_watch(void *context, int fd, void (*ready)(void *),
                       void *ready_context)
{
    struct loop *loop = context;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &loop->other};
    loop->other = fd;
    loop->ready = ready;
    loop->context = ready_context;
    assert_int_equal(epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event), 0);
}

static void loop_unwatch(void *context)
{
    struct loop *loop = context;
    assert_int_equal(epoll_ctl(loop->epoll, EPOLL_CTL_DEL, loop->other, NULL),
                     0);
    loop->ready = NULL;
}

static void loop_turn(void *context, bool waits)
{
    struct loop *loop = context;
    struct epoll_event events[8];
    int count = epoll_wait(loop->epoll, events, 8, waits ? 60000 : 0);
    assert_in_range(count, waits, 2);
    for (int i = 0; i < count; i++)
        if (events[i].data.ptr == &loop->service)
            assert_true(tkw_service_run(loop->service, loop->budget) >= 0);
        else
            loop->ready(loop->context);
}

static void loop_limit(void *context, int budget)
{
    ((struct loop *)context)->budget = budget;
}

static struct loop_kind kind = LOOP_KIND;

static int use_kind(void **state)
{
    *state = &kind;
    return 0;
}

/* The event brings what was given with it, and nothing but readability. */
static void the_event_carries_the_data(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    struct epoll_event events[2] = {0};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_data_t data = {.u64 = UINT64_C(0x123456789abcdef0)};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    assert_int_equal(tkw_epoll_add(scene.service, epoll, data), 0);
    scene_rest(&scene);
    assert_int_equal(epoll_wait(epoll, events, 2, 0), 0);
    probe_arm(&scene, &probe, 0);
    assert_int_equal(epoll_wait(epoll, events, 2, 60000), 1);
    assert_int_equal(events[0].data.u64, data.u64);
    assert_int_equal(events[0].events, EPOLLIN);
    close(epoll);
    scene_close(&scene);
}

/* Each mistake has its error, and changes nothing. */
static void mistakes_are_errors(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    struct epoll_event event;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_data_t data = {.u32 = 7}, more = {.u32 = 8};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    assert_int_equal(tkw_epoll_remove(scene.service, epoll), -ENOENT);
    assert_int_equal(tkw_epoll_add(scene.service, -1, data), -EBADF);
    assert_int_equal(tkw_epoll_add(scene.service, epoll, data), 0);
    assert_int_equal(tkw_epoll_add(scene.service, epoll, more), -EEXIST);
    probe_arm(&scene, &probe, 0);
    assert_int_equal(epoll_wait(epoll, &event, 1, 60000), 1);
    assert_int_equal(event.data.u32, 7);
    assert_int_equal(tkw_epoll_remove(scene.service, -1), -EBADF);
    assert_int_equal(tkw_epoll_remove(scene.service, epoll), 0);
    assert_int_equal(tkw_epoll_remove(scene.service, epoll), -ENOENT);
    assert_int_equal(epoll_wait(epoll, &event, 1, 0), 0);
    close(epoll);
    scene_close(&scene);

    scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
    assert_int_equal(tkw_epoll_remove(scene.service, epoll), -EINVAL);
    scene_close(&scene);
}

/* One loop for two services: each has its own descriptor and its own data. */
static void two_services_share_a_loop(void **state)
{
    (void)state;
    struct scene scenes[2];
    struct probe probes[2] = {0};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < 2; i++) {
        scene_open_tens(&scenes[i], 1000, TKW_DRIVER_NONE);
        assert_int_equal(
            tkw_epoll_add(scenes[i].service, epoll, (epoll_data_t){.u32 = i}),
            0);
        probe_arm(&scenes[i], &probes[i], 100);
        scene_rest(&scenes[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct epoll_event events[2];
        tkw_manual_clock_set(scenes[i].manual, 1100);
        assert_int_equal(epoll_wait(epoll, events, 2, 60000), 1);
        assert_int_equal(events[0].data.u32, i);
        assert_int_equal(tkw_service_run(scenes[i].service, 1), 1);
        assert_int_equal(ran(&probes[i]), 1);
        scene_rest(&scenes[i]);
    }
    for (unsigned i = 0; i < 2; i++)
        scene_close(&scenes[i]);
    close(epoll);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_SCENES,
        cmocka_unit_test(the_event_carries_the_data),
        cmocka_unit_test(mistakes_are_errors),
        cmocka_unit_test(two_services_share_a_loop),
    };
    return cmocka_run_group_tests(tests, use_kind, NULL);
}
