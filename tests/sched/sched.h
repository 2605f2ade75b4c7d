/*
 * sched.h - run threads in every order, and in the same order again.
 *
 * The threads of a scenario are coroutines of one thread of the system.  Code
 * built with sync_scheduled.h hands over only where it locks, unlocks, waits,
 * broadcasts, starts, joins, or touches an atomic: so a list of who went on at
 * each of these steps is the whole story of a run.  A search tries such lists;
 * one that fails is printed and can be replayed.
 *
 *     static void two_arm_at_once(void)
 *     {
 *         struct tkw_pool *pool = ...;
 *         unsigned other = sched_spawn(arm_one, pool);
 *         arm_one(pool);
 *         sched_join(other);
 *         sched_require(tkw_pool_count(pool) == 2);
 *         ...
 *     }
 *
 *     static const struct sched_scenario scenarios[] = {
 *         {"two_arm_at_once", two_arm_at_once, false},
 *     };
 *
 *     int main(int count, char **texts)
 *     {
 *         return sched_main(count, texts,
 *                           &(struct sched_program){.scenarios = scenarios,
 *                                                   .scenario_count = 1});
 *     }
 *
 * A schedule fails when sched_require() does; when all threads are blocked for
 * good; when it does not end; when an assertion fails or memory is touched that
 * is not there; when a mutex or cond is misused: unlocked by another than its
 * holder, locked twice, destroyed in use, used after that, held at the end of a
 * thread; and when a thread is not joined.
 *
 * What it does not show.  Memory is sequentially consistent here: an ordering
 * that is too weak goes unnoticed.  A cond never wakes anybody for nothing.
 * Time stands still while anybody can run, so a timeout never comes before a
 * broadcast that is on its way.  A loop that spins until another thread has
 * done something looks like one that does not end.
 *
 * A scenario must do the same again when scheduled the same: no addresses, real
 * time or random numbers may steer it, and what it leaves behind in static
 * memory must not either.  A failed schedule is dropped where it stands, and
 * what it has allocated is lost.
 *
 * Threads: none but the one that searches; it does one search at a time.
 */
#ifndef SCHED_SCHED_H
#define SCHED_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_THREADS_MAX 32 /* in one schedule, all it ever starts */

struct sched_scenario {
    const char *name;
    void (*run)(void); /* thread 0 */
    bool is_broken;    /* has a bug on purpose: not to find it is the failure */
};

struct sched_options {
    unsigned bound;         /* preemptions per schedule; see sched_explore() */
    uint32_t steps_max;     /* more, and it does not end; 0 means 20,000 */
    uint64_t schedules_max; /* 0 means 10 million */
    uint64_t seed;          /* of the first schedule; see sched_random() */
};

struct sched_result {
    uint64_t schedule_count;
    uint64_t step_count;   /* of all schedules */
    uint32_t longest;      /* steps of the longest schedule */
    bool is_complete;      /* no schedule is left to try */
    bool has_failed;       /* the last schedule did; if so: */
    uint64_t seed;         /* of that schedule, if random */
    char what[512];        /* went wrong */
    char decisions[16384]; /* for sched_replay(); too long a list is cut off and
                            * ends in "..." */
};

/*
 * Run a scenario in every order in which threads that could have gone on are
 * put aside at most `bound` times.  When a thread blocks or ends, each of the
 * others is tried, and that is free.  Few preemptions find most bugs, and the
 * number of schedules grows with the steps to the power of the bound.
 *
 * This and the following two stop at the first failure, and return whether
 * there was none.
 */
bool sched_explore(const struct sched_scenario *scenario,
                   const struct sched_options *options,
                   struct sched_result *result);

/*
 * Run a scenario in `schedules_max` random orders.  Each has its own seed, the
 * first has the given one: so one schedule from the seed of a failure is that
 * failure.
 */
bool sched_random(const struct sched_scenario *scenario,
                  const struct sched_options *options,
                  struct sched_result *result);

/*
 * Run a scenario once.  "0*17 1*4" lets thread 0 go on at the first 17 steps,
 * then thread 1 at 4; after that, whoever runs goes on until it blocks.  A list
 * that cannot be read, or that the scenario cannot follow, is a failure.
 */
bool sched_replay(const struct sched_scenario *scenario, const char *decisions,
                  struct sched_result *result);

struct sched_program {
    const char *figures_of; /* names the figures; NULL: print none */
    const struct sched_scenario *scenarios;
    size_t scenario_count;
};

/*
 * Run the program with the options in `texts`, which --help lists.  Returns the
 * exit status.  A run that succeeds ends with a line of figures, unless it
 * replays one schedule; see support/figures.h.
 */
int sched_main(int count, char **texts, const struct sched_program *program);

/* The rest is for scenarios, while they run. */

/* Start a thread.  It must be joined, once.  Returns its number. */
unsigned sched_spawn(void (*run)(void *), void *argument);
void sched_join(unsigned number);

/* The time of the clock that tkw__sync_wait_until() waits by, in ns from 0. */
uint64_t sched_now(void);

/* Fail the schedule unless the condition holds. */
#define sched_require(condition) \
    ((condition) ? (void)0 : sched_fail(__FILE__, __LINE__, #condition))

_Noreturn void sched_fail(const char *file, int line, const char *text);

#endif
