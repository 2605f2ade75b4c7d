/*
 * service/repeat_edge_test.c - timers that repeat, at the edges: periods
 * shorter than a tick, times that have passed or never come, a clock that is
 * set back, many at once, workers, and threads that race.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

static const enum tkw_missed policies[] = {TKW_SKIP, TKW_BURST, TKW_DELAY};

/* A period of 4 with ticks of 10: a call a tick, or in bursts all of them. */
static void a_period_shorter_than_a_tick(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(policies); i++) {
        struct scene scene;
        struct diary diary = {0};
        scene_open_tens(&scene, 0, both[i % 2]);
        arm_diary(&scene, &diary,
                  (struct tkw_plan){.when_ns = 101,
                                    .period_ns = 4,
                                    .missed = policies[i / 2]});
        for (uint64_t now = 110; now < 5000; now += 10) {
            unsigned calls = scene_go(&scene, now);
            if (policies[i / 2] != TKW_BURST)
                assert_int_equal(calls, 1);
            else
                assert_int_equal(diary.count, (now - 101) / 4 + 1);
        }
        uint64_t last = diary.probe.firing.due_ns;
        if (policies[i / 2] == TKW_SKIP)
            assert_int_equal(diary.count + diary.overruns,
                             (last - 101) / 4 + 1);
        assert_int_equal(diary.early, 0);
        assert_conserved(&scene);
        scene_close(&scene);
    }
}

/* Sums beyond the end of time never come: of the first call, of the next. */
static void the_end_of_time_is_never_reached(void **state)
{
    (void)state;
    const uint64_t near_end = UINT64_MAX - 1005;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(policies); i++) {
        struct scene scene;
        struct diary beyond = {0}, rare = {0}, twice = {0};
        struct tkw_plan plan = {.when_ns = UINT64_MAX - 500,
                                .period_ns = 1000,
                                .missed = policies[i / 2]};
        scene_open_tens(&scene, 1000, both[i % 2]);
        arm_diary(&scene, &beyond, plan);
        assert_int_equal(due_of(&scene, beyond.probe.handle), UINT64_MAX);
        plan.when_ns = 100;
        plan.period_ns = UINT64_MAX;
        arm_diary(&scene, &rare, plan);
        plan.when_ns = near_end;
        plan.is_time = true;
        plan.period_ns = 600;
        arm_diary(&scene, &twice, plan);
        assert_int_equal(scene_go(&scene, 1100), 1);
        assert_int_equal(due_of(&scene, rare.probe.handle), UINT64_MAX);
        assert_int_equal(scene_go(&scene, near_end + 10), 1);
        assert_int_equal(scene_go(&scene, near_end + 610), 1);
        assert_int_equal(due_of(&scene, twice.probe.handle), UINT64_MAX);
        assert_int_equal(scene_go(&scene, UINT64_MAX), 0);
        assert_int_equal(twice.count, 2);
        assert_int_equal(rare.count, 1);
        assert_int_equal(beyond.count, 0);
        scene_close(&scene);
        assert_int_equal(dropped(&twice.probe), 1);
    }
}

/* L4: those that repeat together keep the order in which they were armed. */
static void equals_keep_their_order_from_period_to_period(void **state)
{
    (void)state;
    static struct probe probes[300];
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        memset(probes, 0, sizeof probes);
        scene_open_tens(&scene, 0, both[i]);
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            arm_plan(&scene, &probes[k],
                     (struct tkw_plan){.when_ns = 2000, .period_ns = 2000});
        for (unsigned turn = 0; turn < 20; turn++) {
            assert_int_equal(scene_go(&scene, (turn + 1) * 2000),
                             COUNT_OF(probes));
            for (size_t k = 0; k < COUNT_OF(probes); k++)
                assert_int_equal(probes[k].place,
                                 turn * COUNT_OF(probes) + k + 1);
        }
        scene_close(&scene);
    }
}

/* It never runs twice at the same time, however many workers there are. */
static void it_never_runs_twice_at_the_same_time(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0};
    scene_open(
        &scene, 0,
        (struct tkw_service_config){.tick_ns = 10, .shards = 1, .workers = 3});
    gate_enter_by(&scene, &held, &gate,
                  (struct tkw_plan){.when_ns = 100,
                                    .period_ns = 100,
                                    .executor = TKW_ON_WORKERS});
    for (uint64_t now = 110; now <= 550; now += 10) {
        scene_go(&scene, now);
        assert_state(&scene, held.handle, TKW_RUNNING);
    }
    assert_int_equal(atomic_load(&scene.turns), 1);
    gate_open(&gate);
    while (tkw_service_query(scene.service, held.handle, NULL) != TKW_PENDING)
        have_patience();
    assert_int_equal(due_of(&scene, held.handle), 600);
    tkw_manual_clock_set(scene.manual, 600);
    gate_await(&gate);
    assert_int_equal(held.firing.due_ns, 600);
    assert_int_equal(held.firing.overruns, 4);
    gate_open(&gate);
    tkw_service_stop(scene.service);
    gate_done(&gate);
    scene_close(&scene);
}

/* A first time that has passed is called for at once, and sets the phase. */
static void a_first_time_that_has_passed_sets_the_phase(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diary = {0};
        scene_open_tens(&scene, 12050, both[i]);
        arm_diary(&scene, &diary,
                  (struct tkw_plan){
                      .when_ns = 150, .is_time = true, .period_ns = 1000});
        scene_rest(&scene);
        assert_int_equal(diary.count, 1);
        assert_int_equal(diary.calls[0].now_ns, 12050);
        assert_int_equal(due_of(&scene, diary.probe.handle), 12150);
        assert_int_equal(scene_go(&scene, 12150), 1);
        assert_int_equal(scene_go(&scene, 13150), 1);
        scene_close(&scene);
    }
}

/* A wall clock set back: what is pending waits until its time has come again,
   then the periods go on. */
static void a_wall_clock_set_back_makes_it_wait(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(policies); i++) {
        struct scene scene;
        struct diary diary = {0};
        scene_open_wall(&scene, 10000,
                        (struct tkw_service_config){
                            .tick_ns = 10, .shards = 1, .driver = both[i % 2]});
        arm_diary(&scene, &diary,
                  (struct tkw_plan){.when_ns = 1000,
                                    .period_ns = 1000,
                                    .missed = policies[i / 2]});
        assert_int_equal(scene_go(&scene, 11000), 1);
        assert_int_equal(scene_go(&scene, 5000), 0);
        assert_int_equal(scene_go(&scene, 11990), 0);
        for (uint64_t due = 12000; due <= 15000; due += 1000) {
            assert_int_equal(scene_go(&scene, due + 10), 1);
            assert_int_equal(diary.probe.firing.due_ns, due);
        }
        assert_int_equal(diary.overruns, 0);
        assert_int_equal(diary.early, 0);
        scene_close(&scene);
    }
}

/* With a budget each call of a burst counts. */
static void run_keeps_to_its_budget_in_a_burst(void **state)
{
    (void)state;
    struct scene scene;
    struct diary diary = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    arm_diary(&scene, &diary,
              (struct tkw_plan){
                  .when_ns = 100, .period_ns = 100, .missed = TKW_BURST});
    tkw_manual_clock_set(scene.manual, 1050);
    for (unsigned k = 0; k < 10; k++)
        assert_int_equal(tkw_service_run(scene.service, 1), 1);
    assert_int_equal(tkw_service_run(scene.service, 1), 0);
    assert_int_equal(diary.count, 10);
    scene_close(&scene);
}

/* What a next function may do, asked after the second call. */
enum deed { CANCEL, CANCEL_SYNC, CLOSE, RUN, STOP };

struct doer {
    struct diary diary;
    enum deed deed;
    int answer;
};

static uint64_t do_and_go_on(void *argument, uint64_t due_ns, uint64_t now_ns)
{
    struct doer *doer = argument;
    struct tkw_service *service = doer->diary.probe.scene->service;
    tkw_handle handle = doer->diary.probe.firing.handle;
    (void)now_ns;
    if (doer->diary.count != 2)
        return due_ns + 100;
    if (doer->deed == CANCEL)
        doer->answer = tkw_service_cancel(service, handle);
    else if (doer->deed == CANCEL_SYNC)
        doer->answer = tkw_service_cancel_sync(service, handle);
    else if (doer->deed == CLOSE)
        doer->answer = tkw_service_close(service, NULL, NULL);
    else if (doer->deed == RUN)
        doer->answer = tkw_service_run(service, 0);
    else
        tkw_service_stop(service);
    return due_ns + 100;
}

/* It is part of the callback: the same is allowed there, and the same is not.
   What it says does not bring back what it has cancelled. */
static void a_next_function_may_do_what_a_callback_may(void **state)
{
    (void)state;
    static const int expected[] = {-EBUSY, -EDEADLK, -EDEADLK, -EDEADLK, 0};
    for (unsigned i = 0; i < COUNT_OF(expected); i++) {
        struct scene scene;
        struct doer doer = {.deed = (enum deed)i};
        bool ends = i == CANCEL || i == STOP;
        scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
        arm_diary(&scene, &doer.diary,
                  (struct tkw_plan){.when_ns = 100, .next = do_and_go_on});
        for (uint64_t now = 100; now <= 500; now += 100)
            scene_go(&scene, now);
        assert_int_equal(doer.answer, expected[i]);
        assert_int_equal(doer.diary.count, ends ? 2 : 5);
        assert_int_equal(dropped(&doer.diary.probe), i == CANCEL);
        assert_int_equal(tkw_service_count(scene.service), i != CANCEL);
        assert_conserved(&scene);
        scene_close(&scene);
        assert_int_equal(dropped(&doer.diary.probe), 1);
    }
}

/* Jitter that is longer than the period: no call is early, and those that it
   leaves no room for are missed, not forgotten. */
static void jitter_longer_than_the_period_misses_some(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diary = {0};
        scene_open_tens(&scene, 0, both[i]);
        arm_diary(&scene, &diary,
                  (struct tkw_plan){
                      .when_ns = 100, .period_ns = 100, .jitter_ns = 500});
        for (uint64_t now = 0; now <= 100000; now += 10)
            scene_go(&scene, now);
        assert_int_equal(diary.early, 0);
        assert_true(diary.overruns > 0);
        /* The last one was meant for a period of the last 500, or was missed
           since; what it missed it has not been told. */
        assert_true(diary.count + diary.overruns <= 1000);
        assert_true(diary.count + diary.overruns >= 1000 - 10);
        scene_close(&scene);
    }
}

#define RACES 500

struct racer {
    struct scene *scene;
    unsigned wrong;
    atomic_bool is_done;
};

struct beat {
    atomic_uint inside;
    atomic_uint calls;
    atomic_uint drops;
    unsigned twice; /* it ran twice at the same time */
};

static void beat_once(void *argument, const struct tkw_firing *firing)
{
    struct beat *beat = argument;
    (void)firing;
    if (atomic_fetch_add(&beat->inside, 1) != 0)
        beat->twice++;
    atomic_fetch_add(&beat->calls, 1);
    atomic_fetch_sub(&beat->inside, 1);
}

static void drop_beat(void *argument)
{
    struct beat *beat = argument;
    atomic_fetch_add(&beat->drops, 1);
}

/* Arm one, move it now and then, end it, and see that it has ended. */
static void *race(void *argument)
{
    struct racer *racer = argument;
    struct tkw_service *service = racer->scene->service;
    for (unsigned n = 0; n < RACES; n++) {
        struct beat *beat = calloc(1, sizeof *beat);
        struct tkw_plan plan = {.task = {beat_once, beat, drop_beat},
                                .when_ns = n % 20,
                                .period_ns = 1 + n % 37,
                                .missed = policies[n % 3],
                                .executor = n % 2 == 0 ? TKW_ON_DRIVER
                                                       : TKW_ON_WORKERS};
        tkw_handle handle;
        if (beat == NULL || tkw_service_arm_plan(service, &handle, &plan) != 0)
            abort();
        for (unsigned k = 0; k < n % 5; k++)
            racer->wrong += tkw_service_rearm(service, handle, n % 11) != 1;
        if (n % 3 == 0)
            while (atomic_load(&beat->calls) < 3)
                sched_yield();
        int answer = tkw_service_cancel_sync(service, handle);
        racer->wrong += answer != 0 && answer != 1;
        racer->wrong += atomic_load(&beat->inside) != 0;
        racer->wrong += atomic_load(&beat->drops) != 1;
        racer->wrong += beat->twice;
        racer->wrong += tkw_service_cancel(service, handle) != 0;
        free(beat);
    }
    atomic_store(&racer->is_done, true);
    return NULL;
}

/* Many threads, workers and the clock: after cancel_sync it is over, dropped,
   and its memory can go. */
static void after_cancel_sync_its_memory_can_be_freed(void **state)
{
    (void)state;
    struct scene scene;
    struct racer racers[3];
    pthread_t threads[COUNT_OF(racers)];
    unsigned done = 0;
    scene_open(
        &scene, 0,
        (struct tkw_service_config){.tick_ns = 10, .shards = 2, .workers = 2});
    for (size_t i = 0; i < COUNT_OF(racers); i++) {
        racers[i] = (struct racer){.scene = &scene};
        threads[i] = thread_start(race, &racers[i]);
    }
    while (done < COUNT_OF(racers)) {
        tkw_manual_clock_advance(scene.manual, 7);
        done = 0;
        for (size_t i = 0; i < COUNT_OF(racers); i++)
            done += atomic_load(&racers[i].is_done);
    }
    for (size_t i = 0; i < COUNT_OF(racers); i++) {
        thread_join(threads[i]);
        assert_int_equal(racers[i].wrong, 0);
    }
    scene_rest(&scene);
    assert_int_equal(tkw_service_count(scene.service), 0);
    assert_conserved(&scene);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_period_shorter_than_a_tick),
        cmocka_unit_test(the_end_of_time_is_never_reached),
        cmocka_unit_test(equals_keep_their_order_from_period_to_period),
        cmocka_unit_test(it_never_runs_twice_at_the_same_time),
        cmocka_unit_test(a_first_time_that_has_passed_sets_the_phase),
        cmocka_unit_test(a_wall_clock_set_back_makes_it_wait),
        cmocka_unit_test(run_keeps_to_its_budget_in_a_burst),
        cmocka_unit_test(a_next_function_may_do_what_a_callback_may),
        cmocka_unit_test(jitter_longer_than_the_period_misses_some),
        cmocka_unit_test(after_cancel_sync_its_memory_can_be_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
