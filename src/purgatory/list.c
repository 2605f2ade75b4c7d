/*
 * purgatory/list.c - the operations that are watched on a key.
 *
 * The table of a shard leads from a key to the first and the last of its list.
 * The list is linked both ways, so that an operation leaves the lists of all
 * its keys without a search.  A key without a list is not in the table.
 *
 * A walk takes a batch of a list at a time, since the lock is not held while
 * operations are tried.  In between, two marks of the walk stay in the list:
 * where it continues, and where the list ended when it began.  Otherwise
 * operations that are added all the while could keep it going for ever.
 *
 *     A - B - C - [mark] - D - E - [end] - F
 *     tried so far         to be tried     came too late
 */
#include "private.h"

#include <errno.h>

#include "base/assertion.h"
#include "base/fault.h"

static struct tkw_watch *list_first(const struct table_slot *slot)
{
    return (struct tkw_watch *)(uintptr_t)slot->value[LIST_FIRST];
}

static struct tkw_watch *list_last(const struct table_slot *slot)
{
    return (struct tkw_watch *)(uintptr_t)slot->value[LIST_LAST];
}

static void list_set(struct table_slot *slot, const struct tkw_watch *first,
                     const struct tkw_watch *last)
{
    slot->value[LIST_FIRST] = (uintptr_t)first;
    slot->value[LIST_LAST] = (uintptr_t)last;
}

static void list_append(struct table_slot *slot, struct tkw_watch *watch)
{
    struct tkw_watch *last = list_last(slot);
    watch->next = NULL;
    watch->prev = last;
    if (last != NULL)
        last->next = watch;
    list_set(slot, last != NULL ? list_first(slot) : watch, watch);
}

/* Insert `watch` before `next`, which is not the first. */
static void list_insert_before(struct tkw_watch *watch, struct tkw_watch *next)
{
    TKW_ASSERT(next->prev != NULL);
    watch->next = next;
    watch->prev = next->prev;
    watch->prev->next = watch;
    next->prev = watch;
}

/* Return the list that begins or ends with `watch`. */
static struct table_slot *list_of(struct purgatory_shard *shard,
                                  const struct tkw_watch *watch)
{
    return table_find_value(&shard->table, watch->hash, (uintptr_t)watch);
}

/* Remove `watch`.  The table changes only if it was the first or the last. */
static void list_remove(struct purgatory_shard *shard, struct tkw_watch *watch)
{
    struct tkw_watch *next = watch->next, *prev = watch->prev;
    if (next != NULL)
        next->prev = prev;
    if (prev != NULL)
        prev->next = next;
    if (next != NULL && prev != NULL)
        return;

    struct table_slot *slot = list_of(shard, watch);
    if (next != NULL || prev != NULL) {
        list_set(slot, prev != NULL ? list_first(slot) : next,
                 next != NULL ? list_last(slot) : prev);
        return;
    }
    struct table_bytes *bytes =
        tkw__table_remove(&shard->table, slot, watch->hash);
    if (bytes != NULL)
        tkw__table_release_bytes(&shard->table, bytes);
}

static int enter_list(struct tkw_purgatory *purgatory, struct tkw_watch *watch,
                      struct tkw_key key, bool is_first)
{
    struct purgatory_shard *shard = purgatory_shard_of(purgatory, watch->hash);
    purgatory_shard_lock(shard);
    struct table_slot *slot = table_find(&shard->table, key, watch->hash);
    int error = sync_get_relaxed(&purgatory->is_closing) ? -ESHUTDOWN : 0;
    if (slot == NULL && error == 0)
        error = tkw__table_insert(&shard->table, &slot, key, watch->hash);
    if (error == 0) {
        list_append(slot, watch);
        shard->watched++;
        shard->delayed += is_first && has_timeout(watch->operation);
        shard->live += is_first;
    }
    purgatory_shard_unlock(shard);
    return error;
}

/* Leave the first `count` lists, and free all watches.  A refused operation is
 * not live any more. */
static void leave_lists(struct tkw_operation *operation, size_t count,
                        bool is_refused)
{
    struct tkw_purgatory *purgatory = operation->purgatory;
    struct tkw_watch *watches = operation->watches;
    for (size_t i = 0; i < count; i++) {
        struct purgatory_shard *shard =
            purgatory_shard_of(purgatory, watches[i].hash);
        purgatory_shard_lock(shard);
        list_remove(shard, &watches[i]);
        shard->watched--;
        shard->delayed -= i == 0 && has_timeout(operation);
        if (i == 0 && is_refused)
            shard_count_out(shard);
        purgatory_shard_unlock(shard);
    }
    purgatory->allocator->release(purgatory->allocator->context, watches,
                                  operation->watch_count * sizeof *watches);
    operation->watches = NULL;
}

int tkw__lists_enter(struct tkw_operation *operation,
                     const struct tkw_key *keys, size_t count)
{
    struct tkw_purgatory *purgatory = operation->purgatory;
    if (count > SIZE_MAX / sizeof(struct tkw_watch))
        return -ENOMEM;
    struct tkw_watch *watches = purgatory->allocator->allocate(
        purgatory->allocator->context, count * sizeof *watches);
    if (watches == NULL)
        return -ENOMEM;
    operation->watches = watches;
    operation->watch_count = count;
    for (size_t i = 0; i < count; i++) {
        watches[i] = (struct tkw_watch){
            .operation = operation,
            .hash = key_hash(purgatory, keys[i]),
        };
        int error = enter_list(purgatory, &watches[i], keys[i], i == 0);
        if (error != 0) {
            leave_lists(operation, i, true);
            return error;
        }
    }
    operation->is_live = true;
    return 0;
}

void tkw__lists_leave(struct tkw_operation *operation)
{
    if (operation->watches != NULL)
        leave_lists(operation, operation->watch_count, false);
}

void tkw__lists_refuse(struct tkw_operation *operation)
{
    leave_lists(operation, operation->watch_count, true);
    operation->is_live = false;
}

/* Take a reference to an operation, and decide it if the walk is to.  Returns
 * whether it joins the batch. */
static bool hold_or_decide(const struct walk *walk,
                           struct tkw_operation *operation)
{
    switch (walk->kind) {
    case WALK_TO_COMPLETE:
        return tkw__operation_decide(operation, OPERATION_REF);
    case WALK_TO_CANCEL:
        return tkw__operation_decide(operation,
                                     OPERATION_REF | OPERATION_CANCELLED);
    default:
        return tkw__operation_hold(operation);
    }
}

/* Take one batch, from `watch` on.  Returns where to continue, or NULL. */
static struct tkw_watch *take_batch(struct walk *walk, struct tkw_watch *watch)
{
    walk->count = 0;
    for (; watch != NULL && watch != &walk->end; watch = watch->next) {
        if (walk->count == TKW_WALK_BATCH)
            return watch;
        if (watch->operation != NULL && hold_or_decide(walk, watch->operation))
            walk->batch[walk->count++] = watch->operation;
    }
    return NULL;
}

static void end_walk(struct walk *walk)
{
    if (walk->is_under_way)
        list_remove(walk->shard, &walk->end);
    walk->is_over = true;
}

bool tkw__walk_on_locked(struct walk *walk)
{
    struct purgatory_shard *shard = walk->shard;
    struct table_slot *slot = NULL; /* only when a walk begins */
    struct tkw_watch *next = NULL;
    if (walk->is_under_way) {
        next = walk->mark.next;
        list_remove(shard, &walk->mark);
    } else {
        slot = table_find(&shard->table, walk->key, walk->hash);
        if (slot != NULL)
            next = list_first(slot);
    }

    next = take_batch(walk, next);
    if (next == NULL) {
        end_walk(walk);
        return walk->count > 0;
    }
    if (!walk->is_under_way) {
        walk->mark = (struct tkw_watch){.hash = walk->hash};
        walk->end = (struct tkw_watch){.hash = walk->hash};
        list_append(slot, &walk->end);
        walk->is_under_way = true;
    }
    /* `next` is not the first watch of its list: the lock is still held, so
     * the watches of the batch are before it. */
    list_insert_before(&walk->mark, next);
    return true;
}

bool tkw__walk_on(struct walk *walk)
{
    if (walk->is_over)
        return false;
    purgatory_shard_lock(walk->shard);
    bool is_more = tkw__walk_on_locked(walk);
    purgatory_shard_unlock(walk->shard);
    return is_more;
}

bool tkw__list_find_fault(const struct table_slot *slot, uint64_t hash,
                          size_t *watched, struct tkw_fault *fault)
{
    const struct tkw_watch *prev = NULL;
    for (const struct tkw_watch *watch = list_first(slot); watch != NULL;
         watch = watch->next) {
        if (fault_if(fault, "a link between two watches of a key is broken",
                     watch->prev != prev) ||
            fault_unless(fault, "hash of a watch's key", watch->hash, hash))
            return true;
        prev = watch;
        if (watch->operation == NULL)
            continue; /* the mark of a walk that is under way */
        if (fault_if_below(fault, "word of a watched operation",
                           watch->operation->word, OPERATION_REF))
            return true;
        (*watched)++;
    }
    return fault_if(fault, "the list of a key does not end at its last watch",
                    prev == NULL || prev != list_last(slot));
}
