/*
 * support/idle.h - what the tests of the tracker and of the monitor share:
 * trackers on the memory of a ledger, keys of both kinds by their number,
 * touching without ceremony, what must hold at any moment; and a monitor on a
 * clock that is turned by hand, that writes down what it tells.
 */
#ifndef TESTS_SUPPORT_IDLE_H
#define TESTS_SUPPORT_IDLE_H

#include "pool.h"
#include "service.h"

#include <tickwheel/monitor.h>

/* The limit where none is said. */
#define DEFAULT_LIMIT (30 * TKW_SECOND)

/* A tracker on the ledger's memory; idle_done() closes it, and the ledger must
   be even then. */
struct tkw_idle *idle_of(struct ledger *ledger, struct tkw_idle_config config);
void idle_done(struct ledger *ledger, struct tkw_idle *idle);

/* One with a tick and a limit, nothing else said. */
struct tkw_idle *idle_with(struct ledger *ledger, uint64_t tick_ns,
                           uint64_t limit_ns);

/* What must hold at any moment: its own check; every key had one beginning, and
   has had at most one end; each look has found a silent key or filed anew. */
void assert_idle_sound(const struct tkw_idle *idle);

/* The same kind of key, and the same number or bytes. */
bool is_same_key(struct tkw_key a, struct tkw_key b);

/*
 * The i-th of many different keys: numbers and bytes in turn, no bytes at all
 * among them, numbers that are the lengths of others, zeros inside.  The bytes
 * are there until the next call.  And back: it must be one of these, to the
 * last byte.
 */
struct tkw_key mixed_key(uint32_t i);
uint32_t mixed_index(struct tkw_key key);

/* Touch a key that is not held yet; or one that is. */
void idle_add(struct tkw_idle *idle, struct tkw_key key, uint64_t now);
void idle_refresh(struct tkw_idle *idle, struct tkw_key key, uint64_t now);

/* It is held, and this is how it stands; or it is not held. */
void assert_stands(const struct tkw_idle *idle, struct tkw_key key,
                   uint64_t last, uint64_t limit);
void assert_not_held(const struct tkw_idle *idle, struct tkw_key key);

/* Whether the last call of tkw_idle_pop_silent(), for `now`, has left something
 * to do. */
bool is_unfinished(const struct tkw_idle *idle, uint64_t now);

/*
 * Take all that is silent by `now`, a few a call, to the last; there must be
 * room for them.  Returns how many.  (For keys that are numbers: the bytes of
 * others do not last.)
 */
size_t idle_take(struct tkw_idle *idle, uint64_t now,
                 struct tkw_idle_key *silent, size_t room);

/* All that is silent by `now` is nothing; or the one key, as it stands. */
void assert_none_silent(struct tkw_idle *idle, uint64_t now);
void assert_one_silent(struct tkw_idle *idle, uint64_t now, uint64_t number);

/* Sleep until `next` as often as it takes, and take what is silent, until a key
   is found or nothing is left to wake for.  Returns the time then. */
uint64_t idle_sleep(struct tkw_idle *idle, struct tkw_idle_key *silent,
                    size_t *wakes);

/* When the clock of a stage begins; what its monitor has for limit and tick. */
#define START UINT64_C(1000000)
#define LIMIT UINT64_C(1000)
#define TICK UINT64_C(100)

enum { REPORTED_MAX = 1000 };

/* A monitor on a service, and all that it has told. */
struct stage {
    struct scene scene;
    struct account account; /* the monitor's memory */
    struct tkw_monitor *monitor;
    struct tkw_idle_key reported[REPORTED_MAX]; /* their bytes are gone ... */
    uint32_t index[REPORTED_MAX]; /* ... so here is which they were */
    size_t count;
    size_t batches;
    bool is_wrong; /* a batch of no size, an early key, what act() minds */
    void (*act)(struct stage *stage, const struct tkw_idle_key *silent,
                size_t count); /* called in on_silent */
    int answer;                /* for act() to leave something behind */
};

/* A service only, with a tick of 10 and what is said in `config`; or with a
   monitor, on a service without a driver. */
void stage_set(struct stage *stage, struct tkw_service_config config);
void stage_open(struct stage *stage, uint32_t shards);

/* A monitor's configuration: limit, tick, one shard, the stage's memory. */
struct tkw_monitor_config stage_config(struct stage *stage);
void stage_open_monitor(struct stage *stage, struct tkw_monitor_config config);

/* See what must hold at rest, close all, and see that nothing is left. */
void stage_close(struct stage *stage);

/* Set the clock to so long after the start and let all happen.  Returns how
   many keys were told. */
size_t stage_go(struct stage *stage, uint64_t after_start);

/* Add these keys, which must not be held. */
void stage_add(struct stage *stage, uint32_t first, uint32_t count);

#endif
