/*
 * field.h - what a peer in C is: README.md has the contract.
 *
 * A peer has a structure that is measured in virtual time, as in ../bench.h, or
 * workloads in real time, which real.h compiles around it, or both.
 */
#ifndef FIELD_H
#define FIELD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bench.h"

enum real_workload {
    REAL_CALLS,
    REAL_PAIRS_1,
    REAL_PAIRS_2,
    REAL_LATE,
    REAL_IDLE,
    REAL_D1,
    REAL_D2,
    REAL_D3,
    REAL_WORKLOADS
};

struct field_peer {
    const char *name;
    const char *title;
    const char *settings;
    const char *(*version)(void);
    const struct bench_structure *structure; /* NULL: not in virtual time */
    const char *why_not_virtual;
    /* Each says its results; NULL: cannot do it. */
    void (*const *real)(const struct bench_load *load);
    const char *why_not_real; /* for all that it cannot do */
};

/* Say one result. */
void field_print(const char *name, double value);

/* End the program, saying what went wrong, or why it cannot be done. */
_Noreturn void field_fail(const char *why);
_Noreturn void field_decline(const char *why);

/* Memory that is there, pages and all; ends the program if there is none. */
void *field_memory(size_t count, size_t size);

/* The monotonic clock, and the time that this process has had of processors. */
uint64_t field_now_ns(void);
uint64_t field_cpu_ns(void);
void field_sleep_until(uint64_t ns);

/* How late each of n was, noted by the callback of any thread. */
struct field_record {
    uint64_t *asked_ns; /* when each should run */
    int64_t *late_ns;
    size_t n;
    _Atomic size_t count;
    _Atomic uint64_t last_ns; /* when the latest so far ran */
};

void field_record_open(struct field_record *record, size_t n);
void field_record_close(struct field_record *record);

static inline void field_record_note(struct field_record *record, uint32_t id)
{
    uint64_t now = field_now_ns();
    record->late_ns[id] = (int64_t)(now - record->asked_ns[id]);
    atomic_store_explicit(&record->last_ns, now, memory_order_relaxed);
    atomic_fetch_add_explicit(&record->count, 1, memory_order_release);
}

/* Say the percentiles, and how many were early. */
void field_record_print(const struct field_record *record);

/*
 * Time for libraries that ask the system for it: in virtual time they are told
 * so many milliseconds, and to sleep puts it forward at once, without a system
 * call.  What the benchmark itself asks is not touched.
 */
void field_time_is_virtual(bool is_virtual);
void field_set_time(uint64_t ms);
uint64_t field_time(void);

#endif
