/*
 * scene.h - a service under load, and its timers, each of which keeps account
 * of all that becomes of it.
 *
 * A probe is one handle, from its arming to its end.  Within a round none is
 * used twice: so what a thread hears about a handle, however late, is about
 * this probe.
 */
#ifndef SOAK_SCENE_H
#define SOAK_SCENE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <tickwheel/service.h>

#include "../model/random.h"
#include "account.h"
#include "crew.h"
#include "stepped.h"

enum {
    OWNERS = 6, /* shared by all; the first's timers run on the driver only */
    OWNER_PRIVATE = OWNERS + 1, /* the group of those with one of their own */
    STRIPES = 64,
    STALE_COUNT = 64, /* handles that are kept beyond their round */
    EXECUTORS = TKW_BY_SUBMIT + 1,
    REPEATING_MAX = 48, /* pending in a service */
};

/* Who may arm a probe again: what is known for certain depends on it. */
enum mover {
    MOVED_BY_POSTPONING, /* nobody: it is only postponed */
    MOVED_BY_ITSELF,     /* its own callback, and others postpone it */
    MOVED_BY_ALL,
};

struct probe {
    struct scene *scene;
    uint32_t number;

    /* As it was planned; written before it is armed. */
    enum mover mover;
    enum tkw_executor executor;
    unsigned group; /* 0: no owner; 1 to OWNERS; OWNER_PRIVATE */
    unsigned lives; /* calls after which it ends itself */
    bool repeats;
    bool has_drop;
    uint64_t period_ns;

    /* What is known. */
    atomic_uint_fast64_t handle; /* 0: not (yet) armed */
    atomic_uint_fast64_t floor;  /* no call to come is due before that */
    uint64_t ceiling; /* the first is not due after it, unless moved */
    atomic_uint_fast64_t first_due;
    atomic_bool is_running;
    atomic_bool is_over;   /* no callback may run from here on */
    atomic_uint calls_max; /* nor more than so many, ever */
    _Atomic(const char *) where;

    /* What became of it. */
    atomic_uint started;
    atomic_uint dropped;
    atomic_uint handed_back;
    atomic_uint stopped; /* cancels that said 1 */
    atomic_uint busy;    /* cancels that may have ended it while it ran */
    atomic_uint moved;   /* moves that said 1 */
    atomic_uint revived; /* of these, by itself, once a call ... */
    unsigned revived_in; /* ... the last of which was this one */
    atomic_bool has_ended_itself;
    atomic_bool has_said_never; /* by its next function */
};

enum kind {
    KIND_DRIVER,
    KIND_WORKERS,
    KIND_SUBMIT,
    KIND_LOOP,
    KIND_STEPPED,
    KIND_WALL,
    KIND_LIMITED,
    KIND_COUNT,
};

/* Sums over the probes of all rounds since the service was opened. */
struct sums {
    uint64_t armed_least;
    uint64_t armed_most;
    uint64_t fired;
    uint64_t by_submit;
    uint64_t handed_back;
    uint64_t cancelled_least;
    uint64_t cancelled_most;
};

struct scene {
    enum kind kind;
    struct random random;        /* of whoever opens and closes it */
    struct tkw_service *service; /* NULL: closed */
    struct tkw_service_config config;
    struct account account;
    struct stepped stepped;
    struct crew crew;
    unsigned rounds_left; /* before it is closed */
    bool is_on_wall;      /* timers follow a clock that may be set back */
    bool may_stop;        /* in the middle of a round */

    /* The loop of a service without a driver. */
    pthread_t loop;
    int loop_end; /* a descriptor that ends it */
    bool loop_polls_fd;
    uint64_t loop_seed;

    struct probe *probes;
    uint32_t room;
    atomic_uint claimed;
    tkw_handle stale[STALE_COUNT]; /* of rounds before; 0: none */
    struct tkw_owner owners[OWNERS];
    pthread_mutex_t stripes[STRIPES]; /* for who moves a probe; see ops.c */

    atomic_bool is_calm;     /* callbacks only end themselves */
    atomic_bool is_stopping; /* somebody has called stop, or is about to */
    atomic_bool has_stopped; /* it has returned, outside of callbacks */
    atomic_uint inside;      /* callbacks that are running ... */
    atomic_uint running[EXECUTORS]; /* ... and where */
    atomic_uint repeating;
    atomic_uint_fast64_t owner_stopped; /* by shared and private owners */
    struct sums sums;
};

/* Of the whole run. */
struct tally {
    atomic_uint_fast64_t operations;
    atomic_uint_fast64_t armed;
    atomic_uint_fast64_t callbacks;
    atomic_uint_fast64_t nested; /* callbacks inside of another */
    atomic_uint_fast64_t slow;
    atomic_uint_fast64_t moved;
    atomic_uint_fast64_t cancelled;
    atomic_uint_fast64_t caught_running;
    atomic_uint_fast64_t by_owner;
    atomic_uint_fast64_t handed_back;
    atomic_uint_fast64_t dropped;
    atomic_uint_fast64_t refused_limit;
    atomic_uint_fast64_t refused_memory;
    atomic_uint_fast64_t refused_stopped;
    atomic_uint_fast64_t openings;
    atomic_uint_fast64_t stops;
    atomic_uint_fast64_t logged;
    atomic_uint_fast64_t steps;
    atomic_uint_fast64_t jobs_refused;
    atomic_uint_fast64_t jobs_returned;
    atomic_uint_fast64_t late_max_ns;
};

extern struct tally tally;

static inline void tally_add(atomic_uint_fast64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* scene.c: make room for timers, once; open; let all rest and settle every
 * account, then go on (if it may) or close. */
void scene_init(struct scene *scene, enum kind kind, uint32_t room,
                uint64_t seed);
void scene_open(struct scene *scene);
void scene_rest(struct scene *scene, bool is_to_close);
void scene_done(struct scene *scene);
const char *kind_name(enum kind kind);

/* settle.c: when all timers are over, hold every account against what is
 * promised, add up, and make the probes ready for another round. */
void scene_settle(struct scene *scene);

/* The service's own stats against the sums, nothing being pending but what
 * was handed back. */
void scene_compare(const struct scene *scene,
                   const struct tkw_service_stats *stats);

/* canary.c: see that a service in which there is nothing yet is woken. */
void scene_wake(struct scene *scene);

/* probe.c: the functions of a task, and what was heard about a probe. */
void probe_call(void *probe, const struct tkw_firing *firing);
void probe_drop(void *probe);
uint64_t probe_next(void *probe, uint64_t due_ns, uint64_t now_ns);
void probe_note_cancel(struct probe *probe, bool was_over, int answer);
void probe_note_sync(struct probe *probe, bool was_over, int answer);
void probe_runs_no_more(struct probe *probe);
void probe_set_over(struct probe *probe);

/* act.c: what a callback does, now and then; `call` counts from 1. */
void probe_act(struct probe *probe, tkw_handle handle, unsigned call,
               unsigned depth);

#endif
