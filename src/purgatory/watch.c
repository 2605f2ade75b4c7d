/*
 * purgatory/watch.c - operations that wait for a condition or a timeout.
 *
 * Keys are spread over shards, each with a lock, a table and lists.  An
 * operation's timer is one of the service's.  A thread never holds two locks,
 * and with a lock it calls only the allocator.  Atomic changes, such as
 * completing, are in the operation's word: see purgatory/life.c, and
 * purgatory/list.c for the lists.
 */
#include "private.h"

#include <errno.h>

#include "base/allocator.h"
#include "base/assertion.h"
#include "base/fault.h"
#include "service/executor.h"

enum { SHARDS_DEFAULT = 16, SHARDS_MAX = 1024 };

const char *
tkw_purgatory_config_fault(const struct tkw_purgatory_config *config)
{
    if (config == NULL)
        return NULL;
    const char *fault = tkw__config_fault(config->reserved, config->allocator);
    if (fault != NULL)
        return fault;
    if (config->shards > SHARDS_MAX)
        return "shards is more than 1,024";
    if ((unsigned)config->executor > TKW_BY_SUBMIT)
        return "executor is not a value of enum tkw_executor";
    return NULL;
}

static size_t purgatory_bytes(uint32_t shards)
{
    return sizeof(struct tkw_purgatory) +
           shards * sizeof(struct purgatory_shard);
}

/* Free a purgatory, or the parts of it that exist. */
static void dismantle(struct tkw_purgatory *purgatory, uint32_t shards)
{
    for (uint32_t i = 0; i < purgatory->shard_count; i++) {
        struct purgatory_shard *shard = &purgatory->shards[i];
        tkw__table_close(&shard->table);
        sync_cond_destroy(&shard->released);
        sync_mutex_destroy(&shard->mutex);
    }
    purgatory->allocator->release(purgatory->allocator->context, purgatory,
                                  purgatory_bytes(shards));
}

static int open_shard(struct tkw_purgatory *purgatory,
                      struct purgatory_shard *shard, struct hash_secret secret)
{
    *shard = (struct purgatory_shard){.watched = 0};
    int error = tkw__table_open(&shard->table, purgatory->allocator, secret);
    if (error != 0)
        return error;
    sync_mutex_init(&shard->mutex);
    tkw__sync_cond_init(&shard->released);
    purgatory->shard_count++;
    return 0;
}

int tkw_purgatory_open(struct tkw_purgatory **purgatory,
                       struct tkw_service *service,
                       const struct tkw_purgatory_config *config)
{
    static const struct tkw_purgatory_config plain = {0};
    if (config == NULL)
        config = &plain;
    if (tkw_purgatory_config_fault(config) != NULL ||
        !tkw__service_has(service, config->executor))
        return -EINVAL;
    const struct tkw_allocator *allocator =
        config->allocator != NULL ? config->allocator : &tkw__allocator_plain;
    uint32_t shards = config->shards != 0 ? config->shards : SHARDS_DEFAULT;
    struct tkw_purgatory *made =
        allocator->allocate(allocator->context, purgatory_bytes(shards));
    if (made == NULL)
        return -ENOMEM;
    *made = (struct tkw_purgatory){
        .service = service,
        .allocator = allocator,
        .executor = config->executor,
    };
    struct hash_secret secret = tkw__hash_secret_of(config->secret, made);
    for (uint32_t i = 0; i < shards; i++) {
        int error = open_shard(made, &made->shards[i], secret);
        if (error != 0) {
            dismantle(made, shards);
            return error;
        }
    }
    *purgatory = made;
    return 0;
}

/* The timer's callback: expire an operation. */
static void expire(void *argument, const struct tkw_firing *firing)
{
    struct tkw_operation *operation = argument;
    (void)firing;
    if (tkw__operation_decide(operation, OPERATION_EXPIRED))
        tkw__operation_end(operation, NULL, NULL);
    tkw__operation_drop(operation); /* the timer's reference */
}

static int arm(struct tkw_operation *operation)
{
    struct tkw_purgatory *purgatory = operation->purgatory;
    struct tkw_plan plan = {
        .task = {expire, operation, NULL},
        .when_ns = operation->timeout_ns,
        .executor = purgatory->executor,
    };
    tkw__operation_hold_for_timer(operation);
    /* tkw_service_arm() takes less time than a plan. */
    int error = plan.executor == TKW_ANYWHERE
                    ? tkw_service_arm(purgatory->service, &operation->timer,
                                      plan.when_ns, plan.task)
                    : tkw_service_arm_plan(purgatory->service,
                                           &operation->timer, &plan);
    if (error != 0)
        tkw__operation_drop(operation);
    return error;
}

/* Returns whether the condition is met or another thread has completed it. */
static bool is_over(struct tkw_operation *operation)
{
    bool is_ours;
    return tkw__operation_try(operation, &is_ours) ||
           operation_has(operation, OPERATION_DECIDED);
}

/* Returns 1 if the operation is over, 0 if it is placed, or an error if it is
 * not. */
static int place(struct tkw_operation *operation, const struct tkw_key *keys,
                 size_t count)
{
    if (is_over(operation))
        return 1;
    int error = tkw__lists_enter(operation, keys, count);
    if (error != 0)
        return error;
    /* It may have come to be met before it was on its lists. */
    if (is_over(operation))
        return 1;
    if (!has_timeout(operation))
        return 0;
    error = arm(operation);
    if (error != 0)
        tkw__lists_refuse(operation);
    return error;
}

static bool is_sound(const struct tkw_operation *operation,
                     const struct tkw_key *keys, size_t count)
{
    if (count == 0 || operation->type == NULL ||
        operation->type->try_complete == NULL)
        return false;
    size_t i = 0;
    while (i < count && table_key_is_sound(keys[i]))
        i++;
    return i == count;
}

int tkw_purgatory_try_complete_else_watch(struct tkw_purgatory *purgatory,
                                          struct tkw_operation *operation,
                                          const struct tkw_key *keys,
                                          size_t count)
{
    TKW_ASSERT(own_try() == NULL);
    if (own_try() != NULL)
        return -EDEADLK;
    if (!is_sound(operation, keys, count))
        return -EINVAL;
    if (sync_get_relaxed(&purgatory->is_closing))
        return -ESHUTDOWN;
    uint32_t home = shard_number(purgatory, key_hash(purgatory, keys[0]));
    if (!tkw__operation_claim(purgatory, operation, home))
        return -EBUSY;

    int result = place(operation, keys, count);
    if (result < 0 && tkw__operation_refuse(operation))
        return result;
    while (result == 0) {
        enum disown_result disowned = tkw__operation_disown(operation);
        if (disowned == DISOWNED)
            return 0;
        result = disowned == CALL_BACK || is_over(operation);
    }
    /* It is over: decided here, or by a thread that left the rest to the
     * owner. */
    tkw__operation_decide(operation, 0);
    bool is_completed = !operation_has(operation, OPERATION_CANCELLED);
    tkw__operation_leave(operation);
    tkw__operation_call_back(operation);
    return is_completed;
}

static void walk_begin(struct walk *walk, struct tkw_purgatory *purgatory,
                       struct tkw_key key)
{
    walk->is_over = !table_key_is_sound(key);
    walk->is_under_way = false;
    if (walk->is_over)
        return;
    walk->key = key;
    walk->hash = key_hash(purgatory, key);
    walk->shard = purgatory_shard_of(purgatory, walk->hash);
}

size_t tkw_purgatory_notify(struct tkw_purgatory *purgatory, struct tkw_key key)
{
    TKW_ASSERT(own_try() == NULL);
    if (own_try() != NULL)
        return 0; /* it would retry itself for ever */
    size_t completed = 0;
    struct walk walk;
    walk.kind = WALK_TO_NOTIFY;
    walk_begin(&walk, purgatory, key);
    while (tkw__walk_on(&walk)) {
        for (size_t i = 0; i < walk.count; i++) {
            completed += tkw__operation_retry(walk.batch[i]);
            tkw__operation_drop(walk.batch[i]);
        }
    }
    return completed;
}

/* End an operation that the user names, for the reason in `how`. */
static bool end_one(struct tkw_purgatory *purgatory,
                    struct tkw_operation *operation, uint32_t how)
{
    /* With a reference: the owner may release it before this is done. */
    if (!tkw__operation_decide(operation, how | OPERATION_REF))
        return false;
    TKW_ASSERT(operation->purgatory == purgatory);
    (void)purgatory;
    struct try_frame *try = own_try();
    if (try != NULL && try->operation == operation)
        try->is_completed = how == 0;
    tkw__operation_end(operation, NULL, NULL);
    tkw__operation_drop(operation);
    return true;
}

bool tkw_purgatory_complete(struct tkw_purgatory *purgatory,
                            struct tkw_operation *operation)
{
    return end_one(purgatory, operation, 0);
}

bool tkw_purgatory_withdraw(struct tkw_purgatory *purgatory,
                            struct tkw_operation *operation)
{
    TKW_ASSERT(own_try() == NULL);
    if (own_try() != NULL)
        return false;
    return end_one(purgatory, operation, OPERATION_CANCELLED);
}

enum tkw_outcome tkw_operation_outcome(const struct tkw_operation *operation)
{
    return sync_get_acquire(&operation->outcome);
}

/* End the operations of a batch, which the walk decided.  Returns their
 * number. */
static size_t end_batch(const struct walk *walk, tkw_operation_each *each,
                        void *context)
{
    for (size_t i = 0; i < walk->count; i++) {
        tkw__operation_end(walk->batch[i], each, context);
        tkw__operation_drop(walk->batch[i]);
    }
    return walk->count;
}

size_t tkw_purgatory_cancel(struct tkw_purgatory *purgatory, struct tkw_key key,
                            tkw_operation_each *each, void *context)
{
    TKW_ASSERT(own_try() == NULL);
    if (own_try() != NULL)
        return 0;
    size_t ended = 0;
    struct walk walk;
    walk.kind = WALK_TO_CANCEL;
    walk_begin(&walk, purgatory, key);
    while (tkw__walk_on(&walk))
        ended += end_batch(&walk, each, context);
    return ended;
}

struct tkw_purgatory_stats
tkw_purgatory_read_stats(struct tkw_purgatory *purgatory)
{
    struct tkw_purgatory_stats stats = {
        .bytes = purgatory_bytes(purgatory->shard_count),
    };
    for (uint32_t i = 0; i < purgatory->shard_count; i++) {
        struct purgatory_shard *shard = &purgatory->shards[i];
        purgatory_shard_lock(shard);
        stats.watched += shard->watched;
        stats.delayed += shard->delayed;
        stats.keys += shard->table.count;
        stats.bytes += shard->table.bytes;
        purgatory_shard_unlock(shard);
        stats.completed += sync_get_relaxed(&shard->completed);
        stats.expired += sync_get_relaxed(&shard->expired);
        stats.cancelled += sync_get_relaxed(&shard->cancelled);
    }
    stats.bytes += stats.watched * sizeof(struct tkw_watch);
    return stats;
}

static bool find_in_shard(const struct purgatory_shard *shard,
                          struct tkw_fault *fault)
{
    if (tkw__table_find_fault(&shard->table, fault))
        return true;
    size_t watched = 0;
    uint64_t cursor = 0;
    const struct table_slot *slot;
    while ((slot = tkw__table_next(&shard->table, &cursor)) != NULL) {
        uint64_t hash = table_hash(&shard->table, slot_key(slot));
        if (tkw__list_find_fault(slot, hash, &watched, fault))
            return true;
    }
    return fault_unless(fault, "number of watches of a shard", shard->watched,
                        watched) ||
           fault_if_above(fault, "number of delayed operations of a shard",
                          shard->delayed, shard->live);
}

bool tkw_purgatory_find_fault(struct tkw_purgatory *purgatory,
                              struct tkw_fault *fault)
{
    bool is_broken = false;
    for (uint32_t i = 0; i < purgatory->shard_count && !is_broken; i++) {
        struct purgatory_shard *shard = &purgatory->shards[i];
        purgatory_shard_lock(shard);
        is_broken = find_in_shard(shard, fault);
        purgatory_shard_unlock(shard);
    }
    return is_broken;
}

bool tkw_purgatory_check(struct tkw_purgatory *purgatory)
{
    struct tkw_fault ignored;
    return !tkw_purgatory_find_fault(purgatory, &ignored);
}

/* Take the first batch of the next key of a shard.  Returns false at the
 * end. */
static bool walk_next_key(struct walk *walk, struct purgatory_shard *shard,
                          uint64_t *cursor)
{
    purgatory_shard_lock(shard);
    const struct table_slot *slot = tkw__table_next(&shard->table, cursor);
    if (slot != NULL) {
        walk->is_over = false;
        walk->is_under_way = false;
        walk->shard = shard;
        walk->key = slot_key(slot);
        walk->hash = table_hash(&shard->table, walk->key);
        tkw__walk_on_locked(walk);
    }
    purgatory_shard_unlock(shard);
    return slot != NULL;
}

/*
 * End all operations of a shard.  Keys move in the table as others are removed,
 * so one pass may miss some.  A pass that ends none has missed none, because
 * none are added any more.  Operations that other threads decided leave by
 * themselves.
 */
static void end_all(struct purgatory_shard *shard, tkw_operation_each *each,
                    void *context)
{
    struct walk walk;
    walk.kind = each != NULL ? WALK_TO_CANCEL : WALK_TO_COMPLETE;
    size_t ended;
    do {
        ended = 0;
        uint64_t cursor = 0;
        while (walk_next_key(&walk, shard, &cursor)) {
            do
                ended += end_batch(&walk, each, context);
            while (tkw__walk_on(&walk));
        }
    } while (ended > 0);
}

int tkw_purgatory_close(struct tkw_purgatory *purgatory,
                        tkw_operation_each *each, void *context)
{
    if (purgatory == NULL)
        return 0;
    if (frame_is_inside(purgatory))
        return -EDEADLK;
    /* Relaxed: a thread that enters a list after end_all() sees it, by the
     * list's lock. */
    sync_put_relaxed(&purgatory->is_closing, true);
    for (uint32_t i = 0; i < purgatory->shard_count; i++)
        end_all(&purgatory->shards[i], each, context);
    for (uint32_t i = 0; i < purgatory->shard_count; i++) {
        struct purgatory_shard *shard = &purgatory->shards[i];
        purgatory_shard_lock(shard);
        while (shard->live > 0)
            sync_wait(&shard->released, &shard->mutex);
        purgatory_shard_unlock(shard);
    }
    dismantle(purgatory, purgatory->shard_count);
    return 0;
}
