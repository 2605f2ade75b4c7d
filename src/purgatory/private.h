/*
 * purgatory/private.h - the purgatory's parts.
 *
 *     purgatory.c        open and close, and the calls of purgatory.h
 *     purgatory/life.c   the word of an operation: who may do what with it
 *     purgatory/list.c   the lists of those watched on a key, and walking them
 */
#ifndef TKW_PURGATORY_PRIVATE_H
#define TKW_PURGATORY_PRIVATE_H

#include <tickwheel/purgatory.h>

#include "keys/table.h"
#include "os/frame.h"
#include "os/lock_order.h"

/*
 * An operation's place in the list of a key; or, without an operation, the mark
 * of somebody who walks the list.  It does not know the key, only its hash: the
 * list that begins or ends with it is the one.
 */
struct tkw_watch {
    struct tkw_watch *next; /* NULL: the last */
    struct tkw_watch *prev; /* NULL: the first */
    struct tkw_operation *operation;
    uint64_t hash;
};

/* What the table has for a key: its list. */
enum { LIST_FIRST, LIST_LAST };

struct purgatory_shard {
    struct sync_mutex mutex; /* of all that is not said to be atomic */
    struct sync_cond released;
    struct table table;
    size_t watched;
    size_t delayed;     /* of operations whose first key is here, as are: */
    size_t live;        /* those that were watched and not yet released */
    uint64_t completed; /* atomic, and the next two */
    uint64_t expired;
    uint64_t cancelled;
    char padding[64]; /* the next shard's lock is on another cache line */
};

struct tkw_purgatory {
    struct tkw_service *service;
    const struct tkw_allocator *allocator;
    enum tkw_executor executor;
    bool is_closing; /* atomic */
    uint32_t shard_count;
    struct purgatory_shard shards[];
};

/*
 * The word of an operation: 0 is one that is nobody's, else flags, and above
 * them how many hold on to it: the purgatory itself, its timer, and each who
 * checks a key and has come to it.
 */
#define OPERATION_OWNED UINT32_C(1)   /* a thread is trying, or placing it */
#define OPERATION_PLACING UINT32_C(2) /* the latter; it has no refs of others */
#define OPERATION_AGAIN UINT32_C(4)   /* the owner is to try once more */
#define OPERATION_DECIDED UINT32_C(8) /* it is over, and why: */
#define OPERATION_EXPIRED UINT32_C(16) /* by its timeout */
#define OPERATION_CANCELLED UINT32_C(32)
#define OPERATION_GONE UINT32_C(64) /* from all lists; the owner calls back */
#define OPERATION_REF UINT32_C(128)

/* The handle, in the frame of a thread that is inside of a try_complete; no
 * timer has it. */
#define FRAME_TRYING UINT64_MAX

struct try_frame {
    struct frame frame; /* the first member */
    const struct tkw_operation *operation;
    bool is_completed; /* by its own try_complete, which called complete() */
};

/* A walk through the list of a key, so many operations at a time; tests have
 * less. */
#ifndef TKW_WALK_BATCH
#define TKW_WALK_BATCH 32
#endif

enum walk_kind {
    WALK_TO_CHECK, /* those of a batch are held ... */
    WALK_TO_COMPLETE,
    WALK_TO_CANCEL, /* ... or decided as well, by us */
};

struct walk {
    enum walk_kind kind;
    struct purgatory_shard *shard;
    struct tkw_key key;
    uint64_t hash;
    bool is_over;
    bool is_under_way;     /* the marks are in the list: */
    struct tkw_watch mark; /* where to go on */
    struct tkw_watch end;  /* those behind came later */
    size_t count;
    struct tkw_operation *batch[TKW_WALK_BATCH];
};

/* By bits of the hash that the tables do not use. */
static inline uint32_t shard_number(const struct tkw_purgatory *purgatory,
                                    uint64_t hash)
{
    return (uint32_t)((hash >> 16 & 0xffff) * purgatory->shard_count >> 16);
}

static inline struct purgatory_shard *shard_of(struct tkw_purgatory *purgatory,
                                               uint64_t hash)
{
    return &purgatory->shards[shard_number(purgatory, hash)];
}

/* All shards hash with one secret. */
static inline uint64_t key_hash(const struct tkw_purgatory *purgatory,
                                struct tkw_key key)
{
    return table_hash(&purgatory->shards[0].table, key);
}

static inline void shard_lock(struct purgatory_shard *shard)
{
    order_lock(&shard->mutex, ORDER_PURGATORY);
}

static inline void shard_unlock(struct purgatory_shard *shard)
{
    order_unlock(&shard->mutex, ORDER_PURGATORY);
}

/* The try_complete that the calling thread is in, or NULL. */
static inline struct try_frame *own_try(void)
{
    const struct frame *frame = frame_innermost();
    return frame != NULL && frame->handle == FRAME_TRYING
               ? (struct try_frame *)(uintptr_t)frame
               : NULL;
}

/* Acquire: what was done before the flag was set is seen. */
static inline bool operation_has(const struct tkw_operation *operation,
                                 uint32_t flag)
{
    return (sync_get_acquire(&operation->word) & flag) != 0;
}

static inline bool has_timeout(const struct tkw_operation *operation)
{
    return operation->timeout_ns != UINT64_MAX;
}

/* One operation less is live.  Under the lock, for close waits for the last. */
static inline void shard_count_out(struct purgatory_shard *shard)
{
    shard->live--;
    if (shard->live == 0)
        sync_broadcast(&shard->released);
}

/* purgatory/list.c */

/* Put an operation into the list of every key.  Returns 0, or with nothing
 * changed -ENOMEM or -ESHUTDOWN. */
int tkw__lists_enter(struct tkw_operation *operation,
                     const struct tkw_key *keys, size_t count);

/* Take it out of all lists; it may be in none.  Or undo entering them. */
void tkw__lists_leave(struct tkw_operation *operation);
void tkw__lists_refuse(struct tkw_operation *operation);

/* Take the next batch of a walk; see walk_kind.  Returns false at the end. */
bool tkw__walk_on(struct walk *walk);
bool tkw__walk_on_locked(struct walk *walk);

/* Is the list of a slot as it must be?  Adds its operations to `*watched`. */
bool tkw__list_is_sound(const struct table_slot *slot, uint64_t hash,
                        size_t *watched);

/* purgatory/life.c */

/* Make an operation that is nobody's one of the purgatory, owned and being
 * placed.  Returns whether it was nobody's. */
bool tkw__operation_claim(struct tkw_purgatory *purgatory,
                          struct tkw_operation *operation, uint32_t home);

/* Give back one that could not be placed, unless it is decided. */
bool tkw__operation_refuse(struct tkw_operation *operation);

/* Hold on to an operation that was found in a list, whose lock is held.
 * Returns whether it could be. */
bool tkw__operation_hold(struct tkw_operation *operation);
void tkw__operation_hold_for_timer(struct tkw_operation *operation);
void tkw__operation_drop(struct tkw_operation *operation);

/* Call try_complete, as its owner.  Returns what it did; `*is_ours`: it has
 * called complete() itself, which was the first to. */
bool tkw__operation_try(struct tkw_operation *operation, bool *is_ours);

/* Give up owning it. */
enum farewell {
    GRANTED,   /* it is no longer ours */
    TRY_AGAIN, /* somebody wishes so; it still is */
    CALL_BACK, /* it is over, and we are the last: call back, having left all
                  lists if we were placing it */
};

enum farewell tkw__operation_let_go(struct tkw_operation *operation);

/*
 * Let it be over, for the reason of these flags; a reference may be added to
 * them.  Returns whether that is due to us.  Whoever is not sure that it will
 * not be released must hold on to it.
 */
bool tkw__operation_decide(struct tkw_operation *operation, uint32_t how);

/* What to do then.  As its owner: leave all lists and stop the timer; call
 * back, and give up the purgatory's reference. */
void tkw__operation_leave(struct tkw_operation *operation);
void tkw__operation_call_back(struct tkw_operation *operation);

/* As somebody else: the same, the second part only if there is no owner, who
 * would do it.  In between give it to `each` (may be NULL). */
void tkw__operation_end(struct tkw_operation *operation,
                        tkw_operation_each *each, void *context);

/* Try it, or have its owner try.  Returns whether we completed it. */
bool tkw__operation_check(struct tkw_operation *operation);

#endif
