/*
 * engine/tubes.c - tubes by name.
 *
 * A tube lives while it has a reference: of each job in it, and of each client
 * that uses or watches it.  The engine holds one of `default`.
 */
#include <assert.h>
#include <string.h>

#include "private.h"

enum { BUCKETS_MIN = 64 };

static uint64_t hash(const struct tkd_engine *engine, const char *name,
                     uint8_t length)
{
    uint64_t mixed = engine->jobs.seed ^ length;
    for (uint8_t i = 0; i < length; i++) {
        mixed = (mixed ^ (unsigned char)name[i]) * UINT64_C(0x9e3779b97f4a7c15);
        mixed ^= mixed >> 29;
    }
    return mixed;
}

static struct tube **bucket(const struct tkd_engine *engine, uint64_t hashed)
{
    return &engine->tubes[hashed & (engine->bucket_count - 1)];
}

static struct tube *find(const struct tkd_engine *engine, const char *name,
                         uint8_t length, uint64_t hashed)
{
    struct tube *tube = *bucket(engine, hashed);
    while (tube != NULL &&
           (tube->hash != hashed || tube->name_length != length ||
            memcmp(tube->name, name, length) != 0))
        tube = tube->chain;
    return tube;
}

struct tube *tkd__tube_find(const struct tkd_engine *engine, const char *name,
                            uint8_t length)
{
    return find(engine, name, length, hash(engine, name, length));
}

static struct tube **numbered_bucket(const struct tkd_engine *engine,
                                     uint32_t number)
{
    return &engine->numbered[number & (engine->bucket_count - 1)];
}

struct tube *tkd__tube_numbered(const struct tkd_engine *engine,
                                uint32_t number)
{
    struct tube *tube = *numbered_bucket(engine, number);
    while (tube != NULL && tube->number != number)
        tube = tube->next_numbered;
    return tube;
}

static void add_to_bucket(struct tkd_engine *engine, struct tube *tube)
{
    struct tube **numbered = numbered_bucket(engine, tube->number);
    tube->next_numbered = *numbered;
    *numbered = tube;
    struct tube **head = bucket(engine, tube->hash);
    tube->chain = *head;
    *head = tube;
}

/* Double the buckets if there are as many tubes.  A failure does not matter:
 * the chains are longer then. */
static void grow(struct tkd_engine *engine)
{
    if (engine->tube_count < engine->bucket_count ||
        engine->bucket_count > UINT32_MAX / 2)
        return;
    uint32_t count = 2 * engine->bucket_count;
    size_t bytes = 2 * (size_t)count * sizeof(struct tube *);
    struct tube **buckets = tkd__allocate(engine, bytes);
    if (buckets == NULL)
        return;
    memset(buckets, 0, bytes);
    struct tube **old = engine->tubes;
    uint32_t old_count = engine->bucket_count;
    engine->tubes = buckets;
    engine->numbered = buckets + count;
    engine->bucket_count = count;
    for (uint32_t i = 0; i < old_count; i++) {
        struct tube *next;
        for (struct tube *tube = old[i]; tube != NULL; tube = next) {
            next = tube->chain;
            add_to_bucket(engine, tube);
        }
    }
    tkd__release(engine, old, 2 * (size_t)old_count * sizeof *old);
}

static struct tube *add(struct tkd_engine *engine, const char *name,
                        uint8_t length, uint64_t hashed, uint32_t number)
{
    struct tube *tube = tkd__allocate(engine, sizeof *tube + length);
    if (tube == NULL)
        return NULL;
    memset(tube, 0, sizeof *tube);
    memcpy(tube->name, name, length);
    tube->name_length = length;
    tube->hash = hashed;
    tube->buried_first = NO_JOB;
    tube->buried_last = NO_JOB;
    tube->number = number;
    link_init(&tube->changed);
    link_init(&tube->waiting);
    link_init(&tube->unserved);
    link_append(&engine->all_tubes, &tube->all);
    grow(engine);
    add_to_bucket(engine, tube);
    engine->tube_count++;
    engine->memory += sizeof *tube;
    return tube;
}

struct tube *tkd__tube_take(struct tkd_engine *engine, const char *name,
                            uint8_t length)
{
    uint64_t hashed = hash(engine, name, length);
    struct tube *tube = find(engine, name, length, hashed);
    if (tube == NULL) {
        tube = add(engine, name, length, hashed, engine->tube_number + 1);
        if (tube == NULL)
            return NULL;
        engine->tube_number++;
        engine->are_tubes_new = true;
    }
    tube_hold(tube);
    return tube;
}

struct tube *tkd__tube_load(struct tkd_engine *engine, uint32_t number,
                            const char *name, uint8_t length)
{
    struct tube *tube =
        add(engine, name, length, hash(engine, name, length), number);
    if (tube != NULL)
        tube->is_stored = true;
    return tube;
}

bool tkd__tube_reserve(struct tkd_engine *engine, struct tube *tube)
{
    uint32_t count =
        tube->in.ready + tube->in.reserved + tube->in.delayed + tube->in.buried;
    return tkd__heap_reserve(engine, &tube->ready, count + 1) &&
           tkd__soonest_reserve(engine, tube);
}

static void release_memory(struct tkd_engine *engine, struct tube *tube)
{
    tkd__heap_close(engine, &tube->ready);
    tkd__heap_close(engine, &tube->delayed.heap);
    engine->memory -= sizeof *tube;
    tkd__release(engine, tube, sizeof *tube + tube->name_length);
}

void tkd__tube_release(struct tkd_engine *engine, struct tube *tube)
{
    assert(tube->references > 0);
    tube->references--;
    if (tube->references > 0)
        return;
    tkd__timer_cancel(engine, &tube->timer);
    struct tube **at = bucket(engine, tube->hash);
    while (*at != tube)
        at = &(*at)->chain;
    *at = tube->chain;
    at = numbered_bucket(engine, tube->number);
    while (*at != tube)
        at = &(*at)->next_numbered;
    *at = tube->next_numbered;
    link_remove(&tube->changed);
    tkd__rows_remove_tube(engine, tube);
    link_remove(&tube->all);
    link_remove(&tube->unserved);
    engine->tube_count--;
    release_memory(engine, tube);
}

void tkd__tube_pause(struct tkd_engine *engine, struct tube *tube,
                     uint64_t pause_ns)
{
    tube->pauses++;
    tkd__timer_cancel(engine, &tube->timer);
    if (pause_ns == 0) {
        tkd__tube_resume(engine, tube);
        return;
    }
    tube->pause_ns = pause_ns;
    tube->pause_end_ns = engine->now_ns + pause_ns;
    tube->timer = tkd__timer_arm(engine, tube->pause_end_ns, WAITER_TUBE, tube);
}

void tkd__tube_resume(struct tkd_engine *engine, struct tube *tube)
{
    tube->pause_ns = 0;
    tkd__tube_serve_later(engine, tube);
}

bool tkd__tubes_open(struct tkd_engine *engine)
{
    link_init(&engine->all_tubes);
    size_t bytes = 2 * BUCKETS_MIN * sizeof(struct tube *);
    engine->tubes = tkd__allocate(engine, bytes);
    if (engine->tubes == NULL)
        return false;
    memset(engine->tubes, 0, bytes);
    engine->numbered = engine->tubes + BUCKETS_MIN;
    engine->bucket_count = BUCKETS_MIN;
    if (!tkd__rows_load(engine))
        return false;
    engine->default_tube = tkd__tube_take(engine, "default", 7);
    return engine->default_tube != NULL;
}

void tkd__tubes_close(struct tkd_engine *engine)
{
    while (engine->all_tubes.next != NULL &&
           !link_is_alone(&engine->all_tubes)) {
        struct tube *tube =
            TKW_CONTAINER(engine->all_tubes.next, struct tube, all);
        link_remove(&tube->all);
        release_memory(engine, tube);
    }
    tkd__release(engine, engine->tubes,
                 2 * (size_t)engine->bucket_count * sizeof(struct tube *));
}
