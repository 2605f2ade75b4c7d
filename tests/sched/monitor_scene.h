/*
 * monitor_scene.h - a monitor for scenarios, on the service of service_scene.h,
 * and keys of which is written down what becomes of them.
 *
 * Whatever a scenario does, on_silent sees to it that no key is handed out
 * early, or after close; and at rest each adding of a key must have had one
 * outcome, or the key is held, the same by these notes as by the monitor's
 * counters.
 *
 * There is no driver, unless it says so: run_due() runs the due timers in the
 * thread that calls it.  Time is turned before that, so that only the run
 * races.  A tick of the monitor is one of the service's.
 *
 * Threads: those of the scheduler.
 */
#ifndef SCHED_MONITOR_SCENE_H
#define SCHED_MONITOR_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tickwheel/monitor.h>

#include "sched.h"
#include "service_scene.h"

/* Keys are numbers below this, or texts that stand for them.  With two shards,
 * the number 0 is in another than 1. */
enum { POST_KEYS = 2 };

#define POST_LIMIT (2 * SCENE_TICK)

/* What is known of a key. */
struct key_log {
    void (*in_silence)(unsigned number); /* called in on_silent, or NULL */
    int answer;                          /* of the last touch */
    unsigned touching;                   /* touches under way */
    unsigned added;
    unsigned forgotten;
    unsigned handed_out;
    uint64_t touched_ns; /* not before this, when it was held or added */
};

/* The one there is, new in each schedule. */
struct post {
    struct tkw_monitor *monitor;
    struct key_log keys[POST_KEYS];
    uint64_t now;   /* what the clock shows, or is about to ... */
    uint64_t shown; /* ... and what it has shown */
    bool has_texts;
    bool is_inside;
    bool is_closed;
};

extern struct post post;

struct post_config {
    uint32_t shards; /* 0 means 1 */
    size_t keys_max; /* 0 means no limit */
    bool has_driver;
    bool has_texts; /* for keys */
};

void post_open(struct post_config config);

/* Open it with key 0, whose limit has passed and nobody has looked yet. */
struct key_log *one_silent(struct post_config config);

/* Turn the clock; without a driver nothing happens. */
void post_turn(uint64_t ns);

/* At rest: see above. */
void post_check(void);

/* When this returns nothing is being handed out, or ever will be. */
void post_close_monitor(void);

/* Check, and close it and the service; all memory must have been given
 * back. */
void post_end(void);

/* Check, turn the clock until all is silent, see all of it handed out, and
 * end. */
void post_end_silent(void);

/* Let two threads do something; the first is thread 0 itself. */
void post_race(void (*first)(void *), void (*second)(void *));

/* Touch a key, and write down what was said. */
struct key_log *touch(unsigned number);
struct key_log *touch_limit(unsigned number, uint64_t limit_ns);

bool post_holds(unsigned number);

/* A key, and which of them it is; it must be one. */
struct tkw_key post_key(unsigned number);
unsigned post_number(struct tkw_key key);

/* What threads do. */
void touch_0(void *unused);
void touch_0_for_a_tick(void *unused);
void touch_1(void *unused);
void touch_1_for_a_tick(void *unused);
void forget_0(void *unused);
void run_due(void *unused);

#endif
