/*
 * service/limits_test.c - the limit on what is pending, and memory that fails
 * at every call, once and for ever.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

static void scene_open_limited(struct scene *scene, size_t most,
                               enum tkw_driver driver)
{
    scene_open(scene, 1000,
               (struct tkw_service_config){
                   .tick_ns = 10, .timers_max = most, .driver = driver});
}

static int try_to_arm(struct scene *scene, struct probe *probe)
{
    return tkw_service_arm(scene->service, &probe->handle, 100,
                           probe_task(scene, probe));
}

/* A limit of 2 refuses the third; one cancelled or fired makes room. */
static void a_limit_of_two_refuses_the_third(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probes[4] = {{0}}, third = {.handle = 77};
        scene_open_limited(&scene, 2, both[i]);
        assert_int_equal(try_to_arm(&scene, &probes[0]), 0);
        assert_int_equal(try_to_arm(&scene, &probes[1]), 0);
        assert_int_equal(try_to_arm(&scene, &third), -EAGAIN);
        assert_int_equal(third.handle, 77);
        assert_int_equal(tkw_service_read_stats(scene.service).armed, 2);
        assert_int_equal(tkw_service_count(scene.service), 2);
        assert_int_equal(tkw_service_rearm(scene.service, probes[0].handle, 50),
                         1);
        assert_int_equal(
            tkw_service_postpone(scene.service, probes[1].handle, 150), 1);
        tkw_service_cancel(scene.service, probes[1].handle);
        assert_int_equal(try_to_arm(&scene, &probes[2]), 0);
        assert_int_equal(try_to_arm(&scene, &third), -EAGAIN);
        assert_int_equal(scene_go(&scene, 1050), 1);
        assert_int_equal(try_to_arm(&scene, &probes[3]), 0);
        assert_int_equal(try_to_arm(&scene, &third), -EAGAIN);
        scene_close(&scene);
        assert_int_equal(ran(&third) + dropped(&third), 0);
    }
}

static void arm_another_then_itself(struct probe *probe)
{
    struct tkw_service *service = probe->scene->service;
    probe->answer = tkw_service_arm(service, NULL, 100,
                                    probe_task(probe->scene, probe->other));
    probe->second = tkw_service_rearm(service, probe->firing.handle, 100);
}

/* A timer that runs is not pending: it leaves its room to whoever comes first,
   and may then not be able to start again. */
static void a_running_timer_has_made_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe other = {0};
        struct probe probe = {.act = arm_another_then_itself, .other = &other};
        scene_open_limited(&scene, 1, both[i]);
        assert_int_equal(try_to_arm(&scene, &probe), 0);
        scene_go(&scene, 1100);
        assert_int_equal(probe.answer, 0);
        assert_int_equal(probe.second, -EAGAIN);
        assert_state(&scene, probe.handle, TKW_DONE);
        assert_int_equal(tkw_service_count(scene.service), 1);
        scene_go(&scene, 1200);
        assert_int_equal(ran(&other), 1);
        assert_int_equal(ran(&probe), 1);
        scene_close(&scene);
        assert_int_equal(dropped(&probe), 0);
    }
}

struct armer {
    struct scene *scene;
    struct probe probe;
    unsigned armed;
    int last;
};

static void *arm_until_refused(void *argument)
{
    struct armer *armer = argument;
    struct tkw_task task = probe_task(armer->scene, &armer->probe);
    while (armer->armed < 10000) {
        armer->last = tkw_service_arm(armer->scene->service, NULL, 100, task);
        if (armer->last != 0)
            break;
        armer->armed++;
    }
    return NULL;
}

/* The limit is for all shards together, and exact whoever arms. */
static void the_limit_is_exact_among_threads(void **state)
{
    (void)state;
    struct scene scene;
    static struct armer armers[4];
    pthread_t threads[4];
    unsigned sum = 0;
    memset(armers, 0, sizeof armers);
    scene_open_limited(&scene, 1001, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 4; i++) {
        armers[i].scene = &scene;
        threads[i] = thread_start(arm_until_refused, &armers[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        thread_join(threads[i]);
        assert_int_equal(armers[i].last, -EAGAIN);
        sum += armers[i].armed;
    }
    assert_int_equal(sum, 1001);
    assert_int_equal(tkw_service_count(scene.service), 1001);
    assert_int_equal(scene_go(&scene, 1100), 1001);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(ran(&armers[i].probe), armers[i].armed);
    scene_close(&scene);
}

/* Open with some allocations failing, and close.  Returns what open said. */
static int open_failing(uint64_t skip, uint64_t count, enum tkw_driver driver)
{
    struct account account;
    struct tkw_manual_clock *manual;
    struct tkw_service *mark = (struct tkw_service *)&account;
    struct tkw_service *service = mark;
    account_init(&account);
    account_fail(&account, skip, count);
    assert_int_equal(tkw_manual_clock_open(&manual, 0), 0);
    struct tkw_service_config config = {.allocator = &account.allocator,
                                        .shards = 3,
                                        .driver = driver,
                                        .clock =
                                            tkw_manual_clock_source(manual)};
    int error = tkw_service_open(&service, &config);
    if (error != 0) {
        assert_ptr_equal(service, mark);
    } else {
        assert_true(account.calls <= skip); /* none had failed */
        assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
    }
    tkw_manual_clock_close(manual);
    account_done(&account);
    return error;
}

/* Opening fails at each allocation in turn: an answer, and nothing is left. */
static void open_survives_every_failing_allocation(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * 2; i++) {
        unsigned failures = 0;
        uint64_t count = i < 2 ? 1 : FOR_EVER;
        int error;
        while ((error = open_failing(failures, count, both[i % 2])) != 0) {
            assert_int_equal(error, -ENOMEM);
            failures++;
        }
        assert_true(failures > 0);
    }
}

#define MANY 3000

/* Some allocations fail, from any one on: armings say so, nothing has changed,
   and all the others fire. */
static void arming_survives_every_failing_allocation(void **state)
{
    (void)state;
    static struct probe probes[MANY];
    unsigned refusals = 0;
    uint64_t calls = 1;
    for (uint64_t skip = 0; skip < calls; skip++) {
        struct scene scene;
        unsigned failed = 0;
        memset(probes, 0, sizeof probes);
        scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
        uint64_t before = scene.account.calls;
        account_fail(&scene.account, skip, MANY);
        for (size_t k = 0; k < MANY; k++) {
            uint64_t delay = (k + 1) * (k % 7 == 0 ? TKW_SECOND : 10);
            int error = tkw_service_arm(scene.service, &probes[k].handle, delay,
                                        probe_task(&scene, &probes[k]));
            if (error == 0)
                continue;
            assert_int_equal(error, -ENOMEM);
            assert_int_equal(probes[k].handle, 0);
            assert_int_equal(tkw_service_count(scene.service), k - failed);
            assert_int_equal(tkw_service_read_stats(scene.service).armed,
                             k - failed);
            failed++;
        }
        calls = scene.account.calls - before;
        assert_true(failed < MANY / 2);
        refusals += failed;
        assert_int_equal(scene_go(&scene, HOUR), MANY - failed);
        for (size_t k = 0; k < MANY; k++)
            assert_int_equal(ran(&probes[k]), probes[k].handle != 0);
        scene_close(&scene);
    }
    assert_true(refusals > 0);
}

/* No memory at all any more: arming says so for ever, what is pending fires,
   and when there is memory again it goes on. */
static void without_memory_what_is_pending_fires(void **state)
{
    (void)state;
    static struct probe probe;
    struct scene scene;
    unsigned armed = 0;
    int error = 0;
    memset(&probe, 0, sizeof probe);
    scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
    account_fail(&scene.account, 0, FOR_EVER);
    while (armed < 10000000) {
        error = tkw_service_arm(scene.service, NULL, 10 + armed % 977 * 10,
                                probe_task(&scene, &probe));
        if (error != 0)
            break;
        armed++;
    }
    assert_int_equal(error, -ENOMEM);
    assert_int_equal(tkw_service_count(scene.service), armed);
    assert_int_equal(scene_go(&scene, HOUR), armed);
    assert_int_equal(ran(&probe), armed);
    account_fail(&scene.account, 0, 0);
    for (unsigned i = 0; i < 1000; i++)
        probe_arm(&scene, &probe, 10);
    assert_int_equal(scene_go(&scene, 2 * HOUR), 1000);
    scene_close(&scene);
}

/* A move that finds no memory leaves the timer where it was. */
static void a_move_that_fails_changes_nothing(void **state)
{
    (void)state;
    struct scene scene;
    static struct probe probes[2000];
    struct probe filler = {.scene = &scene};
    unsigned failures = 0, early = 0, fillers = 0;
    memset(probes, 0, sizeof probes);
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        probe_arm_at(&scene, &probes[i], 50000);
    account_fail(&scene.account, 0, FOR_EVER);
    while (tkw_service_arm_at(scene.service, NULL, 60000,
                              probe_task(&scene, &filler)) == 0)
        fillers++;
    for (unsigned round = 0; round < 200 && failures == 0; round++) {
        for (size_t i = 0; i < COUNT_OF(probes); i++) {
            uint64_t time = 50000 + 10 * ((i + round) % 1000);
            struct tkw_outlook before, after;
            tkw_service_query(scene.service, probes[i].handle, &before);
            int error =
                tkw_service_rearm_at(scene.service, probes[i].handle, time);
            tkw_service_query(scene.service, probes[i].handle, &after);
            assert_true(error == 1 || error == -ENOMEM);
            assert_int_equal(after.due_ns, error == 1 ? time : before.due_ns);
            failures += error != 1;
        }
    }
    for (size_t i = 0; i < COUNT_OF(probes); i++) {
        struct tkw_outlook outlook;
        assert_int_equal(
            tkw_service_query(scene.service, probes[i].handle, &outlook),
            TKW_PENDING);
        probes[i].delay_ns = outlook.due_ns;
    }
    assert_true(failures > 0);
    assert_int_equal(tkw_service_read_stats(scene.service).armed,
                     2000 + fillers);
    for (uint64_t now = 50000; now <= 60000; now += 10)
        scene_go(&scene, now);
    for (size_t i = 0; i < COUNT_OF(probes); i++) {
        assert_int_equal(ran(&probes[i]), 1);
        early += probes[i].firing.now_ns != probes[i].delay_ns;
    }
    assert_int_equal(early, 0);
    scene_close(&scene);
}

static void rearm_without_memory(struct probe *probe)
{
    probe->answer =
        tkw_service_rearm(probe->scene->service, probe->firing.handle, 100);
}

/* Starting again in the callback may fail for lack of memory too: then it is
   done, and not dropped. */
static void starting_again_without_memory_is_an_answer(void **state)
{
    (void)state;
    static struct probe probes[3000], other;
    struct scene scene;
    unsigned again = 0;
    memset(&other, 0, sizeof other);
    memset(probes, 0, sizeof probes);
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (size_t i = 0; i < COUNT_OF(probes); i++) {
        probes[i].act = rearm_without_memory;
        probe_arm(&scene, &probes[i], 100);
    }
    account_fail(&scene.account, 0, FOR_EVER);
    for (unsigned i = 0; i < 10000000; i++)
        if (tkw_service_arm(scene.service, NULL, HOUR + i % 977 * TKW_SECOND,
                            probe_task(&scene, &other)) != 0)
            break;
    size_t others = tkw_service_count(scene.service) - 3000;
    assert_int_equal(scene_go(&scene, 100), 3000);
    for (size_t i = 0; i < COUNT_OF(probes); i++) {
        assert_true(probes[i].answer == 1 || probes[i].answer == -ENOMEM);
        assert_state(&scene, probes[i].handle,
                     probes[i].answer == 1 ? TKW_PENDING : TKW_DONE);
        again += probes[i].answer == 1;
        probes[i].act = NULL;
    }
    assert_int_equal(tkw_service_count(scene.service), others + again);
    assert_int_equal(scene_go(&scene, 200), again);
    scene_close(&scene);
}

/* Three ways to need memory, each for a timer that is an hour away. */
static int arm_plainly(struct scene *scene, struct probe *probe)
{
    return tkw_service_arm(scene->service, &probe->handle, HOUR,
                           probe_task(scene, probe));
}

static int arm_by_plan(struct scene *scene, struct probe *probe)
{
    struct tkw_plan plan = {.task = probe_task(scene, probe), .when_ns = HOUR};
    return tkw_service_arm_plan(scene->service, &probe->handle, &plan);
}

static int arm_again(struct scene *scene, struct probe *probe)
{
    int result = tkw_service_rearm(scene->service, probe->handle, HOUR + 10);
    return result == 1 ? 0 : result;
}

/*
 * The allocator refuses, and every timer but one is cancelled.  Nothing is due
 * for an hour, so no pass takes them out of the pool: the calls that need
 * memory have to, and the first of them succeeds already.
 */
static void cancelled_timers_make_room_without_a_pass(void **state)
{
    (void)state;
    int (*const ways[])(struct scene *,
                        struct probe *) = {arm_plainly, arm_by_plan, arm_again};
    static struct probe probes[3000];
    for (size_t w = 0; w < COUNT_OF(ways); w++) {
        struct scene scene;
        size_t count = 1;
        memset(probes, 0, sizeof probes);
        scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
        assert_int_equal(arm_plainly(&scene, &probes[0]), 0);
        account_fail(&scene.account, 0, FOR_EVER);
        while (arm_plainly(&scene, &probes[count]) == 0)
            assert_in_range(++count, 1, COUNT_OF(probes) - 1);
        struct probe *last = &probes[count - 1];
        scene_rest(&scene);       /* empties the intake */
        if (ways[w] != arm_again) /* which needs less memory */
            assert_int_equal(ways[w](&scene, last), -ENOMEM);
        for (size_t i = 0; i < count - 1; i++)
            assert_int_equal(
                tkw_service_cancel(scene.service, probes[i].handle), 1);
        for (size_t i = 0; i < count / 2; i++)
            assert_int_equal(ways[w](&scene, last), 0);
        assert_conserved(&scene);
        scene_close(&scene);
    }
}

/*
 * The cancelled timers have an owner, so threads with the mutex must reap them.
 * A call reaps the two that were cancelled last, but their entries are too far
 * away for its sweep.  So it reaps more, which are near, and sweeps once more.
 */
static void cancelled_timers_of_an_owner_make_room(void **state)
{
    (void)state;
    enum { ENOUGH = 3000, NEAR = 1100, NEAR_END = 1300 };
    int (*const ways[])(struct scene *,
                        struct probe *) = {arm_plainly, arm_by_plan, arm_again};
    static struct probe probes[2 * ENOUGH];
    for (size_t w = 0; w < COUNT_OF(ways); w++) {
        struct scene scene;
        struct tkw_owner owner = {{0}};
        struct probe steady = {0};
        struct tkw_plan plan = {.task = probe_task(&scene, &steady),
                                .when_ns = HOUR,
                                .period_ns = HOUR};
        size_t count = 0;
        memset(probes, 0, sizeof probes);
        scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
        assert_int_equal(
            tkw_service_arm_plan(scene.service, &steady.handle, &plan), 0);
        while (tkw_service_arm_owned(scene.service, &probes[count].handle, HOUR,
                                     probe_task(&scene, &probes[count]),
                                     &owner) == 0) {
            assert_in_range(++count, 1, COUNT_OF(probes) - 1);
            if (count == ENOUGH)
                account_fail(&scene.account, 0, FOR_EVER);
        }
        struct probe *last = &probes[count - 1];
        scene_rest(&scene); /* empties the intake */
        assert_int_equal(ways[w](&scene, last), -ENOMEM);
        for (size_t i = NEAR; i < NEAR_END; i++)
            assert_int_equal(
                tkw_service_cancel(scene.service, probes[i].handle), 1);
        for (size_t i = count - 3; i < count - 1; i++)
            assert_int_equal(
                tkw_service_cancel(scene.service, probes[i].handle), 1);
        assert_int_equal(ways[w](&scene, last), 0);
        assert_conserved(&scene);
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_of_two_refuses_the_third),
        cmocka_unit_test(a_running_timer_has_made_room),
        cmocka_unit_test(the_limit_is_exact_among_threads),
        cmocka_unit_test(open_survives_every_failing_allocation),
        cmocka_unit_test(arming_survives_every_failing_allocation),
        cmocka_unit_test(without_memory_what_is_pending_fires),
        cmocka_unit_test(a_move_that_fails_changes_nothing),
        cmocka_unit_test(starting_again_without_memory_is_an_answer),
        cmocka_unit_test(cancelled_timers_make_room_without_a_pass),
        cmocka_unit_test(cancelled_timers_of_an_owner_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
