/*
 * film.h - a filmstrip of the dial: rings are levels, the lowest inside; shade
 * is how many timers wait in a slot; the hand of each level shows now; arrows
 * are timers that fell since the frame before.
 *
 * A trace of few events has a frame for each of them; one of many shows how
 * things stand at even distances of time, but nothing twice: where nothing
 * happens for long, the frames left over go to what comes after.
 */
#ifndef SIM_FILM_H
#define SIM_FILM_H

#include "replay.h"

struct film;

struct film_settings {
    const char *title;
    const struct engine_kind *kind; /* of what is replayed ... */
    const struct tkw_geometry *geometry;
    uint32_t frames_max;
    uint64_t events;   /* operations and wake-ups of the whole replay */
    tkw_tick from, to; /* frames are between these two */
};

/* Both `trace` and `settings`, with what they point to, must outlive the film.
 * NULL: there is no memory. */
struct film *film_open(const struct trace *trace,
                       const struct film_settings *settings);
struct replay_watcher film_watcher(struct film *film);

/* After the replay.  Returns whether it could be written. */
bool film_write(const struct film *film, FILE *out);
void film_close(struct film *film);

#endif
