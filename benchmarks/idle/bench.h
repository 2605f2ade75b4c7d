/*
 * idle/bench.h - ways to notice who has gone silent, and the load that they
 * all get.
 *
 * A way plugs in as one file: it defines a handful of static functions and
 * includes idle_play.h, which compiles the load around them, so that no touch
 * is measured through a function pointer.
 *
 * Time is virtual: touch number i comes at i times `gap_ns`, however long it
 * takes to get there.
 */
#ifndef IDLE_BENCH_H
#define IDLE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tickwheel/idle.h>

#define IDLE_LIMIT_NS (30 * TKW_SECOND)

enum { IDLE_TEXT_SIZE = 13, IDLE_TEXT_ROOM = 16 };

/* How often a key is heard of. */
enum idle_rhythm {
    STEADY,   /* every 20 to 25 s, as are connections with a heartbeat */
    FREQUENT, /* once every second, at any time in it */
};

/* Which keys are touched, and when. */
struct idle_load {
    size_t keys; /* numbered from 0 */
    bool is_text;
    enum idle_rhythm rhythm;
    uint64_t gap_ns; /* from one touch to the next */
    uint32_t *order; /* of the touches, over and over */
    size_t order_count;
    char (*texts)[IDLE_TEXT_ROOM]; /* the same: "user:00000123" */
};

/* How far it has been played. */
struct idle_play {
    size_t at; /* in the order */
    uint64_t now_ns;
    size_t silent;    /* keys that went silent */
    double upkeep_ns; /* spent on finding these ... */
    size_t upkeeps;   /* ... that often */
};

/* How long single calls took, each the least of some rounds in which the same
 * was done: what is left is not the machine's doing. */
struct idle_calls {
    float *least_ns;
    size_t count;
};

/* A touch of a new key, and of one that is held; a look for the silent while
 * none is but all may be, and while all are. */
enum { CALL_ADD, CALL_TOUCH, CALL_RECHECK, CALL_EXPIRE, CALLS };

struct idle_way {
    const char *name;
    void *(*open)(size_t keys);
    void (*close)(void *state);
    void (*play)(void *state, const struct idle_load *load,
                 struct idle_play *play, size_t touches);
    /* Find all that have gone silent by then.  Returns how many. */
    size_t (*expire)(void *state, uint64_t now_ns);
    /* Add so many keys in one tick, touch all, let all be looked at in one tick
     * and expire in one tick.  Returns whether they did. */
    bool (*stall)(void *state, size_t keys, struct idle_calls calls[CALLS]);
};

extern const struct idle_way idle_way_nothing; /* the load alone */
extern const struct idle_way idle_way_tracker;
extern const struct idle_way idle_way_scan;
extern const struct idle_way idle_way_heap;
extern const struct idle_way *const idle_way_uthash; /* NULL: not installed */

/* A load of numbers, unless `is_text` is set. */
struct idle_load idle_load_open(enum idle_rhythm rhythm, size_t keys);
void idle_load_close(struct idle_load *load);

/* An on_silent for loads in which nobody is: ends the program. */
void idle_none_is_silent(void *context, const struct tkw_idle_key *silent,
                         size_t count);

/* What the values of a trial of touches are. */
enum {
    TOUCH_NS,     /* a touch, all included */
    UPKEEP_NS,    /* of that, finding the silent */
    KEY_BYTES,    /* resident */
    UPKEEP_MS,    /* finding the silent, each time */
    HAND_OUT_NS,  /* a key, in the end */
    CPU_PER_CENT, /* of a core, had time been real */
    MEGA_TOUCHES, /* a second, of all threads together */
};

/* The monitor, touched at random in real time by so many threads. */
struct idle_monitor_setting {
    const struct idle_load *load;
    unsigned threads;
    size_t touches; /* of each */
};

void idle_monitor_run(const void *setting, double *values);

/* The steady load in real time, for the monitor. */
struct idle_real_setting {
    const struct idle_load *load;
    uint64_t for_ns;
    bool is_touching; /* or only going through the load */
};

/* % of a core; touches, and looks at keys, a second. */
void idle_real_run(const void *setting, double *values);

struct idle_options {
    bool is_quick;
    size_t keys; /* that are touched; 0: several sizes */
    unsigned repeats;
    unsigned seconds; /* of real time */
};

/* The tables, each measured and printed. */
void idle_report_touches(const struct idle_options *options);
void idle_report_virtual(const struct idle_options *options);
void idle_report_real(const struct idle_options *options);
void idle_report_stalls(const struct idle_options *options);

#endif
