/*
 * idle/tracker.c - keys that time out unless they are touched.
 *
 * Two things that do not know each other's addresses: a table, by key, of when
 * each was last touched; and a pool with one timer a key, which carries the
 * key.  A touch writes the time into the table and leaves the timer alone:
 *
 *     touched at    0       11    20      29
 *     timer due at                      30   ->  41 ... 59
 *     silent                                            59
 *
 * When the timer comes due its key is looked up.  If it was touched meanwhile
 * the timer is armed again for the limit after the last touch: never early, and
 * between two looks at a key there is a touch, or any number of them.
 *
 * The pool always has memory in reserve to arm a few timers more than are
 * armed: those that were popped to be looked at are armed again from that, so
 * looking never fails.  What they gave up by being popped makes good for what
 * they take, places for entries.  But one that was ever moved to an earlier
 * time, its limit having been shortened, has dead entries elsewhere, and takes
 * a record of the pool more every now and then.  So there is one in reserve for
 * each of these, of which there are no more than shortenings so far, and than
 * keys.
 */
#include "tracker.h"
#include "pool/ahead.h"
#include "private.h"

#include <errno.h>

#include "base/allocator.h"
#include "base/assertion.h"

#define DEFAULT_LIMIT (30 * TKW_SECOND)
#define DEFAULT_TICK (100 * TKW_MILLISECOND)

enum {
    ROOM = 64, /* for timers, asked for at once */
    LOOKS = 8, /* timers that are popped before the first is looked at */
};

const char *tkw_idle_config_fault(const struct tkw_idle_config *config)
{
    if (config == NULL)
        return NULL;
    const char *fault = tkw__config_fault(config->reserved, config->allocator);
    if (fault != NULL)
        return fault;
    if (config->keys_max > TKW_POOL_TIMERS_MAX)
        return "keys_max is more than a pool can hold";
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

/* Bytes of keys that are gone make lists. */
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

/* Free the bytes of a key, unless a walk may be looking at them. */
static void let_go(struct tkw_idle *idle, struct table_bytes *bytes)
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
    free_chain(idle, &idle->told);
    tkw__table_close(&idle->table);
    tkw_pool_close(idle->pool);
    allocator->release(allocator->context, idle, sizeof *idle);
}

/* A limit as it is kept beside a key: the largest is none. */
static uint64_t limit_kept(const struct tkw_idle *idle, uint64_t limit_ns)
{
    if (limit_ns == 0)
        limit_ns = idle->limit_ns;
    return limit_ns < SLOT_EXTRA_MAX ? limit_ns : SLOT_EXTRA_MAX;
}

/* The tick at which a key has been silent for its limit, or TKW_NEVER. */
static tkw_tick silent_tick(const struct tkw_idle *idle, uint64_t last_ns,
                            uint64_t limit)
{
    if (limit == SLOT_EXTRA_MAX || last_ns > UINT64_MAX - limit)
        return TKW_NEVER;
    return tkw_tick_deadline(last_ns + limit, idle->tick_ns);
}

/* When a tick begins. */
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

/*
 * Is there memory to arm so many timers more, and to look at some?  To ask is
 * dear, so ask for many at once, or when memory runs out, for these.
 */
static bool is_room(struct tkw_idle *idle, uint32_t count)
{
    if (idle->room >= count)
        return true;
    size_t owed = idle->table.count + ROOM;
    if (owed > idle->moved)
        owed = (size_t)idle->moved;
    if (tkw__pool_reserve(idle->pool, owed + LOOKS + ROOM, 0) == 0)
        idle->room = ROOM;
    else if (tkw__pool_reserve(idle->pool, owed + LOOKS + count,
                               POOL_RECLAIM_STEPS) == 0)
        idle->room = count;
    return idle->room >= count;
}

int tkw__idle_add(struct tkw_idle *idle, const struct tkw_silent *wish,
                  uint64_t hash)
{
    if (idle->table.count >= idle->keys_max)
        return -EAGAIN;
    struct table_slot *slot;
    if (!is_room(idle, 1) ||
        tkw__table_insert(&idle->table, &slot, wish->key, hash) != 0)
        return -ENOMEM;

    uint64_t limit = limit_kept(idle, wish->limit_ns);
    slot_set_extra(slot, limit);
    slot->value[IDLE_LAST] = wish->last_ns;
    struct tkw_user user = {.word = slot->key};
    if (slot_is_bytes(slot))
        user = (struct tkw_user){.pointer = slot_bytes(slot), .word = hash};
    tkw_handle timer;
    int error = tkw_pool_arm(idle->pool, &timer,
                             silent_tick(idle, wish->last_ns, limit), user);
    TKW_ASSERT(error == 0); /* there was room */
    (void)error;
    idle->room--;
    slot->value[IDLE_TIMER] = timer;
    idle->figures.added++;
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

int tkw__idle_touch_limit(struct tkw_idle *idle, const struct tkw_silent *wish,
                          uint64_t hash)
{
    struct table_slot *slot = table_find(&idle->table, wish->key, hash);
    if (slot == NULL)
        return tkw__idle_add(idle, wish, hash);

    uint64_t last_ns = slot->value[IDLE_LAST];
    if (wish->last_ns > last_ns)
        last_ns = wish->last_ns;
    uint64_t limit = limit_kept(idle, wish->limit_ns);
    tkw_tick due = silent_tick(idle, last_ns, limit);
    struct tkw_shot shot;
    tkw_pool_query(idle->pool, slot->value[IDLE_TIMER], &shot);
    if (due < shot.deadline) {
        if (!is_room(idle, 2))
            return -ENOMEM;
        int moved = tkw_pool_rearm(idle->pool, shot.handle, due);
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
    return tkw__idle_add(idle, &(struct tkw_silent){key, now_ns, 0}, hash);
}

int tkw_idle_touch_limit(struct tkw_idle *idle, struct tkw_key key,
                         uint64_t limit_ns, uint64_t now_ns)
{
    if (!table_key_is_sound(key))
        return -EINVAL;
    struct tkw_silent wish = {key, now_ns, limit_ns};
    return tkw__idle_touch_limit(idle, &wish, table_hash(&idle->table, key));
}

bool tkw__idle_forget(struct tkw_idle *idle, struct tkw_key key, uint64_t hash)
{
    struct table_slot *slot = table_find(&idle->table, key, hash);
    if (slot == NULL)
        return false;
    tkw_pool_cancel(idle->pool, slot->value[IDLE_TIMER]);
    struct table_bytes *bytes = tkw__table_remove(&idle->table, slot, hash);
    if (bytes != NULL)
        let_go(idle, bytes);
    idle->figures.forgotten++;
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

static struct tkw_silent describe(const struct table_slot *slot)
{
    uint64_t limit = slot_extra(slot);
    return (struct tkw_silent){
        .key = slot_key(slot),
        .last_ns = slot->value[IDLE_LAST],
        .limit_ns = limit == SLOT_EXTRA_MAX ? TKW_NO_LIMIT : limit,
    };
}

bool tkw__idle_query(const struct tkw_idle *idle, struct tkw_key key,
                     uint64_t hash, struct tkw_silent *silent)
{
    const struct table_slot *slot = table_find(&idle->table, key, hash);
    if (slot != NULL && silent != NULL)
        *silent = describe(slot);
    return slot != NULL;
}

bool tkw_idle_query(const struct tkw_idle *idle, struct tkw_key key,
                    struct tkw_silent *silent)
{
    return table_key_is_sound(key) &&
           tkw__idle_query(idle, key, table_hash(&idle->table, key), silent);
}

/* The hash of the key that a timer is of. */
static uint64_t hash_of(const struct tkw_idle *idle,
                        const struct tkw_shot *shot)
{
    return shot->user.pointer != NULL
               ? shot->user.word
               : hash_number(&idle->table.secret, shot->user.word);
}

static struct table_slot *slot_of(const struct tkw_idle *idle,
                                  const struct tkw_shot *shot, uint64_t hash)
{
    bool is_bytes = shot->user.pointer != NULL;
    uint64_t key = is_bytes ? (uintptr_t)shot->user.pointer : shot->user.word;
    return table_find_slot(&idle->table, key, is_bytes, hash);
}

/* Look at a key whose timer was popped.  Returns whether it is silent, and then
 * it is no longer held. */
static bool look(struct tkw_idle *idle, const struct tkw_shot *shot,
                 uint64_t hash, struct tkw_silent *silent)
{
    struct table_slot *slot = slot_of(idle, shot, hash);
    TKW_ASSERT(slot != NULL);
    TKW_ASSERT(slot->value[IDLE_TIMER] == shot->handle);
    idle->figures.looks++;
    tkw_tick due = silent_tick(idle, slot->value[IDLE_LAST], slot_extra(slot));
    if (due > tkw_pool_now(idle->pool)) {
        int armed = tkw_pool_rearm(idle->pool, shot->handle, due);
        TKW_ASSERT(armed == 1); /* from the reserve */
        (void)armed;
        idle->figures.refiles++;
        return false;
    }
    tkw_pool_cancel(idle->pool, shot->handle); /* lets go of it */
    *silent = describe(slot);
    struct table_bytes *bytes = tkw__table_remove(&idle->table, slot, hash);
    if (bytes != NULL)
        chain(&idle->told, bytes);
    idle->figures.expired++;
    return true;
}

/*
 * Look at up to `most` keys, if so many timers have come.  Where their slots
 * are is known before the first is looked at, so that memory is not waited for
 * one by one.  Returns how many it looked at.
 */
static size_t look_at_some(struct tkw_idle *idle, struct tkw_silent *silent,
                           size_t *told, size_t most)
{
    struct tkw_shot shots[LOOKS];
    uint64_t hashes[LOOKS];
    size_t count = 0;
    if (most > LOOKS)
        most = LOOKS;
    while (count < most && tkw_pool_pop_keep(idle->pool, &shots[count])) {
        hashes[count] = hash_of(idle, &shots[count]);
        table_prefetch(&idle->table, hashes[count]);
        count++;
    }
    for (size_t i = 0; i < count; i++)
        *told += look(idle, &shots[i], hashes[i], &silent[*told]);
    return count;
}

/*
 * Time goes from one tick to the next that needs a look, so that those silent
 * first are told first: a timer that comes due for a key which was touched is
 * armed for later, and others may come between.  Every step counts as a look,
 * lest a long way without any is gone in one call.
 */
size_t tkw_idle_expired(struct tkw_idle *idle, struct tkw_silent *silent,
                        size_t count, uint64_t now_ns)
{
    for (struct table_bytes *bytes; (bytes = unchain(&idle->told)) != NULL;)
        let_go(idle, bytes);
    if (now_ns > idle->now_ns)
        idle->now_ns = now_ns < UINT64_MAX ? now_ns : UINT64_MAX - 1;
    tkw_tick now = tkw_tick_now(idle->now_ns, idle->tick_ns);

    size_t told = 0;
    for (size_t left = count; left > 0;) {
        size_t looked = look_at_some(idle, silent, &told, left);
        left -= looked > 0 ? looked : 1;
        if (looked > 0)
            continue;
        tkw_tick next = tkw_pool_next(idle->pool);
        tkw_tick goal = next < now ? next : now;
        if (!tkw_pool_advance_some(idle->pool, goal, left + 1) || next > now)
            break;
    }
    return told;
}

uint64_t tkw_idle_next(const struct tkw_idle *idle)
{
    return tick_begin_ns(idle, tkw_pool_next(idle->pool));
}

size_t tkw_idle_count(const struct tkw_idle *idle)
{
    return idle->table.count;
}

struct tkw_idle_figures tkw_idle_counters(const struct tkw_idle *idle)
{
    struct tkw_idle_figures told = idle->figures;
    told.keys = idle->table.count;
    told.bytes =
        sizeof *idle + idle->table.bytes + tkw_pool_counters(idle->pool).bytes;
    return told;
}

bool tkw_idle_walk(const struct tkw_idle *idle, struct tkw_idle_cursor *walk,
                   struct tkw_silent *silent)
{
    struct tkw_shot shot;
    if (!tkw_pool_walk(idle->pool, &walk->timers, &shot))
        return false;
    *silent = describe(slot_of(idle, &shot, hash_of(idle, &shot)));
    return true;
}

bool tkw_idle_check(const struct tkw_idle *idle)
{
    if (!tkw__table_check(&idle->table) || !tkw_pool_check(idle->pool) ||
        tkw_pool_count(idle->pool) != idle->table.count)
        return false;
    uint64_t cursor = 0;
    const struct table_slot *slot;
    while ((slot = tkw__table_next(&idle->table, &cursor)) != NULL) {
        struct tkw_shot shot;
        enum tkw_state state =
            tkw_pool_query(idle->pool, slot->value[IDLE_TIMER], &shot);
        if ((state != TKW_PENDING && state != TKW_READY) ||
            slot_of(idle, &shot, hash_of(idle, &shot)) != slot ||
            shot.deadline >
                silent_tick(idle, slot->value[IDLE_LAST], slot_extra(slot)))
            return false;
    }
    return true;
}
