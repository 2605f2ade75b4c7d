/*
 * idle/tracker.h - what a tracker does for the monitor: the calls of idle.h for
 * a caller that knows the hash of a key already.
 */
#ifndef TKW_IDLE_TRACKER_H
#define TKW_IDLE_TRACKER_H

#include <tickwheel/idle.h>

/* Whether a key can be held at all: its bytes may be too many. */
bool tkw__idle_is_key_sound(struct tkw_key key);

/* The hash of a key.  The trackers of a monitor hash alike. */
uint64_t tkw__idle_hash(const struct tkw_idle *idle, struct tkw_key key);

/* The latest time that was passed to tkw_idle_expired(). */
uint64_t tkw__idle_now_ns(const struct tkw_idle *idle);

/* Touch a key.  Returns whether it is held. */
bool tkw__idle_refresh(struct tkw_idle *idle, struct tkw_key key, uint64_t hash,
                       uint64_t now_ns);

/* Touch a key that is not held, or one that may be, and give it a limit.  They
 * return what the calls of idle.h do. */
int tkw__idle_add(struct tkw_idle *idle, const struct tkw_silent *wish,
                  uint64_t hash);
int tkw__idle_touch_limit(struct tkw_idle *idle, const struct tkw_silent *wish,
                          uint64_t hash);
bool tkw__idle_forget(struct tkw_idle *idle, struct tkw_key key, uint64_t hash);
bool tkw__idle_query(const struct tkw_idle *idle, struct tkw_key key,
                     uint64_t hash, struct tkw_silent *silent);

/* The time at which tkw_idle_expired() returns a key that was last touched at
 * `last_ns` and has the limit `limit_ns` (0: the common one). */
uint64_t tkw__idle_due_ns(const struct tkw_idle *idle, uint64_t last_ns,
                          uint64_t limit_ns);

/* Between these two calls the bytes of keys that are visited stay, whatever
 * becomes of the keys. */
void tkw__idle_begin_walk(struct tkw_idle *idle);
void tkw__idle_end_walk(struct tkw_idle *idle);

#endif
