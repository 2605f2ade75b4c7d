/*
 * service_races_stats.c - scenarios: several threads that count.
 */
#include "service_races.h"

#include "service/histogram.h"
#include "service/private.h"
#include "service_actors.h"
#include "service_scene.h"

static struct histogram shared;

static void count_small(struct probe *unused)
{
    (void)unused;
    histogram_add_shared(&shared, 3);
    histogram_add_shared(&shared, 40);
}

static void count_large(struct probe *unused)
{
    (void)unused;
    histogram_add_shared(&shared, 5);
    histogram_add_shared(&shared, 40);
}

/* None is lost, and the largest is. */
void two_count_in_a_histogram(void)
{
    shared = (struct histogram){.sum = 0};
    scene_open((struct scene_config){.has_no_driver = true});
    scene_race(&scene.probes[0], count_small, count_large);
    sched_require(shared.max == 40);
    sched_require(shared.sum == 3 + 5 + 40 + 40);
    sched_require(shared.counts[histogram_index(3)] == 1);
    sched_require(shared.counts[histogram_index(5)] == 1);
    sched_require(shared.counts[histogram_index(40)] == 2);
    scene_end();
}

/* As many ns as the probe's number. */
static void take_a_while(struct probe *probe)
{
    tkw_manual_clock_advance(scene.manual,
                             (uint64_t)(probe - scene.probes) + 1);
}

/* The slowest of two is known, though they end at the same time. */
void two_are_slow(void)
{
    due_on_workers(2, 2, 2);
    scene.probes[0].act = take_a_while;
    scene.probes[1].act = take_a_while;
    scene_turn(SCENE_TICK);
    /* To ask for the stats would be a thousand steps more. */
    sched_require(scene.service->slowest_ns == 2 ||
                  scene.service->slowest_ns == 3);
    sched_require(scene.service->slowest != NULL);
    scene_end();
}
