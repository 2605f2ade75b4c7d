/*
 * idle/tracker.c - keys that time out unless they are touched.
 *
 * A tracker has a table, which stores by key the time of the last touch and the
 * handle of a timer; and a pool with one timer per key, which carries the key.
 * A touch stores the time in the table and leaves the timer alone:
 *
 *     touched at    0       11    20      29
 *     timer due at                      30   ->  41 ... 59
 *     silent                                            59
 *
 * When the timer is due, the tracker checks its key.  If the key was touched
 * meanwhile, the tracker arms the timer again for the limit after the last
 * touch.  So a key is never silent early, and between two checks of a key there
 * is at least one touch.
 *
 * A check never fails, because the pool has memory in reserve to arm the popped
 * timers again.  A popped timer frees a place for an entry, and arming it takes
 * one.  But a timer that was ever moved to an earlier tick, because its limit
 * was shortened, has dead entries elsewhere, and sometimes needs another record
 * of the pool.  So the reserve has one record for each such timer.  There are
 * at most as many as shortenings, and at most as many as keys.
 */
#include "tracker.h"
#include "pool/ahead.h"
#include "private.h"

#include <errno.h>

#include "base/fault.h"

#include "base/allocator.h"
#include "base/assertion.h"

#define DEFAULT_LIMIT (30 * TKW_SECOND)
#define DEFAULT_TICK (100 * TKW_MILLISECOND)

enum {
    ROOM = 64,           /* timers that is_room() reserves memory for at once */
    CHECKED_AT_ONCE = 8, /* timers that are popped before the first check */
};

const char *tkw_idle_config_fault(const struct tkw_idle_config *config)
{
    if (config == NULL)
        return NULL;
    const char *fault = tkw__config_fault(config->reserved, config->allocator);
    if (fault != NULL)
        return fault;
    if (config->keys_max > TKW_POOL_TIMERS_MAX)
        return "keys_max is more than TKW_POOL_TIMERS_MAX";
    return tkw_geometry_fault(&config->geometry);
}

static int open_parts(struct tkw_idle *idle,
                      const struct tkw_idle_config *config)
{
    struct hash_secret secret = tkw__hash_secret_of(config->secret, idle);
    struct tkw_pool_config pool_config = {
        .geometry = config->geometry,
        .start = tkw_tick_now(config->start_ns, idle->tick_ns),
        .allocator = idle->table.allocator,
    };
    int error = tkw_pool_open(&idle->pool, &pool_config);
    if (error != 0)
        return error;
    error = tkw__table_open(&idle->table, idle->table.allocator, secret);
    if (error != 0)
        tkw_pool_close(idle->pool);
    return error;
}

int tkw_idle_open(struct tkw_idle **idle, const struct tkw_idle_config *config)
{
    static const struct tkw_idle_config plain = {0};
    if (config == NULL)
        config = &plain;
    if (tkw_idle_config_fault(config) != NULL)
        return -EINVAL;
    const struct tkw_allocator *allocator =
        config->allocator != NULL ? config->allocator : &tkw__allocator_plain;
    struct tkw_idle *made =
        allocator->allocate(allocator->context, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    *made = (struct tkw_idle){
        .table.allocator = allocator,
        .limit_ns = config->limit_ns != 0 ? config->limit_ns : DEFAULT_LIMIT,
        .tick_ns = config->tick_ns != 0 ? config->tick_ns : DEFAULT_TICK,
        .now_ns = config->start_ns,
        .keys_max =
            config->keys_max != 0 ? config->keys_max : TKW_POOL_TIMERS_MAX,
    };
    int error = open_parts(made, config);
    if (error != 0) {
        allocator->release(allocator->context, made, sizeof *made);
        return error;
    }
    *idle = made;
    return 0;
}

/* Add the bytes of a removed key to a list. */
static void chain(struct table_bytes **first, struct table_bytes *bytes)
{
    bytes->next = *first;
    *first = bytes;
}

static struct table_bytes *unchain(struct table_bytes **first)
{
    struct table_bytes *bytes = *first;
    if (bytes != NULL)
        *first = bytes->next;
    return bytes;
}

static void free_chain(struct tkw_idle *idle, struct table_bytes **first)
{
    for (struct table_bytes *bytes; (bytes = unchain(first)) != NULL;)
        tkw__table_release_bytes(&idle->table, bytes);
}

/* Free the bytes of a removed key; during walks, when the last one ends. */
static void free_key_bytes(struct tkw_idle *idle, struct table_bytes *bytes)
{
    if (idle->walks > 0)
        chain(&idle->forgotten, bytes);
    else
        tkw__table_release_bytes(&idle->table, bytes);
}

void tkw__idle_begin_walk(struct tkw_idle *idle)
{
    idle->walks++;
}

void tkw__idle_end_walk(struct tkw_idle *idle)
{
    if (--idle->walks == 0)
        free_chain(idle, &idle->forgotten);
}

void tkw_idle_close(struct tkw_idle *idle)
{
    if (idle == NULL)
        return;
    const struct tkw_allocator *allocator = idle->table.allocator;
    free_chain(idle, &idle->returned_keys);
    tkw__table_close(&idle->table);
    tkw_pool_close(idle->pool);
    allocator->release(allocator->context, idle, sizeof *idle);
}

/* Return a limit as the table stores it: SLOT_EXTRA_MAX means none. */
static uint64_t limit_kept(const struct tkw_idle *idle, uint64_t limit_ns)
{
    if (limit_ns == 0)
        limit_ns = idle->limit_ns;
    return limit_ns < SLOT_EXTRA_MAX ? limit_ns : SLOT_EXTRA_MAX;
}

/* Return the tick at which a key has been silent for `limit`, or TKW_NEVER. */
static tkw_tick silent_tick(const struct tkw_idle *idle, uint64_t last_ns,
                            uint64_t limit)
{
    if (limit == SLOT_EXTRA_MAX || last_ns > UINT64_MAX - limit)
        return TKW_NEVER;
    return tkw_tick_deadline(last_ns + limit, idle->tick_ns);
}

/* Return the time at which `tick` begins. */
static uint64_t tick_begin_ns(const struct tkw_idle *idle, tkw_tick tick)
{
    return tick > UINT64_MAX / idle->tick_ns ? UINT64_MAX
                                             : tick * idle->tick_ns;
}

bool tkw__idle_is_key_sound(struct tkw_key key)
{
    return table_key_is_sound(key);
}

uint64_t tkw__idle_hash(const struct tkw_idle *idle, struct tkw_key key)
{
    return table_hash(&idle->table, key);
}

uint64_t tkw__idle_now_ns(const struct tkw_idle *idle)
{
    return idle->now_ns;
}

uint64_t tkw__idle_due_ns(const struct tkw_idle *idle, uint64_t last_ns,
                          uint64_t limit_ns)
{
    uint64_t limit = limit_kept(idle, limit_ns);
    return tick_begin_ns(idle, silent_tick(idle, last_ns, limit));
}

/* Ensure memory to arm `count` more timers, and to check CHECKED_AT_ONCE keys.
 * Reserving is expensive, so reserve for ROOM timers at once, or if memory runs
 * out, for `count`.  Returns false if there is no memory. */
static bool is_room(struct tkw_idle *idle, uint32_t count)
{
    if (idle->room >= count)
        return true;
    size_t owed = idle->table.count + ROOM;
    if (owed > idle->moved)
        owed = (size_t)idle->moved;
    owed += CHECKED_AT_ONCE;
    if (tkw__pool_reserve(idle->pool, owed + ROOM, owed + ROOM, 0) == 0)
        idle->room = ROOM;
    else if (tkw__pool_reserve(idle->pool, owed + count, owed + count,
                               POOL_RECLAIM_STEPS) == 0)
        idle->room = count;
    return idle->room >= count;
}

int tkw__idle_add(struct tkw_idle *idle, const struct tkw_idle_key *touched,
                  uint64_t hash)
{
    if (idle->table.count >= idle->keys_max)
        return -EAGAIN;
    struct table_slot *slot;
    if (!is_room(idle, 1) ||
        tkw__table_insert(&idle->table, &slot, touched->key, hash) != 0)
        return -ENOMEM;

    uint64_t limit = limit_kept(idle, touched->limit_ns);
    slot_set_extra(slot, limit);
    slot->value[IDLE_LAST] = touched->last_ns;
    struct tkw_user user = {.word = slot->key};
    if (slot_is_bytes(slot))
        user = (struct tkw_user){.pointer = slot_bytes(slot), .word = hash};
    tkw_handle timer;
    int error = tkw_pool_arm(idle->pool, &timer,
                             silent_tick(idle, touched->last_ns, limit), user);
    TKW_ASSERT(error == 0); /* is_room() reserved memory */
    (void)error;
    idle->room--;
    slot->value[IDLE_TIMER] = timer;
    idle->stats.added++;
    return 1;
}

bool tkw__idle_refresh(struct tkw_idle *idle, struct tkw_key key, uint64_t hash,
                       uint64_t now_ns)
{
    struct table_slot *slot = table_find(&idle->table, key, hash);
    if (slot == NULL)
        return false;
    if (now_ns > slot->value[IDLE_LAST])
        slot->value[IDLE_LAST] = now_ns;
    return true;
}

int tkw__idle_touch_limit(struct tkw_idle *idle,
                          const struct tkw_idle_key *touched, uint64_t hash)
{
    struct table_slot *slot = table_find(&idle->table, touched->key, hash);
    if (slot == NULL)
        return tkw__idle_add(idle, touched, hash);

    uint64_t last_ns = slot->value[IDLE_LAST];
    if (touched->last_ns > last_ns)
        last_ns = touched->last_ns;
    uint64_t limit = limit_kept(idle, touched->limit_ns);
    tkw_tick due = silent_tick(idle, last_ns, limit);
    struct tkw_pool_timer timer;
    tkw_pool_query(idle->pool, slot->value[IDLE_TIMER], &timer);
    if (due < timer.deadline) {
        if (!is_room(idle, 2))
            return -ENOMEM;
        int moved = tkw_pool_rearm(idle->pool, timer.handle, due);
        TKW_ASSERT(moved == 1);
        (void)moved;
        idle->room -= 2;
        idle->moved++;
    }
    slot->value[IDLE_LAST] = last_ns;
    slot_set_extra(slot, limit);
    return 0;
}

int tkw_idle_touch(struct tkw_idle *idle, struct tkw_key key, uint64_t now_ns)
{
    if (!table_key_is_sound(key))
        return -EINVAL;
    uint64_t hash = table_hash(&idle->table, key);
    if (tkw__idle_refresh(idle, key, hash, now_ns))
        return 0;
    return tkw__idle_add(idle, &(struct tkw_idle_key){key, now_ns, 0}, hash);
}

int tkw_idle_touch_limit(struct tkw_idle *idle, struct tkw_key key,
                         uint64_t limit_ns, uint64_t now_ns)
{
    if (!table_key_is_sound(key))
        return -EINVAL;
    struct tkw_idle_key touched = {key, now_ns, limit_ns};
    return tkw__idle_touch_limit(idle, &touched, table_hash(&idle->table, key));
}

bool tkw__idle_forget(struct tkw_idle *idle, struct tkw_key key, uint64_t hash)
{
    struct table_slot *slot = table_find(&idle->table, key, hash);
    if (slot == NULL)
        return false;
    tkw_pool_cancel(idle->pool, slot->value[IDLE_TIMER]);
    struct table_bytes *bytes = tkw__table_remove(&idle->table, slot, hash);
    if (bytes != NULL)
        free_key_bytes(idle, bytes);
    idle->stats.forgotten++;
    return true;
}

bool tkw_idle_forget(struct tkw_idle *idle, struct tkw_key key)
{
    return table_key_is_sound(key) &&
           tkw__idle_forget(idle, key, table_hash(&idle->table, key));
}

bool tkw_idle_refresh(struct tkw_idle *idle, struct tkw_key key,
                      uint64_t now_ns)
{
    return table_key_is_sound(key) &&
           tkw__idle_refresh(idle, key, table_hash(&idle->table, key), now_ns);
}

static struct tkw_idle_key describe(const struct table_slot *slot)
{
    uint64_t limit = slot_extra(slot);
    return (struct tkw_idle_key){
        .key = slot_key(slot),
        .last_ns = slot->value[IDLE_LAST],
        .limit_ns = limit == SLOT_EXTRA_MAX ? TKW_NO_LIMIT : limit,
    };
}

bool tkw__idle_query(const struct tkw_idle *idle, struct tkw_key key,
                     uint64_t hash, struct tkw_idle_key *silent)
{
    const struct table_slot *slot = table_find(&idle->table, key, hash);
    if (slot != NULL && silent != NULL)
        *silent = describe(slot);
    return slot != NULL;
}

bool tkw_idle_query(const struct tkw_idle *idle, struct tkw_key key,
                    struct tkw_idle_key *silent)
{
    return table_key_is_sound(key) &&
           tkw__idle_query(idle, key, table_hash(&idle->table, key), silent);
}

/* Return the hash of the key that `timer` carries. */
static uint64_t hash_of(const struct tkw_idle *idle,
                        const struct tkw_pool_timer *timer)
{
    return timer->user.pointer != NULL
               ? timer->user.word
               : hash_number(&idle->table.secret, timer->user.word);
}

static struct table_slot *slot_of(const struct tkw_idle *idle,
                                  const struct tkw_pool_timer *timer,
                                  uint64_t hash)
{
    bool is_bytes = timer->user.pointer != NULL;
    uint64_t key = is_bytes ? (uintptr_t)timer->user.pointer : timer->user.word;
    return table_find_slot(&idle->table, key, is_bytes, hash);
}

/* Check the key of a popped timer.  If it is silent, remove it, store it in
 * `*silent` and return true.  Else arm the timer again. */
static bool check_key(struct tkw_idle *idle, const struct tkw_pool_timer *timer,
                      uint64_t hash, struct tkw_idle_key *silent)
{
    struct table_slot *slot = slot_of(idle, timer, hash);
    TKW_ASSERT(slot != NULL);
    TKW_ASSERT(slot->value[IDLE_TIMER] == timer->handle);
    idle->stats.checks++;
    tkw_tick due = silent_tick(idle, slot->value[IDLE_LAST], slot_extra(slot));
    if (due > tkw_pool_now(idle->pool)) {
        int armed = tkw_pool_rearm(idle->pool, timer->handle, due);
        TKW_ASSERT(armed == 1); /* from the reserve */
        (void)armed;
        idle->stats.refiles++;
        return false;
    }
    tkw_pool_cancel(idle->pool, timer->handle); /* frees the kept timer */
    *silent = describe(slot);
    struct table_bytes *bytes = tkw__table_remove(&idle->table, slot, hash);
    if (bytes != NULL)
        chain(&idle->returned_keys, bytes);
    idle->stats.silent++;
    return true;
}

/* Check up to `most` keys whose timers are due, at most CHECKED_AT_ONCE.
 * Prefetch all their slots before the first check, so that the cache misses
 * overlap.  Add the number of silent keys to `*found`.  Returns how many keys
 * it checked. */
static size_t check_batch(struct tkw_idle *idle, struct tkw_idle_key *silent,
                          size_t *found, size_t most)
{
    struct tkw_pool_timer batch[CHECKED_AT_ONCE];
    uint64_t hashes[CHECKED_AT_ONCE];
    size_t count = 0;
    if (most > CHECKED_AT_ONCE)
        most = CHECKED_AT_ONCE;
    while (count < most && tkw_pool_pop_keep(idle->pool, &batch[count])) {
        hashes[count] = hash_of(idle, &batch[count]);
        table_prefetch(&idle->table, hashes[count]);
        count++;
    }
    for (size_t i = 0; i < count; i++)
        *found += check_key(idle, &batch[i], hashes[i], &silent[*found]);
    return count;
}

/*
 * Advance to each tick that needs a check in turn, so that keys are returned in
 * the order in which they became silent: the timer of a touched key is armed
 * for later, and others may be due before it.  Every step counts as a check, to
 * bound the time of a call without any.
 */
size_t tkw_idle_pop_silent(struct tkw_idle *idle, struct tkw_idle_key *silent,
                           size_t count, uint64_t now_ns)
{
    for (struct table_bytes *bytes;
         (bytes = unchain(&idle->returned_keys)) != NULL;)
        free_key_bytes(idle, bytes);
    if (now_ns > idle->now_ns)
        idle->now_ns = now_ns < UINT64_MAX ? now_ns : UINT64_MAX - 1;
    tkw_tick now = tkw_tick_now(idle->now_ns, idle->tick_ns);

    size_t found = 0;
    for (size_t left = count; left > 0;) {
        size_t checked = check_batch(idle, silent, &found, left);
        left -= checked > 0 ? checked : 1;
        if (checked > 0)
            continue;
        tkw_tick next = tkw_pool_next(idle->pool);
        tkw_tick goal = next < now ? next : now;
        if (!tkw_pool_advance_some(idle->pool, goal, left + 1) || next > now)
            break;
    }
    return found;
}

uint64_t tkw_idle_next(const struct tkw_idle *idle)
{
    return tick_begin_ns(idle, tkw_pool_next(idle->pool));
}

size_t tkw_idle_count(const struct tkw_idle *idle)
{
    return idle->table.count;
}

struct tkw_idle_stats tkw_idle_read_stats(const struct tkw_idle *idle)
{
    struct tkw_idle_stats stats = idle->stats;
    stats.keys = idle->table.count;
    stats.bytes = sizeof *idle + idle->table.bytes +
                  tkw_pool_read_stats(idle->pool).bytes;
    return stats;
}

bool tkw_idle_walk(const struct tkw_idle *idle, struct tkw_idle_cursor *walk,
                   struct tkw_idle_key *silent)
{
    struct tkw_pool_timer timer;
    if (!tkw_pool_walk(idle->pool, &walk->timers, &timer))
        return false;
    *silent = describe(slot_of(idle, &timer, hash_of(idle, &timer)));
    return true;
}

static bool find_in_key(const struct tkw_idle *idle,
                        const struct table_slot *slot, struct tkw_fault *fault)
{
    struct tkw_pool_timer timer;
    enum tkw_state state =
        tkw_pool_query(idle->pool, slot->value[IDLE_TIMER], &timer);
    bool is_armed = state == TKW_PENDING || state == TKW_READY;
    return fault_if(fault, "a key has no armed timer", !is_armed) ||
           fault_if(fault, "the timer of a key is that of another",
                    slot_of(idle, &timer, hash_of(idle, &timer)) != slot) ||
           fault_if_above(
               fault, "deadline of a key's timer", timer.deadline,
               silent_tick(idle, slot->value[IDLE_LAST], slot_extra(slot)));
}

bool tkw_idle_find_fault(const struct tkw_idle *idle, struct tkw_fault *fault)
{
    if (tkw__table_find_fault(&idle->table, fault) ||
        tkw_pool_find_fault(idle->pool, fault) ||
        fault_unless(fault, "number of timers of the tracker",
                     tkw_pool_count(idle->pool), idle->table.count))
        return true;
    uint64_t cursor = 0;
    const struct table_slot *slot;
    while ((slot = tkw__table_next(&idle->table, &cursor)) != NULL) {
        if (find_in_key(idle, slot, fault))
            return true;
    }
    return false;
}

bool tkw_idle_check(const struct tkw_idle *idle)
{
    struct tkw_fault ignored;
    return !tkw_idle_find_fault(idle, &ignored);
}
