/*
 * load.h - what the demonstration's wheel has to do, in virtual time.
 *
 * A tick is a millisecond.  Time jumps from one event to the next: a wake-up
 * that the wheel asks for, or something that happens outside (a request, its
 * answer, a packet).  What happens outside is kept in a second wheel, which is
 * neither shown nor measured.
 *
 *     load_open(&load, &settings);
 *     while (!load_run(&load, load.end, a_real_moment_from_now))
 *         draw(&load);
 *     load_close(&load);
 */
#ifndef LOAD_H
#define LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include <tickwheel/wheel.h>

enum { LOAD_START_MS = 1000003 };

/* A kind of load; load_find() knows them by name. */
struct load_kind {
    const char *name;
    const char *title;       /* stands between the two numbers below */
    uint64_t task_count;     /* by default ... */
    uint64_t delay_ms;       /* ... and how far ahead they are armed */
    bool is_burst;           /* all arrive at once, and nothing else happens */
    const char *captions[3]; /* while they arrive, wait and come due */
};

struct load_settings {
    const struct load_kind *kind;
    uint64_t task_count;
    uint64_t delay_ms;
    uint64_t seed;
    struct tkw_geometry geometry;
};

/* How often the library did something, and for how long in all. */
struct load_cost {
    uint64_t count;
    double ns;
};

/* What a task asks of the wheel. */
enum load_event { LOAD_ARM, LOAD_POSTPONE, LOAD_CANCEL };

/* Told of each, for those who write it down; a cancel has no deadline. */
typedef void load_note(void *context, enum load_event event, tkw_tick time,
                       uint64_t task, tkw_tick deadline);

struct load {
    struct load_settings settings;
    load_note *note; /* may be set once it is open; NULL: nobody is told */
    void *note_context;
    tkw_tick arrivals_end; /* when the last task has arrived */
    tkw_tick end;          /* when all is over */
    struct tkw_wheel *wheel;

    uint64_t wakeups; /* advances that the wheel asked for */
    uint64_t early;   /* fired before their deadline: must stay 0 ... */
    uint64_t late;    /* ... and after it: too */
    struct load_cost arm, cancel, postpone, advance;

    /* Private. */
    uint64_t arrived;
    uint64_t random;
    double clock_cost_ns; /* of reading the clock, taken off each measurement */
    struct tkw_timer *timers;
    struct tkw_timer *events;  /* by task: its answer, or its next packet */
    struct tkw_wheel *outside; /* holds the events */
};

/* NULL if there is none of this name. */
const struct load_kind *load_find(const char *name);

/* Returns 0, or -ENOMEM with nothing to close. */
int load_open(struct load *load, const struct load_settings *settings);
void load_close(struct load *load);

/*
 * Let virtual time run until `until`, or until the real clock shows
 * `deadline_ns`.  Returns whether `until` was reached.
 */
bool load_run(struct load *load, tkw_tick until, double deadline_ns);

tkw_tick load_elapsed(const struct load *load);

/* Say whether every arming has had one outcome, on its tick, or is pending. */
bool load_holds(const struct load *load);

#endif
