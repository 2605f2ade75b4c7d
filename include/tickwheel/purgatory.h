/*
 * purgatory.h - operations that wait for a condition or a timeout, whichever
 * comes first.
 *
 * A request that cannot be answered yet is an operation: a member of your
 * object, with a function that tells whether it can be completed now.  It is
 * watched on the keys of whatever may change that: when something did, check
 * the key, and its operations are tried again.  What is not completed within
 * its time expires.
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
 *     tkw_purgatory_check(purgatory, tkw_key_number(partition->id));
 *
 * (examples/request_server.c is a whole program.)
 *
 * Promises:
 *   - completed once, by whoever gets there first: a check, the timeout, or
 *     tkw_purgatory_complete();
 *   - a completion is never lost: whatever is made true before a key is checked
 *     completes the operations that are watched on it, and those that are just
 *     about to be;
 *   - expired not before its time has passed, by the service's clock;
 *   - what is completed or cancelled leaves all lists, and its timer is
 *     stopped, at once: there is nothing to purge, and the counts are exact;
 *   - checking, completing and cancelling take no memory and never fail.
 *
 * The life of an operation.  Zeroed but for `type` and `timeout_ns` it is
 * yours; from tkw_purgatory_try_complete_else_watch() on, unless that returns
 * an error, it is the purgatory's, until on_release: that is the last anybody
 * does with it, and it may be freed there, or be used again.  Until then it
 * must stay at its address.
 *
 *   try_complete  tells whether the condition is met.  By one thread at a time,
 *                 never beside on_complete or after it.  It may take locks of
 *                 yours: a check never waits for an operation that another
 *                 thread is trying, but has that thread try again, so that no
 *                 two wait for each other.  (A lock that you hold when you
 *                 check must be one that the same thread can take again.)  Of
 *                 this library it may call nothing, but
 *                 tkw_purgatory_complete() for its own operation.  To watch,
 *                 check, withdraw or cancel is an assertion or, without these,
 *                 refused.
 *   on_complete   once, if it was completed, by the thread that did or, if
 *                 another was trying it just then, maybe by that.
 *   on_expire     then, if it was completed by its timeout.
 *   on_release    at last, however it ended: completed, cancelled or handed
 *                 back; when nobody can touch it any more.
 *
 * The last three may be NULL (but without on_release nobody tells you that an
 * operation may be freed, before close has returned).  They run with no lock
 * held and may call anything, but not close, and return (no C++ exception gets
 * out of one); what they complete calls back inside of them, and so on, as deep
 * as the stack is.  Timeouts run where `executor` says.
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

/* How an operation has ended. */
enum tkw_outcome {
    TKW_WAITING, /* it has not */
    TKW_COMPLETED,
    TKW_EXPIRED,   /* completed, by its timeout */
    TKW_WITHDRAWN, /* cancelled, withdrawn or handed back */
};

/* What operations of one kind do. */
struct tkw_operation_type {
    bool (*try_complete)(struct tkw_operation *operation);
    void (*on_complete)(struct tkw_operation *operation);
    void (*on_expire)(struct tkw_operation *operation);
    void (*on_release)(struct tkw_operation *operation);
};

/* An operation, to be embedded in what it is about. */
struct tkw_operation {
    const struct tkw_operation_type *type; /* public */
    uint64_t timeout_ns;             /* public; 0: at once, UINT64_MAX: none */
    struct tkw_purgatory *purgatory; /* private, all below */
    struct tkw_watch *watches;       /* one a key */
    size_t watch_count;
    tkw_handle timer;
    uint32_t word; /* its state, and how many hold on to it */
    uint16_t home; /* where it is counted ... */
    bool is_live;  /* ... and whether */
    enum tkw_outcome outcome;
};

/* Zero means the default, everywhere: {0} is a good configuration. */
struct tkw_purgatory_config {
    uint32_t shards; /* of the keys, each with a lock; 0: 16; up to 1,024 */
    enum tkw_executor executor;            /* where timeouts run */
    const struct tkw_allocator *allocator; /* NULL: malloc and free; else it
                                              must outlive the purgatory, and be
                                              fit for any thread */
    uint64_t secret[2];   /* of the hash; {0}: random, as the system gives it */
    uint64_t reserved[4]; /* must be 0 */
};

/*
 * What a purgatory has done, and what it holds.  Exact at rest; while others
 * use it, it may be off by the calls in flight.
 */
struct tkw_purgatory_figures {
    uint64_t watched;   /* pairs of an operation and a key it is watched on */
    uint64_t delayed;   /* operations whose timeout is pending: without one,
                           they are not counted */
    uint64_t keys;      /* that are watched */
    uint64_t completed; /* operations; those that expired included ... */
    uint64_t expired;   /* ... and how many these were */
    uint64_t cancelled; /* withdrawn, or handed back by cancel or close */
    uint64_t bytes;     /* allocated now, without the service's */
};

/* What cancel and close tell of each operation that they hand back. */
typedef void tkw_operation_each(void *context, struct tkw_operation *operation);

/* Say what is wrong with a configuration, in a few words; NULL: nothing, in
 * itself: whether the service has the executor only open sees.  *Any
 * thread*. */
TKW_EXPORT const char *
tkw_purgatory_config_fault(const struct tkw_purgatory_config *config);

/*
 * Open a purgatory on a service, which must outlive it.  NULL is the
 * configuration {0}.  *Any thread*.
 *
 * Returns 0 and the purgatory in `*purgatory`, or with `*purgatory` untouched:
 *   -EINVAL  something in the configuration is wrong: the function above says
 *            what; or the service does not have the executor;
 *   -ENOMEM  there is no memory.
 */
TKW_EXPORT int tkw_purgatory_open(struct tkw_purgatory **purgatory,
                                  struct tkw_service *service,
                                  const struct tkw_purgatory_config *config);

/*
 * Try to complete an operation; if that fails, watch it on `count` keys, try
 * once more, and give it `timeout_ns` from now.  A key that is named twice is
 * watched twice.  *Any thread*.
 *
 * Returns 1 if it is completed, on_complete having been called (and on_expire,
 * if its time was over before this was); 0 if it is watched, and by now may
 * have been completed or cancelled by others; or with nothing called but
 * try_complete, and the operation yours as before:
 *   -EINVAL     there is no key, or one of too many bytes, or no type with a
 *               try_complete;
 *   -EBUSY      it is in a purgatory already;
 *   -EDEADLK    it is a try_complete that asks;
 *   -ENOMEM     there is no memory;
 *   -EAGAIN     the service has as many timers as allowed;
 *   -ESHUTDOWN  the service was stopped, and there is a timeout; or the
 *               purgatory is being closed.
 */
TKW_EXPORT int
tkw_purgatory_try_complete_else_watch(struct tkw_purgatory *purgatory,
                                      struct tkw_operation *operation,
                                      const struct tkw_key *keys, size_t count);

/*
 * Try again all operations that are watched on `key`, oldest first.  Those that
 * another thread is trying it will try again; so a call may try an operation as
 * often as others check it meanwhile.  *Any thread*.
 *
 * Returns how many this call completed.
 */
TKW_EXPORT size_t tkw_purgatory_check(struct tkw_purgatory *purgatory,
                                      struct tkw_key key);

/*
 * Complete an operation, whatever its try_complete says.  Its memory must be
 * there, and not be used again: whoever may call this beside others holds a
 * reference of your own to it, and so does the purgatory, which on_release
 * gives up.  *Any thread*.
 *
 * Returns whether this call completed it; false also if it is in no purgatory.
 */
TKW_EXPORT bool tkw_purgatory_complete(struct tkw_purgatory *purgatory,
                                       struct tkw_operation *operation);

/*
 * Take an operation out, uncompleted: off its keys, its timer stopped.  Then
 * on_release is called, but not on_complete.  Its memory must be there, as for
 * tkw_purgatory_complete().  *Any thread*.
 *
 * Returns whether this call took it out.
 */
TKW_EXPORT bool tkw_purgatory_withdraw(struct tkw_purgatory *purgatory,
                                       struct tkw_operation *operation);

/*
 * Tell how an operation has ended, in on_complete, on_expire or on_release, or
 * after that; when cancel or close hands it back it is still TKW_WAITING.  *Any
 * thread*.
 */
TKW_EXPORT enum tkw_outcome
tkw_operation_outcome(const struct tkw_operation *operation);

/*
 * Take all operations that are watched on `key` out, off their other keys and
 * their timers stopped, and hand them back, oldest first: `each` (may be NULL)
 * is called for each, with no lock held, then on_release, but not on_complete.
 * Another thread may still be in the try_complete of one when `each` is called.
 * One that is just being watched leaves its keys, and may be tried once more,
 * only when that call returns (0).  In any case on_release is the end of it:
 * only then is it yours, to be watched again, say.
 * *Any thread*.
 *
 * Returns how many this call took out.
 */
TKW_EXPORT size_t tkw_purgatory_cancel(struct tkw_purgatory *purgatory,
                                       struct tkw_key key,
                                       tkw_operation_each *each, void *context);

/* *Any thread*. */
TKW_EXPORT struct tkw_purgatory_figures
tkw_purgatory_counters(struct tkw_purgatory *purgatory);

/*
 * Walk everything and say whether it is as it must be, no other thread using
 * it: for tests and for assertions of the suspicious.  *Owner*.
 */
TKW_EXPORT bool tkw_purgatory_audit(struct tkw_purgatory *purgatory);

/*
 * Refuse new operations, end those that are left, wait until all are released,
 * and free the purgatory.  Those left are handed back to `each`, as by cancel;
 * or if that is NULL, completed, whatever their try_complete says.  To be
 * closed before its service is.  A purgatory of NULL is fine.  Do not hold a
 * lock that a callback takes.
 *
 * *Owner*: nobody else may use the purgatory meanwhile, but callbacks of its
 * operations that are running; and nobody afterwards.  Returns 0, or -EDEADLK
 * from inside a callback of one of its operations, with nothing changed.
 */
TKW_EXPORT int tkw_purgatory_close(struct tkw_purgatory *purgatory,
                                   tkw_operation_each *each, void *context);

#ifdef __cplusplus
}
#endif

#endif
