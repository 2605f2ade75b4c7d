/*
 * idle.h - who has not been heard of for a while?
 *
 * A tracker holds keys: connections, sessions, devices.  Whenever something is
 * heard of one you touch it; when nothing was for its limit, it is handed to
 * you, once, and no longer held.  To touch costs a look into a hash table and a
 * store: the timer behind the key is not moved, but when it comes round it
 * looks whether the key was touched, and goes on for as long as that leaves: at
 * most one look per touch, and for keys touched all the time, one per limit.
 * For one thread (or one lock); time is passed in.  monitor.h is the same in
 * real time, for any thread.
 *
 *     struct tkw_idle *idle;
 *     struct tkw_idle_config config = {.limit_ns = 30 * TKW_SECOND};
 *     int error = tkw_idle_open(&idle, &config);
 *
 *     tkw_idle_touch(idle, tkw_key_number(user), now);
 *     ...
 *     struct tkw_silent silent[64];
 *     do {
 *         size_t count = tkw_idle_expired(idle, silent, 64, now);
 *         for (size_t i = 0; i < count; i++)
 *             hang_up(silent[i].key.number);
 *     } while (tkw_idle_next(idle) <= now);
 *     sleep_until(tkw_idle_next(idle));
 *
 * (examples/chat_gateway.c is a whole program.)
 *
 * Promises:
 *   - never early: no key is handed out before its limit has passed since it
 *     was last touched; and by less than a tick later, if you ask in time;
 *   - no stalls: touching and forgetting keys take bounded time, however many
 *     there are, and so does each call of expired(); adding one may copy a list
 *     of pointers, one for every 300 keys or so;
 *   - looking for the silent takes no memory and never fails.
 *
 * Times are nanoseconds since whenever you like; UINT64_MAX is never, and not a
 * time.  An empty tracker has about 1.25 MB, most of it untouched.  Memory is
 * kept for as many keys as there were at most.
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

/* A limit that never passes, for keys that are only to be held.  (One of more
 * than 146 years is the same.) */
#define TKW_NO_LIMIT UINT64_MAX

/* Zero means the default, everywhere: {0} is a good configuration. */
struct tkw_idle_config {
    uint64_t limit_ns; /* of keys that have none of their own; 0: 30 seconds.
                          For one below a few seconds set tick_ns as well */
    uint64_t tick_ns;  /* be late by less than this; 0: 100 ms.  Shorter ones
                          cost more wake-ups, not more looks */
    uint64_t start_ns; /* where time stands at first */
    size_t keys_max;   /* refuse to hold more; 0: TKW_POOL_TIMERS_MAX */
    struct tkw_geometry geometry;          /* {0}: the default */
    const struct tkw_allocator *allocator; /* NULL: malloc and free; else it
                                              must outlive the tracker */
    uint64_t secret[2];   /* of the hash; {0}: random, as the system gives it */
    uint64_t reserved[4]; /* must be 0 */
};

/* A key, and how it stands. */
struct tkw_silent {
    struct tkw_key key;
    uint64_t last_ns;  /* when it was last touched */
    uint64_t limit_ns; /* of silence; TKW_NO_LIMIT: none */
};

/* What a tracker has done, and what it holds. */
struct tkw_idle_figures {
    uint64_t keys;
    uint64_t added;
    uint64_t forgotten;
    uint64_t expired; /* handed out by expired() */
    uint64_t looks;   /* at keys whose timer came round ... */
    uint64_t refiles; /* ... of these, that had been touched meanwhile */
    uint64_t bytes;   /* allocated now */
};

struct tkw_idle;

/* Say what is wrong with a configuration, in a few words; NULL: nothing.
 * *Any thread*. */
TKW_EXPORT const char *
tkw_idle_config_fault(const struct tkw_idle_config *config);

/*
 * Open a tracker.  NULL is the configuration {0}.  *Any thread*.
 *
 * Returns 0 and the tracker in `*idle`, or with `*idle` untouched:
 *   -EINVAL  something in the configuration is wrong: the function above says
 *            what;
 *   -ENOMEM  there is no memory.
 */
TKW_EXPORT int tkw_idle_open(struct tkw_idle **idle,
                             const struct tkw_idle_config *config);

/* Free all memory of a tracker, whatever it holds: iterate before if you must
 * know.  NULL is fine. */
TKW_EXPORT void tkw_idle_close(struct tkw_idle *idle);

/*
 * Note that something was heard of `key` at `now_ns`: add it, with the common
 * limit, or refresh it, its limit staying what it is.  An earlier time than
 * that of another touch changes nothing.
 *
 * Returns 1 if the key was added, 0 if it was held already, or with nothing
 * changed:
 *   -EINVAL  the key has too many bytes;
 *   -ENOMEM  there is no memory;
 *   -EAGAIN  as many keys as allowed are held.
 * Refreshing a key never fails.
 */
TKW_EXPORT int tkw_idle_touch(struct tkw_idle *idle, struct tkw_key key,
                              uint64_t now_ns);

/*
 * The same, and give the key a limit of its own from now on, whatever the time;
 * 0: the common one, TKW_NO_LIMIT: none.  A shorter limit takes memory, so
 * -ENOMEM can be the answer for a key that is held.
 */
TKW_EXPORT int tkw_idle_touch_limit(struct tkw_idle *idle, struct tkw_key key,
                                    uint64_t limit_ns, uint64_t now_ns);

/*
 * Touch a key only if it is held: for packets that may come after it was handed
 * out or forgotten.  Never fails.  Returns whether it is held.
 */
TKW_EXPORT bool tkw_idle_refresh(struct tkw_idle *idle, struct tkw_key key,
                                 uint64_t now_ns);

/* Let go of a key.  Returns whether it was held. */
TKW_EXPORT bool tkw_idle_forget(struct tkw_idle *idle, struct tkw_key key);

/* Tell how a key stands, in `*silent` (may be NULL).  Returns whether it is
 * held. */
TKW_EXPORT bool tkw_idle_query(const struct tkw_idle *idle, struct tkw_key key,
                               struct tkw_silent *silent);

/*
 * Move time forward to `now_ns`, and hand out keys that have gone silent, up to
 * `count` of them, those first whose limit passed first (to a tick); last, and
 * in that order, those whose limit had passed already when they were touched.
 * They are no longer held.  The bytes of their keys stay valid until the next
 * call of this or close.
 *
 * Looks at no more than `count` keys, and does little work besides, so it may
 * hand out fewer than there are: more are to come as long as tkw_idle_next() is
 * not after `now_ns`.  Time that goes back stands still.
 *
 * Returns how many were handed out.
 */
TKW_EXPORT size_t tkw_idle_expired(struct tkw_idle *idle,
                                   struct tkw_silent *silent, size_t count,
                                   uint64_t now_ns);

/*
 * Tell when to call tkw_idle_expired() next: when the next key may have gone
 * silent, or before.  Not after the time of the last call while that is
 * unfinished; UINT64_MAX if there is nothing to look at.  O(levels).
 */
TKW_EXPORT uint64_t tkw_idle_next(const struct tkw_idle *idle);

/* The keys that are held. */
TKW_EXPORT size_t tkw_idle_count(const struct tkw_idle *idle);

TKW_EXPORT struct tkw_idle_figures
tkw_idle_counters(const struct tkw_idle *idle);

/*
 * Visit every key that is held, in no particular order:
 *
 *     struct tkw_idle_cursor walk = {0};
 *     for (struct tkw_silent one; tkw_idle_walk(idle, &walk, &one);)
 *         printf("%llu\n", (unsigned long long)one.key.number);
 *
 * Meanwhile keys may be touched, forgotten, added and taken out as expired: new
 * ones may be missed, and one that went and came again may be told twice.  The
 * bytes of a key stay valid while it is held.
 */
struct tkw_idle_cursor {
    struct tkw_pool_cursor timers; /* private */
};

TKW_EXPORT bool tkw_idle_walk(const struct tkw_idle *idle,
                              struct tkw_idle_cursor *walk,
                              struct tkw_silent *silent);

/*
 * Walk everything and say whether it is as it must be: for tests and for
 * assertions of the suspicious.  O(slots + keys).
 */
TKW_EXPORT bool tkw_idle_check(const struct tkw_idle *idle);

#ifdef __cplusplus
}
#endif

#endif
