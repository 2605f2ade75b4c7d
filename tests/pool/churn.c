/*
 * pool/churn.c - timers armed and cancelled by the million: memory stays flat,
 * what is dead stays below what is armed, and nothing wakes in vain.
 *
 * A few thousand timers are pending at all times, a limit of 5 to 35 s ahead.
 * Each operation cancels a random one, long before it is due, and arms another
 * in its place; a millisecond passes every thousand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tickwheel/pool.h>

#include "../support/figures.h"

enum {
    PENDING = 5000,
    OPS_A_TICK = 1000,
    DELAY_LEAST = 5000,
    DELAY_SPREAD = 30000,
    SLOT_TICKS = 128, /* of level 2, in the default geometry */
    DEAD_SLACK = 8192,
};

struct churn {
    struct tkw_pool *pool;
    tkw_handle handles[PENDING];
    uint64_t seed;
    uint64_t wakes;
    uint64_t dead_most;
    uint64_t bytes_early; /* after half of all */
};

static uint64_t random_next(struct churn *churn)
{
    churn->seed ^= churn->seed << 13;
    churn->seed ^= churn->seed >> 7;
    churn->seed ^= churn->seed << 17;
    return churn->seed >> 16;
}

static void demand(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "pool_churn: not so: %s\n", what);
    exit(1);
}

static void arm(struct churn *churn, size_t i)
{
    tkw_tick deadline = tkw_pool_now(churn->pool) + DELAY_LEAST +
                        random_next(churn) % DELAY_SPREAD;
    demand(tkw_pool_arm(churn->pool, &churn->handles[i], deadline,
                        (struct tkw_user){.word = i}) == 0,
           "there is memory");
}

/* A tick goes by.  The sleeper is woken only if `next` had asked for it. */
static void pass_a_tick(struct churn *churn)
{
    struct tkw_pool_timer timer;
    tkw_tick now = tkw_pool_now(churn->pool) + 1;
    churn->wakes += tkw_pool_next(churn->pool) <= now;
    tkw_pool_advance(churn->pool, now);
    demand(!tkw_pool_pop(churn->pool, &timer), "nothing comes due");
}

static void check_dead(struct churn *churn)
{
    struct tkw_pool_stats stats = tkw_pool_read_stats(churn->pool);
    if (stats.dead > churn->dead_most)
        churn->dead_most = stats.dead;
    demand(stats.dead <= PENDING + DEAD_SLACK,
           "the dead are fewer than the armed, and a constant");
}

static void run(struct churn *churn, uint64_t ops)
{
    for (uint64_t op = 1; op <= ops; op++) {
        size_t i = (size_t)(random_next(churn) % PENDING);
        demand(tkw_pool_cancel(churn->pool, churn->handles[i]),
               "what is pending can be cancelled");
        arm(churn, i);
        check_dead(churn);
        if (op % OPS_A_TICK == 0)
            pass_a_tick(churn);
        if (op == ops / 2)
            churn->bytes_early = tkw_pool_read_stats(churn->pool).bytes;
    }
}

int main(int argc, char **argv)
{
    static struct churn churn = {.seed = 1};
    uint64_t ops = 100000000;
    if (argc == 3 && strcmp(argv[1], "--ops") == 0)
        ops = strtoull(argv[2], NULL, 10);
    else if (argc != 1)
        return fprintf(stderr, "usage: pool_churn [--ops N]\n") < 0 ? 1 : 2;

    demand(tkw_pool_open(&churn.pool, NULL) == 0, "a pool opens");
    for (size_t i = 0; i < PENDING; i++)
        arm(&churn, i);
    run(&churn, ops);

    struct tkw_pool_stats stats = tkw_pool_read_stats(churn.pool);
    uint64_t ticks = ops / OPS_A_TICK;
    struct tkw_fault fault;
    char text[TKW_FAULT_TEXT_MAX] = "";
    if (tkw_pool_find_fault(churn.pool, &fault))
        tkw_fault_describe(&fault, text, sizeof text);
    demand(text[0] == 0, text);
    demand(tkw_pool_count(churn.pool) == PENDING, "none is lost");
    demand(stats.bytes == churn.bytes_early, "memory is flat");
    demand(churn.wakes <= ticks / SLOT_TICKS + 1,
           "one wake-up at most for each slot of level 2");

    figures_begin("pool_churn");
    figures_count("timers armed and cancelled", ops);
    figures_count("timers pending", PENDING);
    figures_count("bytes from the middle of the run on", stats.bytes);
    figures_count("dead entries at most", churn.dead_most);
    figures_count("wake-ups", churn.wakes);
    figures_count("chunks swept", stats.sweeps);
    figures_end();
    tkw_pool_close(churn.pool);
    return 0;
}
