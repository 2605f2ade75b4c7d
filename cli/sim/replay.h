/*
 * replay.h - a trace, run through an engine in virtual time, and what it cost.
 *
 * Between two operations the sleeper of a program is played: whenever the
 * engine says that something is next, it is woken up then, advances, and pops
 * what is ready.  An operation finds the wheel advanced to its time.  After the
 * last one time goes on until nothing is pending that ever comes due.
 */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include "engine.h"
#include "trace.h"

/* Parts of the time line, for a chart. */
enum { REPLAY_BINS = 240 };

struct replay_outcome {
    struct tkw_wheel_stats work;
    uint64_t operations;    /* of the trace */
    uint64_t ignored;       /* to cancel or postpone what is not armed */
    uint64_t wakeups;       /* of the sleeper ... */
    uint64_t wakeups_empty; /* ... and those with nothing due */
    uint64_t pending_max;
    uint64_t bytes_max;   /* of memory, with as many pending as ever were */
    uint64_t worst_moved; /* timers touched by one advance: fallen, filed anew,
                             passed over or fired */
    tkw_tick worst_at;
    double worst_ns; /* the longest advance and its pops */
    double ns;       /* of all, operations included */
    uint32_t levels; /* highest in use */
    tkw_tick start;  /* of the time line, which is that of the trace: ... */
    tkw_tick end;    /* ... the same for every engine */
    tkw_tick last;   /* when the last operation was done or timer popped: what
                        is cancelled before its deadline may leave nothing to
                        wait for until `end` */
    bool is_sound;   /* nothing early, late, lost or twice, and no invariant is
                      broken */
    struct tkw_fault fault;     /* the invariant that is broken at the end; its
                               `what` is NULL if none is */
    uint64_t bins[REPLAY_BINS]; /* worst_moved of each part of start to end */
};

/* Told of everything that happens, for a film.  NULL: nobody. */
struct replay_watcher {
    void *context;
    /* Time has come to `now`, and what was due is popped. */
    void (*step)(void *context, const struct engine *engine, tkw_tick now);
    /* An operation was done. */
    void (*done)(void *context, const struct engine *engine,
                 const struct trace_op *op);
};

/*
 * Returns 0 and what it cost in `*outcome`, or -ENOMEM, or -EINTR if `progress`
 * (may be NULL) returned false.
 */
int replay(const struct trace *trace, const struct engine_kind *kind,
           const struct tkw_geometry *geometry,
           const struct replay_watcher *watcher, trace_progress *progress,
           void *context, struct replay_outcome *outcome);

/* The time line of a trace: from its first to its last time or deadline, even
 * if nothing waits for that any more. */
tkw_tick replay_span(const struct trace *trace);

#endif
