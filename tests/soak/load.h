/*
 * load.h - the threads that make the load, round after round.
 */
#ifndef SOAK_LOAD_H
#define SOAK_LOAD_H

#include "scene.h"
#include "watch.h"

/* What the threads share. */
struct field {
    struct scene *scenes;
    unsigned scene_count;
    pthread_barrier_t gate; /* all threads, and whoever lets them through */
    atomic_bool is_resting; /* come to the gate */
    atomic_bool is_over;    /* and end there */
};

struct loader {
    struct field *field;
    struct station *station;
    struct random random;
    struct scene brief; /* a service of its own, now and then */
    pthread_t thread;
};

void loader_start(struct loader *loader, struct field *field,
                  struct station *station, uint64_t seed);
void loader_join(struct loader *loader);

#endif
