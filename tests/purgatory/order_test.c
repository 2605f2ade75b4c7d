/*
 * purgatory/order_test.c - what a callback may take for granted: all that was
 * done before whatever brought it about.
 *
 * Plain memory is written in one thread and read in another, and nothing else
 * orders the two: the gates of these tests are relaxed.  It is the thread
 * sanitizer that sees what is wrong here; without it this shows nothing but
 * that the right thread calls back.
 */
#include "support/service.h"

#include <sched.h>

#include <tickwheel/purgatory.h>

struct visit {
    struct tkw_operation operation;
    struct tkw_purgatory *purgatory;
    atomic_bool is_held; /* try_complete is to wait */
    atomic_bool is_inside;
    atomic_bool has_left; /* the thread that tried it has come back */
    struct tkw_allocator allocator;
    bool is_hooked;   /* what completes it waits for that thread */
    int by_completer; /* written before complete() */
    int by_trier;     /* written in try_complete */
    int seen;         /* by on_complete, of both */
};

static void relaxed_wait(atomic_bool *flag)
{
    while (!atomic_load_explicit(flag, memory_order_relaxed))
        sched_yield();
}

static bool try_and_stay(struct tkw_operation *operation)
{
    struct visit *visit = TKW_CONTAINER(operation, struct visit, operation);
    if (atomic_load_explicit(&visit->is_held, memory_order_relaxed)) {
        visit->by_trier = 1;
        atomic_store_explicit(&visit->is_inside, true, memory_order_relaxed);
        while (atomic_load_explicit(&visit->is_held, memory_order_relaxed))
            sched_yield();
    }
    return false;
}

static void see_both(struct tkw_operation *operation)
{
    struct visit *visit = TKW_CONTAINER(operation, struct visit, operation);
    visit->seen = visit->by_trier + visit->by_completer;
}

static const struct tkw_operation_type visit_type = {
    .try_complete = try_and_stay,
    .on_complete = see_both,
};

static const struct tkw_key key = {NULL, 1};

static void *check(void *argument)
{
    struct visit *visit = argument;
    tkw_purgatory_notify(visit->purgatory, key);
    return NULL;
}

static void *watch(void *argument)
{
    struct visit *visit = argument;
    tkw_purgatory_try_complete_else_watch(visit->purgatory, &visit->operation,
                                          &key, 1);
    return NULL;
}

static void release_visit(struct visit *visit)
{
    atomic_store_explicit(&visit->is_held, false, memory_order_relaxed);
}

static void *allocate(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}

/* Off its lists, but not called back: just then the other comes out of the
 * try. */
static void release(void *context, void *memory, size_t bytes)
{
    struct visit *visit = context;
    (void)bytes;
    if (visit->is_hooked) {
        visit->is_hooked = false;
        release_visit(visit);
        relaxed_wait(&visit->has_left);
    }
    free(memory);
}

static void visit_begin(struct visit *visit, struct scene *scene)
{
    *visit = (struct visit){
        .operation = {.type = &visit_type, .timeout_ns = UINT64_MAX},
        .allocator = {allocate, release, visit},
    };
    struct tkw_purgatory_config config = {.allocator = &visit->allocator};
    scene_open_tens(scene, 0, TKW_DRIVER_NONE);
    assert_int_equal(
        tkw_purgatory_open(&visit->purgatory, scene->service, &config), 0);
}

static void visit_end(struct visit *visit, struct scene *scene)
{
    assert_int_equal(visit->seen, 2);
    assert_int_equal(tkw_purgatory_close(visit->purgatory, NULL, NULL), 0);
    scene_close(scene);
}

/* Completed while another tries it, or is placing it: that one calls back, and
 * sees what was done before it was completed. */
static void the_owner_sees_what_was_done_before_completing(void **state)
{
    (void)state;
    for (int is_placed = 0; is_placed < 2; is_placed++) {
        struct visit visit;
        struct scene scene;
        visit_begin(&visit, &scene);
        if (is_placed)
            watch(&visit);
        atomic_store_explicit(&visit.is_held, true, memory_order_relaxed);
        pthread_t thread = thread_start(is_placed ? check : watch, &visit);
        relaxed_wait(&visit.is_inside);
        visit.by_completer = 1;
        assert_true(tkw_purgatory_complete(visit.purgatory, &visit.operation));
        release_visit(&visit);
        thread_join(thread);
        visit_end(&visit, &scene);
    }
}

static void *check_and_leave(void *argument)
{
    struct visit *visit = argument;
    check(visit);
    atomic_store_explicit(&visit->has_left, true, memory_order_relaxed);
    return NULL;
}

/* Completed while another tries it, who is out before it can be asked to call
 * back: the one who completes does, and sees what was done in the try. */
static void who_completes_sees_what_was_done_in_the_try(void **state)
{
    (void)state;
    struct visit visit;
    struct scene scene;
    visit_begin(&visit, &scene);
    watch(&visit);
    atomic_store_explicit(&visit.is_held, true, memory_order_relaxed);
    pthread_t thread = thread_start(check_and_leave, &visit);
    relaxed_wait(&visit.is_inside);
    visit.by_completer = 1;
    visit.is_hooked = true;
    assert_true(tkw_purgatory_complete(visit.purgatory, &visit.operation));
    assert_int_equal(visit.seen, 2);
    thread_join(thread);
    visit_end(&visit, &scene);
}

static void *wait_for_the_outcome(void *argument)
{
    struct visit *visit = argument;
    while (tkw_operation_outcome(&visit->operation) == TKW_WAITING)
        sched_yield();
    visit->seen = visit->by_trier + visit->by_completer;
    return NULL;
}

/* Who sees that it has ended sees what was done before that. */
static void who_asks_for_the_outcome_sees_what_was_done_before(void **state)
{
    (void)state;
    static const struct tkw_operation_type silent = {.try_complete =
                                                         try_and_stay};
    struct visit visit;
    struct scene scene;
    visit_begin(&visit, &scene);
    visit.operation.type = &silent;
    watch(&visit);
    pthread_t thread = thread_start(wait_for_the_outcome, &visit);
    visit.by_trier = 1;
    visit.by_completer = 1;
    assert_true(tkw_purgatory_complete(visit.purgatory, &visit.operation));
    thread_join(thread);
    visit_end(&visit, &scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_owner_sees_what_was_done_before_completing),
        cmocka_unit_test(who_completes_sees_what_was_done_in_the_try),
        cmocka_unit_test(who_asks_for_the_outcome_sees_what_was_done_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
