/*
 * load.c - a thread that makes load: bursts of operations on one service after
 * the other, and a short sleep in between.
 */
#define _GNU_SOURCE

#include "load.h"

#include "ops.h"

enum {
    BURST = 64,
    BRIEF_ROOM = 64,
    BRIEF_EACH = 2000,
    STOP_EACH = 20000,
    NAP_BITS = 21, /* up to 2 ms */
};

static void operate(struct loader *loader, struct scene *scene)
{
    struct random *random = &loader->random;
    struct station *station = loader->station;
    uint32_t choice = random_below(random, 100);
    if (choice < 36) {
        station_at(station, "arm");
        op_arm(scene, random);
    } else if (choice < 40) {
        station_at(station, "arm_many");
        op_arm_many(scene, random);
    } else if (choice < 42) {
        station_at(station, "cancel_owner, of its own");
        op_company(scene, random);
    } else if (choice < 62) {
        station_at(station, "rearm, postpone");
        op_move(scene, random);
    } else if (choice < 76) {
        station_at(station, "cancel");
        op_cancel(scene, random);
    } else if (choice < 84) {
        station_at(station, "cancel_sync");
        op_cancel_sync(scene, random, NULL);
    } else if (choice < 87) {
        station_at(station, "cancel_many");
        op_cancel_many(scene, random);
    } else if (choice < 88) {
        station_at(station, "cancel_owner, shared");
        op_cancel_owner(scene, random, NULL);
    } else if (choice < 90) {
        station_at(station, "stale handles");
        op_stale(scene, random);
    } else if (choice < 99) {
        station_at(station, "query");
        op_query(scene, random);
    } else {
        station_at(station, "stats");
        op_read_stats(scene, random);
    }
    tally_add(&tally.operations, 1);
}

/* A service that is open for a moment, and closed with all that is in it. */
static void visit(struct loader *loader)
{
    struct random *random = &loader->random;
    struct scene *scene = &loader->brief;
    station_at(loader->station, "open, a brief one");
    scene->kind = (enum kind)random_below(random, KIND_COUNT);
    scene_open(scene);
    for (unsigned i = 0; i < BRIEF_ROOM; i++)
        operate(loader, scene);
    if (random_percent(random, 50))
        sleep_ns(random_log(random, 24));
    station_at(loader->station, "close, a brief one");
    scene_rest(scene, true);
}

static void work(struct loader *loader)
{
    struct random *random = &loader->random;
    struct field *field = loader->field;
    struct scene *scene =
        &field->scenes[random_below(random, field->scene_count)];
    unsigned burst = 1 + random_below(random, BURST);
    for (unsigned i = 0; i < burst; i++)
        operate(loader, scene);
    if (random_below(random, STOP_EACH / BURST) == 0) {
        station_at(loader->station, "stop");
        op_stop(scene, false);
    }
    if (random_below(random, BRIEF_EACH / BURST) == 0)
        visit(loader);
    if (random_percent(random, 80))
        sleep_ns(random_log(random, NAP_BITS));
}

static void wait_at_gate(struct loader *loader)
{
    atomic_store(&loader->station->is_waiting, true);
    station_at(loader->station, "at the gate");
    pthread_barrier_wait(&loader->field->gate);
    atomic_store(&loader->station->is_waiting, false);
}

static void *loader_run(void *context)
{
    struct loader *loader = context;
    struct field *field = loader->field;
    for (;;) {
        wait_at_gate(loader);
        if (atomic_load(&field->is_over))
            return NULL;
        while (!atomic_load(&field->is_resting))
            work(loader);
        wait_at_gate(loader);
    }
}

void loader_start(struct loader *loader, struct field *field,
                  struct station *station, uint64_t seed)
{
    loader->field = field;
    loader->station = station;
    loader->random.state = seed;
    scene_init(&loader->brief, KIND_DRIVER, BRIEF_ROOM, seed ^ 1);
    int error = pthread_create(&loader->thread, NULL, loader_run, loader);
    DEMAND(error == 0, "there is no thread to make load");
}

void loader_join(struct loader *loader)
{
    pthread_join(loader->thread, NULL);
    scene_done(&loader->brief);
}
