/*
 * service/intake_test.c - timers on their way to the pool: nobody can tell, but
 * by what it costs.
 */
#include "service/private.h"

#include "pool/record.h"
#include "support/executor.h"

static struct tkw_pool_stats pool_figures(const struct scene *scene)
{
    return tkw_pool_read_stats(scene->service->shards[0]->pool);
}

/* A timer that is cancelled soon was never in the pool. */
static void what_is_cancelled_soon_costs_the_pool_nothing(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0}, still = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    probe_arm(&scene, &still, 100);
    for (unsigned i = 0; i < 1000; i++) {
        tkw_handle handle = probe_arm(&scene, &probe, 50);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
    }
    assert_int_equal(pool_figures(&scene).work.armed, 1); /* `still` */
    assert_int_equal(scene_go(&scene, 99), 0);
    assert_int_equal(scene_go(&scene, 100), 1);
    assert_int_equal(ran(&still), 1);
    assert_int_equal(pool_figures(&scene).work.armed, 1);
    assert_conserved(&scene);
    scene_close(&scene);
}

/*
 * Equal times run in the order of arming, wherever the timers wait: some are in
 * the pool, one of those is armed again in between, others are in the intake,
 * and one of those is armed again as well.
 */
static void order_holds_whatever_waits_in_the_intake(void **state)
{
    (void)state;
    enum { MOST = 2 * TKW_INTAKE + 3 };
    for (unsigned before = 1; before < MOST; before++) {
        struct scene scene;
        static struct probe probes[MOST + 4];
        memset(probes, 0, sizeof probes);
        struct probe *in_pool = &probes[MOST], *late = &probes[MOST + 1];
        scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
        probe_arm(&scene, in_pool, 500);
        scene_rest(&scene); /* files it */
        probe_arm(&scene, late, 100);
        for (unsigned i = 0; i < before; i++)
            probe_arm(&scene, &probes[i], 100);
        assert_int_equal(tkw_service_rearm(scene.service, late->handle, 100),
                         1);
        assert_int_equal(tkw_service_rearm(scene.service, in_pool->handle, 100),
                         1);
        probe_arm(&scene, &probes[before], 100);

        assert_int_equal(scene_go(&scene, 99), 0);
        assert_int_equal(scene_go(&scene, 100), before + 3);
        for (unsigned i = 1; i < before; i++)
            assert_true(probes[i].place > probes[i - 1].place);
        assert_true(late->place > probes[before - 1].place);
        assert_true(in_pool->place > late->place);
        assert_true(probes[before].place > in_pool->place);
        scene_close(&scene);
    }
}

/* Moved in the intake, in the pool, or when the intake is full: on time. */
static void moves_are_on_time_wherever_a_timer_waits(void **state)
{
    (void)state;
    for (unsigned fill = 0; fill < 2 * TKW_INTAKE; fill++) {
        struct scene scene;
        struct probe up = {0}, down = {0}, to = {0}, other = {0};
        scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
        struct tkw_service *service = scene.service;
        probe_arm(&scene, &up, 100);
        probe_arm(&scene, &down, 200);
        probe_arm(&scene, &to, 300);
        for (unsigned i = 0; i < fill; i++)
            probe_arm(&scene, &other, 1000);
        assert_int_equal(tkw_service_postpone(service, up.handle, 150), 1);
        assert_int_equal(tkw_service_postpone(service, down.handle, 50), 1);
        assert_int_equal(tkw_service_postpone(service, down.handle, 70), 1);
        assert_int_equal(tkw_service_rearm(service, to.handle, 90), 1);
        assert_int_equal(tkw_service_rearm(service, to.handle, 60), 1);

        assert_int_equal(scene_go(&scene, 59), 0);
        assert_int_equal(scene_go(&scene, 60), 1);
        assert_int_equal(ran(&to), 1);
        assert_int_equal(scene_go(&scene, 70), 1);
        assert_int_equal(ran(&down), 1);
        assert_int_equal(scene_go(&scene, 149), 0);
        assert_int_equal(scene_go(&scene, 150), 1);
        assert_int_equal(scene_go(&scene, 1000), fill);
        assert_conserved(&scene);
        scene_close(&scene);
    }
}

/* Due, but not filed yet: it can be put off all the same. */
static void what_is_due_in_the_intake_can_be_put_off(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    scene_rest(&scene);
    probe_arm(&scene, &probe, 0);
    assert_int_equal(tkw_service_postpone(scene.service, probe.handle, 50), 1);
    assert_int_equal(scene_go(&scene, 1049), 0);
    assert_int_equal(scene_go(&scene, 1050), 1);
    scene_close(&scene);
}

/* Cancelled in the middle of the intake: the others come, it does not. */
static void a_gap_in_the_intake_is_passed_over(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probes[10] = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (unsigned i = 0; i < COUNT_OF(probes); i++)
        probe_arm(&scene, &probes[i], 100);
    for (unsigned i = 0; i < COUNT_OF(probes); i += 3)
        assert_int_equal(tkw_service_cancel(scene.service, probes[i].handle),
                         1);
    assert_int_equal(scene_go(&scene, 100), 6);
    for (unsigned i = 0; i < COUNT_OF(probes); i++)
        assert_int_equal(ran(&probes[i]), i % 3 != 0);
    assert_int_equal(pool_figures(&scene).work.armed, 6);
    scene_close(&scene);
}

static void do_nothing(void *argument, const struct tkw_firing *firing)
{
    (void)argument;
    (void)firing;
}

/*
 * The deadline of a job in the pool can equal a place of the intake, which
 * another job has.  Freeing the one does not take the other out of the intake.
 */
static void a_deadline_is_not_taken_for_a_place(void **state)
{
    (void)state;
    struct scene scene;
    struct tkw_owner owner = {{0}};
    struct probe others[8] = {{0}};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    tkw_handle owned;
    assert_int_equal(tkw_service_arm_owned(
                         scene.service, &owned, 30,
                         (struct tkw_task){.callback = do_nothing}, &owner),
                     0);
    scene_rest(&scene); /* files it, for tick 3 */
    struct job *job = tkw__job_find(scene.service, owned);
    assert_true(job->place < COUNT_OF(others));
    for (size_t i = 0; i < COUNT_OF(others); i++)
        probe_arm(&scene, &others[i], 50);
    assert_int_equal(tkw_service_cancel(scene.service, owned), 1);
    assert_int_equal(scene_go(&scene, 50), COUNT_OF(others)); /* reaps it */
    scene_close(&scene);
}

/* However little memory there is: what waits in the intake has its place in
 * the pool, and nobody takes it. */
static void what_waits_has_its_place_in_the_pool(void **state)
{
    (void)state;
    static struct probe filed[200], waiting[TKW_INTAKE];
    memset(filed, 0, sizeof filed);
    memset(waiting, 0, sizeof waiting);
    struct scene scene;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (size_t i = 0; i < COUNT_OF(filed); i++)
        probe_arm(&scene, &filed[i], 1000);
    scene_rest(&scene);
    for (size_t i = 0; i < COUNT_OF(filed); i++)
        assert_int_equal(
            tkw_service_rearm(scene.service, filed[i].handle, HOUR), 1);
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        probe_arm(&scene, &waiting[i], 500);
    account_fail(&scene.account, 0, FOR_EVER);
    assert_int_equal(tkw_service_rearm(scene.service, waiting[5].handle, 500),
                     1);

    /* An earlier time is arming again, which takes memory: all that is left,
     * and then the memory of the entries that earlier moves left behind. */
    for (uint64_t i = 1; i <= 20000; i++) {
        int result = tkw_service_postpone_at(
            scene.service, filed[i % COUNT_OF(filed)].handle, HOUR - i * 10);
        assert_true(result == 1 || result == -ENOMEM);
    }
    assert_int_equal(scene_go(&scene, 499), 0);
    assert_int_equal(scene_go(&scene, 500), COUNT_OF(waiting));
    assert_int_equal(scene_go(&scene, HOUR), COUNT_OF(filed));
    assert_conserved(&scene);
    scene_close(&scene);
}

/* An allocator that refuses records when `is_empty`: each timer that is armed
 * in a pool takes one. */
struct frugal {
    struct tkw_allocator allocator;
    atomic_bool is_empty;
};

static void *frugal_allocate(void *context, size_t bytes)
{
    const struct frugal *frugal = context;
    if (bytes >= SEGMENT_RECORDS * CELL_BYTES && atomic_load(&frugal->is_empty))
        return NULL;
    return malloc(bytes);
}

static void frugal_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

/* One shard, a tick of 10, and no more records than it has when opened. */
static void scene_open_frugal(struct scene *scene, struct frugal *frugal,
                              enum tkw_driver driver, uint32_t workers)
{
    struct tkw_service_config config = hands(workers, 0, NULL);
    *frugal =
        (struct frugal){.allocator = {frugal_allocate, frugal_release, frugal}};
    config.allocator = &frugal->allocator;
    config.driver = driver;
    scene_open(scene, 1000, config);
    atomic_store(&frugal->is_empty, true);
}

/* Arm `count` timers that are due in an hour. */
static void arm_many(struct scene *scene, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(
            tkw_service_arm(scene->service, NULL, HOUR,
                            (struct tkw_task){.callback = do_nothing}),
            0);
}

/* Arm a timer again while a worker runs it; `filed` timers are in the pool, and
 * the intake is full.  Returns what tkw_service_rearm() returned.  If that is
 * 1, the timer has run again. */
static int rearm_behind_a_full_intake(unsigned filed)
{
    struct scene scene;
    struct gate gate;
    struct probe probe = {0};
    struct frugal frugal;
    scene_open_frugal(&scene, &frugal, TKW_DRIVER_THREAD, 1);
    arm_many(&scene, filed);
    gate_enter(&scene, &probe, &gate); /* the driver files all others */
    tkw_manual_clock_settle(scene.manual);
    arm_many(&scene, TKW_INTAKE);
    probe.act = NULL;
    int result = tkw_service_rearm(scene.service, probe.handle, 100);
    gate_open(&gate);
    probe_await_end(&probe);
    tkw_manual_clock_settle(scene.manual);
    if (result == 1) {
        assert_true(tkw_service_next(scene.service) <= 1100);
        scene_go(&scene, 1100);
        probe_await(&probe, 2);
    }
    scene_close(&scene);
    gate_done(&gate);
    return result;
}

/* A timer that is armed again while a worker runs it has a record in reserve,
 * which no timer of the intake takes. */
static void arming_again_takes_no_record_of_the_intake(void **state)
{
    (void)state;
    unsigned left = SEGMENT_RECORDS - TKW_INTAKE;
    assert_int_equal(rearm_behind_a_full_intake(left - 3), 1);
    assert_int_equal(rearm_behind_a_full_intake(left - 2), 1);
    assert_int_equal(rearm_behind_a_full_intake(left - 1), -ENOMEM);
}

/* The intake takes no more timers than the pool has records for.  The others
 * are refused, or they would be lost when the intake is filed. */
static void the_intake_takes_no_more_than_there_are_records(void **state)
{
    (void)state;
    struct scene scene;
    struct frugal frugal;
    scene_open_frugal(&scene, &frugal, TKW_DRIVER_NONE, 0);
    arm_many(&scene, 1);
    assert_int_equal(tkw_service_run(scene.service, 0), 0); /* files it */
    arm_many(&scene, SEGMENT_RECORDS - 1);
    assert_int_equal(tkw_service_arm(scene.service, NULL, HOUR,
                                     (struct tkw_task){.callback = do_nothing}),
                     -ENOMEM);
    tkw_manual_clock_set(scene.manual, 1000 + HOUR);
    assert_int_equal(tkw_service_run(scene.service, 0), SEGMENT_RECORDS);
    scene_close(&scene);
}

/* Each timer that repeats has a record in reserve, which new timers leave to
 * it: without one the timer would be lost when its tags are used up. */
static void the_last_records_are_for_timers_that_repeat(void **state)
{
    (void)state;
    enum { REPEATING = 10 };
    struct scene scene;
    struct frugal frugal;
    struct tkw_task task = {.callback = do_nothing};
    struct tkw_plan plan = {.task = task, .when_ns = HOUR, .period_ns = HOUR};
    scene_open_frugal(&scene, &frugal, TKW_DRIVER_NONE, 0);
    atomic_store(&frugal.is_empty, false); /* plans take large pieces, too */
    for (int i = 0; i < REPEATING; i++)
        assert_int_equal(tkw_service_arm_plan(scene.service, NULL, &plan), 0);
    atomic_store(&frugal.is_empty, true);
    arm_many(&scene, SEGMENT_RECORDS - 2 * REPEATING);
    assert_int_equal(tkw_service_arm(scene.service, NULL, HOUR, task), -ENOMEM);
    tkw_manual_clock_set(scene.manual, 1000 + HOUR);
    assert_int_equal(tkw_service_run(scene.service, 0),
                     SEGMENT_RECORDS - REPEATING);
    scene_close(&scene);
}

/* Postponing what is ready is arming again, and takes of no reserve either. */
static void postponing_what_is_ready_takes_nobodys_place(void **state)
{
    (void)state;
    enum { READY = 60000 };
    static tkw_handle ready[READY];
    static struct probe waiting[TKW_INTAKE - 4];
    memset(waiting, 0, sizeof waiting);
    struct scene scene;
    struct tkw_task task = {do_nothing, NULL, NULL};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    struct tkw_service *service = scene.service;
    for (size_t i = 0; i < READY; i++)
        assert_int_equal(tkw_service_arm(service, &ready[i], 10, task), 0);
    tkw_manual_clock_set(scene.manual, 20);
    assert_int_equal(tkw_service_run(service, 1), 1);

    account_fail(&scene.account, 0, FOR_EVER);
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        probe_arm(&scene, &waiting[i], 50);
    bool is_full = false;
    for (size_t i = 2 * TKW_BATCH; i < READY; i++)
        is_full |= tkw_service_postpone(service, ready[i], HOUR) == -ENOMEM;
    assert_true(is_full);
    tkw_manual_clock_set(scene.manual, 70);
    while (tkw_service_run(service, 0) > 0)
        continue;
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        assert_int_equal(ran(&waiting[i]), 1);
    scene_close(&scene);
}

/* Entries that the service's pool has looked at so far. */
static uint64_t reads(const struct scene *scene)
{
    return tkw_pool_read_stats(scene->service->shards[0]->pool).reads;
}

/* Fill a service until its allocator refuses, and cancel one in a hundred. */
static void fill_and_cancel(struct scene *scene)
{
    static tkw_handle handles[200000];
    struct tkw_task task = {do_nothing, NULL, NULL};
    size_t count = 0;
    scene_open_tens(scene, 0, TKW_DRIVER_NONE);
    while (count < 150000)
        assert_int_equal(
            tkw_service_arm(scene->service, &handles[count++], HOUR, task), 0);
    account_fail(&scene->account, 0, FOR_EVER);
    while (tkw_service_arm(scene->service, &handles[count], HOUR, task) == 0)
        assert_in_range(++count, 1, COUNT_OF(handles) - 1);
    for (size_t i = 0; i < count; i += 100)
        assert_int_equal(tkw_service_cancel(scene->service, handles[i]), 1);
}

/* At the limit of memory an arming may sweep, twice at most: once before and
 * once after cancelled timers were taken out. */
static void at_the_limit_arming_takes_bounded_time(void **state)
{
    (void)state;
    enum { SWEPT_MAX = 2 * 16 * 62 };
    struct scene scene;
    struct tkw_task task = {do_nothing, NULL, NULL};
    fill_and_cancel(&scene);
    for (unsigned i = 0; i < 100; i++) {
        uint64_t before = reads(&scene);
        tkw_service_arm(scene.service, NULL, HOUR, task);
        assert_in_range(reads(&scene) - before, 0, SWEPT_MAX);
    }
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_cancelled_soon_costs_the_pool_nothing),
        cmocka_unit_test(order_holds_whatever_waits_in_the_intake),
        cmocka_unit_test(moves_are_on_time_wherever_a_timer_waits),
        cmocka_unit_test(what_is_due_in_the_intake_can_be_put_off),
        cmocka_unit_test(a_gap_in_the_intake_is_passed_over),
        cmocka_unit_test(a_deadline_is_not_taken_for_a_place),
        cmocka_unit_test(what_waits_has_its_place_in_the_pool),
        cmocka_unit_test(at_the_limit_arming_takes_bounded_time),
        cmocka_unit_test(arming_again_takes_no_record_of_the_intake),
        cmocka_unit_test(the_intake_takes_no_more_than_there_are_records),
        cmocka_unit_test(the_last_records_are_for_timers_that_repeat),
        cmocka_unit_test(postponing_what_is_ready_takes_nobodys_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
