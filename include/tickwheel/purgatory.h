/*
 * purgatory.h - operations that wait for a condition or a timeout, whichever
 * comes first.
 *
 * An operation is a request that cannot be answered yet: a member of your
 * object, with a function that returns whether the request can be completed
 * now.  The purgatory watches the operation on keys, which name the objects
 * that its condition depends on.  When one of these changes, notify its key:
 * the purgatory tries all operations on that key again.  An operation that is
 * not completed within its timeout expires.
 *
 *     struct fetch {
 *         struct tkw_operation operation;
 *         size_t bytes_wanted;
 *     };
 *
 *     static const struct tkw_operation_type fetch_type = {
 *         .try_complete = has_enough_data,
 *         .on_complete = send_answer,
 *         .on_release = free_fetch,
 *     };
 *
 *     fetch->operation = (struct tkw_operation){
 *         .type = &fetch_type, .timeout_ns = 500 * TKW_MILLISECOND};
 *     int error = tkw_purgatory_try_complete_else_watch(
 *         purgatory, &fetch->operation, keys, 2);
 *     ...
 *     append(partition, data);
 *     tkw_purgatory_notify(purgatory, tkw_key_number(partition->id));
 *
 * (examples/request_server.c is a whole program.)
 *
 * Promises:
 *   - an operation is completed once, by a notify, its timeout or
 *     tkw_purgatory_complete();
 *   - no completion is lost: a condition that is met before a key is notified
 *     completes the operations on that key, and those that are being added to
 *     it;
 *   - an operation does not expire before its timeout has passed, by the
 *     service's clock;
 *   - an operation that ends leaves its keys and its timer at once: there is
 *     nothing to purge, and the counts are exact;
 *   - notifying, completing and cancelling take no memory and never fail.
 *
 * The life of an operation.  Zero it, and set `type` and `timeout_ns`.  If
 * tkw_purgatory_try_complete_else_watch() returns no error, the operation
 * belongs to the purgatory until it calls on_release, and must stay at its
 * address.  In on_release you may free the operation or use it again.
 *
 *   try_complete  returns whether the condition is met.  One thread at a time
 *                 calls it, never during or after on_complete.  It may take
 *                 your locks: notify does not wait for a thread that is trying
 *                 an operation, but makes that thread try again.  (A lock that
 *                 you hold when you notify must be recursive if try_complete
 *                 takes it.)  It may call only one function of this library:
 *                 tkw_purgatory_complete() for its own operation.  Watch,
 *                 notify, withdraw and cancel fail an assertion there or,
 *                 without assertions, do nothing.
 *   on_complete   is called once if the operation is completed: by the thread
 *                 that completes it, or by a thread that is trying it at that
 *                 moment.
 *   on_expire     is called after on_complete if the timeout completed the
 *                 operation.
 *   on_release    is called last, for every outcome, when no thread uses the
 *                 operation any more.
 *
 * The last three may be NULL.  Without on_release, you may free an operation
 * only after tkw_purgatory_close().  They run with no lock held, may call every
 * function but tkw_purgatory_close(), and must return: no C++ exception may
 * leave them.  Operations that they complete call back inside them, as deep as
 * the stack allows.  Timeouts run on the `executor` of the configuration.
 *
 * Threads: each function says *any thread* or *owner*.
 */
#ifndef TICKWHEEL_PURGATORY_H
#define TICKWHEEL_PURGATORY_H

#include <tickwheel/key.h>
#include <tickwheel/service.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tkw_operation;
struct tkw_purgatory;
struct tkw_watch;

/* How an operation ended. */
enum tkw_outcome {
    TKW_WAITING, /* it has not ended */
    TKW_COMPLETED,
    TKW_EXPIRED,   /* completed, by its timeout */
    TKW_WITHDRAWN, /* withdrawn, cancelled, or handed back by close */
};

/* The functions of operations of one kind: see "The life of an operation". */
struct tkw_operation_type {
    bool (*try_complete)(struct tkw_operation *operation);
    void (*on_complete)(struct tkw_operation *operation);
    void (*on_expire)(struct tkw_operation *operation);
    void (*on_release)(struct tkw_operation *operation);
};

/* An operation, a member of your object. */
struct tkw_operation {
    const struct tkw_operation_type *type; /* public */
    uint64_t timeout_ns;             /* public; 0: at once, UINT64_MAX: none */
    struct tkw_purgatory *purgatory; /* private, all below */
    struct tkw_watch *watches;       /* one per key */
    size_t watch_count;
    tkw_handle timer;
    uint32_t word; /* its state and the number of references */
    uint16_t home; /* the shard that counts it ... */
    bool is_live;  /* ... if it does */
    enum tkw_outcome outcome;
};

/* Zero means the default for every field: {0} is a good configuration. */
struct tkw_purgatory_config {
    uint32_t shards; /* 0: 16; up to 1,024; each has keys and a lock */
    enum tkw_executor executor;            /* where timeouts run */
    const struct tkw_allocator *allocator; /* NULL: malloc and free; else it
                                              must outlive the purgatory, and
                                              any thread may call it */
    uint64_t secret[2];   /* {0}: random, from the system; of the hash */
    uint64_t reserved[4]; /* must be 0 */
};

/* Counters of a purgatory.  While other threads use the purgatory, calls in
 * progress may be counted in part. */
struct tkw_purgatory_stats {
    uint64_t watched;   /* pairs of an operation and a key of it, now */
    uint64_t delayed;   /* operations watched now that have a timeout */
    uint64_t keys;      /* watched now */
    uint64_t completed; /* operations, those that expired included ... */
    uint64_t expired;   /* ... and those that expired */
    uint64_t cancelled; /* operations withdrawn, or handed back */
    uint64_t bytes;     /* allocated now, without those of the service */
};

/* Called by cancel and close for each operation that they hand back. */
typedef void tkw_operation_each(void *context, struct tkw_operation *operation);

/*
 * Return a short static text that describes an error in `config`, or NULL if
 * there is none.  Only tkw_purgatory_open() checks that the service has the
 * executor.  *Any thread*.
 */
TKW_EXPORT const char *
tkw_purgatory_config_fault(const struct tkw_purgatory_config *config);

/*
 * Open a purgatory on a service, which must outlive it.  NULL means {0}.  *Any
 * thread*.
 *
 * Returns 0 and stores the purgatory in `*purgatory`, or leaves `*purgatory` as
 * it is and returns
 *   -EINVAL  the configuration is wrong: see tkw_purgatory_config_fault(); or
 *            the service does not have the executor;
 *   -ENOMEM  there is no memory.
 */
TKW_EXPORT int tkw_purgatory_open(struct tkw_purgatory **purgatory,
                                  struct tkw_service *service,
                                  const struct tkw_purgatory_config *config);

/*
 * Try to complete an operation.  If its condition is not met, watch it on
 * `count` keys, try once more, and start its timeout.  A key that is named
 * twice is watched twice.  *Any thread*.
 *
 * Returns
 *   1           the operation was completed, and on_complete was called; also
 *               on_expire, if the timeout expired before the condition was met;
 *   0           the operation is watched; other threads may have completed or
 *               cancelled it since;
 * or calls no function but try_complete, leaves the operation to you, and
 * returns
 *   -EINVAL     there are no keys, a key has 2^31 bytes or more, or the type or
 *               its try_complete is NULL;
 *   -EBUSY      the operation is in a purgatory already;
 *   -EDEADLK    from inside a try_complete;
 *   -ENOMEM     there is no memory;
 *   -EAGAIN     the service has no room for another timer;
 *   -ESHUTDOWN  the purgatory is being closed, or the service was stopped and
 *               the operation has a timeout.
 */
TKW_EXPORT int
tkw_purgatory_try_complete_else_watch(struct tkw_purgatory *purgatory,
                                      struct tkw_operation *operation,
                                      const struct tkw_key *keys, size_t count);

/*
 * Call try_complete of all operations that are watched on `key`, oldest first.
 * Notify after each change that may meet their conditions.  If another thread
 * is trying an operation, that thread tries it once more instead.  So one call
 * may try an operation as often as other threads notify it meanwhile.  *Any
 * thread*.
 *
 * Returns the number of operations that this call completed.
 */
TKW_EXPORT size_t tkw_purgatory_notify(struct tkw_purgatory *purgatory,
                                       struct tkw_key key);

/*
 * Complete an operation, even if its condition is not met.  *Any thread*.
 *
 * The memory of the operation must exist, and not be in use for another one.
 * If other threads may end the operation at that time, count references of your
 * own: one for each thread that may make this call, and one that on_release
 * drops.
 *
 * Returns true if this call completed the operation; false if it had ended
 * already, or is in no purgatory.
 */
TKW_EXPORT bool tkw_purgatory_complete(struct tkw_purgatory *purgatory,
                                       struct tkw_operation *operation);

/*
 * Withdraw an operation without completing it: take it off its keys, cancel its
 * timer, and call on_release, but not on_complete.  Its memory must exist, as
 * for tkw_purgatory_complete().  *Any thread*.
 *
 * Returns true if this call withdrew the operation; false if it had ended
 * already, or is in no purgatory.
 */
TKW_EXPORT bool tkw_purgatory_withdraw(struct tkw_purgatory *purgatory,
                                       struct tkw_operation *operation);

/*
 * Return how an operation ended.  The outcome is known in on_complete,
 * on_expire and on_release, and afterwards.  Before that it is TKW_WAITING.  So
 * it is TKW_WAITING in the `each` function of cancel and close, and
 * TKW_WITHDRAWN in the on_release that follows.  *Any thread*.
 */
TKW_EXPORT enum tkw_outcome
tkw_operation_outcome(const struct tkw_operation *operation);

/*
 * Cancel all operations that are watched on `key`, oldest first.  The call
 * takes each off all its keys, cancels its timer, and calls `each` (may be
 * NULL), then on_release, but not on_complete.  No lock is held.  *Any thread*.
 *
 *   - another thread may still be in try_complete when `each` is called;
 *   - an operation that another thread is just adding leaves its keys only when
 *     tkw_purgatory_try_complete_else_watch() returns 0 there, and may be tried
 *     once more before;
 *   - in all cases the operation is yours again only in on_release.
 *
 * Returns the number of operations that this call cancelled.
 */
TKW_EXPORT size_t tkw_purgatory_cancel(struct tkw_purgatory *purgatory,
                                       struct tkw_key key,
                                       tkw_operation_each *each, void *context);

/* Return the counters of the purgatory.  Takes the lock of each shard in turn.
 * *Any thread*. */
TKW_EXPORT struct tkw_purgatory_stats
tkw_purgatory_read_stats(struct tkw_purgatory *purgatory);

/*
 * Verify all invariants of the purgatory, and return whether they hold; for
 * tests and debug assertions.  O(keys + operations).  *Owner*: no other thread
 * may use the purgatory meanwhile.
 */
TKW_EXPORT bool tkw_purgatory_check(struct tkw_purgatory *purgatory);

/*
 * Like tkw_purgatory_check(), but return true if an invariant is broken, and
 * describe the first one found in `*fault` (see base.h), with level 0.  If none
 * is broken, `*fault` stays as it is.  *Owner*: no other thread may use the
 * purgatory meanwhile.
 */
TKW_EXPORT bool tkw_purgatory_find_fault(struct tkw_purgatory *purgatory,
                                         struct tkw_fault *fault);

/*
 * Close the purgatory:
 *   - reject new operations;
 *   - cancel the operations left, as tkw_purgatory_cancel() does with `each`;
 *     if `each` is NULL, complete them instead, even if their conditions are
 *     not met;
 *   - block until all operations are released, then free the purgatory.
 * Close it before its service.  Do not hold a lock that a callback takes.
 * `purgatory` may be NULL: the call does nothing.
 *
 * *Owner*: no other thread may use the purgatory during the call or after it,
 * except running callbacks of its operations.
 *
 * Returns 0, or changes nothing and returns -EDEADLK from inside a callback of
 * one of its operations.
 */
TKW_EXPORT int tkw_purgatory_close(struct tkw_purgatory *purgatory,
                                   tkw_operation_each *each, void *context);

#ifdef __cplusplus
}
#endif

#endif
