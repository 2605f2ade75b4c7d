/*
 * service/repeat_room_test.c - timers that repeat keep what is theirs: their
 * handle wherever they are moved, their place in a service that is full, and
 * their memory when there is none left.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

static const enum tkw_missed policies[] = {TKW_SKIP, TKW_BURST, TKW_DELAY};

typedef int move_function(struct tkw_service *, tkw_handle, uint64_t);
static const struct {
    move_function *move;
    bool is_time;
} moves[] = {{tkw_service_rearm, false},
             {tkw_service_rearm_at, true},
             {tkw_service_postpone, false},
             {tkw_service_postpone_at, true}};

static void assert_moved(enum tkw_driver driver, size_t way, uint64_t time)
{
    struct scene scene;
    struct diary diary = {0};
    scene_open_tens(&scene, 0, driver);
    tkw_handle handle = arm_diary(&scene, &diary, every_hundred);
    scene_go(&scene, 100);
    scene_go(&scene, 200);
    uint64_t to = moves[way].is_time ? time : time - 200;
    assert_int_equal(moves[way].move(scene.service, handle, to), 1);
    assert_int_equal(due_of(&scene, handle), time);
    assert_int_equal(scene_go(&scene, time - 1), 0);
    for (uint64_t due = time; due < time + 1000; due += 100) {
        assert_int_equal(scene_go(&scene, due), 1);
        assert_int_equal(diary.probe.firing.due_ns, due);
        assert_int_equal(diary.probe.firing.handle, handle);
        assert_int_equal(diary.probe.firing.overruns, 0);
    }
    assert_int_equal(tkw_service_read_stats(scene.service).armed, 13);
    assert_conserved(&scene);
    scene_close(&scene);
    assert_int_equal(dropped(&diary.probe), 1);
}

/* Netty 6669: moved without a new object.  All calls to come follow. */
static void moving_it_moves_all_calls_to_come(void **state)
{
    (void)state;
    static const uint64_t times[] = {250, 330, 500, 1000};
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(moves); i++)
        for (size_t k = 0; k < COUNT_OF(times); k++)
            assert_moved(both[i % 2], i / 2, times[k]);
}

static void move_in_the_second(struct diary *diary)
{
    struct probe *probe = &diary->probe;
    if (diary->count != 2)
        return;
    probe->answer =
        tkw_service_postpone(probe->scene->service, probe->firing.handle, 1);
    probe->second = tkw_service_rearm(probe->scene->service,
                                      probe->firing.handle, probe->delay_ns);
}

/* In its callback it is not pending, so there is nothing to postpone; arming
   it again there moves all calls to come. */
static void moving_it_in_its_callback_moves_all_calls_to_come(void **state)
{
    (void)state;
    static const uint64_t delays[] = {0, 30, 100, 270};
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(delays); i++) {
        struct scene scene;
        struct diary diary = {.also = move_in_the_second,
                              .probe = {.delay_ns = delays[i / 2]}};
        scene_open_tens(&scene, 0, both[i % 2]);
        arm_diary(&scene, &diary, every_hundred);
        for (uint64_t now = 10; now < 1000; now += 10)
            scene_go(&scene, now);
        assert_int_equal(diary.probe.answer, 0);
        assert_int_equal(diary.probe.second, 1);
        assert_int_equal(diary.calls[1].due_ns, 200);
        for (size_t k = 2; k < diary.count; k++)
            assert_int_equal(diary.calls[k].due_ns,
                             200 + delays[i / 2] + (k - 2) * 100);
        assert_int_equal(diary.count, 2 + (990 - 100 - delays[i / 2]) / 100);
        assert_int_equal(diary.overruns, 0);
        assert_conserved(&scene);
        scene_close(&scene);
        assert_int_equal(dropped(&diary.probe), 1);
    }
}

/* From another thread while its callback is running: the same. */
static void moving_it_while_it_runs_moves_all_calls_to_come(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
    gate_enter_by(&scene, &held, &gate, every_hundred);
    assert_int_equal(tkw_service_rearm_at(scene.service, held.handle, 777), 1);
    assert_state(&scene, held.handle, TKW_RUNNING);
    gate_open(&gate);
    scene_rest(&scene);
    held.act = NULL;
    assert_int_equal(due_of(&scene, held.handle), 777);
    assert_int_equal(scene_go(&scene, 779), 0);
    assert_int_equal(scene_go(&scene, 780), 1);
    assert_int_equal(due_of(&scene, held.handle), 877);
    assert_int_equal(dropped(&held), 0);
    gate_done(&gate);
    scene_close(&scene);
}

/* Its handle is its own for thousands of calls, while others come and go, and
   when it is over and its place is used again, stale. */
static void its_handle_is_stale_only_when_it_is_over(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    tkw_handle handle = arm_plan(&scene, &probe, every_hundred);
    for (uint64_t now = 100; now <= 300000; now += 100) {
        struct probe other = {0};
        assert_int_not_equal(probe_arm(&scene, &other, 0), handle);
        assert_int_equal(scene_go(&scene, now), 2);
        assert_int_equal(probe.firing.handle, handle);
    }
    assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
    assert_int_equal(scene_go(&scene, 301000), 0);
    assert_state(&scene, handle, TKW_CANCELLED);
    static struct probe others[64]; /* more than there are free records */
    memset(others, 0, sizeof others);
    for (unsigned i = 0; i < COUNT_OF(others); i++)
        assert_int_not_equal(probe_arm(&scene, &others[i], 0), handle);
    assert_state(&scene, handle, TKW_STALE);
    scene_close(&scene);
}

struct crowd {
    struct diary diary;
    struct probe others[4];
    int answers[4];
};

static void fill_up(struct diary *diary)
{
    struct crowd *crowd = (struct crowd *)diary;
    struct scene *scene = diary->probe.scene;
    for (size_t i = 0; diary->count == 1 && i < COUNT_OF(crowd->others); i++)
        crowd->answers[i] =
            tkw_service_arm(scene->service, &crowd->others[i].handle, HOUR,
                            probe_task(scene, &crowd->others[i]));
    if (diary->count == 2) /* it has its place */
        diary->probe.answer =
            tkw_service_rearm(scene->service, diary->probe.firing.handle, 50);
}

/* It counts as one, also while its callback is running: others that fill the
   service meanwhile do not get its place. */
static void it_keeps_its_place_in_a_full_service(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct crowd crowd = {.diary = {.also = fill_up}};
        scene_open(&scene, 0,
                   (struct tkw_service_config){.tick_ns = 10,
                                               .shards = 1,
                                               .driver = both[i],
                                               .timers_max = 3});
        tkw_handle handle = arm_diary(&scene, &crowd.diary, every_hundred);
        assert_int_equal(scene_go(&scene, 100), 1);
        assert_int_equal(crowd.answers[0], 0);
        assert_int_equal(crowd.answers[1], 0);
        assert_int_equal(crowd.answers[2], -EAGAIN);
        assert_int_equal(crowd.answers[3], -EAGAIN);
        assert_int_equal(tkw_service_count(scene.service), 3);
        assert_int_equal(scene_go(&scene, 200), 1);
        assert_int_equal(crowd.diary.probe.answer, 1);
        for (uint64_t now = 250; now <= 1050; now += 100)
            assert_int_equal(scene_go(&scene, now), 1);
        struct probe late = {0};
        struct tkw_task task = probe_task(&scene, &late);
        struct tkw_service *service = scene.service;
        assert_int_equal(tkw_service_arm(service, NULL, 50, task), -EAGAIN);
        assert_int_equal(tkw_service_cancel(service, handle), 1);
        assert_int_equal(tkw_service_arm(service, NULL, 50, task), 0);
        assert_int_equal(tkw_service_arm(service, NULL, 50, task), -EAGAIN);
        assert_int_equal(scene_go(&scene, 1100), 1);
        assert_int_equal(ran(&late), 1);
        assert_conserved(&scene);
        scene_close(&scene);
    }
}

static void cancel_itself(struct diary *diary)
{
    struct probe *probe = &diary->probe;
    tkw_service_cancel(probe->scene->service, probe->firing.handle);
}

static uint64_t never_again(void *argument, uint64_t due_ns, uint64_t now_ns)
{
    (void)argument;
    (void)due_ns;
    (void)now_ns;
    return UINT64_MAX;
}

/* However it ends, its place is free afterwards, once. */
static void its_place_is_free_when_it_is_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * 2; i++) {
        struct scene scene;
        struct probe other = {0};
        scene_open(&scene, 0,
                   (struct tkw_service_config){.tick_ns = 10,
                                               .shards = 1,
                                               .driver = both[i % 2],
                                               .timers_max = 1});
        struct tkw_task task = probe_task(&scene, &other);
        for (uint64_t turn = 1; turn <= 5; turn++) {
            struct diary diary = {.also = i < 2 ? cancel_itself : NULL};
            struct tkw_plan plan = every_hundred;
            plan.period_ns = i < 2 ? 100 : 0;
            plan.next = i < 2 ? NULL : never_again;
            arm_diary(&scene, &diary, plan);
            assert_int_equal(tkw_service_arm(scene.service, NULL, 0, task),
                             -EAGAIN);
            assert_int_equal(scene_go(&scene, turn * 100), 1);
            assert_int_equal(dropped(&diary.probe), 1);
        }
        probe_arm(&scene, &other, HOUR);
        assert_int_equal(tkw_service_arm(scene.service, NULL, 0, task),
                         -EAGAIN);
        scene_close(&scene);
    }
}

#define STEADY 60
#define END 60000

static uint64_t in_a_while(void *argument, uint64_t due_ns, uint64_t now_ns)
{
    (void)argument;
    (void)now_ns;
    return due_ns + 130;
}

/* Others that are armed and cancelled, until memory is used up and beyond. */
static struct {
    struct probe probe;
    tkw_handle handles[512];
    uint64_t random;
    uint64_t refused;
    uint64_t wrong;
} others;

static void crowd_in(struct scene *scene, unsigned count)
{
    struct tkw_task task = probe_task(scene, &others.probe);
    for (unsigned n = 0; n < count; n++) {
        others.random =
            others.random * 6364136223846793005 + 1442695040888963407;
        tkw_handle *handle = &others.handles[others.random >> 55];
        uint64_t delay = 10 + (others.random >> 20) % 400000;
        int error = tkw_service_arm(scene->service, handle, delay, task);
        others.refused += error == -ENOMEM;
        others.wrong += error != 0 && error != -ENOMEM;
        if (n % 3 != 0)
            tkw_service_cancel(scene->service, *handle);
    }
}

/* While it is running, too: the place that it left is soon taken. */
static void crowd_in_meanwhile(struct diary *diary)
{
    crowd_in(diary->probe.scene, 5);
}

static void arm_steady(struct scene *scene, struct diary *steady)
{
    for (size_t k = 0; k < STEADY; k++) {
        uint64_t period = 100 + 130 * k * k; /* on all levels */
        struct tkw_plan plan = {.when_ns = period,
                                .missed = policies[k % 7 == 0 ? 0 : k % 3],
                                .period_ns = k % 7 == 0 ? 0 : period,
                                .next = k % 7 == 0 ? in_a_while : NULL};
        steady[k].also = crowd_in_meanwhile;
        arm_diary(scene, &steady[k], plan);
    }
}

/* When there is no memory left, they go on for ever: an occurrence needs none,
   however many others are armed, cancelled and refused meanwhile. */
static void without_memory_they_go_on_for_ever(void **state)
{
    (void)state;
    static struct diary steady[STEADY];
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        memset(steady, 0, sizeof steady);
        memset(&others, 0, sizeof others);
        scene_open_tens(&scene, 0, both[i]);
        arm_steady(&scene, steady);
        account_fail(&scene.account, 0, FOR_EVER);
        for (uint64_t now = 10; now <= END; now += 10) {
            if (now % 100 == 0)
                crowd_in(&scene, 300);
            scene_go(&scene, now);
        }
        assert_true(others.refused > 1000);
        assert_int_equal(others.wrong, 0);
        for (size_t k = 0; k < STEADY; k++) {
            uint64_t first = 100 + 130 * k * k;
            uint64_t period = k % 7 == 0 ? 130 : first;
            uint64_t calls = first > END ? 0 : (END - first) / period + 1;
            assert_int_equal(steady[k].count, calls);
            assert_int_equal(steady[k].overruns, 0);
            assert_state(&scene, steady[k].probe.handle, TKW_PENDING);
            assert_int_equal(dropped(&steady[k].probe), 0);
        }
        assert_conserved(&scene);
        scene_close(&scene);
        for (size_t k = 0; k < STEADY; k++)
            assert_int_equal(dropped(&steady[k].probe), 1);
    }
}

/* One allocation fails, any of them: that plan is refused, nothing has changed,
   and all the others are kept, their owner's too. */
static void arming_a_plan_survives_every_failing_allocation(void **state)
{
    (void)state;
    static struct probe probes[1500];
    unsigned refusals = 0;
    uint64_t calls = 1;
    for (uint64_t skip = 0; skip < calls; skip++) {
        struct scene scene;
        struct tkw_owner owner = {{0}};
        unsigned failed = 0;
        memset(probes, 0, sizeof probes);
        scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
        uint64_t before = scene.account.calls;
        account_fail(&scene.account, skip, 1);
        for (size_t k = 0; k < COUNT_OF(probes); k++) {
            struct tkw_plan plan = {.task = probe_task(&scene, &probes[k]),
                                    .when_ns = 100 + k * 100000,
                                    .period_ns = k % 2 * 500,
                                    .owner = k % 3 == 0 ? &owner : NULL};
            int error =
                tkw_service_arm_plan(scene.service, &probes[k].handle, &plan);
            if (error == 0)
                continue;
            assert_int_equal(error, -ENOMEM);
            assert_int_equal(probes[k].handle, 0);
            assert_int_equal(tkw_service_count(scene.service), k);
            assert_int_equal(tkw_service_read_stats(scene.service).armed, k);
            failed++;
            k--; /* again, and now there is memory */
        }
        calls = scene.account.calls - before;
        assert_true(failed <= 1);
        refusals += failed;
        assert_int_equal(tkw_service_count(scene.service), COUNT_OF(probes));
        assert_int_equal(tkw_service_cancel_owner(scene.service, &owner),
                         COUNT_OF(probes) / 3);
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            assert_int_equal(dropped(&probes[k]), k % 3 == 0);
        scene_close(&scene);
    }
    assert_true(refusals > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moving_it_moves_all_calls_to_come),
        cmocka_unit_test(moving_it_in_its_callback_moves_all_calls_to_come),
        cmocka_unit_test(moving_it_while_it_runs_moves_all_calls_to_come),
        cmocka_unit_test(its_handle_is_stale_only_when_it_is_over),
        cmocka_unit_test(it_keeps_its_place_in_a_full_service),
        cmocka_unit_test(its_place_is_free_when_it_is_over),
        cmocka_unit_test(without_memory_they_go_on_for_ever),
        cmocka_unit_test(arming_a_plan_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
