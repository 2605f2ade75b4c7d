/*
 * purgatory/naive.c - the obvious way: one mutex, a heap of timeouts, and a
 * list of requests a key.
 *
 * The heap is the benchmark's, 4-ary with back-indices; a request that is
 * completed leaves it at once.  The map from a key to its list is the library's
 * own table.  A request that is completed by one key stays in the list of the
 * other until that is checked, or until all lists are purged: every so many
 * completions, 1,000 as in Kafka; or it is taken out at once.
 */
/* For its functions.  NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "core/heap.c"

#include <pthread.h>

#include "base/allocator.h"
#include "keys/table.h"
#include "request.h"

struct naive;

struct node {
    struct node *next;
    struct node *previous;
    struct naive *naive;
};

struct naive {
    struct request request;
    struct node nodes[2]; /* one a key */
    uint32_t listed;      /* of these, in lists */
    uint32_t id;          /* in the heap */
    bool is_done;
};

/* What the table has for a key. */
enum { FIRST, LAST };

struct way {
    pthread_mutex_t mutex; /* of all below */
    struct table lists;
    struct state *heap;
    uint32_t *spare; /* numbers that nothing in the heap has */
    size_t spare_count;
    size_t purge_every;
    size_t done;   /* completed since the last purge */
    size_t listed; /* pairs of a request and a key, completed ones included */
};

static struct way *way_open(const struct purgatory_setting *setting)
{
    /* Threads that are just adding may hold one each. */
    size_t room = setting->outstanding + 16;
    struct way *way = bench_memory(sizeof *way);
    struct hash_secret secret = tkw__hash_secret_of((uint64_t[2]){0}, way);
    pthread_mutex_init(&way->mutex, NULL);
    trial_must(tkw__table_open(&way->lists, &tkw__allocator_plain, secret) == 0,
               "there is no memory");
    way->heap = make(room);
    way->spare = bench_memory(room * sizeof *way->spare);
    while (way->spare_count < room) {
        way->spare[way->spare_count] = (uint32_t)way->spare_count;
        way->spare_count++;
    }
    way->purge_every = setting->purge_every;
    return way;
}

static struct node *first_of(const struct table_slot *slot)
{
    return (struct node *)(uintptr_t)slot->value[FIRST];
}

static void append(struct way *way, struct node *node, uint64_t number)
{
    struct tkw_key key = tkw_key_number(number);
    uint64_t hash = table_hash(&way->lists, key);
    struct table_slot *slot = table_find(&way->lists, key, hash);
    trial_must(slot != NULL ||
                   tkw__table_insert(&way->lists, &slot, key, hash) == 0,
               "there is no memory");
    struct node *last = (struct node *)(uintptr_t)slot->value[LAST];
    node->previous = last;
    node->next = NULL;
    if (last != NULL)
        last->next = node;
    else
        slot->value[FIRST] = (uintptr_t)node;
    slot->value[LAST] = (uintptr_t)node;
    node->naive->listed++;
    way->listed++;
}

/* Take a node out of the list of a slot; its request is freed with the last of
 * its nodes. */
static void unlink_node(struct way *way, struct table_slot *slot,
                        struct node *node)
{
    if (node->previous != NULL)
        node->previous->next = node->next;
    else
        slot->value[FIRST] = (uintptr_t)node->next;
    if (node->next != NULL)
        node->next->previous = node->previous;
    else
        slot->value[LAST] = (uintptr_t)node->previous;
    way->listed--;
    if (--node->naive->listed == 0)
        free(node->naive);
}

static bool drop_if_empty(struct way *way, struct table_slot *slot)
{
    if (slot->value[FIRST] != 0)
        return false;
    tkw__table_remove(&way->lists, slot,
                      table_hash(&way->lists, slot_key(slot)));
    return true;
}

static void purge(struct way *way)
{
    uint64_t cursor = 0;
    for (struct table_slot *slot;
         (slot = tkw__table_next(&way->lists, &cursor)) != NULL;) {
        struct node *following;
        for (struct node *node = first_of(slot); node != NULL;
             node = following) {
            following = node->next;
            if (node->naive->is_done)
                unlink_node(way, slot, node);
        }
        if (drop_if_empty(way, slot))
            cursor--; /* another may have moved up into the gap */
    }
    way->done = 0;
}

static void complete(struct way *way, struct naive *naive)
{
    naive->is_done = true;
    cancel(way->heap, naive->id);
    way->spare[way->spare_count++] = naive->id;
    way->done++;
    request_complete(&naive->request);
}

/* Returns how many were completed.  Those that were by the other key leave the
 * list as well. */
static size_t check_list(struct way *way, struct table_slot *slot)
{
    size_t count = 0;
    struct node *following;
    for (struct node *node = first_of(slot); node != NULL; node = following) {
        struct naive *naive = node->naive;
        following = node->next;
        if (!naive->is_done) {
            if (!request_is_met(&naive->request))
                continue;
            complete(way, naive);
            count++;
        }
        unlink_node(way, slot, node);
    }
    drop_if_empty(way, slot);
    return count;
}

/* The same, and take those that are completed out of their other list: the
 * table may move, so each has to be looked for. */
static size_t check_at_once(struct way *way, struct node *node)
{
    size_t count = 0;
    struct node *following;
    for (; node != NULL; node = following) {
        struct naive *naive = node->naive;
        following = node->next;
        if (!request_is_met(&naive->request))
            continue;
        complete(way, naive);
        count++;
        for (unsigned i = 0; i < 2; i++) {
            struct tkw_key key = tkw_key_number(naive->request.keys[i]);
            uint64_t hash = table_hash(&way->lists, key);
            struct table_slot *slot = table_find(&way->lists, key, hash);
            unlink_node(way, slot, &naive->nodes[i]);
            drop_if_empty(way, slot);
        }
    }
    return count;
}

static size_t way_check(struct way *way, uint64_t number)
{
    struct tkw_key key = tkw_key_number(number);
    pthread_mutex_lock(&way->mutex);
    uint64_t hash = table_hash(&way->lists, key);
    struct table_slot *slot = table_find(&way->lists, key, hash);
    size_t count = 0;
    if (slot != NULL && way->purge_every == 0)
        count = check_at_once(way, first_of(slot));
    else if (slot != NULL)
        count = check_list(way, slot);
    if (way->purge_every > 0 && way->done >= way->purge_every)
        purge(way);
    pthread_mutex_unlock(&way->mutex);
    return count;
}

static struct request *way_make(void)
{
    struct naive *naive = calloc(1, sizeof *naive);
    trial_must(naive != NULL, "there is no memory");
    return &naive->request;
}

/* Nobody waits for timeouts here: it is only seen to that none has passed. */
static bool way_watch(struct way *way, struct request *request)
{
    struct naive *naive = (struct naive *)request;
    uint64_t now = (uint64_t)bench_now_ns();
    pthread_mutex_lock(&way->mutex);
    bool is_met = request_is_met(request);
    if (!is_met) {
        for (unsigned i = 0; i < 2; i++) {
            naive->nodes[i].naive = naive;
            append(way, &naive->nodes[i], request->keys[i]);
        }
        naive->id = way->spare[--way->spare_count];
        arm(way->heap, naive->id, now + PURGATORY_TIMEOUT_NS);
        trial_must(next(way->heap) > now, "a request has expired");
    }
    pthread_mutex_unlock(&way->mutex);
    if (is_met)
        free(naive);
    return is_met;
}

static void way_report_bytes(struct way *way, struct purgatory_bytes *bytes)
{
    (void)way;
    bytes->request = sizeof(struct naive);
}

/* The process ends soon: what is left is only counted. */
static void way_close(struct way *way, uint64_t made, uint64_t completed)
{
    if (way->purge_every > 0)
        purge(way);
    trial_must(way->heap->count == made - completed &&
                   way->listed == 2 * (made - completed),
               "the naive way has lost some");
}

#define WAY naive
#define WAY_NAME "one mutex, heap and lists"
#include "play.h"
