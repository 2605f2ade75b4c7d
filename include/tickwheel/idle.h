/*
 * idle.h - keys that have not been touched for a time limit.
 *
 * A tracker holds keys: of connections, sessions or devices.  You touch a key
 * whenever there is activity.  When a key was not touched for its limit,
 * tkw_idle_pop_silent() returns it, once, and the tracker no longer holds it.
 * A touch costs a search in a hash table and a store.  It does not move the
 * key's timer: when the timer expires, the tracker checks the key, and arms the
 * timer again if the key was touched.  A key is checked at most once per touch,
 * and about once per limit.  A tracker is for one thread (or one lock), and you
 * pass the time in.  monitor.h tracks keys in real time, for any thread.
 *
 *     struct tkw_idle *idle;
 *     struct tkw_idle_config config = {.limit_ns = 30 * TKW_SECOND};
 *     int error = tkw_idle_open(&idle, &config);
 *
 *     tkw_idle_touch(idle, tkw_key_number(user), now);
 *     ...
 *     struct tkw_idle_key keys[64];
 *     do {
 *         size_t count = tkw_idle_pop_silent(idle, keys, 64, now);
 *         for (size_t i = 0; i < count; i++)
 *             hang_up(keys[i].key.number);
 *     } while (tkw_idle_next(idle) <= now);
 *     sleep_until(tkw_idle_next(idle));
 *
 * (examples/chat_gateway.c is a whole program.)
 *
 * Promises:
 *   - never early: a key is popped when its limit has passed since its last
 *     touch, or later, by less than a tick if you call in time;
 *   - no stalls: touching or forgetting a key and each tkw_idle_pop_silent()
 *     take bounded time, however many keys there are.  Adding a key may copy an
 *     array of pointers, one for every 300 keys or so;
 *   - popping silent keys takes no memory and never fails.
 *
 * Times are nanoseconds since an origin that you choose.  UINT64_MAX means
 * never.  An empty tracker allocates about 1.25 MB, most of it untouched.  The
 * tracker keeps the memory for the largest number of keys that it held.
 *
 * Threads: *owner* - one thread at a time, for everything in this header that
 * does not say *any thread*.
 */
#ifndef TICKWHEEL_IDLE_H
#define TICKWHEEL_IDLE_H

#include <tickwheel/clock.h>
#include <tickwheel/key.h>
#include <tickwheel/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A limit that never passes.  A limit of more than 146 years does not pass,
 * either. */
#define TKW_NO_LIMIT UINT64_MAX

/* Zero means the default for every field: {0} is a good configuration. */
struct tkw_idle_config {
    uint64_t limit_ns; /* 0: 30 seconds; of keys without a limit of their own.
                          For a few seconds or less set tick_ns, too */
    uint64_t tick_ns;  /* 0: 100 ms; keys are popped late by less than this.
                          A short tick costs wake-ups, but no checks */
    uint64_t start_ns; /* the time at first */
    size_t keys_max;   /* 0: TKW_POOL_TIMERS_MAX; reject more keys */
    struct tkw_geometry geometry;          /* {0}: the default */
    const struct tkw_allocator *allocator; /* NULL: malloc and free; else it
                                              must outlive the tracker */
    uint64_t secret[2];   /* {0}: random, from the system; of the hash */
    uint64_t reserved[4]; /* must be 0 */
};

/* A key that the tracker holds, or that it has popped. */
struct tkw_idle_key {
    struct tkw_key key;
    uint64_t last_ns;  /* time of the last touch */
    uint64_t limit_ns; /* TKW_NO_LIMIT: none */
};

/* Counters of a tracker. */
struct tkw_idle_stats {
    uint64_t keys; /* held now */
    uint64_t added;
    uint64_t forgotten;
    uint64_t silent;  /* popped by tkw_idle_pop_silent() */
    uint64_t checks;  /* checks of keys whose timer expired ... */
    uint64_t refiles; /* ... and how many armed the timer again */
    uint64_t bytes;   /* allocated now */
};

struct tkw_idle;

/* Return a short static text that describes an error in `config`, or NULL if
 * there is none.  *Any thread*. */
TKW_EXPORT const char *
tkw_idle_config_fault(const struct tkw_idle_config *config);

/*
 * Open a tracker.  NULL means {0}.  *Any thread*.
 *
 * Returns 0 and stores the tracker in `*idle`, or leaves `*idle` as it is and
 * returns
 *   -EINVAL  the configuration is wrong: see tkw_idle_config_fault();
 *   -ENOMEM  there is no memory.
 */
TKW_EXPORT int tkw_idle_open(struct tkw_idle **idle,
                             const struct tkw_idle_config *config);

/* Close a tracker and free its memory, with all its keys.  `idle` may be NULL:
 * the call does nothing. */
TKW_EXPORT void tkw_idle_close(struct tkw_idle *idle);

/*
 * Touch `key` at `now_ns`.  A key that the tracker does not hold is added, with
 * the limit of the configuration.  For a key that it holds, the call cannot
 * fail: the limit stays, and `now_ns` becomes the last touch unless that is
 * later.
 *
 * Returns 1 if the key was added, 0 if the tracker held it; or changes nothing
 * and returns
 *   -EINVAL  the key has 2^31 bytes or more;
 *   -ENOMEM  there is no memory;
 *   -EAGAIN  the tracker holds `keys_max` keys.
 */
TKW_EXPORT int tkw_idle_touch(struct tkw_idle *idle, struct tkw_key key,
                              uint64_t now_ns);

/*
 * Like tkw_idle_touch(), but also set the limit of the key, even if `now_ns` is
 * before its last touch.  0 means the limit of the configuration, and
 * TKW_NO_LIMIT none.  If the key is due earlier than before, the call takes
 * memory: it may return -ENOMEM for a key that the tracker holds.
 */
TKW_EXPORT int tkw_idle_touch_limit(struct tkw_idle *idle, struct tkw_key key,
                                    uint64_t limit_ns, uint64_t now_ns);

/*
 * Touch `key` only if the tracker holds it, for packets that may arrive after
 * the key was popped or forgotten.  Never fails.  Returns whether the tracker
 * holds the key.
 */
TKW_EXPORT bool tkw_idle_refresh(struct tkw_idle *idle, struct tkw_key key,
                                 uint64_t now_ns);

/* Remove a key.  Returns whether the tracker held it. */
TKW_EXPORT bool tkw_idle_forget(struct tkw_idle *idle, struct tkw_key key);

/* Find `key`.  Returns true and stores the key, its last touch and its limit in
 * `*found` (may be NULL), or returns false if the tracker does not hold it. */
TKW_EXPORT bool tkw_idle_query(const struct tkw_idle *idle, struct tkw_key key,
                               struct tkw_idle_key *found);

/*
 * Advance the time to `now_ns`, and pop up to `count` keys that are silent: not
 * touched for their limit.  The tracker no longer holds them.  The bytes of
 * their keys stay valid until the next call of this function or of
 * tkw_idle_close().  A `now_ns` before that of the last call does not change
 * the time.
 *
 * Keys are in the order in which their limits passed, to a tick.  There is one
 * exception: a touch with an old time can add a key whose limit has passed
 * already.  Such a key comes after all keys that were silent at the time of the
 * last call.
 *
 * The call checks at most `count` keys.  So it may return fewer than are
 * silent: call again while tkw_idle_next() is not after `now_ns`.
 *
 * Returns the number of keys stored in `keys`.
 */
TKW_EXPORT size_t tkw_idle_pop_silent(struct tkw_idle *idle,
                                      struct tkw_idle_key *keys, size_t count,
                                      uint64_t now_ns);

/*
 * Return the time at which to call tkw_idle_pop_silent() next.  O(levels).  It
 * is
 *   - not after the time of the last call if that left work to do;
 *   - UINT64_MAX if there is nothing to do: no key that the tracker holds has a
 *     limit that passes, and no timer of a forgotten key is left to collect;
 *   - else the time at which the next key may be silent, or an earlier time.
 */
TKW_EXPORT uint64_t tkw_idle_next(const struct tkw_idle *idle);

/* Return the number of keys that the tracker holds. */
TKW_EXPORT size_t tkw_idle_count(const struct tkw_idle *idle);

/* Return the counters of the tracker. */
TKW_EXPORT struct tkw_idle_stats
tkw_idle_read_stats(const struct tkw_idle *idle);

/*
 * Visit every key that the tracker holds, in no particular order:
 *
 *     struct tkw_idle_cursor walk = {0};
 *     for (struct tkw_idle_key one; tkw_idle_walk(idle, &walk, &one);)
 *         printf("%llu\n", (unsigned long long)one.key.number);
 *
 * Returns true and stores the next key, or returns false at the end.  During
 * the walk you may touch, add, forget and pop keys.  The walk may miss keys
 * that are added meanwhile, and may visit a key twice that is removed and added
 * again.  The bytes of a key stay valid while the tracker holds it.
 */
struct tkw_idle_cursor {
    struct tkw_pool_cursor timers; /* private */
};

TKW_EXPORT bool tkw_idle_walk(const struct tkw_idle *idle,
                              struct tkw_idle_cursor *walk,
                              struct tkw_idle_key *found);

/*
 * Verify all invariants of the tracker, and return whether they hold; for tests
 * and debug assertions.  O(slots + keys).
 */
TKW_EXPORT bool tkw_idle_check(const struct tkw_idle *idle);

/*
 * Like tkw_idle_check(), but return true if an invariant is broken, and
 * describe the first one found in `*fault` (see base.h).  If none is broken,
 * `*fault` stays as it is.  Level and slot are those of the pool that holds the
 * tracker's timers.
 */
TKW_EXPORT bool tkw_idle_find_fault(const struct tkw_idle *idle,
                                    struct tkw_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
