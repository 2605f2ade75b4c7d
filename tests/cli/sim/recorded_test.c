/*
 * cli/sim/recorded_test.c - what a service recorded, played again: the same
 * timers are armed, cancelled and fire.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>

#include "service/plans.h"

#include "cli/sim/replay.h"

/* Timers that live for up to a second, cancelled, moved, and called again. */
static void live_for_a_while(struct scene *scene, struct probe *probes,
                             size_t count)
{
    uint64_t dice = 7;
    for (uint64_t ms = 0; ms < 2000; ms += 3) {
        dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
        struct probe *probe = &probes[dice >> 33 & (count - 1)];
        uint64_t delay = (dice >> 40) % 1000 * TKW_MILLISECOND;
        if (tkw_service_query(scene->service, probe->handle, NULL) !=
            TKW_PENDING)
            probe_arm(scene, probe, delay);
        else if (dice >> 63)
            tkw_service_cancel(scene->service, probe->handle);
        else if (dice >> 62 & 1)
            tkw_service_postpone(scene->service, probe->handle, delay);
        else
            tkw_service_rearm(scene->service, probe->handle, delay);
        scene_go(scene, ms * TKW_MILLISECOND);
    }
    scene_go(scene, 5000 * TKW_MILLISECOND);
}

static struct trace recorded_by(struct scene *scene)
{
    struct trace trace;
    struct trace_fault fault;
    char text[2048];
    FILE *file = tmpfile();
    assert_non_null(file);
    for (size_t n;
         (n = tkw_service_trace(scene->service, text, sizeof text)) > 0;)
        assert_int_equal(fwrite(text, 1, n, file), n);
    rewind(file);
    if (trace_read(&trace, file, "recorded", 0, NULL, NULL, &fault) != 0)
        fail_msg("%s", fault.text);
    fclose(file);
    return trace;
}

static void a_recording_can_be_played_again(void **state)
{
    (void)state;
    static struct probe probes[64];
    static const struct tkw_geometry geometries[] = {
        {.sizes = {0}},
        {.sizes = {20}},
        {.sizes = {512}, .beyond = TKW_ROUNDS},
    };
    struct scene scene;
    struct probe steady = {0};
    scene_open(&scene, 0,
               (struct tkw_service_config){.driver = TKW_DRIVER_NONE});
    assert_int_equal(tkw_service_record(scene.service, 100000), 0);
    arm_plan(&scene, &steady,
             (struct tkw_plan){.when_ns = 1, .period_ns = TKW_SECOND});
    live_for_a_while(&scene, probes, COUNT_OF(probes));
    tkw_service_cancel(scene.service, steady.handle);

    struct tkw_service_stats was = tkw_service_read_stats(scene.service);
    struct trace trace = recorded_by(&scene);
    assert_true(was.fired > 100 && was.cancelled > 100);
    assert_int_equal(trace.unit, 100 * TKW_MICROSECOND);
    for (size_t i = 0; i < 2 * COUNT_OF(geometries); i++) {
        struct replay_outcome played;
        const struct engine_kind *kind = i % 2 ? &engine_pool : &engine_wheel;
        assert_int_equal(
            replay(&trace, kind, &geometries[i / 2], NULL, NULL, NULL, &played),
            0);
        assert_true(played.is_sound);
        assert_int_equal(played.ignored, 0);
        assert_int_equal(played.work.armed, was.armed);
        assert_int_equal(played.work.fired, was.fired);
        assert_int_equal(played.work.cancelled, was.cancelled);
    }
    trace_close(&trace);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_can_be_played_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
