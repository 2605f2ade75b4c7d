/*
 * sched_shared.h - what the scheduler's own tests share: two mutexes, two conds
 * and a few numbers, and how to say what must be found.
 */
#ifndef SCHED_SHARED_H
#define SCHED_SHARED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "os/sync.h"
#include "sched.h"

/* What the threads of a scenario share.  Each begins with it all zero. */
static struct {
    struct sync_mutex a, b;
    struct sync_cond cond;
    struct sync_cond never;
    unsigned counter;
    unsigned flag;
    bool is_woken;
} shared;

static inline void prepare(void)
{
    memset(&shared, 0, sizeof shared);
    sync_mutex_init(&shared.a);
    sync_mutex_init(&shared.b);
    tkw__sync_cond_init(&shared.cond);
    tkw__sync_cond_init(&shared.never);
}

static inline bool explore(void (*run)(void), unsigned bound,
                           struct sched_result *result)
{
    struct sched_scenario scenario = {"scenario", run, false};
    struct sched_options options = {.bound = bound};

    return sched_explore(&scenario, &options, result);
}

static inline void assert_finds(void (*run)(void), unsigned bound,
                                const char *what)
{
    struct sched_scenario scenario = {"scenario", run, false};
    struct sched_result result, again;

    assert_false(explore(run, bound, &result));
    assert_true(result.has_failed);
    assert_false(result.is_complete);
    if (strstr(result.what, what) == NULL)
        assert_string_equal(result.what, what);

    assert_false(sched_replay(&scenario, result.decisions, &again));
    assert_string_equal(again.what, result.what);
    assert_string_equal(again.decisions, result.decisions);
}

static inline void assert_finds_nothing(void (*run)(void), unsigned bound)
{
    struct sched_result result;
    bool is_fine = explore(run, bound, &result);

    assert_string_equal(result.what, "");
    assert_true(is_fine);
    assert_true(result.is_complete);
}

static inline void add_well(void *unused)
{
    (void)unused;
    sync_add_relaxed(&shared.counter, 1);
}

static inline void add_locked(void *unused)
{
    (void)unused;
    sync_lock(&shared.a);
    shared.counter++;
    sync_unlock(&shared.a);
}

static inline void await_inside(void *unused)
{
    (void)unused;
    sync_lock(&shared.a);
    while (sync_get_relaxed(&shared.flag) == 0)
        sync_wait(&shared.cond, &shared.a);
    sync_unlock(&shared.a);
}

#endif
