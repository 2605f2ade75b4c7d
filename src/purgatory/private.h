/*
 * purgatory/private.h - the purgatory's parts.
 *
 *     purgatory/watch.c  open and close, and the calls of purgatory.h
 *     purgatory/life.c   the word of an operation: which thread may do what
 *     purgatory/list.c   the list of operations watched on a key, and walks
 */
#ifndef TKW_PURGATORY_PRIVATE_H
#define TKW_PURGATORY_PRIVATE_H

#include <tickwheel/purgatory.h>

#include "keys/table.h"
#include "os/frame.h"
#include "os/lock_order.h"

/*
 * An operation's place in the list of a key; or, without an operation, the mark
 * of a walk.  It has only the key's hash: list_of() finds the list that begins
 * or ends with it.
 */
struct tkw_watch {
    struct tkw_watch *next; /* NULL: the last */
    struct tkw_watch *prev; /* NULL: the first */
    struct tkw_operation *operation;
    uint64_t hash;
};

/* The table's values for a key: its list. */
enum { LIST_FIRST, LIST_LAST };

struct purgatory_shard {
    struct sync_mutex mutex; /* guards all fields but the atomic ones */
    struct sync_cond released;
    struct table table;
    size_t watched;
    size_t delayed;     /* operations with a timeout; their first key is here */
    size_t live;        /* watched and not released; likewise */
    uint64_t completed; /* atomic, as are the next two */
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
 * The word of an operation.  0: no purgatory has it.  Else flags, and above
 * them the number of references: the purgatory's, the timer's, and one of each
 * other thread that uses it.
 */
#define OPERATION_OWNED UINT32_C(1)    /* a thread tries or places it */
#define OPERATION_PLACING UINT32_C(2)  /* the latter; notify only sets AGAIN */
#define OPERATION_AGAIN UINT32_C(4)    /* the owner must try once more */
#define OPERATION_DECIDED UINT32_C(8)  /* it is over; the reason: */
#define OPERATION_EXPIRED UINT32_C(16) /* its timeout */
#define OPERATION_CANCELLED UINT32_C(32)
#define OPERATION_GONE UINT32_C(64) /* off all lists; the owner calls back */
#define OPERATION_REF UINT32_C(128)

/* The handle in the frame of a thread inside of a try_complete; no timer has
 * it. */
#define FRAME_TRYING UINT64_MAX

struct try_frame {
    struct frame frame; /* the first member */
    const struct tkw_operation *operation;
    bool is_completed; /* its own try_complete called complete() */
};

/* Operations that a walk takes at a time; fewer in tests. */
#ifndef TKW_WALK_BATCH
#define TKW_WALK_BATCH 32
#endif

enum walk_kind {
    WALK_TO_NOTIFY, /* hold the operations of a batch ... */
    WALK_TO_COMPLETE,
    WALK_TO_CANCEL, /* ... or decide them, too */
};

struct walk {
    enum walk_kind kind;
    struct purgatory_shard *shard;
    struct tkw_key key;
    uint64_t hash;
    bool is_over;
    bool is_under_way;     /* `mark` and `end` are in the list: */
    struct tkw_watch mark; /* where the walk continues */
    struct tkw_watch end;  /* operations behind came later */
    size_t count;
    struct tkw_operation *batch[TKW_WALK_BATCH];
};

/* Return a shard by bits of the hash that the tables do not use. */
static inline uint32_t shard_number(const struct tkw_purgatory *purgatory,
                                    uint64_t hash)
{
    return (uint32_t)((hash >> 16 & 0xffff) * purgatory->shard_count >> 16);
}

static inline struct purgatory_shard *
purgatory_shard_of(struct tkw_purgatory *purgatory, uint64_t hash)
{
    return &purgatory->shards[shard_number(purgatory, hash)];
}

/* Hash a key.  All shards have one secret. */
static inline uint64_t key_hash(const struct tkw_purgatory *purgatory,
                                struct tkw_key key)
{
    return table_hash(&purgatory->shards[0].table, key);
}

static inline void purgatory_shard_lock(struct purgatory_shard *shard)
{
    order_lock(&shard->mutex, ORDER_PURGATORY);
}

static inline void purgatory_shard_unlock(struct purgatory_shard *shard)
{
    order_unlock(&shard->mutex, ORDER_PURGATORY);
}

/* Return the try_complete that the calling thread is in, or NULL. */
static inline struct try_frame *own_try(void)
{
    const struct frame *frame = frame_innermost();
    return frame != NULL && frame->handle == FRAME_TRYING
               ? (struct try_frame *)(uintptr_t)frame
               : NULL;
}

/* Acquire: the caller sees all writes before the flag was set. */
static inline bool operation_has(const struct tkw_operation *operation,
                                 uint32_t flag)
{
    return (sync_get_acquire(&operation->word) & flag) != 0;
}

static inline bool has_timeout(const struct tkw_operation *operation)
{
    return operation->timeout_ns != UINT64_MAX;
}

/* Count one live operation less, under the lock: close() waits for the last. */
static inline void shard_count_out(struct purgatory_shard *shard)
{
    shard->live--;
    if (shard->live == 0)
        sync_broadcast(&shard->released);
}

/* purgatory/list.c */

/* Put an operation into the list of every key.  Returns 0; or -ENOMEM or
 * -ESHUTDOWN, and then it is in none. */
int tkw__lists_enter(struct tkw_operation *operation,
                     const struct tkw_key *keys, size_t count);

/* Take an operation out of all lists; it may be in none.  tkw__lists_refuse()
 * undoes tkw__lists_enter(). */
void tkw__lists_leave(struct tkw_operation *operation);
void tkw__lists_refuse(struct tkw_operation *operation);

/* Take the next batch of a walk: see walk_kind.  Returns false at the end. */
bool tkw__walk_on(struct walk *walk);
bool tkw__walk_on_locked(struct walk *walk);

/* Returns whether an invariant of a slot's list is broken, and describes the
 * first that is.  Adds the list's operations to `*watched`. */
bool tkw__list_find_fault(const struct table_slot *slot, uint64_t hash,
                          size_t *watched, struct tkw_fault *fault);

/* purgatory/life.c */

/* Claim an operation that no purgatory has: it is then owned and being placed.
 * Returns false if a purgatory has it. */
bool tkw__operation_claim(struct tkw_purgatory *purgatory,
                          struct tkw_operation *operation, uint32_t home);

/* Give up an operation that could not be placed.  Returns false if it is
 * decided. */
bool tkw__operation_refuse(struct tkw_operation *operation);

/* Take a reference to an operation found in a list, with the list's lock.
 * Returns false if it is decided or being placed. */
bool tkw__operation_hold(struct tkw_operation *operation);
void tkw__operation_hold_for_timer(struct tkw_operation *operation);
void tkw__operation_drop(struct tkw_operation *operation);

/* Call try_complete, as the owner.  Returns its result.  Stores in `*is_ours`
 * whether it called complete() itself, first of all threads. */
bool tkw__operation_try(struct tkw_operation *operation, bool *is_ours);

/* End the ownership of an operation. */
enum disown_result {
    DISOWNED,  /* the caller is no longer the owner */
    TRY_AGAIN, /* a notify asks for it; the caller is still the owner */
    CALL_BACK, /* the operation is over: the caller must call its callbacks; a
                  caller that was placing it takes it off all lists first */
};

enum disown_result tkw__operation_disown(struct tkw_operation *operation);

/*
 * Decide that an operation is over, for the reason in `how`, which may include
 * a reference.  Returns false if it was decided already.  The caller holds a
 * reference, unless the operation cannot be released meanwhile.
 */
bool tkw__operation_decide(struct tkw_operation *operation, uint32_t how);

/* After deciding, the owner leaves all lists and cancels the timer; then it
 * calls back and drops the purgatory's reference. */
void tkw__operation_leave(struct tkw_operation *operation);
void tkw__operation_call_back(struct tkw_operation *operation);

/* Likewise for a thread that is not the owner; but if there is an owner, it
 * calls back.  In between pass the operation to `each` (may be NULL). */
void tkw__operation_end(struct tkw_operation *operation,
                        tkw_operation_each *each, void *context);

/* Try an operation, or make its owner try.  Returns whether this call completed
 * it. */
bool tkw__operation_retry(struct tkw_operation *operation);

#endif
