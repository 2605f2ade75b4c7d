/*
 * purgatory/life.c - the word of an operation: which thread may do what.
 *
 * An operation has an owner while a thread tries it, or places it on its lists.
 * The flag OWNED is a lock that no thread waits for.  A thread that finds it
 * taken leaves a flag and goes on:
 *
 *     notify     AGAIN: the owner tries once more before it clears OWNED
 *     complete,  DECIDED: it is over; the owner does not try any more
 *     expire,
 *     cancel
 *
 * So a caller of notify may hold locks that try_complete takes, and no notify
 * is lost:
 *
 *     the owner                      another thread
 *     try_complete: not yet
 *                                    the condition is met
 *                                    notify: OWNED, so AGAIN
 *     clears AGAIN, not OWNED
 *     try_complete: now it is
 *
 * The one thread that sets DECIDED takes the operation off its lists and
 * cancels its timer.  Then it calls on_complete and so on, unless there is an
 * owner: on_complete must not run beside try_complete, so the last of the two
 * threads calls it.  GONE means that the owner is the last.  While an operation
 * is being placed only the owner knows its lists: then the owner does all of
 * this.
 *
 * A thread that finds an operation in a list takes a reference, under the
 * list's lock.  The timer has one, and the purgatory one, dropped after the
 * callbacks.  The thread that drops the last one releases the operation.  While
 * an operation is being placed, notify takes none: if placing fails, for lack
 * of memory say, the operation is the caller's again at once.
 *
 * Threads that share an operation change its word only by compare-and-swap,
 * sequentially consistent.  Even a flag that is set already is written again,
 * so that the owner that finds AGAIN sees all writes that the notifying thread
 * made before.  Where a read alone makes a thread call back, it acquires, so
 * that the callbacks see all writes that other threads made before they left
 * that to it.
 */
#include "private.h"

#include "base/assertion.h"

static struct purgatory_shard *home_of(const struct tkw_operation *operation)
{
    return &operation->purgatory->shards[operation->home];
}

typedef void call(struct tkw_operation *operation);

/* Enter a frame.  The thread holds no lock. */
static void enter_frame(struct frame *frame,
                        const struct tkw_purgatory *purgatory, uint64_t kind)
{
    order_assert_free();
    frame_enter(frame, purgatory, kind);
}

static void call_user(const struct tkw_purgatory *purgatory,
                      struct tkw_operation *operation, call *function)
{
    if (function == NULL)
        return;
    struct frame frame;
    enter_frame(&frame, purgatory, 0);
    function(operation);
    frame_leave(&frame);
}

bool tkw__operation_try(struct tkw_operation *operation, bool *is_ours)
{
    struct try_frame try = {.operation = operation};
    enter_frame(&try.frame, operation->purgatory, FRAME_TRYING);
    bool is_met = operation->type->try_complete(operation);
    frame_leave(&try.frame);
    *is_ours = try.is_completed;
    return is_met;
}

bool tkw__operation_hold(struct tkw_operation *operation)
{
    uint32_t word = sync_get_relaxed(&operation->word);
    uint32_t then;
    do {
        if (word & OPERATION_DECIDED)
            return false;
        then = word & OPERATION_PLACING ? word | OPERATION_AGAIN
                                        : word + OPERATION_REF;
    } while (!sync_replace_ordered(&operation->word, &word, then));
    return (word & OPERATION_PLACING) == 0;
}

/*
 * Release an operation after its last reference.  No other thread knows it any
 * more, and after on_release this one does not, either.  close() waits until
 * none is live: only under the lock is it certain that the purgatory still
 * exists.
 */
static void release_operation(struct tkw_operation *operation)
{
    const struct tkw_purgatory *purgatory = operation->purgatory;
    struct purgatory_shard *home = home_of(operation);
    bool is_live = operation->is_live;
    call *on_release = operation->type->on_release;
    /* Not earlier: `each` may have been using it. */
    if (sync_get_relaxed(&operation->word) & OPERATION_CANCELLED)
        sync_put_release(&operation->outcome, TKW_WITHDRAWN);
    sync_put_ordered(&operation->word, 0);
    call_user(purgatory, operation, on_release);
    if (!is_live)
        return;
    purgatory_shard_lock(home);
    shard_count_out(home);
    purgatory_shard_unlock(home);
}

/* Add `number` to the word.  Returns the old word. */
static uint32_t word_add(struct tkw_operation *operation, uint32_t number)
{
    uint32_t word = sync_get_relaxed(&operation->word);
    while (!sync_replace_ordered(&operation->word, &word, word + number))
        ;
    return word;
}

void tkw__operation_hold_for_timer(struct tkw_operation *operation)
{
    word_add(operation, OPERATION_REF);
}

void tkw__operation_drop(struct tkw_operation *operation)
{
    uint32_t word = word_add(operation, -OPERATION_REF);
    if (word / OPERATION_REF == 1)
        release_operation(operation);
}

bool tkw__operation_decide(struct tkw_operation *operation, uint32_t how)
{
    uint32_t word = sync_get_relaxed(&operation->word);
    do {
        if (word < OPERATION_REF || (word & OPERATION_DECIDED))
            return false;
    } while (!sync_replace_ordered(&operation->word, &word,
                                   word + OPERATION_DECIDED + how));
    struct purgatory_shard *home = home_of(operation);
    if (how & OPERATION_CANCELLED)
        sync_add_relaxed(&home->cancelled, UINT64_C(1));
    else
        sync_add_relaxed(&home->completed, UINT64_C(1));
    if (how & OPERATION_EXPIRED)
        sync_add_relaxed(&home->expired, UINT64_C(1));
    return true;
}

void tkw__operation_leave(struct tkw_operation *operation)
{
    tkw__lists_leave(operation);
    uint32_t word = sync_get_relaxed(&operation->word);
    /* A timer that has fired drops its reference itself. */
    if (operation->timer == 0 || (word & OPERATION_EXPIRED))
        return;
    if (tkw_service_cancel(operation->purgatory->service, operation->timer) ==
        1)
        tkw__operation_drop(operation);
}

void tkw__operation_call_back(struct tkw_operation *operation)
{
    const struct tkw_purgatory *purgatory = operation->purgatory;
    const struct tkw_operation_type *type = operation->type;
    uint32_t word = sync_get_relaxed(&operation->word);
    if ((word & OPERATION_CANCELLED) == 0) {
        bool is_expired = word & OPERATION_EXPIRED;
        sync_put_release(&operation->outcome,
                         is_expired ? TKW_EXPIRED : TKW_COMPLETED);
        call_user(purgatory, operation, type->on_complete);
        if (is_expired)
            call_user(purgatory, operation, type->on_expire);
    }
    tkw__operation_drop(operation);
}

/* Pass a cancelled operation to the user. */
static void hand_back(struct tkw_operation *operation, tkw_operation_each *each,
                      void *context)
{
    struct frame frame;
    enter_frame(&frame, operation->purgatory, 0);
    each(context, operation);
    frame_leave(&frame);
}

void tkw__operation_end(struct tkw_operation *operation,
                        tkw_operation_each *each, void *context)
{
    uint32_t word = sync_get_relaxed(&operation->word);
    bool is_placed = (word & OPERATION_PLACING) == 0;
    if (is_placed)
        tkw__operation_leave(operation);
    if (each != NULL)
        hand_back(operation, each, context);
    if (!is_placed)
        return; /* the owner does the rest */
    /* Acquire: pairs with the owner's swap after its try_complete. */
    word = sync_get_acquire(&operation->word);
    while (word & OPERATION_OWNED) {
        if (sync_replace_ordered(&operation->word, &word,
                                 word | OPERATION_GONE))
            return;
    }
    tkw__operation_call_back(operation);
}

/* Become the owner, or make the owner try again.  Returns whether the caller is
 * the owner now. */
static bool own(struct tkw_operation *operation)
{
    uint32_t word = sync_get_relaxed(&operation->word);
    uint32_t then;
    do {
        if (word & OPERATION_DECIDED)
            return false;
        then =
            word | (word & OPERATION_OWNED ? OPERATION_AGAIN : OPERATION_OWNED);
    } while (!sync_replace_ordered(&operation->word, &word, then));
    return (word & OPERATION_OWNED) == 0;
}

enum disown_result tkw__operation_disown(struct tkw_operation *operation)
{
    /* Acquire: pairs with the swap that decided; the callbacks see all writes
     * before. */
    uint32_t word = sync_get_acquire(&operation->word);
    uint32_t then;
    do {
        bool is_decided = (word & OPERATION_DECIDED) != 0;
        if ((word & OPERATION_GONE) || (is_decided && word & OPERATION_PLACING))
            return CALL_BACK;
        if ((word & OPERATION_AGAIN) && !is_decided)
            then = word & ~OPERATION_AGAIN;
        else
            then = word & ~(OPERATION_OWNED | OPERATION_PLACING);
    } while (!sync_replace_ordered(&operation->word, &word, then));
    return then & OPERATION_OWNED ? TRY_AGAIN : DISOWNED;
}

bool tkw__operation_retry(struct tkw_operation *operation)
{
    if (!own(operation))
        return false;
    bool is_ours;
    enum disown_result result;
    do {
        if (tkw__operation_try(operation, &is_ours) &&
            tkw__operation_decide(operation, 0)) {
            tkw__operation_leave(operation);
            tkw__operation_call_back(operation);
            return true;
        }
        result = tkw__operation_disown(operation);
    } while (result == TRY_AGAIN);
    if (result == CALL_BACK)
        tkw__operation_call_back(operation);
    return is_ours;
}

bool tkw__operation_claim(struct tkw_purgatory *purgatory,
                          struct tkw_operation *operation, uint32_t home)
{
    uint32_t word = 0;
    uint32_t claimed = OPERATION_OWNED | OPERATION_PLACING;
    if (!sync_replace_ordered(&operation->word, &word, claimed))
        return false;
    operation->purgatory = purgatory;
    operation->watches = NULL;
    operation->timer = 0;
    operation->home = (uint16_t)home;
    operation->is_live = false;
    sync_put_relaxed(&operation->outcome, TKW_WAITING);
    /* Only now may other threads complete it. */
    sync_put_ordered(&operation->word, claimed + OPERATION_REF);
    return true;
}

bool tkw__operation_refuse(struct tkw_operation *operation)
{
    uint32_t word = sync_get_relaxed(&operation->word);
    do {
        if (word & OPERATION_DECIDED)
            return false;
    } while (!sync_replace_ordered(&operation->word, &word, 0));
    return true;
}
