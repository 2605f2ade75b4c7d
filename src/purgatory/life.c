/*
 * purgatory/life.c - the word of an operation: who may do what with it.
 *
 * An operation has an owner while somebody tries it (or is placing it, on its
 * lists): the flag OWNED is its lock, but one that nobody waits for.  Who finds
 * it taken leaves a wish and goes on:
 *
 *     check      AGAIN: the owner tries once more before it lets go
 *     complete,  DECIDED: it is over; the owner does not try any more
 *     expire,
 *     cancel
 *
 * So a check may be made with locks held that try_complete takes, and nothing
 * is lost:
 *
 *     the owner                      another
 *     try_complete: not yet
 *                                    the condition is met
 *                                    check: OWNED, so AGAIN
 *     lets go?  not with AGAIN
 *     try_complete: now it is
 *
 * Who sets DECIDED, once, has decided; it takes the operation off its lists and
 * stops its timer, and then calls on_complete and so on, unless there is an
 * owner: lest on_complete is called beside try_complete, whoever of the two is
 * last does it.  GONE tells the owner that it is the last.  While an operation
 * is being placed only the owner knows where it is: then the owner does it all.
 *
 * Those who come across an operation in a list hold on to it, under the lock of
 * the list, by a reference; one more is the timer's, one the purgatory's own,
 * given up after the callbacks.  Whoever gives up the last one releases it.  An
 * operation that is being placed is not held on to: if placing it fails, for
 * lack of memory say, it is the caller's again at once.
 *
 * The word is changed by compare-and-swap, always, and always sequentially
 * consistent: even a wish that is there already is written again, so that what
 * the one who wishes has done before is seen by the owner who grants it.  Where
 * a look alone decides that we call back, it acquires, so that what others did
 * before they left that to us is seen by the callbacks.
 */
#include "private.h"

#include "base/assertion.h"

static struct purgatory_shard *home_of(const struct tkw_operation *operation)
{
    return &operation->purgatory->shards[operation->home];
}

typedef void call(struct tkw_operation *operation);

/* Enter a frame, no lock being held. */
static void enter(struct frame *frame, const struct tkw_purgatory *purgatory,
                  uint64_t kind)
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
    enter(&frame, purgatory, 0);
    function(operation);
    frame_leave(&frame);
}

bool tkw__operation_try(struct tkw_operation *operation, bool *is_ours)
{
    struct try_frame try = {.operation = operation};
    enter(&try.frame, operation->purgatory, FRAME_TRYING);
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
 * The last to let go.  From here on nobody else knows of the operation; and
 * once on_release has it, neither do we.  The count of those live is what close
 * waits for: only under the lock is it certain that the purgatory is still
 * there afterwards.
 */
static void release(struct tkw_operation *operation)
{
    const struct tkw_purgatory *purgatory = operation->purgatory;
    struct purgatory_shard *home = home_of(operation);
    bool is_live = operation->is_live;
    call *on_release = operation->type->on_release;
    /* Not before: whoever hands it back may still be at it. */
    if (sync_get_relaxed(&operation->word) & OPERATION_CANCELLED)
        sync_put_release(&operation->outcome, TKW_WITHDRAWN);
    sync_put_ordered(&operation->word, 0);
    call_user(purgatory, operation, on_release);
    if (!is_live)
        return;
    shard_lock(home);
    shard_count_out(home);
    shard_unlock(home);
}

/* Add to the word.  Returns what it was before. */
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
        release(operation);
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
    /* The timer that has come drops its reference itself. */
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

/* Give an operation back to the user. */
static void hand_back(struct tkw_operation *operation, tkw_operation_each *each,
                      void *context)
{
    struct frame frame;
    enter(&frame, operation->purgatory, 0);
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
    /* Acquire: the owner, having let go, has done with its try. */
    word = sync_get_acquire(&operation->word);
    while (word & OPERATION_OWNED) {
        if (sync_replace_ordered(&operation->word, &word,
                                 word | OPERATION_GONE))
            return;
    }
    tkw__operation_call_back(operation);
}

/* Become the owner, or tell the one there is to try again. */
static bool take(struct tkw_operation *operation)
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

enum farewell tkw__operation_let_go(struct tkw_operation *operation)
{
    /* Acquire: whoever decided has done before what the callbacks may see. */
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
    return then & OPERATION_OWNED ? TRY_AGAIN : GRANTED;
}

bool tkw__operation_check(struct tkw_operation *operation)
{
    if (!take(operation))
        return false;
    bool is_ours;
    enum farewell farewell;
    do {
        if (tkw__operation_try(operation, &is_ours) &&
            tkw__operation_decide(operation, 0)) {
            tkw__operation_leave(operation);
            tkw__operation_call_back(operation);
            return true;
        }
        farewell = tkw__operation_let_go(operation);
    } while (farewell == TRY_AGAIN);
    if (farewell == CALL_BACK)
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
    /* Only now may others complete it. */
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
