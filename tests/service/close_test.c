/*
 * service/close_test.c - close: joins, hands back exactly what never ran, each
 * with its drop function after it, and frees; an error from inside a callback.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

/* What was handed back, in the order it came. */
struct basket {
    struct tkw_pending_timer rests[16];
    unsigned dropped_before[16]; /* of that timer, when it came */
    size_t count;
    pthread_t thread;
};

static void put_in_basket(void *context, const struct tkw_pending_timer *rest)
{
    struct basket *basket = context;
    struct probe *probe = rest->task.argument;
    if (basket->count == COUNT_OF(basket->rests))
        abort();
    basket->thread = pthread_self();
    basket->dropped_before[basket->count] = dropped(probe);
    basket->rests[basket->count++] = *rest;
}

static void close_into(struct scene *scene, struct basket *basket)
{
    memset(basket, 0, sizeof *basket);
    assert_int_equal(tkw_service_close(scene->service, put_in_basket, basket),
                     0);
    tkw_manual_clock_close(scene->manual);
    account_done(&scene->account);
}

static const struct tkw_pending_timer *rest_of(const struct basket *basket,
                                               const struct probe *probe)
{
    const struct tkw_pending_timer *found = NULL;
    for (size_t i = 0; i < basket->count; i++) {
        if (basket->rests[i].task.argument == probe) {
            assert_null(found);
            found = &basket->rests[i];
        }
    }
    return found;
}

/* Pending, due, moved, for ever: handed back once each, as they were armed;
   fired and cancelled ones are not. */
static void close_hands_back_exactly_what_never_ran(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct basket basket;
        struct probe far = {0}, moved = {0}, never = {0}, later = {0};
        struct probe fired = {0}, cancelled = {0};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &far, 10 * HOUR);
        probe_arm(&scene, &moved, 500);
        probe_arm(&scene, &later, 500);
        probe_arm(&scene, &never, UINT64_MAX);
        probe_arm(&scene, &fired, 100);
        probe_arm(&scene, &cancelled, 100);
        tkw_service_rearm_at(scene.service, moved.handle, 9000);
        tkw_service_postpone_at(scene.service, later.handle, 7000);
        tkw_service_cancel(scene.service, cancelled.handle);
        assert_int_equal(scene_go(&scene, 1100), 1);
        struct tkw_task task = probe_task(&scene, &far);
        close_into(&scene, &basket);
        assert_int_equal(basket.count, 4);
        const struct tkw_pending_timer *rest = rest_of(&basket, &far);
        assert_non_null(rest);
        assert_int_equal(rest->handle, far.handle);
        assert_int_equal(rest->due_ns, 1000 + 10 * HOUR);
        assert_ptr_equal(rest->task.callback, task.callback);
        assert_ptr_equal(rest->task.drop, task.drop);
        assert_int_equal(rest_of(&basket, &moved)->due_ns, 9000);
        assert_int_equal(rest_of(&basket, &later)->due_ns, 7000);
        assert_int_equal(rest_of(&basket, &never)->due_ns, UINT64_MAX);
        assert_null(rest_of(&basket, &fired));
        assert_null(rest_of(&basket, &cancelled));
        for (size_t k = 0; k < basket.count; k++)
            assert_int_equal(basket.dropped_before[k], 0);
        assert_int_equal(dropped(&far), 1);
        assert_int_equal(dropped(&moved), 1);
        assert_int_equal(dropped(&never), 1);
        assert_int_equal(dropped(&fired), 0);
        assert_int_equal(dropped(&cancelled), 1);
        assert_true(pthread_equal(basket.thread, pthread_self()));
    }
}

/* Due but not called is handed back as well: it never ran. */
static void close_hands_back_what_is_due(void **state)
{
    (void)state;
    struct scene scene;
    struct basket basket;
    struct probe called = {0}, due = {0}, zero = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    probe_arm(&scene, &called, 100);
    probe_arm(&scene, &due, 100);
    tkw_manual_clock_set(scene.manual, 2000);
    assert_int_equal(tkw_service_run(scene.service, 1), 1);
    probe_arm(&scene, &zero, 0);
    close_into(&scene, &basket);
    assert_int_equal(basket.count, 2);
    assert_int_equal(rest_of(&basket, &due)->due_ns, 1100);
    assert_non_null(rest_of(&basket, &zero));
    assert_int_equal(ran(&due) + ran(&zero), 0);
    assert_int_equal(dropped(&due) + dropped(&zero), 2);
}

struct closer {
    struct scene *scene;
    struct gate *gate;
    struct basket basket;
    int answer;
    bool had_passed;
    atomic_bool returned;
};

static void *close_and_look(void *argument)
{
    struct closer *closer = argument;
    closer->answer = tkw_service_close(closer->scene->service, put_in_basket,
                                       &closer->basket);
    closer->had_passed = atomic_load(&closer->gate->passed);
    atomic_store(&closer->returned, true);
    return NULL;
}

static void rearm_then_hold(struct probe *probe)
{
    probe->answer = tkw_service_rearm(probe->scene->service,
                                      probe->firing.handle, probe->delay_ns);
    gate_hold(probe);
}

/* A callback is running: close waits for it, and hands back what is pending,
   the timer itself included if it was armed again. */
static void close_waits_for_the_running_callback(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {.act = rearm_then_hold, .delay_ns = 100};
    struct probe behind = {0};
    struct closer closer = {.scene = &scene, .gate = &gate};
    scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
    tkw_handle handle = gate_enter(&scene, &held, &gate);
    probe_arm(&scene, &behind, 100);
    pthread_t thread = thread_start(close_and_look, &closer);
    have_patience();
    assert_false(atomic_load(&closer.returned));
    gate_open(&gate);
    thread_join(thread);
    assert_int_equal(closer.answer, 0);
    assert_true(closer.had_passed);
    assert_int_equal(held.answer, 1);
    assert_int_equal(ran(&held), 1);
    assert_int_equal(dropped(&held), 1);
    assert_int_equal(closer.basket.count, 2);
    assert_int_equal(rest_of(&closer.basket, &held)->handle, handle);
    assert_int_equal(rest_of(&closer.basket, &held)->due_ns, 1100);
    assert_int_equal(dropped(&behind), 1);
    gate_done(&gate);
    tkw_manual_clock_close(scene.manual);
    account_done(&scene.account);
}

static void close_from_inside(struct probe *probe)
{
    struct basket basket = {0};
    probe->answer =
        tkw_service_close(probe->scene->service, put_in_basket, &basket);
    probe->second = (int)basket.count;
    tkw_service_rearm(probe->scene->service, probe->other->handle, 50);
}

/* From inside it would wait for itself: refused, and nothing has changed. */
static void close_from_a_callback_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe other = {0}, after = {0};
        struct probe probe = {.act = close_from_inside, .other = &other};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &other, 200);
        probe_arm(&scene, &probe, 100);
        assert_int_equal(scene_go(&scene, 1100), 1);
        assert_int_equal(probe.answer, -EDEADLK);
        assert_int_equal(probe.second, 0);
        assert_int_equal(scene_go(&scene, 1150), 1);
        assert_int_equal(ran(&other), 1);
        probe_arm(&scene, &after, 100);
        assert_int_equal(scene_go(&scene, 1250), 1);
        scene_close(&scene);
    }
}

static void close_again(struct probe *probe)
{
    probe->answer = tkw_service_close(probe->scene->service, NULL, NULL);
}

static void close_and_note(void *context, const struct tkw_pending_timer *rest)
{
    struct probe *probe = rest->task.argument;
    *(int *)context = tkw_service_close(probe->scene->service, NULL, NULL);
}

/* What close calls is inside of it: there is one close. */
static void close_from_what_close_calls_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {.act_on_drop = close_again};
        int in_each = 0;
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &probe, 100);
        assert_int_equal(
            tkw_service_close(scene.service, close_and_note, &in_each), 0);
        assert_int_equal(in_each, -EDEADLK);
        assert_int_equal(probe.answer, -EDEADLK);
        assert_int_equal(dropped(&probe), 1);
        tkw_manual_clock_close(scene.manual);
        account_done(&scene.account);
    }
}

static void close_the_others_service(struct probe *probe)
{
    probe->answer = tkw_service_close(probe->other->scene->service, NULL, NULL);
}

/* A callback of one service may close another, whose timers are dropped. */
static void a_callback_may_close_another_service(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene, inner;
        struct probe victim = {0};
        struct probe probe = {.act = close_the_others_service,
                              .other = &victim};
        scene_open_tens(&scene, 1000, both[i]);
        scene_open_tens(&inner, 1000, TKW_DRIVER_THREAD);
        probe_arm(&inner, &victim, 100);
        probe_arm(&scene, &probe, 100);
        scene_go(&scene, 1100);
        assert_int_equal(probe.answer, 0);
        assert_int_equal(dropped(&victim), 1);
        tkw_manual_clock_close(inner.manual);
        account_done(&inner.account);
        scene_close(&scene);
    }
}

/* `each` and drop may both be left out; many are handed back all the same. */
static void close_needs_neither_each_nor_drop(void **state)
{
    (void)state;
    static struct probe probe;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        memset(&probe, 0, sizeof probe);
        scene_open(&scene, 0, (struct tkw_service_config){.driver = both[i]});
        struct tkw_task silent = probe_task(&scene, &probe);
        silent.drop = NULL;
        for (uint64_t k = 1; k <= 5000; k++) {
            probe_arm(&scene, &probe, k * TKW_SECOND);
            assert_int_equal(
                tkw_service_arm(scene.service, NULL, k * TKW_SECOND, silent),
                0);
        }
        assert_int_equal(tkw_service_close(scene.service, NULL, NULL), 0);
        assert_int_equal(dropped(&probe), 5000);
        assert_int_equal(ran(&probe), 0);
        tkw_manual_clock_close(scene.manual);
        account_done(&scene.account);
    }
}

/* Stopped first or not, close hands back the same. */
static void close_after_stop_hands_back_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct basket basket;
        struct probe probe = {0};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &probe, 100);
        tkw_service_stop(scene.service);
        tkw_manual_clock_set(scene.manual, 5000);
        close_into(&scene, &basket);
        assert_int_equal(basket.count, 1);
        assert_int_equal(basket.rests[0].handle, probe.handle);
        assert_int_equal(basket.rests[0].due_ns, 1100);
        assert_int_equal(dropped(&probe), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_hands_back_exactly_what_never_ran),
        cmocka_unit_test(close_hands_back_what_is_due),
        cmocka_unit_test(close_waits_for_the_running_callback),
        cmocka_unit_test(close_from_a_callback_is_refused),
        cmocka_unit_test(close_from_what_close_calls_is_refused),
        cmocka_unit_test(a_callback_may_close_another_service),
        cmocka_unit_test(close_needs_neither_each_nor_drop),
        cmocka_unit_test(close_after_stop_hands_back_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
