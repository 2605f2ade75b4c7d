/*
 * monitor.h - who has not been heard of for a while?  In real time, for any
 * thread.
 *
 * A monitor is the tracker of idle.h, in shards with a lock each, driven by a
 * service: touch keys from any thread; those gone silent are handed to your
 * function, in batches.
 *
 *     static void hang_up(void *server, const struct tkw_silent *silent,
 *                         size_t count)
 *     {
 *         for (size_t i = 0; i < count; i++)
 *             disconnect(server, silent[i].key.number);
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
 *   - a key is handed out once, and then no longer held: to touch it again adds
 *     it again, and touch says so;
 *   - on_silent runs with no lock held; it may call anything but close, and
 *     returns (no C++ exception gets out of it);
 *   - nothing wakes up while no key can have gone silent (but maybe once for a
 *     key that was forgotten).
 *
 * Each shard has about 1.25 MB, most of it untouched while there are few keys.
 * By the service's clock; a wall clock that is set back makes keys silent later
 * than they are.
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

/* The most keys that on_silent is given at once. */
#define TKW_SILENT_MAX 64

/*
 * Called with keys that have gone silent, 1 to TKW_SILENT_MAX of them; their
 * bytes are valid until it returns.  Where the configuration's executor has it
 * run; for several shards at once if that has several threads.
 */
typedef void tkw_on_silent(void *context, const struct tkw_silent *silent,
                           size_t count);

/* Zero means the default, but for on_silent. */
struct tkw_monitor_config {
    struct tkw_idle_config idle; /* its start_ns must be 0: it is now; its
                                    allocator must be fit for any thread; its
                                    keys_max is for all shards together */
    tkw_on_silent *on_silent;    /* must be given */
    void *context;               /* for on_silent */
    uint32_t shards;             /* up to TKW_SHARDS_MAX; 0: four for each
                                    processor, up to that */
    enum tkw_executor executor;  /* where on_silent runs; as for timers */
    uint64_t reserved[4];        /* must be 0 */
};

struct tkw_monitor;

/* Say what is wrong with a configuration, in a few words; NULL: nothing, in
 * itself: whether the service has the executor only open sees.  *Any
 * thread*. */
TKW_EXPORT const char *
tkw_monitor_config_fault(const struct tkw_monitor_config *config);

/*
 * Open a monitor on a service, which must outlive it.  The configuration must
 * be there: nobody can guess on_silent.  *Any thread*.
 *
 * Returns 0 and the monitor in `*monitor`, or with `*monitor` untouched:
 *   -EINVAL     something in the configuration is wrong: the function above
 *               says what; or the service does not have the executor;
 *   -ENOMEM     there is no memory;
 *   -EAGAIN     the service has as many timers as allowed: a monitor takes one
 *               a shard;
 *   -ESHUTDOWN  the service was stopped.
 */
TKW_EXPORT int tkw_monitor_open(struct tkw_monitor **monitor,
                                struct tkw_service *service,
                                const struct tkw_monitor_config *config);

/*
 * To be closed before its service is.  Wait until on_silent has returned, if it
 * is running; it will not be called again.  Then free the monitor, whatever it
 * holds.  NULL is fine.  Do not hold a lock that on_silent takes.
 *
 * *Owner*: meanwhile nobody else may use the monitor but an on_silent that is
 * still running, and nobody afterwards.  Returns 0, or -EDEADLK from inside
 * on_silent or the function of a walk, with nothing changed.
 */
TKW_EXPORT int tkw_monitor_close(struct tkw_monitor *monitor);

/*
 * Note that something was heard of `key` just now: add it, or refresh it.  *Any
 * thread*.  Returns what tkw_idle_touch() does; if a look has to come sooner
 * than planned, also -ESHUTDOWN: the service was stopped.  (From then on nobody
 * is found.)
 */
TKW_EXPORT int tkw_monitor_touch(struct tkw_monitor *monitor,
                                 struct tkw_key key);

/* The same with a limit of its own; see tkw_idle_touch_limit().  *Any
 * thread*. */
TKW_EXPORT int tkw_monitor_touch_limit(struct tkw_monitor *monitor,
                                       struct tkw_key key, uint64_t limit_ns);

/* Touch a key only if it is held.  Returns whether it is.  *Any thread*. */
TKW_EXPORT bool tkw_monitor_refresh(struct tkw_monitor *monitor,
                                    struct tkw_key key);

/* Let go of a key.  Returns whether it was held: if so, on_silent will not hear
 * of it.  *Any thread*. */
TKW_EXPORT bool tkw_monitor_forget(struct tkw_monitor *monitor,
                                   struct tkw_key key);

/* Tell how a key stands, in `*silent` (may be NULL), whose key is the one that
 * was asked for.  Returns whether it is held.  *Any thread*. */
TKW_EXPORT bool tkw_monitor_query(struct tkw_monitor *monitor,
                                  struct tkw_key key,
                                  struct tkw_silent *silent);

/*
 * Call `each` for every key that is held, in batches of up to TKW_SILENT_MAX,
 * with no lock held: it may do what on_silent may.  Keys that are added
 * meanwhile may be missed, and those that are let go of may still be told.
 * *Any thread*.
 */
TKW_EXPORT void tkw_monitor_walk(struct tkw_monitor *monitor,
                                 tkw_on_silent *each, void *context);

/* The keys that are held.  Takes the lock of each shard in turn.  *Any
 * thread*. */
TKW_EXPORT size_t tkw_monitor_count(struct tkw_monitor *monitor);

/* Of all shards together, a lock at a time.  *Any thread*. */
TKW_EXPORT struct tkw_idle_figures
tkw_monitor_counters(struct tkw_monitor *monitor);

#ifdef __cplusplus
}
#endif

#endif
