/*
 * service_races_record.c - scenarios: a recording that ends, or begins anew,
 * while something is asked of the service.
 */
#include "service_races.h"

#include "service_actors.h"
#include "service_scene.h"

/* Take what was recorded.  Returns how long it is. */
static size_t take_all(void)
{
    char text[512];
    size_t length = 0;
    for (size_t n;
         (n = tkw_service_trace(scene.service, text, sizeof text)) > 0;)
        length += n;
    return length;
}

static void end_recording(struct probe *unused)
{
    (void)unused;
    sched_require(tkw_service_record(scene.service, 0) == 0);
    take_all();
}

static void begin_anew(struct probe *unused)
{
    (void)unused;
    sched_require(tkw_service_record(scene.service, 1) == 0);
}

static struct probe *one_recorded(void)
{
    scene_open((struct scene_config){.has_no_driver = true});
    probe_must_arm(&scene.probes[0], SCENE_FAR);
    sched_require(tkw_service_record(scene.service, 2) == 0);
    return &scene.probes[0];
}

/*
 *     canceller                 other
 *     sees that it is recorded
 *                               ends the recording, takes all there is
 *     must not record it
 */
void cancel_against_ending_a_recording(void)
{
    scene_race(one_recorded(), cancel_it_alone, end_recording);
    sched_require(take_all() == 0);
    scene_end();
}

/* The old ring is freed, and whoever records uses the new one. */
void cancel_against_recording_anew(void)
{
    scene_race(one_recorded(), cancel_it_alone, begin_anew);
    sched_require(take_all() > 0);
    sched_require(tkw_service_record(scene.service, 0) == 0);
    scene_end();
}
