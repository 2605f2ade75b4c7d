/*
 * service/nested_test.c - the service called from where one would not expect
 * it: from callbacks inside callbacks, from the log, from a drop function while
 * the service is being closed, while it catches up with a clock that jumped.
 */
#define _GNU_SOURCE

#include "service/private.h"

#include "support/service.h"

/* A callback of one service runs another, whose callback turns to the first: it
 * is still inside of that one's callback. */
struct nest {
    struct tkw_service *outer;
    struct tkw_service *inner;
    tkw_handle handle; /* of the outer timer */
    int close;
    int cancel_sync;
    int run;
    uint64_t next;
    unsigned inner_ran;
};

static void ask_the_outer(void *argument, const struct tkw_firing *firing)
{
    struct nest *nest = argument;
    (void)firing;
    nest->close = tkw_service_close(nest->outer, NULL, NULL);
    nest->cancel_sync = tkw_service_cancel_sync(nest->outer, nest->handle);
    nest->run = tkw_service_run(nest->outer, 0);
    nest->next = tkw_service_next(nest->outer);
    tkw_service_stop(nest->outer);
    nest->inner_ran++;
}

static void run_the_inner(void *argument, const struct tkw_firing *firing)
{
    struct nest *nest = argument;
    nest->handle = firing->handle;
    tkw_service_run(nest->inner, 0);
}

static void a_callback_within_a_callback_is_inside_of_both(void **state)
{
    (void)state;
    struct tkw_service_config config = {.driver = TKW_DRIVER_NONE};
    struct nest nest = {0};
    assert_int_equal(tkw_service_open(&nest.outer, &config), 0);
    assert_int_equal(tkw_service_open(&nest.inner, &config), 0);
    struct tkw_task outer = {run_the_inner, &nest, NULL};
    struct tkw_task inner = {ask_the_outer, &nest, NULL};
    assert_int_equal(tkw_service_arm(nest.outer, NULL, 0, outer), 0);
    assert_int_equal(tkw_service_arm(nest.inner, NULL, 0, inner), 0);
    assert_int_equal(tkw_service_run(nest.outer, 0), 1);
    assert_int_equal(nest.inner_ran, 1);
    assert_int_equal(nest.close, -EDEADLK);
    assert_int_equal(nest.cancel_sync, -EDEADLK);
    assert_int_equal(nest.run, -EDEADLK);
    assert_true(nest.next <= tkw_service_now(nest.outer));
    assert_int_equal(tkw_service_next(nest.outer), UINT64_MAX); /* stopped */
    assert_int_equal(tkw_service_run(nest.outer, 0), 0);
    tkw_service_close(nest.outer, NULL, NULL);
    tkw_service_close(nest.inner, NULL, NULL);
}

static void stop_it(void *context, const char *message)
{
    (void)message;
    tkw_service_stop(*(struct tkw_service **)context);
}

/* The log hook may stop the service that it is told about. */
static void the_log_may_stop_the_service(void **state)
{
    (void)state;
    struct tkw_manual_clock *manual;
    struct tkw_service *service;
    assert_int_equal(tkw_manual_clock_open(&manual, 1000), 0);
    struct tkw_service_config config = {.driver = TKW_DRIVER_NONE,
                                        .clock =
                                            tkw_manual_clock_source(manual),
                                        .log = stop_it,
                                        .context = &service};
    assert_int_equal(tkw_service_open(&service, &config), 0);
    tkw_manual_clock_set(manual, 500);
    assert_int_equal(tkw_service_run(service, 0), 0);
    assert_int_equal(tkw_service_read_stats(service).steps_back, 1);
    tkw_service_close(service, NULL, NULL);
    tkw_manual_clock_close(manual);
}

static void cancel_the_other(struct probe *probe)
{
    probe->answer =
        tkw_service_cancel(probe->scene->service, probe->other->handle);
}

/* While a service is closed each timer is dropped once, though its drop
 * function cancels those that were handed back before and those to come. */
static void closing_drops_each_once(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {.act_on_drop = cancel_the_other};
    struct probe second = {.act_on_drop = cancel_the_other};
    first.other = &second;
    second.other = &first;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    probe_arm(&scene, &first, 10);
    probe_arm(&scene, &second, 10);
    assert_int_equal(tkw_service_close(scene.service, NULL, NULL), 0);
    assert_int_equal(dropped(&first), 1);
    assert_int_equal(dropped(&second), 1);
    assert_int_equal(first.answer + second.answer, 1);
    account_done(&scene.account);
    tkw_manual_clock_close(scene.manual);
}

static void again_at_once(struct probe *probe)
{
    if (probe->firing.now_ns < 500)
        probe->answer =
            tkw_service_rearm_at(probe->scene->service, probe->handle, 1);
    tkw_manual_clock_advance(probe->scene->manual, 10);
}

/* Armed for a time that has passed, over and over: others have their turn. */
static void arming_for_the_past_starves_nobody(void **state)
{
    (void)state;
    struct scene scene;
    struct probe greedy = {.act = again_at_once}, modest = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    probe_arm(&scene, &greedy, 0);
    probe_arm(&scene, &modest, 100);
    for (unsigned i = 0; i < 200; i++)
        scene_rest(&scene);
    assert_true(ran(&greedy) > 20);
    assert_int_equal(ran(&modest), 1);
    assert_true(modest.firing.now_ns <= 120);
    scene_close(&scene);
}

static void *stop_from_outside(void *service)
{
    tkw_service_stop(service);
    return NULL;
}

/* With rounds a far jump takes a visit for every turn of the ring; a stop does
 * not wait for that. */
static void stop_does_not_wait_for_the_clock_to_be_caught_up_with(void **state)
{
    (void)state;
    struct tkw_manual_clock *manual;
    struct tkw_service *service;
    assert_int_equal(tkw_manual_clock_open(&manual, 0), 0);
    struct tkw_service_config config = {
        .tick_ns = 1,
        .shards = 1,
        .geometry = {.sizes = {2}, .beyond = TKW_ROUNDS},
        .clock = tkw_manual_clock_source(manual)};
    assert_int_equal(tkw_service_open(&service, &config), 0);
    struct probe probe = {0};
    struct scene scene = {.service = service, .manual = manual};
    probe_arm_at(&scene, &probe, UINT64_MAX / 2);
    tkw_manual_clock_advance(manual,
                             UINT64_MAX / 4); /* for ever, at a visit a turn */
    pthread_t other = thread_start(stop_from_outside, service);
    thread_join(other);
    assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
    assert_int_equal(dropped(&probe), 1);
    tkw_manual_clock_close(manual);
}

/* A name that is too long for the system is cut. */
static void a_long_thread_name_is_cut(void **state)
{
    (void)state;
    struct tkw_service *service;
    struct tkw_service_config config = {.thread_name =
                                            "a name that is too long for it"};
    assert_int_equal(tkw_service_open(&service, &config), 0);
    char name[16];
    assert_int_equal(
        pthread_getname_np(service->driver.thread, name, sizeof name), 0);
    assert_string_equal(name, "a name that is ");
    tkw_service_close(service, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_callback_within_a_callback_is_inside_of_both),
        cmocka_unit_test(the_log_may_stop_the_service),
        cmocka_unit_test(closing_drops_each_once),
        cmocka_unit_test(arming_for_the_past_starves_nobody),
        cmocka_unit_test(stop_does_not_wait_for_the_clock_to_be_caught_up_with),
        cmocka_unit_test(a_long_thread_name_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
