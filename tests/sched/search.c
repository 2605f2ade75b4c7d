/*
 * search.c - which schedules of a scenario to run.
 *
 * The exhaustive search is depth first.  There is no going back in a run, so it
 * begins each from the start: it does again what it did last time up to the
 * last choice that has an untried alternative, takes that, and from there on
 * the first choice each time, which is to go on.
 *
 * The random one draws for each schedule how it shall go: either threads have
 * priorities, and a few times the running one becomes the last (after
 * Burckhardt and others, "A Randomized Scheduler with Probabilistic Guarantees
 * of Finding Bugs"); or the running one is put aside once in so many steps.  To
 * toss a coin at each step would never let anybody get far ahead.
 */
#define _GNU_SOURCE

#include "sched.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "model/random.h"
#include "schedule.h"

#define STEPS_MAX_DEFAULT 20000
#define SCHEDULES_MAX_DEFAULT 10000000

/* A choice on the way of the exhaustive search. */
struct choice {
    uint32_t runnable;
    uint32_t untried; /* of the runnable */
    uint8_t current;
    uint8_t chosen;
};

struct search {
    const struct sched_scenario *scenario;
    struct sched_result *result;
    struct schedule schedule;
    uint64_t schedules_max;

    /* exhaustive */
    unsigned bound;
    unsigned preemption_count; /* so far in this run */
    struct choice *choices;
    uint32_t choice_count; /* to do again in this run, or made in the last */
    uint32_t choice_at;

    /* random */
    struct random random;
    bool has_priorities;
    uint32_t period;       /* steps between two switches */
    uint32_t pick_count;   /* so far in this run */
    uint32_t demotions[4]; /* counts of picks at which ... */
    uint32_t lowest;       /* ... one gets a priority below */
    uint32_t priorities[SCHED_THREADS_MAX];

    /* replay */
    uint8_t *plan;
    uint32_t plan_length;
};

/* For a crash that cannot be turned into a failure.  NULL: no search. */
static struct search *under_way;

static uint32_t bit(unsigned number)
{
    return UINT32_C(1) << number;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL) {
        perror("no memory for a search");
        exit(2);
    }
    return memory;
}

/* Write who went on how many times, as in "0*17 1*4". */
static void write_decisions(const struct schedule *schedule, char *text,
                            size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (uint32_t at = 0, next; at < schedule->step_count; at = next) {
        char run[32];

        for (next = at; next < schedule->step_count; next++)
            if (schedule->trace[next] != schedule->trace[at])
                break;
        int more =
            snprintf(run, sizeof run, "%s%u*%u", at > 0 ? " " : "",
                     (unsigned)schedule->trace[at], (unsigned)(next - at));
        if (more < 0 || length + (size_t)more + sizeof " ..." > size) {
            memcpy(text + length, " ...", sizeof " ...");
            return;
        }
        memcpy(text + length, run, (size_t)more + 1);
        length += (size_t)more;
    }
}

static void handle_signal(int number)
{
    if (schedule_is_running())
        schedule_fail("it crashed: %s", strsignal(number));
    signal(number, SIG_DFL);
    raise(number);
}

static void handle_death(void)
{
    if (under_way == NULL)
        return;
    struct sched_result *result = under_way->result;
    write_decisions(&under_way->schedule, result->decisions,
                    sizeof result->decisions);
    fprintf(stderr, "in %s; replay: --only %s --replay \"%s\"\n",
            under_way->scenario->name, under_way->scenario->name,
            result->decisions);
}

static void open_search(struct search *search,
                        const struct sched_scenario *scenario,
                        const struct sched_options *options,
                        struct sched_result *result)
{
    uint32_t steps_max =
        options->steps_max != 0 ? options->steps_max : STEPS_MAX_DEFAULT;

    *result = (struct sched_result){0};
    *search = (struct search){
        .scenario = scenario,
        .result = result,
        .schedule = {.run = scenario->run,
                     .context = search,
                     .steps_max = steps_max,
                     .trace = allocate(steps_max, 1)},
        .schedules_max = options->schedules_max != 0 ? options->schedules_max
                                                     : SCHEDULES_MAX_DEFAULT,
        .bound = options->bound,
        .choices = allocate(steps_max, sizeof(struct choice)),
        .plan = allocate(steps_max, 1),
    };
    under_way = search;
    crash_watch(handle_signal, handle_death);
}

static void close_search(struct search *search)
{
    crash_unwatch();
    under_way = NULL;
    free(search->schedule.trace);
    free(search->choices);
    free(search->plan);
}

/* Returns whether all was well. */
static bool run(struct search *search)
{
    struct schedule *schedule = &search->schedule;
    struct sched_result *result = search->result;

    schedule_run(schedule);
    result->schedule_count++;
    result->step_count += schedule->step_count;
    if (schedule->step_count > result->longest)
        result->longest = schedule->step_count;
    result->has_failed = schedule->has_failed;
    if (!schedule->has_failed)
        return true;
    snprintf(result->what, sizeof result->what, "%s", schedule->what);
    write_decisions(schedule, result->decisions, sizeof result->decisions);
    return false;
}

static void add_choice(struct search *search, unsigned current,
                       uint32_t runnable)
{
    bool can_go_on = (runnable & bit(current)) != 0;
    unsigned chosen = can_go_on ? current : (unsigned)__builtin_ctz(runnable);

    search->choices[search->choice_count++] =
        (struct choice){.runnable = runnable,
                        .untried = runnable & ~bit(chosen),
                        .current = (uint8_t)current,
                        .chosen = (uint8_t)chosen};
}

static unsigned pick_next(void *context, unsigned current, uint32_t runnable)
{
    struct search *search = context;
    bool can_go_on = (runnable & bit(current)) != 0;

    if (can_go_on && search->preemption_count == search->bound)
        return current;
    if (search->choice_at == search->choice_count)
        add_choice(search, current, runnable);

    const struct choice *choice = &search->choices[search->choice_at++];
    if (choice->current != current || choice->runnable != runnable)
        schedule_fail("the scenario is not deterministic: thread %u had %d "
                      "threads to choose from, now thread %u has %d",
                      (unsigned)choice->current,
                      __builtin_popcount(choice->runnable), current,
                      __builtin_popcount(runnable));
    search->preemption_count += can_go_on && choice->chosen != current;
    return choice->chosen;
}

/* Turn to the next schedule.  Returns whether there is one. */
static bool turn(struct search *search)
{
    while (search->choice_count > 0) {
        struct choice *choice = &search->choices[search->choice_count - 1];

        if (choice->untried != 0) {
            choice->chosen = (uint8_t)__builtin_ctz(choice->untried);
            choice->untried &= choice->untried - 1;
            return true;
        }
        search->choice_count--;
    }
    return false;
}

/* A run that comes to its end before its choices are all made again. */
static void notice_shortfall(struct search *search)
{
    struct sched_result *result = search->result;

    if (result->has_failed || search->choice_at == search->choice_count)
        return;
    result->has_failed = true;
    snprintf(result->what, sizeof result->what,
             "the scenario is not deterministic: it ended after %u of %u "
             "choices",
             (unsigned)search->choice_at, (unsigned)search->choice_count);
    write_decisions(&search->schedule, result->decisions,
                    sizeof result->decisions);
}

bool sched_explore(const struct sched_scenario *scenario,
                   const struct sched_options *options,
                   struct sched_result *result)
{
    struct search search;

    open_search(&search, scenario, options, result);
    search.schedule.pick = pick_next;
    do {
        if (result->schedule_count == search.schedules_max)
            break;
        search.choice_at = 0;
        search.preemption_count = 0;
        run(&search);
        notice_shortfall(&search);
        result->is_complete = !result->has_failed && !turn(&search);
    } while (!result->has_failed && !result->is_complete);
    close_search(&search);
    return !result->has_failed;
}

static unsigned most_important(const struct search *search, uint32_t runnable)
{
    unsigned best = (unsigned)__builtin_ctz(runnable);

    for (uint32_t left = runnable; left != 0; left &= left - 1) {
        unsigned number = (unsigned)__builtin_ctz(left);
        if (search->priorities[number] > search->priorities[best])
            best = number;
    }
    return best;
}

/* Now and then without having been drawn: nobody is to starve the rest. */
static bool is_demotion(const struct search *search)
{
    for (size_t i = 0; i < 4; i++)
        if (search->pick_count == search->demotions[i])
            return true;
    return search->pick_count % 1000 == 0;
}

static unsigned pick_at_random(void *context, unsigned current,
                               uint32_t runnable)
{
    struct search *search = context;
    bool can_go_on = (runnable & bit(current)) != 0;

    search->pick_count++;
    if (search->has_priorities) {
        if (is_demotion(search))
            search->priorities[current] = search->lowest--;
        return most_important(search, runnable);
    }
    if (can_go_on && random_below(&search->random, search->period) != 0)
        return current;
    if (can_go_on)
        runnable &= ~bit(current);
    for (uint32_t skip = random_below(&search->random,
                                      (uint32_t)__builtin_popcount(runnable));
         skip > 0; skip--)
        runnable &= runnable - 1;
    return (unsigned)__builtin_ctz(runnable);
}

/*
 * Draw how the next schedule shall go.  Nothing but the seed may have a say, or
 * the seed alone would not replay it: so the length of a run is guessed anew.
 */
static void draw(struct search *search, uint64_t seed)
{
    search->random.state = seed;
    search->has_priorities = random_percent(&search->random, 50);
    search->period = UINT32_C(2) << random_below(&search->random, 6);
    search->pick_count = 0;

    uint32_t length = UINT32_C(8) << random_below(&search->random, 9);
    for (size_t i = 0; i < 4; i++)
        search->demotions[i] = 1 + random_below(&search->random, length);
    search->lowest = UINT32_C(1) << 16;
    for (size_t i = 0; i < SCHED_THREADS_MAX; i++)
        search->priorities[i] =
            search->lowest + 1 + random_below(&search->random, 1U << 30);
}

bool sched_random(const struct sched_scenario *scenario,
                  const struct sched_options *options,
                  struct sched_result *result)
{
    struct search search;
    bool is_fine = true;

    open_search(&search, scenario, options, result);
    search.schedule.pick = pick_at_random;
    for (uint64_t i = 0; is_fine && i < search.schedules_max; i++) {
        /* Any odd factor but that of the generator, which steps by it. */
        result->seed = options->seed + i * UINT64_C(0xd1342543de82ef95);
        draw(&search, result->seed);
        is_fine = run(&search);
    }
    close_search(&search);
    return is_fine;
}

/* Read "N*M" into the plan; returns what follows, or NULL if that is wrong. */
static const char *read_run(struct search *search, const char *text)
{
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return NULL;
    unsigned long number = strtoul(text, &end, 10);
    if (end[0] != '*' || !isdigit((unsigned char)end[1]))
        return NULL;
    unsigned long length = strtoul(end + 1, &end, 10);
    if (number >= SCHED_THREADS_MAX ||
        length > search->schedule.steps_max - search->plan_length)
        return NULL;
    memset(search->plan + search->plan_length, (int)number, length);
    search->plan_length += (uint32_t)length;
    return end + strspn(end, " ");
}

static unsigned pick_as_planned(void *context, unsigned current,
                                uint32_t runnable)
{
    struct search *search = context;
    uint32_t at = search->schedule.step_count;
    bool can_go_on = (runnable & bit(current)) != 0;

    if (at >= search->plan_length)
        return can_go_on ? current : (unsigned)__builtin_ctz(runnable);
    if ((runnable & bit(search->plan[at])) == 0)
        schedule_fail("cannot be replayed: thread %u cannot go on at step %u",
                      (unsigned)search->plan[at], (unsigned)at);
    return search->plan[at];
}

/* Where only one could go on nobody was asked: compare those as well. */
static void compare_to_plan(struct search *search)
{
    struct sched_result *result = search->result;
    const struct schedule *schedule = &search->schedule;
    uint32_t at = 0;

    while (at < schedule->step_count && at < search->plan_length &&
           schedule->trace[at] == search->plan[at])
        at++;
    if (at == search->plan_length ||
        (at == schedule->step_count && result->has_failed))
        return;
    result->has_failed = true;
    snprintf(result->what, sizeof result->what,
             "cannot be replayed: the run is another from step %u on",
             (unsigned)at);
}

bool sched_replay(const struct sched_scenario *scenario, const char *decisions,
                  struct sched_result *result)
{
    struct search search;
    const char *left = decisions;

    open_search(&search, scenario, &(struct sched_options){0}, result);
    search.schedule.pick = pick_as_planned;
    while (left != NULL && left[0] != '\0')
        left = read_run(&search, left);
    if (left != NULL) {
        run(&search);
        compare_to_plan(&search);
    } else {
        result->has_failed = true;
        snprintf(result->what, sizeof result->what,
                 "these are no decisions: \"%.400s\"", decisions);
    }
    close_search(&search);
    return !result->has_failed;
}
