/*
 * service/record_test.c - what was asked of a service, told as a trace.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

#include <inttypes.h>
#include <stdio.h>

#define HEAD "# tick 10\ntime,operation,key,deadline\n"

/* Take all there is; it must be this. */
static void assert_trace(struct scene *scene, const char *expected)
{
    char text[4096];
    size_t length = tkw_service_trace(scene->service, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
    assert_int_equal(tkw_service_trace(scene->service, text, sizeof text), 0);
    assert_string_equal(text, "");
}

/* What the trace must be, written line by line. */
struct script {
    char text[16384];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct script *script,
                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(script->text + script->length,
                  sizeof script->text - script->length, format, arguments);
    va_end(arguments);
    script->length += (size_t)length;
    assert_true(script->length < sizeof script->text);
}

/* A line; no deadline is 0. */
static void add_line(struct script *script, uint64_t time,
                     const char *operation, tkw_handle key, uint64_t deadline)
{
    add(script, "%" PRIu64 ",%s,%" PRIu64 ",", time, operation, key);
    if (deadline != 0)
        add(script, "%" PRIu64, deadline);
    add(script, "\n");
}

/* Who does not ask for it pays nothing, and gets nothing. */
static void nothing_is_recorded_unless_it_is_asked_for(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    uint64_t bytes = account_bytes(&scene.account);
    probe_arm(&scene, &probe, 100);
    assert_trace(&scene, "");
    assert_int_equal(tkw_service_record(scene.service, 1), 0);
    assert_true(account_bytes(&scene.account) > bytes);
    assert_trace(&scene, HEAD);
    scene_close(&scene);
}

/* Arm, move, postpone, cancel: with the time, the handle and the deadline. */
static void each_operation_is_a_line(void **state)
{
    (void)state;
    struct scene scene;
    struct probe a = {0}, b = {0};
    struct script all = {0};
    add(&all, HEAD);
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    assert_int_equal(tkw_service_record(scene.service, 100), 0);

    tkw_handle first = probe_arm(&scene, &a, 95);
    add_line(&all, 1000, "arm", first, 1095);
    scene_go(&scene, 1007);
    tkw_handle second = probe_arm_at(&scene, &b, 5000);
    add_line(&all, 1007, "arm", second, 5000);
    assert_int_equal(tkw_service_postpone(scene.service, first, 200), 1);
    add_line(&all, 1007, "postpone", first, 1207);
    scene_go(&scene, 1100);
    assert_int_equal(tkw_service_rearm_at(scene.service, second, 4000), 1);
    add_line(&all, 1100, "arm", second, 4000);
    assert_int_equal(tkw_service_cancel(scene.service, first), 1);
    add_line(&all, 1100, "cancel", first, 0);
    assert_trace(&scene, all.text);
    scene_close(&scene);
}

/* What changes nothing would be played as if it did. */
static void what_failed_is_not_recorded(void **state)
{
    (void)state;
    struct scene scene;
    struct probe a = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    tkw_handle handle = probe_arm(&scene, &a, 10);
    scene_go(&scene, 10);
    assert_int_equal(ran(&a), 1);
    assert_int_equal(tkw_service_record(scene.service, 100), 0);
    assert_int_equal(tkw_service_cancel(scene.service, handle), 0);
    assert_int_equal(tkw_service_rearm(scene.service, handle, 10), 0);
    assert_int_equal(tkw_service_postpone(scene.service, handle, 10), 0);
    assert_int_equal(
        tkw_service_arm(scene.service, NULL, 10, (struct tkw_task){0}),
        -EINVAL);
    assert_trace(&scene, HEAD);
    scene_close(&scene);
}

/* Each call of a timer that repeats is armed for, jitter and slack added. */
static void a_timer_that_repeats_is_armed_again_and_again(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    struct script all = {0};
    add(&all, HEAD);
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    assert_int_equal(tkw_service_record(scene.service, 100), 0);
    tkw_handle handle = arm_plan(
        &scene, &probe, (struct tkw_plan){.when_ns = 50, .period_ns = 30});
    add_line(&all, 0, "arm", handle, 50);
    scene_go(&scene, 51);
    add_line(&all, 51, "arm", handle, 80);
    scene_go(&scene, 80);
    add_line(&all, 80, "arm", handle, 110);
    assert_trace(&scene, all.text);
    scene_close(&scene);
}

static void arm_again_and_cancel(struct probe *probe)
{
    probe->answer =
        tkw_service_rearm(probe->scene->service, probe->firing.handle, 100);
    probe->second =
        tkw_service_cancel(probe->scene->service, probe->firing.handle);
}

/* It ends the arming that the callback has begun. */
static void a_running_timer_armed_again_and_cancelled_leaves_both(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {.act = arm_again_and_cancel};
    struct script all = {0};
    add(&all, HEAD);
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    assert_int_equal(tkw_service_record(scene.service, 100), 0);
    tkw_handle handle = probe_arm(&scene, &probe, 50);
    scene_go(&scene, 50);
    assert_int_equal(probe.answer, 1);
    assert_int_equal(probe.second, -EBUSY);
    add_line(&all, 0, "arm", handle, 50);
    add_line(&all, 50, "arm", handle, 150);
    add_line(&all, 50, "cancel", handle, 0);
    assert_trace(&scene, all.text);
    scene_close(&scene);
}

/* The first are kept, so that they can be played from the beginning; what was
 * left out is counted where it is missing, and at the end. */
static void what_there_is_no_room_for_is_counted(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probes[6] = {{0}};
    tkw_handle handles[6];
    struct script all = {0};
    add(&all, HEAD);
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    assert_int_equal(tkw_service_record(scene.service, 2), 0);
    for (size_t i = 0; i < 5; i++)
        handles[i] = probe_arm(&scene, &probes[i], 100);
    add_line(&all, 0, "arm", handles[0], 100);
    add_line(&all, 0, "arm", handles[1], 100);
    add(&all, "# 3 operations left out\n");
    assert_trace(&scene, all.text);

    handles[5] = probe_arm(&scene, &probes[5], 100);
    tkw_service_cancel(scene.service, handles[5]);
    tkw_service_cancel(scene.service, handles[4]);
    char some[512];
    tkw_service_trace(scene.service, some, 280); /* room for two lines */
    all = (struct script){0};
    add_line(&all, 0, "arm", handles[5], 100);
    add_line(&all, 0, "cancel", handles[5], 0);
    assert_string_equal(some, all.text);
    tkw_service_cancel(scene.service, handles[3]);
    all = (struct script){0};
    add(&all, "# 1 operations left out\n");
    add_line(&all, 0, "cancel", handles[3], 0);
    assert_trace(&scene, all.text);
    scene_close(&scene);
}

/* Many more than are taken at a time, through a ring that comes round. */
static void the_ring_comes_round(void **state)
{
    (void)state;
    enum { ROUNDS = 7, EACH = 150 };
    struct scene scene;
    struct probe probe = {0};
    char *text = malloc(1 << 16);
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    assert_int_equal(tkw_service_record(scene.service, 200), 0);
    tkw_handle handle = probe_arm(&scene, &probe, 1);
    size_t length = tkw_service_trace(scene.service, text, 1 << 16);
    assert_int_equal(length, strlen(text));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < EACH; i++)
            tkw_service_rearm_at(scene.service, handle, 1000 * round + i + 1);
        length = tkw_service_trace(scene.service, text, 1 << 16);
        assert_int_equal(length, strlen(text));
        struct script all = {0};
        for (uint64_t i = 0; i < EACH; i++)
            add_line(&all, 0, "arm", handle, 1000 * round + i + 1);
        assert_string_equal(text, all.text);
    }
    free(text);
    scene_close(&scene);
}

/* Whatever the room, nothing is written beyond it, and nothing is lost. */
static void any_room_will_do(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,   1,   127, 128, 129, 255, 256, 257,
                                   300, 383, 384, 385, 511, 512, 513, 1199};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        size_t size = sizes[i];
        struct scene scene;
        struct probe probe = {0};
        char text[1300];
        struct script all = {0}, taken = {0};
        add(&all, HEAD);
        scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
        assert_int_equal(tkw_service_record(scene.service, 9), 0);
        tkw_handle handle = probe_arm(&scene, &probe, 77);
        add_line(&all, 0, "arm", handle, 77);
        for (uint64_t k = 1; k < 9; k++) {
            tkw_service_rearm_at(scene.service, handle, UINT64_MAX - k);
            add_line(&all, 0, "arm", handle, UINT64_MAX - k);
        }
        memset(text, '!', sizeof text);
        size_t length;
        while ((length = tkw_service_trace(scene.service, text, size)) > 0) {
            assert_true(length < size);
            assert_int_equal(length, strlen(text));
            add(&taken, "%s", text);
        }
        assert_int_equal(text[size], '!');
        assert_string_equal(taken.text, size < 256 ? "" : all.text);
        scene_close(&scene);
    }
}

/* To begin anew forgets, to end keeps. */
static void it_can_be_ended_and_begun_anew(void **state)
{
    (void)state;
    struct scene scene;
    struct probe a = {0}, b = {0}, c = {0};
    struct script all = {0};
    add(&all, HEAD);
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    assert_int_equal(tkw_service_record(scene.service, 0), 0);
    assert_int_equal(tkw_service_record(scene.service, 9), 0);
    add_line(&all, 0, "arm", probe_arm(&scene, &a, 50), 50);
    assert_int_equal(tkw_service_record(scene.service, 0), 0);
    probe_arm(&scene, &b, 60);
    assert_trace(&scene, all.text);

    assert_int_equal(tkw_service_record(scene.service, 9), 0);
    probe_arm(&scene, &b, 60);
    assert_int_equal(tkw_service_record(scene.service, 5), 0);
    all = (struct script){0};
    add(&all, HEAD);
    add_line(&all, 0, "arm", probe_arm(&scene, &c, 70), 70);
    assert_trace(&scene, all.text);
    scene_close(&scene);
}

/* Then what was recorded before goes on. */
static void without_memory_nothing_changes(void **state)
{
    (void)state;
    struct scene scene;
    struct probe a = {0}, b = {0};
    struct script all = {0};
    add(&all, HEAD);
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    assert_int_equal(tkw_service_record(scene.service, SIZE_MAX / 2), -ENOMEM);
    account_fail(&scene.account, 0, 1);
    assert_int_equal(tkw_service_record(scene.service, 9), -ENOMEM);
    probe_arm(&scene, &a, 50);
    assert_trace(&scene, "");
    assert_int_equal(tkw_service_record(scene.service, 9), 0);
    account_fail(&scene.account, 0, 1);
    assert_int_equal(tkw_service_record(scene.service, 99), -ENOMEM);
    add_line(&all, 0, "arm", probe_arm(&scene, &b, 50), 50);
    assert_trace(&scene, all.text);
    scene_close(&scene);
}

/* Times do not go back, even if the clock does. */
static void a_clock_set_back_stands_still_in_the_trace(void **state)
{
    (void)state;
    struct scene scene;
    struct probe a = {0}, b = {0};
    struct tkw_clock clock;
    struct script all = {0};
    add(&all, HEAD);
    struct tkw_manual_clock *manual;
    assert_int_equal(tkw_manual_clock_open(&manual, 1000), 0);
    clock = *tkw_manual_clock_source(manual);
    clock.is_wall = true;
    scene_open(&scene, 1000,
               (struct tkw_service_config){.tick_ns = 10,
                                           .shards = 1,
                                           .driver = TKW_DRIVER_NONE,
                                           .clock = &clock});
    assert_int_equal(tkw_service_record(scene.service, 9), 0);
    add_line(&all, 1000, "arm", probe_arm(&scene, &a, 500), 1500);
    tkw_manual_clock_set(manual, 400);
    add_line(&all, 1000, "arm", probe_arm(&scene, &b, 500), 900);
    assert_trace(&scene, all.text);
    scene_close(&scene);
    tkw_manual_clock_close(manual);
}

enum { THREADS = 4, ROUNDS_EACH = 2000 };

struct crowd {
    struct scene *scene;
    atomic_bool is_over;
};

static void *arm_and_cancel(void *argument)
{
    struct crowd *crowd = argument;
    for (int i = 0; i < ROUNDS_EACH; i++) {
        tkw_handle handle;
        struct probe probe = {0};
        tkw_service_arm(crowd->scene->service, &handle, HOUR,
                        probe_task(crowd->scene, &probe));
        tkw_service_cancel(crowd->scene->service, handle);
    }
    return NULL;
}

static void *begin_and_end(void *argument)
{
    struct crowd *crowd = argument;
    for (size_t i = 0; !atomic_load(&crowd->is_over); i++)
        tkw_service_record(crowd->scene->service, i % 3 * 10);
    return NULL;
}

/* Threads that arm and cancel while others begin, end and take. */
static void any_thread_may_do_any_of_it(void **state)
{
    (void)state;
    struct scene scene;
    struct crowd crowd = {.scene = &scene};
    scene_open(&scene, 0, (struct tkw_service_config){0});
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(arm_and_cancel, &crowd);
    pthread_t other = thread_start(begin_and_end, &crowd);
    for (int i = 0; i < 1000; i++) {
        char text[1024];
        size_t length = tkw_service_trace(scene.service, text, sizeof text);
        assert_true(length == 0 || text[length - 1] == '\n');
    }
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    atomic_store(&crowd.is_over, true);
    thread_join(other);
    assert_conserved(&scene);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_recorded_unless_it_is_asked_for),
        cmocka_unit_test(each_operation_is_a_line),
        cmocka_unit_test(what_failed_is_not_recorded),
        cmocka_unit_test(a_timer_that_repeats_is_armed_again_and_again),
        cmocka_unit_test(a_running_timer_armed_again_and_cancelled_leaves_both),
        cmocka_unit_test(what_there_is_no_room_for_is_counted),
        cmocka_unit_test(the_ring_comes_round),
        cmocka_unit_test(any_room_will_do),
        cmocka_unit_test(it_can_be_ended_and_begun_anew),
        cmocka_unit_test(without_memory_nothing_changes),
        cmocka_unit_test(a_clock_set_back_stands_still_in_the_trace),
        cmocka_unit_test(any_thread_may_do_any_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
