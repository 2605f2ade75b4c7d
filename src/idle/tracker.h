/*
 * idle/tracker.h - functions of a tracker for the monitor: the calls of idle.h
 * for a caller that has computed the hash of a key.
 */
#ifndef TKW_IDLE_TRACKER_H
#define TKW_IDLE_TRACKER_H

#include <tickwheel/idle.h>

/* Return whether a tracker can hold `key`: it may have too many bytes. */
bool tkw__idle_is_key_sound(struct tkw_key key);

/* Return the hash of `key`, equal in all trackers of a monitor. */
uint64_t tkw__idle_hash(const struct tkw_idle *idle, struct tkw_key key);

/* Return the latest time passed to tkw_idle_pop_silent(). */
uint64_t tkw__idle_now_ns(const struct tkw_idle *idle);

/* Touch a key.  Returns whether the tracker holds it. */
bool tkw__idle_refresh(struct tkw_idle *idle, struct tkw_key key, uint64_t hash,
                       uint64_t now_ns);

/* tkw__idle_add() adds a key that the tracker does not hold.
 * tkw__idle_touch_limit() touches or adds a key, and sets its limit.  These
 * functions return what the calls of idle.h return. */
int tkw__idle_add(struct tkw_idle *idle, const struct tkw_idle_key *touched,
                  uint64_t hash);
int tkw__idle_touch_limit(struct tkw_idle *idle,
                          const struct tkw_idle_key *touched, uint64_t hash);
bool tkw__idle_forget(struct tkw_idle *idle, struct tkw_key key, uint64_t hash);
bool tkw__idle_query(const struct tkw_idle *idle, struct tkw_key key,
                     uint64_t hash, struct tkw_idle_key *silent);

/* Return the time at which tkw_idle_pop_silent() returns a key that was last
 * touched at `last_ns` and has the limit `limit_ns` (0: the default). */
uint64_t tkw__idle_due_ns(const struct tkw_idle *idle, uint64_t last_ns,
                          uint64_t limit_ns);

/* Between these two calls the bytes of visited keys stay valid, even if the
 * keys are removed. */
void tkw__idle_begin_walk(struct tkw_idle *idle);
void tkw__idle_end_walk(struct tkw_idle *idle);

#endif
