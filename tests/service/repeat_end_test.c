/*
 * service/repeat_end_test.c - how timers that repeat are moved and how they
 * end: by their `next`, by cancel (L10), by stop and close; and that each is
 * dropped once, when it is over.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

/* A diary whose next times are given, and what `next` was called with. */
struct agenda {
    struct diary diary;
    uint64_t times[8];
    uint64_t asked; /* how often */
    uint64_t wrong; /* not after the callback, or not with what it was told */
    pthread_t thread;
    pthread_t asked_in;
    enum tkw_state state; /* what query said in it */
};

static void note_thread(struct diary *diary)
{
    ((struct agenda *)diary)->thread = pthread_self();
}

static uint64_t by_agenda(void *argument, uint64_t due_ns, uint64_t now_ns)
{
    struct agenda *agenda = argument;
    struct probe *probe = &agenda->diary.probe;
    agenda->wrong += ran(probe) != agenda->asked + 1;
    agenda->wrong += due_ns != probe->firing.due_ns;
    agenda->wrong += now_ns != probe->firing.now_ns;
    agenda->asked_in = pthread_self();
    agenda->state =
        tkw_service_query(probe->scene->service, probe->handle, NULL);
    tkw_handle other;
    struct tkw_task task = {probe_task(probe->scene, probe).callback, probe,
                            NULL};
    if (tkw_service_arm(probe->scene->service, &other, HOUR, task) != 0 ||
        tkw_service_cancel(probe->scene->service, other) != 1)
        agenda->wrong++; /* no lock is held */
    return agenda->times[agenda->asked++];
}

/* Asked after each callback; a time that has passed is now, and UINT64_MAX is
   the end: done, and dropped once. */
static void next_says_when_and_when_it_is_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct agenda agenda = {
            .diary = {.also = note_thread},
            .times = {1250, 1300, 1299, 0, 1300, 1377, UINT64_MAX}};
        scene_open_tens(&scene, 1000, both[i]);
        tkw_handle handle =
            arm_diary(&scene, &agenda.diary,
                      (struct tkw_plan){.when_ns = 200, .next = by_agenda});
        assert_int_equal(scene_go(&scene, 1199), 0);
        assert_int_equal(scene_go(&scene, 1200), 1);
        assert_int_equal(due_of(&scene, handle), 1250);
        assert_int_equal(scene_go(&scene, 1250), 1);
        assert_int_equal(scene_go(&scene, 1299), 0);
        assert_int_equal(scene_go(&scene, 1300), 4); /* three have passed */
        assert_int_equal(agenda.diary.early, 0);
        assert_int_equal(dropped(&agenda.diary.probe), 0);
        assert_int_equal(scene_go(&scene, 1379), 0);
        assert_int_equal(scene_go(&scene, 1380), 1);
        assert_int_equal(agenda.diary.probe.firing.due_ns, 1377);
        assert_int_equal(agenda.asked, 7);
        assert_int_equal(agenda.wrong, 0);
        assert_true(pthread_equal(agenda.thread, agenda.asked_in));
        assert_int_equal(agenda.diary.overruns, 0);
        assert_state(&scene, handle, TKW_DONE);
        assert_int_equal(tkw_service_count(scene.service), 0);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 0);
        assert_int_equal(dropped(&agenda.diary.probe), 1);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        scene_close(&scene);
        assert_int_equal(dropped(&agenda.diary.probe), 1);
    }
}

/* Cancelled while pending: 1, dropped before cancel returns, never again. */
static void a_pending_one_is_stopped_for_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * 2; i++) {
        struct scene scene;
        struct diary diary = {0};
        scene_open_tens(&scene, 0, both[i % 2]);
        tkw_handle handle = arm_diary(&scene, &diary, every_hundred);
        for (uint64_t now = 100; now <= 500; now += 100)
            assert_int_equal(scene_go(&scene, now), 1);
        assert_int_equal(dropped(&diary.probe), 0);
        int answer = i < 2 ? tkw_service_cancel(scene.service, handle)
                           : tkw_service_cancel_sync(scene.service, handle);
        assert_int_equal(answer, 1);
        assert_int_equal(dropped(&diary.probe), 1);
        assert_state(&scene, handle, TKW_CANCELLED);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 0);
        assert_int_equal(tkw_service_rearm(scene.service, handle, 100), 0);
        assert_int_equal(tkw_service_count(scene.service), 0);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
        assert_int_equal(stats.armed, 6); /* each occurrence */
        assert_int_equal(stats.fired, 5);
        assert_int_equal(stats.cancelled, 1);
        scene_close(&scene);
        assert_int_equal(dropped(&diary.probe), 1);
    }
}

static void cancel_in_the_third(struct diary *diary)
{
    struct probe *probe = &diary->probe;
    if (diary->count != 3)
        return;
    probe->answer =
        tkw_service_cancel(probe->scene->service, probe->firing.handle);
    probe->second =
        tkw_service_rearm(probe->scene->service, probe->firing.handle, 50);
    probe->delay_ns = dropped(probe);
}

/* In its own callback: -EBUSY, never again, and dropped when it returned. */
static void one_that_cancels_itself_does_not_come_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diary = {.also = cancel_in_the_third};
        scene_open_tens(&scene, 0, both[i]);
        tkw_handle handle = arm_diary(&scene, &diary, every_hundred);
        for (uint64_t now = 100; now <= 300; now += 100)
            assert_int_equal(scene_go(&scene, now), 1);
        assert_int_equal(diary.probe.answer, -EBUSY);
        assert_int_equal(diary.probe.second, 0);
        assert_int_equal(diary.probe.delay_ns, 0); /* not while it ran */
        assert_int_equal(dropped(&diary.probe), 1);
        assert_int_equal(tkw_service_count(scene.service), 0);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 0);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        assert_conserved(&scene);
        scene_close(&scene);
        assert_int_equal(dropped(&diary.probe), 1);
    }
}

/* A next function is not asked after a cancel in the callback, or in vain. */
static void next_does_not_bring_back_what_was_cancelled(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct agenda agenda = {.diary = {.also = cancel_in_the_third},
                                .times = {200, 300, 400, 500, 600}};
        scene_open_tens(&scene, 0, both[i]);
        arm_diary(&scene, &agenda.diary,
                  (struct tkw_plan){.when_ns = 100, .next = by_agenda});
        for (uint64_t now = 100; now <= 600; now += 100)
            scene_go(&scene, now);
        assert_int_equal(agenda.diary.count, 3);
        assert_int_equal(dropped(&agenda.diary.probe), 1);
        assert_int_equal(tkw_service_count(scene.service), 0);
        scene_close(&scene);
    }
}

static void cancel_sync_itself(struct diary *diary)
{
    diary->probe.answer = tkw_service_cancel_sync(diary->probe.scene->service,
                                                  diary->probe.firing.handle);
}

/* Waiting for itself is an error that changes nothing: it goes on. */
static void one_that_waits_for_itself_goes_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diary = {.also = cancel_sync_itself};
        scene_open_tens(&scene, 0, both[i]);
        arm_diary(&scene, &diary, every_hundred);
        for (uint64_t now = 100; now <= 1000; now += 100) {
            assert_int_equal(scene_go(&scene, now), 1);
            assert_int_equal(diary.probe.answer, -EDEADLK);
        }
        assert_int_equal(dropped(&diary.probe), 0);
        scene_close(&scene);
        assert_int_equal(dropped(&diary.probe), 1);
    }
}

static void cancel_the_other(struct probe *probe)
{
    probe->answer =
        tkw_service_cancel(probe->scene->service, probe->other->handle);
    probe->second = (int)dropped(probe->other);
}

/* In another timer's callback, due in the same tick and not yet started. */
static void another_callback_stops_it_for_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diary = {0};
        struct probe killer = {.act = cancel_the_other, .other = &diary.probe};
        scene_open_tens(&scene, 0, both[i]);
        probe_arm(&scene, &killer, 300);
        arm_diary(&scene, &diary, every_hundred);
        scene_go(&scene, 100);
        scene_go(&scene, 200);
        assert_int_equal(scene_go(&scene, 300), 1);
        assert_int_equal(killer.answer, 1);
        assert_int_equal(killer.second, 1);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        assert_int_equal(diary.count, 2);
        scene_close(&scene);
        assert_int_equal(dropped(&diary.probe), 1);
    }
}

/* From another thread while its callback is running: -EBUSY, the last time. */
static void a_running_one_is_cancelled_from_outside(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
    gate_enter_by(&scene, &held, &gate, every_hundred);
    assert_state(&scene, held.handle, TKW_RUNNING);
    assert_int_equal(tkw_service_cancel(scene.service, held.handle), -EBUSY);
    assert_int_equal(tkw_service_cancel(scene.service, held.handle), -EBUSY);
    assert_int_equal(tkw_service_rearm(scene.service, held.handle, 10), 0);
    assert_int_equal(dropped(&held), 0);
    tkw_manual_clock_set(scene.manual, 500);
    gate_open(&gate);
    gate_open(&gate); /* should it come again */
    scene_rest(&scene);
    assert_int_equal(ran(&held), 1);
    assert_int_equal(dropped(&held), 1);
    assert_int_equal(tkw_service_cancel(scene.service, held.handle), 0);
    assert_int_equal(tkw_service_count(scene.service), 0);
    gate_done(&gate);
    scene_close(&scene);
    assert_int_equal(dropped(&held), 1);
}

/* cancel_sync waits for the callback that is running, and it was the last. */
static void cancel_sync_waits_for_the_last_callback(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {.act = hold_until_cancelled};
    struct canceller canceller = {.held = &held};
    scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
    gate_enter_by(&scene, &held, &gate, every_hundred);
    pthread_t thread = thread_start(cancel_and_see, &canceller);
    thread_join(thread);
    assert_true(canceller.had_passed);
    assert_int_equal(canceller.answer, 0);
    assert_int_equal(scene_go(&scene, HOUR), 0);
    assert_int_equal(ran(&held), 1);
    assert_int_equal(dropped(&held), 1);
    gate_done(&gate);
    scene_close(&scene);
}

static void *stop_it(void *argument)
{
    tkw_service_stop(argument);
    return NULL;
}

/* Stopped while its callback is running: close hands it back and drops it. */
static void close_hands_back_one_that_was_running_at_the_stop(void **state)
{
    (void)state;
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        struct scene scene;
        struct gate gate;
        struct probe held = {0};
        scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
        gate_enter_by(&scene, &held, &gate, every_hundred);
        pthread_t thread = thread_start(stop_it, scene.service);
        while (tkw_service_arm(
                   scene.service, NULL, UINT64_MAX,
                   (struct tkw_task){probe_task(&scene, &held).callback, &held,
                                     NULL}) != -ESHUTDOWN)
            have_patience();
        if (cancelled)
            assert_int_equal(tkw_service_cancel(scene.service, held.handle),
                             -EBUSY);
        size_t others = tkw_service_count(scene.service);
        gate_open(&gate);
        thread_join(thread);
        assert_int_equal(ran(&held), 1);
        assert_int_equal(dropped(&held), cancelled);
        if (!cancelled)
            assert_int_equal(due_of(&scene, held.handle), 200);
        assert_true(tkw_service_count(scene.service) >= others);
        gate_done(&gate);
        scene_close(&scene);
        assert_int_equal(dropped(&held), 1);
    }
}

static void stop_in_the_third(struct diary *diary)
{
    if (diary->count == 3)
        tkw_service_stop(diary->probe.scene->service);
}

/* One that asks for the stop itself is pending then; whoever cancels it stops
   it, otherwise close hands it back. */
static void one_that_stops_the_service_is_pending_afterwards(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * 2; i++) {
        struct scene scene;
        struct diary diary = {.also = stop_in_the_third};
        scene_open_tens(&scene, 0, both[i % 2]);
        tkw_handle handle = arm_diary(&scene, &diary, every_hundred);
        scene_go(&scene, 100);
        scene_go(&scene, 200);
        tkw_manual_clock_set(scene.manual, 300);
        if (both[i % 2] == TKW_DRIVER_NONE)
            assert_int_equal(tkw_service_run(scene.service, 0), 1);
        while (ran(&diary.probe) < 3)
            have_patience();
        tkw_service_stop(scene.service);
        assert_int_equal(tkw_service_count(scene.service), 1);
        assert_int_equal(due_of(&scene, handle), 400);
        if (i >= 2)
            assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
        assert_int_equal(dropped(&diary.probe), i >= 2);
        scene_close(&scene);
        assert_int_equal(diary.count, 3);
        assert_int_equal(dropped(&diary.probe), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_says_when_and_when_it_is_over),
        cmocka_unit_test(a_pending_one_is_stopped_for_good),
        cmocka_unit_test(one_that_cancels_itself_does_not_come_again),
        cmocka_unit_test(next_does_not_bring_back_what_was_cancelled),
        cmocka_unit_test(one_that_waits_for_itself_goes_on),
        cmocka_unit_test(another_callback_stops_it_for_good),
        cmocka_unit_test(a_running_one_is_cancelled_from_outside),
        cmocka_unit_test(cancel_sync_waits_for_the_last_callback),
        cmocka_unit_test(close_hands_back_one_that_was_running_at_the_stop),
        cmocka_unit_test(one_that_stops_the_service_is_pending_afterwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
