/*
 * idle/monitor.c - a tracker for any thread: shards by key, each a tracker with
 * a lock, and a timer of a service that calls report_silent() when the shard's
 * next key may have gone silent.
 *
 *     touch, forget, query          the service
 *          |  hash of the key          |
 *          v                           v
 *     +---------+  +---------+     report_silent(): pops a batch and arms the
 *     | shard 0 |  | shard 1 | ... timer for the next one, under the lock;
 *     +---------+  +---------+     then calls on_silent, without the lock
 *
 * A shard's timer is always armed, for `wake_ns`: never, if no key can go
 * silent.  It is moved only under the shard's lock, by report_silent() or by a
 * thread that adds a key that may go silent earlier; so `wake_ns` is the time
 * that the service has.  The timer repeats, after centuries: the service
 * reserves memory for a timer that repeats, so that report_silent() can always
 * arm it again.  Moving it to an earlier time may fail for lack of memory, so
 * wake_by() does that first; if it fails, the key is not added.  If the timer
 * fires too early, report_silent() finds no key.
 *
 * Locks: a thread takes a shard's lock before any of the service's, and never
 * two shards'.
 */
#include <tickwheel/monitor.h>

#include <errno.h>
#include <string.h>

#include "base/allocator.h"
#include "base/assertion.h"
#include "keys/hash.h"
#include "os/frame.h"
#include "os/lock_order.h"
#include "os/processors.h"
#include "tracker.h"

#define CENTURIES (UINT64_C(1) << 62)

/* Shards by default: SHARDS_EACH for each processor, so that two threads seldom
 * need one lock, and SHARDS_MAX at most. */
enum { SHARDS_EACH = 4, SHARDS_MAX = TKW_SHARDS_MAX };

struct monitor_shard {
    struct sync_mutex mutex; /* guards `wake_ns` and `idle` */
    struct tkw_monitor *monitor;
    tkw_handle timer;
    uint64_t wake_ns; /* the time that the timer is armed for */
    struct tkw_idle *idle;
    char padding[64]; /* the next shard's lock is on another cache line */
};

struct tkw_monitor {
    struct tkw_service *service;
    const struct tkw_allocator *allocator;
    tkw_on_silent *on_silent;
    void *context;
    size_t keys_max; /* 0: no limit */
    size_t keys;     /* counted only if there is a limit */
    uint32_t shard_count;
    struct monitor_shard shards[];
};

static void monitor_shard_lock(struct monitor_shard *shard)
{
    order_lock(&shard->mutex, ORDER_MONITOR);
}

static void monitor_shard_unlock(struct monitor_shard *shard)
{
    order_unlock(&shard->mutex, ORDER_MONITOR);
}

const char *tkw_monitor_config_fault(const struct tkw_monitor_config *config)
{
    if (config == NULL)
        return "config is NULL; set at least on_silent";
    const char *fault = tkw__config_fault(config->reserved, NULL);
    if (fault != NULL)
        return fault;
    if (config->on_silent == NULL)
        return "on_silent is NULL; set it";
    if (config->shards > TKW_SHARDS_MAX)
        return "shards is more than 16";
    if ((unsigned)config->executor > TKW_BY_SUBMIT)
        return "executor is not a value of enum tkw_executor";
    if (config->idle.start_ns != 0)
        return "idle.start_ns is not 0; the monitor sets the start";
    return tkw_idle_config_fault(&config->idle);
}

/*
 * Count a key in, if there is a limit.  Returns false if there are `keys_max`.
 * Keys are counted out under the lock under which they are removed: a thread
 * that gets false has seen `keys_max` keys.
 */
static bool count_in(struct tkw_monitor *monitor)
{
    if (monitor->keys_max == 0)
        return true;
    size_t keys = sync_get_relaxed(&monitor->keys);
    do
        if (keys >= monitor->keys_max)
            return false;
    while (!sync_replace_ordered(&monitor->keys, &keys, keys + 1));
    return true;
}

static void count_out(struct tkw_monitor *monitor, size_t count)
{
    if (monitor->keys_max != 0)
        sync_add_relaxed(&monitor->keys, (size_t)0 - count);
}

/*
 * Pop one batch of keys that have gone silent, and call on_silent for them.  If
 * there are more, the timer is armed for now, and other timers run in between.
 */
static void report_silent(void *argument, const struct tkw_firing *firing)
{
    struct monitor_shard *shard = argument;
    struct tkw_monitor *monitor = shard->monitor;
    struct tkw_idle_key silent[TKW_SILENT_MAX];

    monitor_shard_lock(shard);
    size_t count = tkw_idle_pop_silent(shard->idle, silent, TKW_SILENT_MAX,
                                       firing->now_ns);
    shard->wake_ns = tkw_idle_next(shard->idle);
    /* This fails only if the service was stopped; then the timer never fires
     * again. */
    tkw_service_rearm_at(monitor->service, shard->timer, shard->wake_ns);
    count_out(monitor, count);
    monitor_shard_unlock(shard);

    order_assert_free();
    if (count > 0)
        monitor->on_silent(monitor->context, silent, count);
}

static size_t monitor_bytes(uint32_t shards)
{
    return sizeof(struct tkw_monitor) + shards * sizeof(struct monitor_shard);
}

/*
 * Close the shards that are open.  Cancel all timers first: an on_silent that
 * is still running may query keys of every shard.
 */
static void close_shards(struct tkw_monitor *monitor)
{
    for (uint32_t i = 0; i < monitor->shard_count; i++)
        tkw_service_cancel_sync(monitor->service, monitor->shards[i].timer);
    for (uint32_t i = 0; i < monitor->shard_count; i++) {
        tkw_idle_close(monitor->shards[i].idle);
        sync_mutex_destroy(&monitor->shards[i].mutex);
    }
}

static int open_shard(struct tkw_monitor *monitor, struct monitor_shard *shard,
                      const struct tkw_idle_config *config,
                      enum tkw_executor executor)
{
    int error = tkw_idle_open(&shard->idle, config);
    if (error != 0)
        return error;
    shard->monitor = monitor;
    shard->wake_ns = UINT64_MAX;
    struct tkw_plan plan = {
        .task = {report_silent, shard, NULL},
        .when_ns = UINT64_MAX,
        .is_time = true,
        .period_ns = CENTURIES,
        .executor = executor,
    };
    error = tkw_service_arm_plan(monitor->service, &shard->timer, &plan);
    if (error != 0) {
        tkw_idle_close(shard->idle);
        return error;
    }
    sync_mutex_init(&shard->mutex);
    return 0;
}

int tkw_monitor_open(struct tkw_monitor **monitor, struct tkw_service *service,
                     const struct tkw_monitor_config *config)
{
    if (tkw_monitor_config_fault(config) != NULL)
        return -EINVAL;
    struct tkw_idle_config idle = config->idle;
    const struct tkw_allocator *allocator =
        idle.allocator != NULL ? idle.allocator : &tkw__allocator_plain;
    uint32_t shards = config->shards != 0
                          ? config->shards
                          : SHARDS_EACH * processors(SHARDS_MAX / SHARDS_EACH);
    struct tkw_monitor *made =
        allocator->allocate(allocator->context, monitor_bytes(shards));
    if (made == NULL)
        return -ENOMEM;
    *made = (struct tkw_monitor){
        .service = service,
        .allocator = allocator,
        .on_silent = config->on_silent,
        .context = config->context,
        .keys_max = idle.keys_max,
    };

    /* All shards use one secret, so that a key is hashed once. */
    struct hash_secret secret = tkw__hash_secret_of(idle.secret, made);
    memcpy(idle.secret, secret.word, sizeof idle.secret);
    idle.start_ns = tkw_service_now(service);
    idle.keys_max = 0;
    for (uint32_t i = 0; i < shards; i++) {
        int error = open_shard(made, &made->shards[i], &idle, config->executor);
        if (error != 0) {
            close_shards(made);
            allocator->release(allocator->context, made, monitor_bytes(shards));
            return error;
        }
        made->shard_count++;
    }
    *monitor = made;
    return 0;
}

/* Returns whether `frame` is a call of on_silent or of a walk's `each`. */
static bool is_ours(const struct tkw_monitor *monitor,
                    const struct frame *frame)
{
    bool is_ours = frame->whose == monitor;
    for (uint32_t i = 0; i < monitor->shard_count; i++)
        if (frame->whose == monitor->service &&
            frame->handle == monitor->shards[i].timer)
            is_ours = true;
    return is_ours;
}

static bool is_inside(const struct tkw_monitor *monitor)
{
    const struct frame *frame = frame_innermost();
    while (frame != NULL && !is_ours(monitor, frame))
        frame = frame->outer;
    return frame != NULL;
}

int tkw_monitor_close(struct tkw_monitor *monitor)
{
    if (monitor == NULL)
        return 0;
    if (is_inside(monitor))
        return -EDEADLK;
    close_shards(monitor);
    monitor->allocator->release(monitor->allocator->context, monitor,
                                monitor_bytes(monitor->shard_count));
    return 0;
}

/* Store a key's hash, and return its shard, by bits that the tables do not
 * use. */
static struct monitor_shard *monitor_shard_of(struct tkw_monitor *monitor,
                                              struct tkw_key key,
                                              uint64_t *hash)
{
    *hash = tkw__idle_hash(monitor->shards[0].idle, key);
    uint64_t middle = *hash >> 16 & 0xffff;
    return &monitor->shards[middle * monitor->shard_count >> 16];
}

/*
 * Lock a shard to touch a key.  Returns the time, but no earlier one than that
 * of the last report_silent(): otherwise, after a wall clock was set back, keys
 * would go silent at once.
 */
static uint64_t lock_to_touch(struct monitor_shard *shard)
{
    uint64_t now_ns = tkw_service_now(shard->monitor->service);
    monitor_shard_lock(shard);
    uint64_t seen_ns = tkw__idle_now_ns(shard->idle);
    return now_ns > seen_ns ? now_ns : seen_ns;
}

/* Make the shard's timer fire at `due_ns` at the latest.  Returns 0 or an
 * error. */
static int wake_by(struct monitor_shard *shard, uint64_t due_ns)
{
    if (due_ns >= shard->wake_ns)
        return 0;
    int answer =
        tkw_service_rearm_at(shard->monitor->service, shard->timer, due_ns);
    if (answer < 0)
        return answer;
    shard->wake_ns = due_ns;
    return 0;
}

static int touch_new(struct monitor_shard *shard,
                     const struct tkw_idle_key *touched, uint64_t hash)
{
    if (!count_in(shard->monitor))
        return -EAGAIN;
    int answer = wake_by(shard, tkw__idle_due_ns(shard->idle, touched->last_ns,
                                                 touched->limit_ns));
    if (answer == 0)
        answer = tkw__idle_add(shard->idle, touched, hash);
    if (answer != 1)
        count_out(shard->monitor, 1);
    return answer;
}

int tkw_monitor_touch(struct tkw_monitor *monitor, struct tkw_key key)
{
    if (!tkw__idle_is_key_sound(key))
        return -EINVAL;
    uint64_t hash;
    struct monitor_shard *shard = monitor_shard_of(monitor, key, &hash);
    struct tkw_idle_key touched = {key, lock_to_touch(shard), 0};
    int answer = 0;
    if (!tkw__idle_refresh(shard->idle, key, hash, touched.last_ns))
        answer = touch_new(shard, &touched, hash);
    monitor_shard_unlock(shard);
    return answer;
}

int tkw_monitor_touch_limit(struct tkw_monitor *monitor, struct tkw_key key,
                            uint64_t limit_ns)
{
    if (!tkw__idle_is_key_sound(key))
        return -EINVAL;
    uint64_t hash;
    struct monitor_shard *shard = monitor_shard_of(monitor, key, &hash);
    struct tkw_idle_key touched = {key, lock_to_touch(shard), limit_ns};
    int answer;
    if (tkw__idle_query(shard->idle, key, hash, NULL)) {
        answer = wake_by(
            shard, tkw__idle_due_ns(shard->idle, touched.last_ns, limit_ns));
        if (answer == 0)
            answer = tkw__idle_touch_limit(shard->idle, &touched, hash);
    } else {
        answer = touch_new(shard, &touched, hash);
    }
    monitor_shard_unlock(shard);
    return answer;
}

bool tkw_monitor_refresh(struct tkw_monitor *monitor, struct tkw_key key)
{
    if (!tkw__idle_is_key_sound(key))
        return false;
    uint64_t hash;
    struct monitor_shard *shard = monitor_shard_of(monitor, key, &hash);
    uint64_t now_ns = lock_to_touch(shard);
    bool is_held = tkw__idle_refresh(shard->idle, key, hash, now_ns);
    monitor_shard_unlock(shard);
    return is_held;
}

bool tkw_monitor_forget(struct tkw_monitor *monitor, struct tkw_key key)
{
    if (!tkw__idle_is_key_sound(key))
        return false;
    uint64_t hash;
    struct monitor_shard *shard = monitor_shard_of(monitor, key, &hash);
    monitor_shard_lock(shard);
    bool was_held = tkw__idle_forget(shard->idle, key, hash);
    if (was_held)
        count_out(monitor, 1);
    monitor_shard_unlock(shard);
    return was_held;
}

bool tkw_monitor_query(struct tkw_monitor *monitor, struct tkw_key key,
                       struct tkw_idle_key *silent)
{
    if (!tkw__idle_is_key_sound(key))
        return false;
    uint64_t hash;
    struct monitor_shard *shard = monitor_shard_of(monitor, key, &hash);
    monitor_shard_lock(shard);
    bool is_held = tkw__idle_query(shard->idle, key, hash, silent);
    monitor_shard_unlock(shard);
    if (is_held && silent != NULL)
        silent->key = key; /* the tracker may free its own bytes at any time */
    return is_held;
}

/* Store the next batch of a walk.  Returns its size; 0 at the end. */
static size_t walk_on(const struct monitor_shard *shard,
                      struct tkw_idle_cursor *walk, struct tkw_idle_key *silent)
{
    size_t count = 0;
    while (count < TKW_SILENT_MAX &&
           tkw_idle_walk(shard->idle, walk, &silent[count]))
        count++;
    return count;
}

static void walk_shard(struct monitor_shard *shard, tkw_on_silent *each,
                       void *context)
{
    struct tkw_idle_cursor walk = {0};
    struct tkw_idle_key silent[TKW_SILENT_MAX];
    struct frame frame;
    monitor_shard_lock(shard);
    tkw__idle_begin_walk(shard->idle);
    for (size_t count; (count = walk_on(shard, &walk, silent)) > 0;) {
        monitor_shard_unlock(shard);
        order_assert_free();
        frame_enter(&frame, shard->monitor, 0);
        each(context, silent, count);
        frame_leave(&frame);
        monitor_shard_lock(shard);
    }
    tkw__idle_end_walk(shard->idle);
    monitor_shard_unlock(shard);
}

void tkw_monitor_walk(struct tkw_monitor *monitor, tkw_on_silent *each,
                      void *context)
{
    for (uint32_t i = 0; i < monitor->shard_count; i++)
        walk_shard(&monitor->shards[i], each, context);
}

struct tkw_idle_stats tkw_monitor_read_stats(struct tkw_monitor *monitor)
{
    struct tkw_idle_stats stats = {
        .bytes = monitor_bytes(monitor->shard_count),
    };
    for (uint32_t i = 0; i < monitor->shard_count; i++) {
        struct monitor_shard *shard = &monitor->shards[i];
        monitor_shard_lock(shard);
        struct tkw_idle_stats one = tkw_idle_read_stats(shard->idle);
        monitor_shard_unlock(shard);
        stats.keys += one.keys;
        stats.added += one.added;
        stats.forgotten += one.forgotten;
        stats.silent += one.silent;
        stats.checks += one.checks;
        stats.refiles += one.refiles;
        stats.bytes += one.bytes;
    }
    return stats;
}

size_t tkw_monitor_count(struct tkw_monitor *monitor)
{
    return (size_t)tkw_monitor_read_stats(monitor).keys;
}
