/*
 * service/private_test.c - what only a look inside gets to: generations and
 * places that run out, memory that runs out at the worst moment, clocks that
 * are woken before they are waited on.
 */
#include "service/private.h"

#include <fcntl.h>

#include "base/allocator.h"
#include "os/clock.h"
#include "support/service.h"

/* A job whose generations have run out is not used again: its next handle would
 * be one that somebody may still hold. */
static void a_place_without_generations_left_is_retired(void **state)
{
    (void)state;
    for (unsigned is_cancelled = 0; is_cancelled < 2; is_cancelled++) {
        struct scene scene;
        struct probe probe = {0};
        scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
        tkw_handle first = probe_arm(&scene, &probe, 10);
        struct job *job = tkw__job_find(scene.service, first);
        job->word |= JOB_GENERATION;
        job->record.word |= WORD_GENERATION;
        tkw_handle last = first | JOB_GENERATION;
        assert_state(&scene, last, TKW_PENDING);
        assert_state(&scene, first, TKW_STALE);
        if (is_cancelled)
            assert_int_equal(tkw_service_cancel(scene.service, last), 1);
        assert_int_equal(scene_go(&scene, 10), 1 - is_cancelled);

        tkw_handle next = probe_arm(&scene, &probe, 10);
        assert_int_not_equal((uint32_t)next, (uint32_t)last);
        assert_int_equal(job->word >> JOB_GENERATION_SHIFT, UINT32_MAX);
        scene_close(&scene);
    }
}

static void do_nothing(void *argument, const struct tkw_firing *firing)
{
    (void)argument;
    (void)firing;
}

/* Arm until there is no memory left, and none to be had. */
static size_t fill(struct scene *scene, uint64_t time)
{
    struct tkw_task task = {do_nothing, NULL, NULL};
    size_t count = 0;
    account_fail(&scene->account, 0, FOR_EVER);
    while (tkw_service_arm_at(scene->service, NULL, time, task) == 0)
        count++;
    return count;
}

static void fill_and_start_again(struct probe *probe)
{
    fill(probe->scene, HOUR);
    uint64_t before = tkw_service_read_stats(probe->scene->service).armed;
    probe->answer = tkw_service_rearm(probe->scene->service, probe->handle, 20);
    if (probe->other != NULL)
        probe->second = tkw_service_rearm(probe->scene->service,
                                          probe->other->handle, 1000);
    if (tkw_service_read_stats(probe->scene->service).armed != before)
        probe->answer = 99;
}

/* Without memory a timer is neither started again nor moved out of the batch
 * that it waits in; it stays what it was. */
static void without_memory_nothing_is_armed_again(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {.act = fill_and_start_again}, second = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    first.other = &second;
    probe_arm(&scene, &first, 10);
    probe_arm(&scene, &second, 10);
    assert_int_equal(scene_go(&scene, 10), 2);
    assert_int_equal(first.answer, -ENOMEM);
    assert_int_equal(first.second, -ENOMEM);
    assert_state(&scene, first.handle, TKW_DONE);
    assert_int_equal(ran(&second), 1);
    assert_conserved(&scene);
    scene_close(&scene);
}

static void fill_up(struct probe *probe)
{
    fill(probe->scene, 2000);
}

static void scene_open_by_wall(struct scene *scene)
{
    scene_open_wall(scene, 0,
                    (struct tkw_service_config){
                        .tick_ns = 10, .shards = 1, .driver = TKW_DRIVER_NONE});
}

/*
 * A wall clock is set back while the pool has no memory but what is reserved:
 * not even a timer that has left the pool runs before its time has come again.
 */
static void without_memory_a_wall_clock_set_back_is_followed(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {.act = fill_up}, second = {0}, third = {0};
    struct probe fourth = {0};
    scene_open_by_wall(&scene);
    probe_arm_at(&scene, &first, 1000);
    probe_arm_at(&scene, &second, 1000);
    probe_arm_at(&scene, &third, 1000);
    probe_arm_at(&scene, &fourth, 1000);
    tkw_manual_clock_set(scene.manual, 1000);
    assert_int_equal(tkw_service_run(scene.service, 1), 1);

    assert_int_equal(scene_go(&scene, 500), 0);
    assert_true(tkw_service_next(scene.service) <= 1000);
    assert_int_equal(tkw_service_cancel(scene.service, second.handle), 1);
    assert_int_equal(tkw_service_cancel(scene.service, fourth.handle), 1);
    assert_int_equal(scene_go(&scene, 998), 0);
    assert_int_equal(scene_go(&scene, 999), 0);
    assert_int_equal(scene_go(&scene, 1000), 1);
    assert_int_equal(ran(&third), 1);

    /* The others leave the pool too early, and get back into it. */
    size_t pending = tkw_service_count(scene.service);
    for (uint64_t now = 1600; now < 2000; now += 7)
        assert_int_equal(scene_go(&scene, now), 0);
    assert_int_equal(tkw_service_count(scene.service), pending);
    account_fail(&scene.account, 0, 0);
    while (tkw_service_count(scene.service) > 0) {
        tkw_manual_clock_set(scene.manual, 2010);
        assert_true(tkw_service_run(scene.service, 0) > 0);
    }
    scene_close(&scene);
}

/* A timer that waits for its time again delays no other. */
static void a_step_back_delays_no_other_timer(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {.act = fill_up}, second = {0}, soon = {0};
    scene_open_by_wall(&scene);
    probe_arm_at(&scene, &first, 1000);
    probe_arm_at(&scene, &second, 1000);
    tkw_manual_clock_set(scene.manual, 1000);
    assert_int_equal(tkw_service_run(scene.service, 1), 1);
    assert_int_equal(scene_go(&scene, 500), 0);
    account_fail(&scene.account, 0, 0);
    probe_arm_at(&scene, &soon, 600);
    assert_int_equal(scene_go(&scene, 600), 1);
    assert_int_equal(ran(&soon), 1);
    assert_int_equal(scene_go(&scene, 999), 0);
    assert_int_equal(scene_go(&scene, 1010), 1);
    assert_int_equal(ran(&second), 1);
    scene_close(&scene);
}

static void turn_and_arm_the_other(struct probe *probe)
{
    tkw_manual_clock_advance(probe->scene->manual, 2);
    probe_arm(probe->scene, probe->other, 0);
}

/* A delay of 0 waits for the next pass, but not for the next tick, on a wall
 * clock either, though the clock went on since the pass began. */
static void on_a_wall_clock_now_is_now(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {.act = turn_and_arm_the_other}, other = {0};
    probe.other = &other;
    scene_open_by_wall(&scene);
    tkw_manual_clock_set(scene.manual, 1003);
    probe_arm(&scene, &probe, 0);
    assert_int_equal(tkw_service_run(scene.service, 0), 1);
    assert_int_equal(tkw_service_run(scene.service, 0), 1);
    assert_int_equal(ran(&other), 1);
    scene_close(&scene);
}

static void set_back_to_1140(struct probe *probe)
{
    tkw_manual_clock_set(probe->scene->manual, 1140);
}

/*
 * Once a callback has set the wall clock back, the pass puts back timers that
 * are no longer due, for a tick that has come by the pool's time, and must not
 * take them again: it would never end.
 */
static void a_pass_ends_after_a_step_back(void **state)
{
    (void)state;
    static struct probe batch[TKW_BATCH], later[10];
    struct scene scene;
    scene_open_by_wall(&scene);
    batch[0].act = set_back_to_1140;
    for (size_t i = 0; i < COUNT_OF(batch); i++)
        probe_arm_at(&scene, &batch[i], 1100);
    for (size_t i = 0; i < COUNT_OF(later); i++)
        probe_arm_at(&scene, &later[i], 1145);
    tkw_manual_clock_set(scene.manual, 1150);
    assert_int_equal(tkw_service_run(scene.service, 0), TKW_BATCH);
    assert_int_equal(scene_go(&scene, 1144), 0);
    assert_int_equal(scene_go(&scene, 1155), COUNT_OF(later));
    scene_close(&scene);
}

static void start_again_and_cancel(struct probe *probe)
{
    struct tkw_service *service = probe->scene->service;
    probe->answer = tkw_service_rearm(service, probe->handle, 50);
    probe->second = tkw_service_cancel(service, probe->handle);
}

/* Started again and cancelled in its own callback, without a drop function. */
static void a_timer_without_drop_function_is_freed(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {.act = start_again_and_cancel};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    struct tkw_task task = probe_task(&scene, &probe);
    task.drop = NULL;
    assert_int_equal(tkw_service_arm(scene.service, &probe.handle, 10, task),
                     0);
    assert_int_equal(scene_go(&scene, 10), 1);
    assert_int_equal(probe.answer, 1);
    assert_int_equal(probe.second, -EBUSY);
    assert_state(&scene, probe.handle, TKW_CANCELLED);
    assert_int_equal(scene_go(&scene, 100), 0);
    assert_conserved(&scene);

    /* The pool has let go of it as well. */
    assert_int_equal(tkw_pool_count(scene.service->shards[0]->pool), 0);
    scene_close(&scene);
}

/* At the end of time the driver sleeps, and never is never due. */
static void at_the_end_of_time_the_driver_sleeps(void **state)
{
    (void)state;
    struct scene scene;
    struct probe never = {0}, past = {0};
    scene_open_tens(&scene, UINT64_MAX, TKW_DRIVER_THREAD);
    probe_arm_at(&scene, &never, UINT64_MAX);
    probe_arm_at(&scene, &past, 5);
    tkw_manual_clock_settle(scene.manual);
    assert_int_equal(ran(&past), 1);
    assert_int_equal(ran(&never), 0);
    assert_state(&scene, never.handle, TKW_PENDING);
    uint64_t wakeups = tkw_service_read_stats(scene.service).wakeups;
    tkw_manual_clock_settle(scene.manual);
    assert_true(tkw_service_read_stats(scene.service).wakeups <= wakeups + 1);
    scene_close(&scene);
}

/* A wake that comes before the wait ends it at once, on every clock; so does a
 * time that has passed, even the first of all. */
static void a_wake_is_not_lost_before_the_wait(void **state)
{
    (void)state;
    const enum tkw_clock_kind kinds[] = {TKW_MONOTONIC, TKW_BOOTTIME, TKW_WALL};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct tkw_clock clock;
        assert_int_equal(
            tkw__clock_open(&clock, kinds[i], &tkw__allocator_plain), 0);
        assert_true(clock.is_wall == (kinds[i] == TKW_WALL));
        clock.wake(clock.context);
        clock.wait_until(clock.context, UINT64_MAX);
        clock.wake(clock.context);
        clock.wake(clock.context);
        clock.wait_until(clock.context, UINT64_MAX);
        clock.wait_until(clock.context, 0);

        uint64_t time = clock.now(clock.context) + TKW_MILLISECOND;
        clock.wait_until(clock.context, time);
        assert_true(clock.now(clock.context) >= time);
        tkw__clock_close(&clock, &tkw__allocator_plain);
    }
}

/* A child that runs another program does not inherit the descriptors. */
static void descriptors_are_closed_by_exec(void **state)
{
    (void)state;
    enum { MOST = 256 };
    bool was_open[MOST];
    for (int i = 0; i < MOST; i++)
        was_open[i] = fcntl(i, F_GETFD) >= 0;
    struct tkw_clock clock;
    assert_int_equal(tkw__clock_open(&clock, TKW_WALL, &tkw__allocator_plain),
                     0);
    int count = 0;
    for (int i = 0; i < MOST; i++) {
        int flags = was_open[i] ? -1 : fcntl(i, F_GETFD);
        count += flags >= 0;
        assert_true(flags < 0 || (flags & FD_CLOEXEC));
    }
    assert_int_equal(count, 2);
    tkw__clock_close(&clock, &tkw__allocator_plain);
}

struct sweep {
    struct probe last;
    tkw_handle doomed[1000];
};

/* The act() of a probe that is the first of a struct sweep. */
static void cancel_all_that_follow(struct probe *probe)
{
    struct sweep *sweep = (struct sweep *)probe;
    assert_int_equal(tkw_service_cancel_many(probe->scene->service,
                                             sweep->doomed,
                                             COUNT_OF(sweep->doomed), NULL),
                     COUNT_OF(sweep->doomed));
}

/* The last that a budget allows cancels more than are looked through at once:
   what comes behind them is still to be run now. */
static void what_is_cancelled_does_not_hide_what_a_budget_left(void **state)
{
    (void)state;
    static struct probe before[TKW_BATCH - 1];
    static struct sweep sweep;
    struct scene scene;
    struct probe dead = {0}, after = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (size_t i = 0; i < COUNT_OF(before); i++)
        probe_arm(&scene, &before[i], 10);
    sweep.last.act = cancel_all_that_follow;
    probe_arm(&scene, &sweep.last, 10);
    for (size_t i = 0; i < COUNT_OF(sweep.doomed); i++)
        sweep.doomed[i] = probe_arm(&scene, &dead, 10);
    probe_arm(&scene, &after, 10);

    tkw_manual_clock_set(scene.manual, 10);
    assert_int_equal(tkw_service_run(scene.service, TKW_BATCH), TKW_BATCH);
    assert_int_equal(tkw_service_next(scene.service), 10);
    assert_int_equal(tkw_service_run(scene.service, 1), 1);
    assert_int_equal(ran(&after), 1);
    assert_int_equal(ran(&dead), 0);
    assert_int_equal(tkw_service_count(scene.service), 0);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_without_generations_left_is_retired),
        cmocka_unit_test(without_memory_nothing_is_armed_again),
        cmocka_unit_test(without_memory_a_wall_clock_set_back_is_followed),
        cmocka_unit_test(a_step_back_delays_no_other_timer),
        cmocka_unit_test(on_a_wall_clock_now_is_now),
        cmocka_unit_test(a_pass_ends_after_a_step_back),
        cmocka_unit_test(a_timer_without_drop_function_is_freed),
        cmocka_unit_test(at_the_end_of_time_the_driver_sleeps),
        cmocka_unit_test(a_wake_is_not_lost_before_the_wait),
        cmocka_unit_test(descriptors_are_closed_by_exec),
        cmocka_unit_test(what_is_cancelled_does_not_hide_what_a_budget_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
