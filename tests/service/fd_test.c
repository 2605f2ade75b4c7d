/*
 * service/fd_test.c - the descriptor of a clock, of the hand-turned one and of
 * one of the user's, and what tkw_service_fd() says when there is none.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

#include <sys/resource.h>
#include <unistd.h>

/* Readable from the time on that it was last aimed at. */
static void
the_hands_descriptor_is_readable_from_where_it_was_aimed(void **state)
{
    (void)state;
    struct tkw_manual_clock *manual;
    int before = open_descriptors();
    assert_int_equal(tkw_manual_clock_open(&manual, 1000), 0);
    const struct tkw_clock *clock = tkw_manual_clock_source(manual);
    int fd = clock->fd(clock->context);
    assert_true(fd >= 0);
    assert_int_equal(clock->fd(clock->context), fd);
    clock->aim(clock->context, 1100);
    assert_false(is_readable(fd));
    tkw_manual_clock_advance(manual, 99);
    assert_false(is_readable(fd));
    tkw_manual_clock_advance(manual, 1);
    assert_true(is_readable(fd));
    tkw_manual_clock_advance(manual, 1);
    assert_true(is_readable(fd));
    clock->aim(clock->context, 1102);
    assert_false(is_readable(fd));
    clock->aim(clock->context, 1101); /* that is now */
    assert_true(is_readable(fd));
    clock->aim(clock->context, UINT64_MAX);
    assert_false(is_readable(fd));
    tkw_manual_clock_advance(manual, HOUR);
    assert_false(is_readable(fd));
    clock->aim(clock->context, 5); /* long ago */
    assert_true(is_readable(fd));
    tkw_manual_clock_close(manual);
    assert_int_equal(open_descriptors(), before);
}

/* UINT64_MAX never comes, even if the clock should show it. */
static void aimed_at_never_it_is_never_readable(void **state)
{
    (void)state;
    struct tkw_manual_clock *manual;
    assert_int_equal(tkw_manual_clock_open(&manual, 1000), 0);
    const struct tkw_clock *clock = tkw_manual_clock_source(manual);
    int fd = clock->fd(clock->context);
    clock->aim(clock->context, UINT64_MAX);
    tkw_manual_clock_advance(manual, UINT64_MAX);
    assert_int_equal(tkw_manual_clock_now(manual), UINT64_MAX);
    assert_false(is_readable(fd));
    tkw_manual_clock_close(manual);
}

/* A wall clock that is set back: the loop hears of it, timers follow, and the
   descriptor is readable again when their time has come again. */
static void the_descriptor_follows_a_wall_clock_back(void **state)
{
    (void)state;
    for (int is_due = 0; is_due < 2; is_due++) {
        struct scene scene;
        struct probe probe = {0};
        scene_open_wall(&scene, 1000,
                        (struct tkw_service_config){.tick_ns = 10,
                                                    .shards = 1,
                                                    .driver = TKW_DRIVER_NONE});
        int fd = tkw_service_fd(scene.service);
        probe_arm(&scene, &probe, 100);
        assert_int_equal(tkw_service_run(scene.service, 0), 0);
        tkw_manual_clock_set(scene.manual, is_due ? 1100 : 1050);
        assert_int_equal(is_readable(fd), is_due);
        tkw_manual_clock_set(scene.manual, 500);
        assert_true(is_readable(fd));
        assert_int_equal(tkw_service_run(scene.service, 0), 0);
        assert_false(is_readable(fd));
        tkw_manual_clock_set(scene.manual, 1099);
        if (is_readable(fd))
            assert_int_equal(tkw_service_run(scene.service, 0), 0);
        assert_false(is_readable(fd));
        /* ticks begin elsewhere now: it may be a tick later */
        tkw_manual_clock_set(scene.manual, 1110);
        assert_true(is_readable(fd));
        assert_int_equal(tkw_service_run(scene.service, 0), 1);
        assert_false(is_readable(fd));
        scene_close(&scene);
    }
}

/* act(): a loop inside the callback.  `second` is the descriptor. */
static void run_inside(struct probe *probe)
{
    struct tkw_service *service = probe->scene->service;
    if (probe->gate != NULL)
        gate_hold(probe);
    probe->answer = tkw_service_run(service, 0);
    if (probe->other != NULL) {
        assert_false(is_readable(probe->second));
        probe_arm(probe->scene, probe->other, 0);
        assert_false(is_readable(probe->second));
    }
}

/* It cannot run anything, so it is told once that it should, not for ever;
   what it arms is for the loop outside. */
static void a_loop_inside_a_callback_sleeps(void **state)
{
    (void)state;
    struct scene scene;
    struct probe other = {0};
    struct probe probe = {.act = run_inside, .other = &other};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    int fd = probe.second = tkw_service_fd(scene.service);
    probe_arm(&scene, &probe, 0);
    assert_true(is_readable(fd));
    assert_int_equal(tkw_service_run(scene.service, 1), 1);
    assert_int_equal(probe.answer, -EDEADLK);
    assert_int_equal(ran(&other), 0);
    assert_true(is_readable(fd));
    assert_int_equal(tkw_service_run(scene.service, 0), 1);
    assert_int_equal(ran(&other), 1);
    assert_false(is_readable(fd));
    scene_close(&scene);
}

static void *run_once(void *service)
{
    tkw_service_run(service, 1);
    return NULL;
}

/* The same for a loop in another thread, while somebody is at it. */
static void a_loop_beside_a_callback_sleeps(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe first = {.act = gate_hold, .gate = &gate}, second = {0};
    gate_init(&gate);
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    int fd = tkw_service_fd(scene.service);
    probe_arm(&scene, &first, 0);
    probe_arm(&scene, &second, 0);
    pthread_t thread = thread_start(run_once, scene.service);
    gate_await(&gate);
    assert_true(is_readable(fd));
    assert_int_equal(tkw_service_run(scene.service, 0), -EBUSY);
    assert_false(is_readable(fd));
    gate_open(&gate);
    thread_join(thread);
    assert_true(is_readable(fd));
    assert_int_equal(tkw_service_run(scene.service, 0), 1);
    assert_int_equal(ran(&second), 1);
    gate_done(&gate);
    scene_close(&scene);
}

/* In a worker: nobody is at running, so nobody would aim again. */
static void a_refusal_while_nobody_runs_leaves_the_descriptor(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe first = {.act = run_inside, .gate = &gate}, second = {0};
    gate_init(&gate);
    scene_open(&scene, 1000,
               (struct tkw_service_config){.tick_ns = 10,
                                           .shards = 1,
                                           .driver = TKW_DRIVER_NONE,
                                           .workers = 1});
    int fd = tkw_service_fd(scene.service);
    tkw_handle handle = probe_arm(&scene, &first, 0);
    probe_arm(&scene, &second, 100);
    assert_int_equal(tkw_service_run(scene.service, 0), 1);
    gate_await(&gate);
    assert_false(is_readable(fd));
    gate_open(&gate);
    tkw_service_cancel_sync(scene.service, handle); /* until it has returned */
    assert_int_equal(first.answer, -EDEADLK);
    tkw_manual_clock_advance(scene.manual, 100);
    assert_true(is_readable(fd));
    assert_int_equal(tkw_service_run(scene.service, 0), 1);
    gate_done(&gate);
    scene_close(&scene);
}

/* Stopped, there is nothing to come for; and if the clock is set then, the loop
   hears of that once. */
static void the_descriptor_of_a_stopped_service_rests(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    int fd = tkw_service_fd(scene.service);
    probe_arm(&scene, &probe, 0);
    assert_true(is_readable(fd));
    tkw_service_stop(scene.service);
    tkw_manual_clock_set(scene.manual, 500);
    if (is_readable(fd))
        assert_int_equal(tkw_service_run(scene.service, 0), 0);
    assert_false(is_readable(fd));
    scene_close(&scene);
}

/* It is one of the service's, the same each time, and closed with it. */
static void the_descriptor_is_closed_with_the_service(void **state)
{
    (void)state;
    static const enum tkw_clock_kind kinds[] = {TKW_MONOTONIC, TKW_BOOTTIME,
                                                TKW_WALL};
    int before = open_descriptors();
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct tkw_service *services[2];
        int fds[2];
        struct tkw_service_config config = {.driver = TKW_DRIVER_NONE,
                                            .clock_kind = kinds[i]};
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(tkw_service_open(&services[k], &config), 0);
            fds[k] = tkw_service_fd(services[k]);
            assert_true(fds[k] >= 0);
            assert_int_equal(tkw_service_fd(services[k]), fds[k]);
            assert_false(is_readable(fds[k]));
        }
        assert_int_not_equal(fds[0], fds[1]);
        for (size_t k = 0; k < 2; k++)
            tkw_service_close(services[k], NULL, NULL);
        assert_int_equal(open_descriptors(), before);
    }
}

/* With a driver there is nothing to run, by whatever clock. */
static void a_service_with_a_driver_has_no_descriptor(void **state)
{
    (void)state;
    struct scene scene;
    struct tkw_service *service;
    scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
    assert_int_equal(tkw_service_fd(scene.service), -EINVAL);
    scene_close(&scene);
    assert_int_equal(tkw_service_open(&service, NULL), 0);
    assert_int_equal(tkw_service_fd(service), -EINVAL);
    tkw_service_close(service, NULL, NULL);
}

/* A clock of the user's: the hand's, with other functions for loops. */
struct own {
    struct tkw_clock clock;
    const struct tkw_clock *inner;
    uint64_t aimed;
    unsigned aims;
    int fd;
};

static uint64_t own_now(void *context)
{
    struct own *own = context;
    return own->inner->now(own->inner->context);
}

static void own_wait_until(void *context, uint64_t time)
{
    struct own *own = context;
    own->inner->wait_until(own->inner->context, time);
}

static void own_wake(void *context)
{
    struct own *own = context;
    own->inner->wake(own->inner->context);
}

static int own_fd(void *context)
{
    return ((struct own *)context)->fd;
}

static void own_aim(void *context, uint64_t time)
{
    struct own *own = context;
    own->aimed = time;
    own->aims++;
}

static void own_init(struct own *own, const struct tkw_manual_clock *manual)
{
    memset(own, 0, sizeof *own);
    own->inner = tkw_manual_clock_source(manual);
    own->clock = (struct tkw_clock){.now = own_now,
                                    .wait_until = own_wait_until,
                                    .wake = own_wake,
                                    .context = own,
                                    .fd = own_fd,
                                    .aim = own_aim};
}

/* -ENOTSUP without a descriptor; its error if there is one; and both functions
   or neither. */
static void a_clock_of_ones_own_may_have_a_descriptor_or_not(void **state)
{
    (void)state;
    struct tkw_manual_clock *manual;
    struct own own;
    struct tkw_service_config config = {.driver = TKW_DRIVER_NONE,
                                        .clock = &own.clock};
    assert_int_equal(tkw_manual_clock_open(&manual, 1000), 0);
    for (int has = 0; has < 4; has++) {
        struct tkw_service *service = NULL;
        own_init(&own, manual);
        own.fd = -ENFILE;
        own.clock.fd = has & 1 ? own_fd : NULL;
        own.clock.aim = has & 2 ? own_aim : NULL;
        int error = tkw_service_open(&service, &config);
        assert_int_equal(error, has == 1 || has == 2 ? -EINVAL : 0);
        if (error != 0) {
            assert_null(service);
            continue;
        }
        assert_int_equal(tkw_service_fd(service),
                         has == 0 ? -ENOTSUP : -ENFILE);
        assert_int_equal(tkw_service_poll_timeout(service), -1);
        assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
    }
    tkw_manual_clock_close(manual);
}

/* Its descriptor is handed out as it is, and it is aimed at what is next. */
static void a_clock_of_ones_own_is_aimed_at_what_is_next(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {0}, second = {0};
    struct tkw_manual_clock *manual;
    struct own own;
    int pair[2];
    assert_int_equal(pipe(pair), 0);
    assert_int_equal(tkw_manual_clock_open(&manual, 1000), 0);
    own_init(&own, manual);
    own.fd = pair[0];
    scene_open(&scene, 1000,
               (struct tkw_service_config){.tick_ns = 10,
                                           .shards = 1,
                                           .driver = TKW_DRIVER_NONE,
                                           .clock = &own.clock});
    scene.manual = manual;
    assert_int_equal(tkw_service_fd(scene.service), pair[0]);
    probe_arm(&scene, &second, 300);
    probe_arm(&scene, &first, 95);
    scene_rest(&scene);
    assert_int_equal(own.aimed, 1100);
    assert_int_equal(scene_go(&scene, 1100), 1);
    assert_int_equal(own.aimed, 1300);
    assert_int_equal(scene_go(&scene, 1300), 1);
    assert_int_equal(own.aimed, UINT64_MAX);
    scene_close(&scene);
    assert_int_equal(close(pair[0]), 0); /* the user's, and still open */
    assert_int_equal(close(pair[1]), 0);
}

/* -EMFILE, if it has to be made, and no harm done: later there is one. */
static void without_descriptors_fd_says_so(void **state)
{
    (void)state;
    for (int is_hand = 0; is_hand < 2; is_hand++) {
        struct rlimit old, none;
        struct tkw_service *service;
        struct tkw_manual_clock *manual;
        assert_int_equal(tkw_manual_clock_open(&manual, 1000), 0);
        struct tkw_service_config config = {
            .driver = TKW_DRIVER_NONE,
            .clock = is_hand ? tkw_manual_clock_source(manual) : NULL};
        assert_int_equal(tkw_service_open(&service, &config), 0);
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
        none = old;
        none.rlim_cur = 0;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
        int fd = tkw_service_fd(service);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
        assert_true(fd == -EMFILE || fd >= 0);
        fd = tkw_service_fd(service);
        assert_true(fd >= 0);
        assert_false(is_readable(fd));
        tkw_service_close(service, NULL, NULL);
        tkw_manual_clock_close(manual);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_hands_descriptor_is_readable_from_where_it_was_aimed),
        cmocka_unit_test(aimed_at_never_it_is_never_readable),
        cmocka_unit_test(the_descriptor_follows_a_wall_clock_back),
        cmocka_unit_test(a_loop_inside_a_callback_sleeps),
        cmocka_unit_test(a_loop_beside_a_callback_sleeps),
        cmocka_unit_test(a_refusal_while_nobody_runs_leaves_the_descriptor),
        cmocka_unit_test(the_descriptor_of_a_stopped_service_rests),
        cmocka_unit_test(the_descriptor_is_closed_with_the_service),
        cmocka_unit_test(a_service_with_a_driver_has_no_descriptor),
        cmocka_unit_test(a_clock_of_ones_own_may_have_a_descriptor_or_not),
        cmocka_unit_test(a_clock_of_ones_own_is_aimed_at_what_is_next),
        cmocka_unit_test(without_descriptors_fd_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
