/*
 * service/owner_test.c - owners: all of their timers are cancelled at once, no
 * others, and afterwards the owner's memory is its user's.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

typedef size_t cancel_function(struct tkw_service *, struct tkw_owner *);
static cancel_function *const ways[] = {tkw_service_cancel_owner,
                                        tkw_service_cancel_owner_sync};

static tkw_handle arm_owned(struct scene *scene, struct probe *probe,
                            struct tkw_owner *owner, uint64_t delay,
                            uint64_t period)
{
    return arm_plan(scene, probe,
                    (struct tkw_plan){
                        .when_ns = delay, .period_ns = period, .owner = owner});
}

/* What is let go of is nobody's but the user's: it may hold anything. */
static void poison(struct tkw_owner *owner)
{
    memset(owner, 0xff, sizeof *owner);
}

static void assert_poisoned(const struct tkw_owner *owner)
{
    struct tkw_owner expected;
    memset(&expected, 0xff, sizeof expected);
    assert_memory_equal(owner, &expected, sizeof expected);
}

#define OWNERS 20

/* Many owners and timers, the last ones of nobody: one owner after the other,
   and each time its own go and no others. */
static void all_of_an_owner_are_stopped_and_no_others(void **state)
{
    (void)state;
    static struct probe probes[MANY];
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(ways); i++) {
        struct scene scene;
        struct tkw_owner owners[OWNERS];
        memset(owners, 0, sizeof owners);
        memset(probes, 0, sizeof probes);
        scene_open(&scene, 0,
                   (struct tkw_service_config){.tick_ns = 10,
                                               .shards = i % 2 == 0 ? 1 : 3,
                                               .driver = both[i % 2]});
        for (size_t k = 0; k < MANY; k++) {
            size_t whose = k % (OWNERS + 1);
            arm_owned(&scene, &probes[k],
                      whose == OWNERS ? NULL : &owners[whose], 100 + k % 7,
                      k % 3 == 0 ? 500 : 0);
        }
        size_t left = MANY;
        for (size_t whose = 0; whose < OWNERS; whose++) {
            size_t count = ways[i / 2](scene.service, &owners[whose]);
            assert_true(count == MANY / (OWNERS + 1) ||
                        count == MANY / (OWNERS + 1) + 1);
            poison(&owners[whose]);
            left -= count;
            assert_int_equal(tkw_service_count(scene.service), left);
            for (size_t k = 0; k < MANY; k += 13)
                assert_int_equal(dropped(&probes[k]),
                                 k % (OWNERS + 1) <= whose);
        }
        assert_int_equal(scene_go(&scene, 110), left);
        for (size_t k = 0; k < MANY; k++) {
            bool is_owned = k % (OWNERS + 1) != OWNERS;
            assert_int_equal(dropped(&probes[k]), is_owned);
            assert_int_equal(ran(&probes[k]), !is_owned);
        }
        for (size_t whose = 0; whose < OWNERS; whose++)
            assert_poisoned(&owners[whose]);
        assert_conserved(&scene);
        scene_close(&scene);
    }
}

/* Those that are done, and those cancelled one by one, in whatever order, are
   no longer the owner's; what has been moved still is. */
static void what_has_ended_is_no_longer_owned(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(ways); i++) {
        struct scene scene;
        struct tkw_owner owner = {{0}};
        struct probe probes[12] = {{0}};
        scene_open_tens(&scene, 0, both[i % 2]);
        for (size_t k = 0; k < 12; k++)
            arm_owned(&scene, &probes[k], &owner, k < 3 ? 50 : 100,
                      k == 1 ? 200 : 0);
        assert_int_equal(tkw_service_cancel(scene.service, probes[11].handle),
                         1); /* the last, one between, the first */
        assert_int_equal(tkw_service_cancel(scene.service, probes[6].handle),
                         1);
        assert_int_equal(tkw_service_cancel(scene.service, probes[0].handle),
                         1);
        assert_int_equal(scene_go(&scene, 50), 2);
        tkw_service_rearm_at(scene.service, probes[4].handle, HOUR);
        tkw_service_postpone_at(scene.service, probes[5].handle, HOUR);
        /* 2 is done; 1 repeats; 3, 4, 5, 7, 8, 9 and 10 are pending. */
        assert_int_equal(ways[i / 2](scene.service, &owner), 8);
        poison(&owner);
        assert_int_equal(tkw_service_count(scene.service), 0);
        assert_int_equal(scene_go(&scene, 2 * HOUR), 0);
        for (size_t k = 0; k < 12; k++) {
            assert_int_equal(dropped(&probes[k]), k != 2);
            assert_int_equal(ran(&probes[k]), k == 1 || k == 2);
            assert_state(&scene, probes[k].handle,
                         k == 2 ? TKW_DONE : TKW_CANCELLED);
        }
        assert_poisoned(&owner);
        scene_close(&scene);
    }
}

/* An owner of nothing, never or no more. */
static void an_owner_of_nothing_has_nothing_to_stop(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(ways); i++) {
        struct scene scene;
        struct tkw_owner owner = {{0}};
        struct probe probe = {0}, other = {0};
        scene_open_tens(&scene, 0, both[i % 2]);
        probe_arm(&scene, &other, 100);
        assert_int_equal(ways[i / 2](scene.service, &owner), 0);
        assert_int_equal(ways[i / 2](scene.service, NULL), 0);
        arm_owned(&scene, &probe, &owner, 50, 0);
        assert_int_equal(scene_go(&scene, 50), 1);
        assert_int_equal(ways[i / 2](scene.service, &owner), 0);
        assert_int_equal(scene_go(&scene, 100), 1);
        scene_close(&scene);
        assert_int_equal(dropped(&probe) + dropped(&other), 0);
    }
}

/* Fifty timers of an owner, of which thirty have come when it is cancelled. */
static void use_owner(struct scene *scene, struct tkw_owner *owner,
                      cancel_function *cancel)
{
    struct probe probes[50];
    uint64_t now = tkw_manual_clock_now(scene->manual);
    memset(owner, 0, sizeof *owner);
    memset(probes, 0, sizeof probes);
    for (size_t k = 0; k < 50; k++)
        arm_owned(scene, &probes[k], owner, k % 5 * 100, k % 4 == 0 ? 1000 : 0);
    scene_go(scene, now + 200);
    assert_int_equal(tkw_service_count(scene->service),
                     20 + 7); /* 7 of those that have come repeat */
    assert_int_equal(cancel(scene->service, owner), 20 + 7);
    poison(owner);
    scene_go(scene, now + 1000);
    for (size_t k = 0; k < 50; k++) {
        assert_int_equal(ran(&probes[k]), k % 5 < 3);
        assert_int_equal(dropped(&probes[k]), k % 5 >= 3 || k % 4 == 0);
    }
    assert_poisoned(owner);
}

/* Let go of and zeroed, it is ready for use again; and again. */
static void a_zeroed_owner_can_be_used_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(ways); i++) {
        struct scene scene;
        struct tkw_owner owner;
        scene_open_tens(&scene, 0, both[i % 2]);
        for (unsigned turn = 0; turn < 100; turn++)
            use_owner(&scene, &owner, ways[i / 2]);
        scene_close(&scene);
    }
}

/* An owner that has not been let go of goes on owning: nothing is forgotten
   over thousands of timers that came and went. */
static void an_owner_can_last_for_long(void **state)
{
    (void)state;
    struct scene scene;
    struct tkw_owner owner = {{0}};
    struct probe steady = {0}, brief = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    arm_owned(&scene, &steady, &owner, 100, 100);
    uint64_t bytes = 0;
    for (uint64_t now = 100; now <= 2000000; now += 100) {
        tkw_handle handle = arm_owned(&scene, &brief, &owner, 50, 0);
        arm_owned(&scene, &brief, &owner, 50, 0);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
        assert_int_equal(scene_go(&scene, now), 2);
        if (now == 1000000)
            bytes = account_bytes(&scene.account);
    }
    assert_true(account_bytes(&scene.account) <= bytes);
    assert_int_equal(tkw_service_cancel_owner(scene.service, &owner), 1);
    assert_int_equal(dropped(&steady), 1);
    scene_close(&scene);
}

static void start_again(struct probe *probe)
{
    if (ran(probe) == 0)
        probe->answer =
            tkw_service_rearm(probe->scene->service, probe->firing.handle, 500);
}

/* One that was started again in its callback is the owner's as before. */
static void what_was_started_again_is_still_owned(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(ways); i++) {
        struct scene scene;
        struct tkw_owner owner = {{0}};
        struct probe again = {.act = start_again}, other = {0};
        scene_open_tens(&scene, 0, both[i % 2]);
        arm_owned(&scene, &again, &owner, 100, 0);
        arm_owned(&scene, &other, &owner, 100, 0);
        assert_int_equal(scene_go(&scene, 100), 2);
        assert_int_equal(again.answer, 1);
        assert_int_equal(ways[i / 2](scene.service, &owner), 1);
        poison(&owner);
        assert_int_equal(dropped(&again), 1);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        assert_poisoned(&owner);
        scene_close(&scene);
    }
}

struct owned {
    struct probe probe;
    struct tkw_owner *owner;
    cancel_function *cancel;
    size_t count;
};

static void cancel_own_owner(struct probe *probe)
{
    struct owned *owned = (struct owned *)probe;
    owned->count = owned->cancel(probe->scene->service, owned->owner);
    poison(owned->owner);
}

static void cancel_own_owner_when_dropped(struct probe *probe)
{
    struct owned *owned = (struct owned *)probe;
    owned->count = owned->cancel(probe->scene->service, owned->owner);
}

/* A drop function may cancel the same owner again: each is stopped once. */
static void a_drop_function_can_cancel_the_owner(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(ways); i++) {
        struct scene scene;
        struct tkw_owner owner = {{0}};
        struct owned owned[20];
        size_t sum = 0;
        memset(owned, 0, sizeof owned);
        scene_open_tens(&scene, 0, both[i % 2]);
        for (size_t k = 0; k < 20; k++) {
            owned[k].probe.act_on_drop = cancel_own_owner_when_dropped;
            owned[k].owner = &owner;
            owned[k].cancel = ways[i / 2];
            arm_owned(&scene, &owned[k].probe, &owner, 100, k % 2 * 100);
        }
        sum = ways[i / 2](scene.service, &owner);
        for (size_t k = 0; k < 20; k++) {
            sum += owned[k].count;
            assert_int_equal(dropped(&owned[k].probe), 1);
        }
        assert_int_equal(sum, 20);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        scene_close(&scene);
    }
}

/* In a callback of the owner's own timer: the others are stopped, it does not
   wait for itself, and does not come again. */
static void a_callback_can_cancel_its_own_owner(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(ways) * 2; i++) {
        struct scene scene;
        struct tkw_owner owner = {{0}};
        struct probe others[10] = {{0}};
        bool repeats = i >= 4;
        struct owned owned = {.probe = {.act = cancel_own_owner},
                              .owner = &owner,
                              .cancel = ways[i / 2 % 2]};
        scene_open_tens(&scene, 0, both[i % 2]);
        arm_owned(&scene, &owned.probe, &owner, 100, repeats ? 100 : 0);
        for (size_t k = 0; k < 10; k++)
            arm_owned(&scene, &others[k], &owner, 100, k % 2 * 100);
        assert_int_equal(scene_go(&scene, 100), 1);
        assert_int_equal(owned.count, 10);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        assert_int_equal(ran(&owned.probe), 1);
        assert_int_equal(dropped(&owned.probe), repeats);
        for (size_t k = 0; k < 10; k++)
            assert_int_equal(dropped(&others[k]), 1);
        assert_int_equal(tkw_service_count(scene.service), 0);
        assert_poisoned(&owner);
        assert_conserved(&scene);
        scene_close(&scene);
        assert_int_equal(dropped(&owned.probe), repeats);
    }
}

/* A running one is not stopped, so not counted; but it was the last time, and
   nothing is written to the owner afterwards. */
static void a_running_one_ends_and_does_not_repeat(void **state)
{
    (void)state;
    for (uint64_t period = 0; period <= 100; period += 100) {
        struct scene scene;
        struct gate gate;
        struct tkw_owner owner = {{0}};
        struct probe held = {.act = gate_hold, .gate = &gate}, other = {0};
        scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
        gate_init(&gate);
        arm_owned(&scene, &held, &owner, 100, period);
        arm_owned(&scene, &other, &owner, 200, 0);
        tkw_manual_clock_set(scene.manual, 100);
        gate_await(&gate);
        assert_int_equal(tkw_service_cancel_owner(scene.service, &owner), 1);
        poison(&owner);
        assert_int_equal(dropped(&other), 1);
        assert_int_equal(dropped(&held), 0);
        assert_int_equal(tkw_service_rearm(scene.service, held.handle, 10), 0);
        gate_open(&gate);
        gate_open(&gate); /* should it come again */
        scene_rest(&scene);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        assert_int_equal(ran(&held), 1);
        assert_int_equal(dropped(&held), period != 0);
        assert_poisoned(&owner);
        gate_done(&gate);
        scene_close(&scene);
    }
}

struct waiter {
    struct scene *scene;
    struct tkw_owner *owner;
    struct gate *gate;
    size_t count;
    bool had_passed;
};

static void *cancel_and_wait(void *argument)
{
    struct waiter *waiter = argument;
    waiter->count =
        tkw_service_cancel_owner_sync(waiter->scene->service, waiter->owner);
    waiter->had_passed = atomic_load(&waiter->gate->passed);
    poison(waiter->owner);
    return NULL;
}

/* With _sync no callback of its timers is running when it returns, not even one
   that was cancelled before; callbacks of others may well be. */
static void cancel_owner_sync_waits_for_a_running_callback(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        bool repeats = i % 2, is_cancelled = i / 2;
        struct scene scene;
        struct gate gate;
        struct tkw_owner owner = {{0}}, stranger = {{0}};
        struct probe held = {.gate = &gate}, other = {0}, strange = {0};
        struct waiter waiter = {
            .scene = &scene, .owner = &owner, .gate = &gate};
        scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
        gate_init(&gate);
        /* If it can come again, it must not go before it was cancelled. */
        held.act = repeats && !is_cancelled ? hold_until_cancelled : gate_hold;
        arm_owned(&scene, &held, &owner, 100, repeats ? 100 : 0);
        arm_owned(&scene, &other, &owner, 200, 0);
        arm_owned(&scene, &strange, &stranger, 200, 0);
        tkw_manual_clock_set(scene.manual, 100);
        gate_await(&gate);
        assert_int_equal(
            tkw_service_cancel_owner_sync(scene.service, &stranger), 1);
        if (is_cancelled)
            assert_int_equal(tkw_service_cancel(scene.service, held.handle),
                             -EBUSY);
        pthread_t thread = thread_start(cancel_and_wait, &waiter);
        have_patience();
        gate_open(&gate);
        thread_join(thread);
        assert_true(waiter.had_passed);
        assert_int_equal(waiter.count, 1);
        assert_int_equal(scene_go(&scene, 2 * HOUR), 0);
        assert_int_equal(ran(&held), 1);
        assert_int_equal(dropped(&held), repeats);
        assert_int_equal(dropped(&other), 1);
        assert_poisoned(&owner);
        gate_done(&gate);
        scene_close(&scene);
    }
}

/* A timer whose drop function frees it, and arms another one in its place. */
struct replaced {
    struct scene *scene;
    struct tkw_owner *owner;
    struct probe plain[4]; /* in the intake */
    struct probe next;
};

static void ignore(void *argument, const struct tkw_firing *firing)
{
    (void)argument;
    (void)firing;
}

static void replace(void *argument)
{
    struct replaced *replaced = argument;
    struct scene *scene = replaced->scene;
    for (size_t i = 0; i < COUNT_OF(replaced->plain); i++)
        assert_int_equal(
            tkw_service_cancel(scene->service, replaced->plain[i].handle), 1);
    /* A pass frees the timer first and the plain ones after it.  The pool
     * keeps their indices in the memory of the timer's job. */
    assert_int_equal(tkw_service_run(scene->service, 0), 0);
    arm_owned(scene, &replaced->next, replaced->owner, HOUR, 0);
}

/*
 * A timer is freed between its cancel and its removal from the owner's list.
 * Its job then has the third index, 2, where it had the number of its plan.
 * The next timer of the owner has that plan, and must stay on the list.
 */
static void
a_timer_freed_by_its_drop_function_leaves_the_list_alone(void **state)
{
    (void)state;
    struct scene scene;
    struct tkw_owner owner = {{0}}, other = {{0}};
    struct probe of_other = {0};
    struct replaced replaced = {.scene = &scene, .owner = &owner};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 3; i++)
        probe_arm(&scene, &replaced.plain[i], HOUR);
    arm_owned(&scene, &of_other, &other, HOUR, 0); /* with plan 1 */
    struct tkw_task task = {ignore, &replaced, replace};
    assert_int_equal(
        tkw_service_arm_owned(scene.service, NULL, HOUR, task, &owner), 0);
    probe_arm(&scene, &replaced.plain[3], HOUR);

    assert_int_equal(tkw_service_cancel_owner(scene.service, &owner), 2);
    assert_int_equal(dropped(&replaced.next), 1);
    assert_int_equal(tkw_service_count(scene.service), 1); /* `of_other` */
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_an_owner_are_stopped_and_no_others),
        cmocka_unit_test(what_has_ended_is_no_longer_owned),
        cmocka_unit_test(an_owner_of_nothing_has_nothing_to_stop),
        cmocka_unit_test(a_zeroed_owner_can_be_used_again),
        cmocka_unit_test(an_owner_can_last_for_long),
        cmocka_unit_test(what_was_started_again_is_still_owned),
        cmocka_unit_test(a_drop_function_can_cancel_the_owner),
        cmocka_unit_test(a_callback_can_cancel_its_own_owner),
        cmocka_unit_test(a_running_one_ends_and_does_not_repeat),
        cmocka_unit_test(cancel_owner_sync_waits_for_a_running_callback),
        cmocka_unit_test(
            a_timer_freed_by_its_drop_function_leaves_the_list_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
