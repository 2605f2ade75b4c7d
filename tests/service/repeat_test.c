/*
 * service/repeat_test.c - timers that repeat: when they are called, and what
 * becomes of the periods in which they could not be.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

static const enum tkw_missed policies[] = {TKW_SKIP, TKW_BURST, TKW_DELAY};

/* The how-manieth call was for this time, at this time. */
static void assert_call(const struct diary *diary, size_t i, uint64_t due,
                        uint64_t now)
{
    assert_true(i < diary->count);
    assert_int_equal(diary->calls[i].due_ns, due);
    assert_int_equal(diary->calls[i].now_ns, now);
}

/* The first at `when_ns`, the others a period apart, under one handle. */
static void calls_are_a_period_apart_from_the_first_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(policies) * 2; i++) {
        bool is_time = i >= COUNT_OF(both) * COUNT_OF(policies);
        struct scene scene;
        struct diary diary = {0};
        scene_open_tens(&scene, 1000, both[i % 2]);
        tkw_handle handle = arm_diary(
            &scene, &diary,
            (struct tkw_plan){.when_ns = is_time ? 1500 : 500,
                              .is_time = is_time,
                              .period_ns = 300,
                              .missed = policies[i / 2 % COUNT_OF(policies)]});
        for (uint64_t due = 1500; due < 1500 + 20 * 300; due += 300) {
            assert_int_equal(due_of(&scene, handle), due);
            assert_int_equal(scene_go(&scene, due - 1), 0);
            assert_int_equal(scene_go(&scene, due), 1);
            assert_call(&diary, (size_t)diary.count - 1, due, due);
            assert_int_equal(diary.probe.firing.handle, handle);
            assert_ptr_equal(diary.probe.firing.service, scene.service);
            assert_state(&scene, handle, TKW_PENDING);
            assert_int_equal(tkw_service_count(scene.service), 1);
            assert_conserved(&scene);
        }
        assert_int_equal(diary.overruns, 0);
        assert_int_equal(tkw_service_read_stats(scene.service).armed, 21);
        scene_close(&scene);
    }
}

static uint64_t random_below(uint64_t *random, uint64_t bound)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random % bound;
}

/* Netty 1631, akka 26910: however irregularly time passes, each call is for a
   whole period, none is early, and calls and overruns make up all of them. */
static void it_does_not_drift_over_thousands_of_periods(void **state)
{
    (void)state;
    const uint64_t first = 5007, period = 1000;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diary = {0};
        uint64_t random = 88172645463325252, now = 0, last = 0;
        scene_open_tens(&scene, 0, both[i]);
        tkw_handle handle =
            arm_diary(&scene, &diary,
                      (struct tkw_plan){.when_ns = first, .period_ns = period});
        for (unsigned turn = 0; turn < 5000; turn++) {
            now += 1 + random_below(&random, turn % 50 == 0 ? 20000 : 1500);
            if (scene_go(&scene, now) == 0)
                continue;
            uint64_t due = diary.probe.firing.due_ns;
            assert_int_equal((due - first) % period, 0);
            assert_int_equal(diary.count + diary.overruns,
                             (due - first) / period + 1);
            assert_true(due > last);
            last = due;
        }
        uint64_t due = due_of(&scene, handle);
        assert_true(due + 10 > now);      /* it waits for what is to come ... */
        assert_true(due <= now + period); /* ... and for no more */
        assert_int_equal(scene_go(&scene, due + 10), 1);
        assert_int_equal(diary.probe.firing.due_ns, due);
        assert_int_equal(diary.count + diary.overruns,
                         (due - first) / period + 1);
        assert_true(diary.count > 3000);
        assert_true(diary.overruns > 500);
        assert_int_equal(diary.early, 0);
        scene_close(&scene);
    }
}

/* Half a period late, each time: nothing is missed, whatever the policy. */
static void what_is_late_by_less_than_a_period_misses_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(policies); i++) {
        struct scene scene;
        struct diary diary = {0};
        scene_open_tens(&scene, 0, both[i % 2]);
        arm_diary(&scene, &diary,
                  (struct tkw_plan){.when_ns = 1000,
                                    .period_ns = 1000,
                                    .missed = policies[i / 2]});
        for (size_t k = 1; k <= 20; k++) {
            assert_int_equal(scene_go(&scene, k * 1000 + 500), 1);
            assert_call(&diary, k - 1, k * 1000, k * 1000 + 500);
        }
        assert_int_equal(diary.overruns, 0);
        scene_close(&scene);
    }
}

/* A timer every 1000 is called at 1000; then the clock jumps to 4500, past
   2000, 3000 and 4000.  Returns how many calls that made. */
static unsigned jump(struct scene *scene, struct diary *diary,
                     enum tkw_driver driver, enum tkw_missed missed)
{
    scene_open_tens(scene, 0, driver);
    arm_diary(scene, diary,
              (struct tkw_plan){
                  .when_ns = 1000, .period_ns = 1000, .missed = missed});
    assert_int_equal(scene_go(scene, 1000), 1);
    return scene_go(scene, 4500);
}

/* What was due at 2000, 3000 and 4000 comes once, and the next call is at the
   next whole period. */
static void skipping_after_a_jump_of_the_clock(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diary = {0};
        assert_int_equal(jump(&scene, &diary, both[i], TKW_SKIP), 1);
        assert_call(&diary, 1, 2000, 4500);
        assert_int_equal(diary.calls[1].overruns, 0);
        assert_int_equal(due_of(&scene, diary.probe.handle), 5000);
        assert_int_equal(scene_go(&scene, 4999), 0);
        assert_int_equal(scene_go(&scene, 5000), 1);
        assert_call(&diary, 2, 5000, 5000);
        assert_int_equal(diary.calls[2].overruns, 2);
        assert_int_equal(scene_go(&scene, 6000), 1);
        assert_call(&diary, 3, 6000, 6000);
        assert_int_equal(diary.calls[3].overruns, 0);
        assert_int_equal(tkw_service_read_stats(scene.service).overruns, 2);
        scene_close(&scene);
    }
}

/* Each of the three gets its call, and is told how many are due besides. */
static void a_burst_after_a_jump_of_the_clock(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diary = {0};
        assert_int_equal(jump(&scene, &diary, both[i], TKW_BURST), 3);
        for (size_t k = 1; k <= 3; k++) {
            assert_call(&diary, k, 1000 * (k + 1), 4500);
            assert_int_equal(diary.calls[k].overruns, 3 - k);
        }
        assert_int_equal(due_of(&scene, diary.probe.handle), 5000);
        assert_int_equal(scene_go(&scene, 5000), 1);
        assert_call(&diary, 4, 5000, 5000);
        assert_int_equal(diary.calls[4].overruns, 0);
        assert_int_equal(tkw_service_read_stats(scene.service).overruns, 0);
        assert_conserved(&scene);
        scene_close(&scene);
    }
}

/* One call, then all others a period apart from it. */
static void a_delay_after_a_jump_of_the_clock(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diary = {0};
        assert_int_equal(jump(&scene, &diary, both[i], TKW_DELAY), 1);
        assert_call(&diary, 1, 2000, 4500);
        assert_int_equal(diary.calls[1].overruns, 0);
        assert_int_equal(scene_go(&scene, 5499), 0);
        assert_int_equal(scene_go(&scene, 5500), 1);
        assert_call(&diary, 2, 5500, 5500);
        assert_int_equal(diary.calls[2].overruns, 2);
        assert_int_equal(scene_go(&scene, 6499), 0);
        assert_int_equal(scene_go(&scene, 6500), 1);
        assert_call(&diary, 3, 6500, 6500);
        assert_int_equal(diary.calls[3].overruns, 0);
        assert_int_equal(tkw_service_read_stats(scene.service).overruns, 2);
        scene_close(&scene);
    }
}

static void take_long_once(struct diary *diary)
{
    if (diary->count == 1)
        tkw_manual_clock_advance(diary->probe.scene->manual,
                                 diary->probe.delay_ns);
}

/* The first call takes 2.2 periods; what it missed the next ones are told. */
static void a_callback_that_takes_longer_than_its_period(void **state)
{
    (void)state;
    static const struct {
        enum tkw_missed missed;
        unsigned at_once;              /* calls at 3200, after the first */
        struct tkw_firing expected[4]; /* due, now and overruns of the rest */
    } cases[] = {
        {TKW_SKIP,
         0,
         {{.due_ns = 4000, .now_ns = 4000, .overruns = 2},
          {.due_ns = 5000, .now_ns = 5000}}},
        {TKW_BURST,
         2,
         {{.due_ns = 2000, .now_ns = 3200, .overruns = 1},
          {.due_ns = 3000, .now_ns = 3200},
          {.due_ns = 4000, .now_ns = 4000},
          {.due_ns = 5000, .now_ns = 5000}}},
        {TKW_DELAY,
         0,
         {{.due_ns = 4200, .now_ns = 4200, .overruns = 2},
          {.due_ns = 5200, .now_ns = 5200}}},
    };
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(cases); i++) {
        const struct tkw_firing *expected = cases[i / 2].expected;
        struct scene scene;
        struct diary diary = {.also = take_long_once,
                              .probe = {.delay_ns = 2200}};
        scene_open_tens(&scene, 0, both[i % 2]);
        arm_diary(&scene, &diary,
                  (struct tkw_plan){.when_ns = 1000,
                                    .period_ns = 1000,
                                    .missed = cases[i / 2].missed});
        assert_int_equal(scene_go(&scene, 1000), 1 + cases[i / 2].at_once);
        assert_int_equal(tkw_service_now(scene.service), 3200);
        assert_int_equal(diary.calls[0].overruns, 0);
        for (uint64_t now = 3210; now <= 5500; now += 10)
            scene_go(&scene, now);
        size_t count = 1;
        for (; count <= 4 && expected[count - 1].due_ns != 0; count++) {
            assert_call(&diary, count, expected[count - 1].due_ns,
                        expected[count - 1].now_ns);
            assert_int_equal(diary.calls[count].overruns,
                             expected[count - 1].overruns);
        }
        assert_int_equal(diary.count, count);
        scene_close(&scene);
    }
}

static void move_in_the_third(struct diary *diary)
{
    if (diary->count == 3)
        tkw_service_rearm(diary->probe.scene->service,
                          diary->probe.firing.handle, 300);
}

/* What was missed is told once, also by one that is moved in that very call. */
static void missed_periods_are_reported_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diary = {.also = move_in_the_third};
        scene_open_tens(&scene, 0, both[i]);
        arm_diary(&scene, &diary,
                  (struct tkw_plan){.when_ns = 1000, .period_ns = 1000});
        scene_go(&scene, 1000);
        scene_go(&scene, 4500); /* for 2000; 3000 and 4000 are missed */
        scene_go(&scene, 5000);
        assert_int_equal(diary.calls[2].overruns, 2);
        assert_int_equal(scene_go(&scene, 5300), 1);
        assert_call(&diary, 3, 5300, 5300);
        assert_int_equal(diary.calls[3].overruns, 0);
        assert_int_equal(scene_go(&scene, 6300), 1);
        assert_int_equal(diary.overruns, 2);
        assert_int_equal(tkw_service_read_stats(scene.service).overruns, 2);
        scene_close(&scene);
    }
}

/* go-zero 3619: after a long sleep there is one call, not ten thousand. */
static void there_is_no_burst_after_a_long_sleep(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diary = {0};
        scene_open_tens(&scene, 0, both[i]);
        arm_diary(&scene, &diary,
                  (struct tkw_plan){.when_ns = 100, .period_ns = 100});
        assert_int_equal(scene_go(&scene, 1000050), 1);
        assert_int_equal(scene_go(&scene, 1000100), 1);
        assert_call(&diary, 1, 1000100, 1000100);
        assert_int_equal(diary.count + diary.overruns, 10001);
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_a_period_apart_from_the_first_on),
        cmocka_unit_test(it_does_not_drift_over_thousands_of_periods),
        cmocka_unit_test(what_is_late_by_less_than_a_period_misses_nothing),
        cmocka_unit_test(skipping_after_a_jump_of_the_clock),
        cmocka_unit_test(a_burst_after_a_jump_of_the_clock),
        cmocka_unit_test(a_delay_after_a_jump_of_the_clock),
        cmocka_unit_test(a_callback_that_takes_longer_than_its_period),
        cmocka_unit_test(missed_periods_are_reported_once),
        cmocka_unit_test(there_is_no_burst_after_a_long_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
