/*
 * schedule.h - one run of a scenario; between sched.c, which runs it, and
 * search.c, which says who goes on.
 */
#ifndef SCHED_SCHEDULE_H
#define SCHED_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#define SCHEDULE_WHAT_MAX 512

struct schedule {
    void (*run)(void);
    /*
     * Choose one of the runnable, a set of at least two by number.  It may not
     * hold `current`, who did the last step.  This runs on the stack of a
     * thread, and may fail.
     */
    unsigned (*pick)(void *context, unsigned current, uint32_t runnable);
    void *context;
    uint32_t steps_max;
    uint8_t *trace; /* who went on at each step */

    /* What came of it. */
    uint32_t step_count;
    bool has_failed;
    char what[SCHEDULE_WHAT_MAX];
};

void schedule_run(struct schedule *schedule);

/* Is one being run? */
bool schedule_is_running(void);

/* End the run, from inside it. */
_Noreturn void schedule_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
