/*
 * trace.h - what a program asked of its timers, and when: read from a file, or
 * made up.
 *
 * A trace is lines of text,
 *
 *     time,operation,key,deadline
 *     0,arm,one,445
 *     10,postpone,one,900
 *     12,cancel,one,
 *     1000,advance,,
 *
 * with times and deadlines in whole units of whatever clock there was, and keys
 * of any letters but commas.  `arm` arms a timer, or moves one that is armed;
 * `postpone` moves it to a later deadline, lazily, or arms it if that is the
 * first line about it: the trace began after it was armed; `cancel` disarms it;
 * `advance` only says how late it is.  Times do not go back.  The first line
 * may be the names of the columns.  Empty lines and lines that begin with # are
 * left out, but one: "# tick 1000000" says how many units a tick of the wheel
 * has.
 *
 * A reproducer that the model test has written can be read as well: see
 * reproducer.c.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <tickwheel/dial.h>

#include "../load.h"

enum trace_kind { TRACE_ARM, TRACE_POSTPONE, TRACE_CANCEL, TRACE_ADVANCE };

/* One line, in ticks: its time rounded down, its deadline up. */
struct trace_op {
    tkw_tick time;
    tkw_tick deadline;
    uint32_t key; /* from 0 on, in the order they came up */
    enum trace_kind kind;
};

struct trace {
    struct trace_op *ops;
    size_t op_count;
    size_t op_room; /* private */
    uint32_t key_count;
    uint64_t unit; /* of a tick, in units of the file; 1 unless it was said */
    uint64_t left_out; /* operations that whoever recorded it had no room for */
    tkw_tick start;
    struct tkw_geometry geometry; /* of a reproducer, else {0} */
    bool has_geometry;
};

/* What goes wrong: a line of text that says where and why, and fits a line. */
struct trace_fault {
    char text[200];
};

/* Told now and then how much of all was done, 0 to 1; returns false to stop. */
typedef bool trace_progress(void *context, double part);

/*
 * Read a trace, or a reproducer, from `in`, which error messages call `name`.
 * `unit` is the units in a tick; 0: as the trace says.
 *
 * Returns 0, or with nothing to close:
 *   -EINVAL  something is wrong with the trace, and `*fault` says in which
 *            line;
 *   -ENOMEM  there is no memory;
 *   -EIO     it could not be read;
 *   -EINTR   `progress` (may be NULL) returned false.
 * `*fault` is filled in whatever it is.
 */
int trace_read(struct trace *trace, FILE *in, const char *name, uint64_t unit,
               trace_progress *progress, void *context,
               struct trace_fault *fault);

/* Make one up, as the demonstration does.  Returns 0 or -ENOMEM. */
int trace_generate(struct trace *trace, const struct load_settings *settings);

/* Write it down, to be read again.  Returns whether that was possible. */
bool trace_write(const struct trace *trace, FILE *out);

void trace_close(struct trace *trace);

/* For those who make a trace.  Keeps `key_count`; `unit` and `start` are up to
 * the maker.  Returns whether there was memory. */
bool trace_append(struct trace *trace, struct trace_op op);

#endif
