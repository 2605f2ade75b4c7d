/*
 * servers/bystander.h - clients of other tubes, and how long a crowd of jobs
 * makes them wait.
 *
 * A bystander has a tube and three connections: the first puts jobs with a
 * delay of one second, the second receives them by waiting reserves, the third
 * sends commands that read (list-tube-used, peek-delayed, stats-tube).
 *
 * Each bystander sends a put and a command every 20 ms, whether or not replies
 * are missing.  So a server that stalls for a second is measured 50 times by
 * each connection, and not once, as it would be by clients that wait for each
 * reply before they send again ("coordinated omission").
 *
 * The times are reported for three phases:
 *
 *     quiet    before the crowd
 *     due      the second in which the crowd comes due: of equal length for
 *              every server
 *     crowd    until the crowd is drained, `due` included: the faster the
 *              server, the shorter
 */
#ifndef SERVERS_BYSTANDER_H
#define SERVERS_BYSTANDER_H

#include <stdbool.h>
#include <stdint.h>

#include "lateness.h"
#include "loop.h"
#include "report.h"

enum phase { PHASE_QUIET, PHASE_DUE, PHASE_CROWD, PHASES };

/* The times of one phase. */
struct experience {
    struct late_summary late;  /* of the jobs */
    struct histogram puts;     /* from each put to its reply */
    struct histogram commands; /* from each other command to its reply */
};

/* Zero-filled is valid for bystanders_open().  It is 700 kilobytes. */
struct bystanders {
    uint64_t count;           /* private, as all fields */
    struct bystander *each;   /* `count` elements */
    uint64_t begin_ns;        /* of the schedule */
    uint64_t due_ns;          /* when the crowd comes due */
    uint64_t drained_ns;      /* when it was gone; 0 until then */
    uint32_t sent_count;      /* puts, and as many commands */
    uint32_t deleted_count;   /* jobs */
    uint32_t answered_count;  /* commands */
    struct lateness lateness; /* of the jobs */
    struct experience phases[PHASES];
};

/* Opens the connections of `count` bystanders in `loop`. */
void bystanders_open(struct bystanders *bystanders, struct loop *loop,
                     uint64_t count);

/* Frees memory; the loop closes the connections. */
void bystanders_close(struct bystanders *bystanders);

/* Begins the schedule now.  The crowd comes due at `due_ns`. */
void bystanders_expect_crowd(struct bystanders *bystanders, uint64_t due_ns);

/* Ends the schedule: the last job of the crowd was deleted at `drained_ns`. */
void bystanders_stop(struct bystanders *bystanders, uint64_t drained_ns);

/* Sends what the schedule contains up to now.  Returns the time of the next
 * command, at most `limit_ns`. */
uint64_t bystanders_send_due(struct bystanders *bystanders, uint64_t limit_ns);

/* Returns whether the schedule has ended and all replies and jobs arrived. */
bool bystanders_are_done(const struct bystanders *bystanders);

/* Adds the times late_, put_ and command_ of the crowd, and the same names with
 * quiet_ and due_ in front. */
void bystanders_report(const struct bystanders *bystanders,
                       struct report *report);

#endif
