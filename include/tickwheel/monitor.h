/*
 * monitor.h - report keys that were silent for too long: in real time, from any
 * thread.
 *
 * A monitor holds keys: of connections, sessions, devices.  Any thread touches
 * a key when it receives something from it.  If a key is not touched for its
 * limit, the monitor removes it and passes it to your function on_silent().  A
 * monitor is the tracker of idle.h in shards with a lock each.  It has no
 * thread: a service drives it.
 *
 *     static void hang_up(void *server, const struct tkw_idle_key *keys,
 *                         size_t count)
 *     {
 *         for (size_t i = 0; i < count; i++)
 *             disconnect(server, keys[i].key.number);
 *     }
 *
 *     struct tkw_monitor *monitor;
 *     struct tkw_monitor_config config = {
 *         .idle = {.limit_ns = 30 * TKW_SECOND},
 *         .on_silent = hang_up,
 *         .context = server,
 *     };
 *     int error = tkw_monitor_open(&monitor, service, &config);
 *
 *     tkw_monitor_touch(monitor, tkw_key_number(user));
 *     ...
 *     tkw_monitor_close(monitor);
 *
 * Promises, beyond those of idle.h:
 *   - each key is reported once, and then no longer held.  Touching it again
 *     adds it again;
 *   - on_silent() runs with no lock held.  It may call all functions but close;
 *   - a monitor without keys causes no wake-ups, but for a few that forgotten
 *     keys leave behind.
 *
 * Limits:
 *   - each shard allocates about 1.25 MB, most of it untouched while there are
 *     few keys;
 *   - if a wall clock is set back, keys are reported late.
 *
 * Threads: each function says *any thread* or *owner*.
 */
#ifndef TICKWHEEL_MONITOR_H
#define TICKWHEEL_MONITOR_H

#include <tickwheel/idle.h>
#include <tickwheel/service.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most keys that one call of on_silent() gets. */
#define TKW_SILENT_MAX 64

/*
 * Called with `count` silent keys, 1 to TKW_SILENT_MAX.  Their bytes are valid
 * until the function returns.  The executor of the configuration calls the
 * function.  An executor with several threads may call it in several of them at
 * once, for keys of different shards.
 */
typedef void tkw_on_silent(void *context, const struct tkw_idle_key *keys,
                           size_t count);

/* Zero means the default for every field but on_silent. */
struct tkw_monitor_config {
    struct tkw_idle_config idle; /* start_ns must be 0; any thread may call the
                                    allocator; keys_max is for all shards
                                    together */
    tkw_on_silent *on_silent;    /* required */
    void *context;               /* for on_silent */
    uint32_t shards;             /* 0: four for each processor, up to
                                    TKW_SHARDS_MAX */
    enum tkw_executor executor;  /* where on_silent runs; as for timers */
    uint64_t reserved[4];        /* must be 0 */
};

struct tkw_monitor;

/* Return a short static text that describes an error in `config`, or NULL if
 * there is none.  Only open checks that the service has the executor.  *Any
 * thread*. */
TKW_EXPORT const char *
tkw_monitor_config_fault(const struct tkw_monitor_config *config);

/*
 * Open a monitor on a service, which must outlive the monitor.  `config` must
 * not be NULL.  *Any thread*.
 *
 * Returns 0 and stores the monitor in `*monitor`, or leaves `*monitor` as it is
 * and returns
 *   -EINVAL     the configuration is wrong: see tkw_monitor_config_fault(); or
 *               the service does not have the executor;
 *   -ENOMEM     there is no memory;
 *   -EAGAIN     the service rejects the timers of the monitor, one for each
 *               shard;
 *   -ESHUTDOWN  the service was stopped.
 */
TKW_EXPORT int tkw_monitor_open(struct tkw_monitor **monitor,
                                struct tkw_service *service,
                                const struct tkw_monitor_config *config);

/*
 * Close the monitor: block until no on_silent() is running, then free all
 * memory.  on_silent() is not called for the keys that are left.  Close the
 * monitor before its service.  Do not hold a lock that on_silent() takes.
 * `monitor` may be NULL: the call does nothing.
 *
 * *Owner*: no other thread may use the monitor during the call or after it.  An
 * on_silent() that is still running may use it until it returns.
 *
 * Returns 0, or changes nothing and returns
 *   -EDEADLK  from inside on_silent or the callback of a walk.
 */
TKW_EXPORT int tkw_monitor_close(struct tkw_monitor *monitor);

/*
 * Add `key`, or if the monitor holds it, restart its limit.  *Any thread*.
 * Returns the values of tkw_idle_touch(), or
 *   -ESHUTDOWN  nothing has changed: the service was stopped.
 * After a stop no key is reported, even if the call succeeds.
 */
TKW_EXPORT int tkw_monitor_touch(struct tkw_monitor *monitor,
                                 struct tkw_key key);

/* Like tkw_monitor_touch(), but also set the limit of `key`: see
 * tkw_idle_touch_limit().  *Any thread*. */
TKW_EXPORT int tkw_monitor_touch_limit(struct tkw_monitor *monitor,
                                       struct tkw_key key, uint64_t limit_ns);

/* Touch `key` only if the monitor holds it.  Returns whether it does.  *Any
 * thread*. */
TKW_EXPORT bool tkw_monitor_refresh(struct tkw_monitor *monitor,
                                    struct tkw_key key);

/* Remove `key`.  Returns whether the monitor held it: if so, on_silent() does
 * not get it.  *Any thread*. */
TKW_EXPORT bool tkw_monitor_forget(struct tkw_monitor *monitor,
                                   struct tkw_key key);

/* Look `key` up.  Returns whether the monitor holds it, and if so, stores when
 * it was last touched and its limit in `*found` (may be NULL); `found->key` is
 * `key`.  *Any thread*. */
TKW_EXPORT bool tkw_monitor_query(struct tkw_monitor *monitor,
                                  struct tkw_key key,
                                  struct tkw_idle_key *found);

/*
 * Call `each` for all keys, in batches of up to TKW_SILENT_MAX, with no lock
 * held.  `each` may call all that on_silent() may.  The walk may miss keys that
 * are added meanwhile, may include keys that are removed meanwhile, and may
 * include twice keys that are removed and added again.  O(keys).  *Any thread*.
 */
TKW_EXPORT void tkw_monitor_walk(struct tkw_monitor *monitor,
                                 tkw_on_silent *each, void *context);

/* Return the number of keys.  Takes the lock of each shard in turn.  *Any
 * thread*. */
TKW_EXPORT size_t tkw_monitor_count(struct tkw_monitor *monitor);

/* Return the sum of the stats of all shards.  Takes the lock of each shard in
 * turn.  *Any thread*. */
TKW_EXPORT struct tkw_idle_stats
tkw_monitor_read_stats(struct tkw_monitor *monitor);

#ifdef __cplusplus
}
#endif

#endif
