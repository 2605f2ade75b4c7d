/*
 * purgatory/close_test.c - closing a purgatory: what is left is handed back or
 * completed, callbacks are waited for, nothing new gets in; and the same of a
 * service that is stopped.
 */
#include "support/purgatory.h"

/* Closing hands back to `each`, as cancelling does ... */
static void close_hands_back_what_is_left(void **state)
{
    (void)state;
    struct hall hall;
    struct request requests[3];
    hall_open(&hall, TKW_DRIVER_THREAD);
    for (size_t i = 0; i < 3; i++) {
        request_init(&requests[i], 100);
        request_wait(&hall, &requests[i], i, 1 + i);
    }
    assert_int_equal(tkw_purgatory_close(hall.purgatory, hand_back, &hall), 0);
    hall.purgatory = NULL;
    hall_go(&hall, 2000);
    for (size_t i = 0; i < 3; i++)
        assert_story(&requests[i], "tthr");
    hall_close(&hall);
}

/* ... or completes; that is no expiration. */
static void close_without_each_completes_what_is_left(void **state)
{
    (void)state;
    struct hall hall;
    struct request requests[3];
    hall_open(&hall, TKW_DRIVER_THREAD);
    for (size_t i = 0; i < 3; i++) {
        request_init(&requests[i], i == 2 ? UINT64_MAX : 100);
        request_wait(&hall, &requests[i], i, 1 + i);
    }
    assert_int_equal(tkw_purgatory_close(hall.purgatory, NULL, NULL), 0);
    hall.purgatory = NULL;
    hall_go(&hall, 2000);
    for (size_t i = 0; i < 3; i++)
        assert_story(&requests[i], "ttcr");
    hall_close(&hall);
}

/* Nothing there, nothing in it, nothing left in it. */
static void closing_an_empty_purgatory_is_fine(void **state)
{
    (void)state;
    for (int used = 0; used < 2; used++) {
        struct hall hall;
        struct request request;
        assert_int_equal(tkw_purgatory_close(NULL, hand_back, &hall), 0);
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&request, 100);
        if (used) {
            request_wait(&hall, &request, 1, 5);
            assert_true(complete(&request));
        }
        assert_int_equal(tkw_purgatory_close(hall.purgatory, hand_back, &hall),
                         0);
        hall.purgatory = NULL;
        hall_close(&hall);
        assert_int_equal(count_of(&request, HAND_BACK), 0);
    }
}

static void close_here(struct request *request)
{
    request->answer =
        tkw_purgatory_close(request->hall->purgatory, hand_back, request->hall);
}

/* Waiting for oneself is an error that changes nothing. */
static void close_from_a_callback_is_a_deadlock(void **state)
{
    (void)state;
    for (enum moment moment = COMPLETE; moment <= RELEASE; moment++) {
        struct hall hall;
        struct request request, witness;
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&witness, 10000);
        request_wait(&hall, &witness, 9, 2);
        request_init(&request, 100);
        request.moment = moment;
        request.act = close_here;
        request_wait(&hall, &request, 1, 2);
        bring_about(&hall, &request, 1, moment);
        assert_int_equal(request.answer, -EDEADLK);
        assert_story(&witness, "tt");
        assert_holds(&hall, 2, 1, 2);
        request_set_ready(&witness);
        assert_int_equal(check_number(&hall, 9), 1);
        hall_close(&hall);
    }
}

/* Close the other request's purgatory, whose callbacks call this. */
static void check_the_other(struct request *request)
{
    request_set_ready(request->other);
    check_number(request->other->hall, 1);
    close_here(request);
}

static void close_the_other(struct request *request)
{
    request->answer =
        tkw_purgatory_close(request->other->hall->purgatory, NULL, NULL);
}

/*
 * A callback inside a callback: outer checks inner's purgatory, and inner wants
 * to close outer's; then outer its own, having come back from the inner one.
 */
static void close_from_a_nested_callback_is_a_deadlock(void **state)
{
    (void)state;
    struct hall halls[2];
    struct request outer, inner;
    hall_open(&halls[0], TKW_DRIVER_NONE);
    hall_open(&halls[1], TKW_DRIVER_NONE);
    request_init(&outer, 100);
    request_init(&inner, 100);
    outer.moment = inner.moment = COMPLETE;
    outer.act = check_the_other;
    inner.act = close_the_other;
    outer.other = &inner;
    inner.other = &outer;
    request_wait(&halls[0], &outer, 1, 1);
    request_wait(&halls[1], &inner, 1, 1);
    request_set_ready(&outer);
    assert_int_equal(check_number(&halls[0], 1), 1);
    assert_int_equal(inner.answer, -EDEADLK);
    assert_int_equal(outer.answer, -EDEADLK);
    assert_story(&inner, "tttcr");
    assert_story(&outer, "tttcr");
    hall_close(&halls[1]);
    hall_close(&halls[0]);
}

/* From a callback of somebody else's it is a close like any other. */
static void another_purgatory_can_be_closed_in_a_callback(void **state)
{
    (void)state;
    for (enum moment moment = COMPLETE; moment <= RELEASE; moment++) {
        struct hall halls[2];
        struct request closer, victim;
        hall_open(&halls[0], TKW_DRIVER_NONE);
        hall_open(&halls[1], TKW_DRIVER_NONE);
        request_init(&victim, 100);
        request_wait(&halls[1], &victim, 1, 2);
        request_init(&closer, 100);
        closer.moment = moment;
        closer.act = close_the_other;
        closer.other = &victim;
        closer.answer = 7;
        request_wait(&halls[0], &closer, 1, 1);
        bring_about(&halls[0], &closer, 1, moment);
        assert_int_equal(closer.answer, 0);
        assert_story(&victim, "ttcr");
        halls[1].purgatory = NULL;
        hall_close(&halls[1]);
        hall_close(&halls[0]);
    }
}

/* Leave what it is told, and the story of the one that was refused. */
static void watch_the_other(struct request *request)
{
    request->answer =
        request_watch_numbers(request->hall, request->other, 1, 2);
}

/* Whoever is called by close finds the door shut. */
static void while_closing_new_operations_are_refused(void **state)
{
    (void)state;
    const struct {
        enum moment moment;
        tkw_operation_each *each;
    } ways[] = {{COMPLETE, NULL},
                {RELEASE, NULL},
                {HAND_BACK, hand_back},
                {RELEASE, hand_back}};
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct hall hall;
        struct request request, late;
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&late, 100);
        request_init(&request, 100);
        request.moment = ways[i].moment;
        request.act = watch_the_other;
        request.other = &late;
        request_wait(&hall, &request, 1, 2);
        assert_int_equal(
            tkw_purgatory_close(hall.purgatory, ways[i].each, &hall), 0);
        hall.purgatory = NULL;
        assert_int_equal(request.answer, -ESHUTDOWN);
        assert_int_equal(count_of(&late, COMPLETE), 0);
        assert_int_equal(count_of(&late, RELEASE), 0);
        assert_int_equal(count_of(&late, HAND_BACK), 0);
        hall_close(&hall);
    }
}

static void hold_then_watch_the_other(struct request *request)
{
    hold(request);
    watch_the_other(request);
}

/* A timeout is in its callback: close waits for it, and it too is refused. */
static void close_waits_for_callbacks_that_are_running(void **state)
{
    (void)state;
    const enum moment moments[] = {COMPLETE, EXPIRE, RELEASE};
    for (size_t i = 0; i < COUNT_OF(moments); i++) {
        struct hall hall;
        struct gate gate;
        struct request request, late;
        struct errand closer = {.hall = &hall, .deed = CLOSE};
        hall_open(&hall, TKW_DRIVER_THREAD);
        gate_init(&gate);
        request_init(&late, 100);
        request_init(&request, 100);
        request.moment = moments[i];
        request.act = hold_then_watch_the_other;
        request.gate = &gate;
        request.other = &late;
        request_wait(&hall, &request, 1, 2);
        tkw_manual_clock_set(hall.scene.manual, 1100);
        gate_await(&gate);
        errand_start(&closer);
        have_patience();
        assert_false(atomic_load(&closer.is_back));
        gate_open(&gate);
        assert_int_equal(errand_end(&closer), 0);
        assert_story(&request, "ttcxr");
        /* Close may not have begun when the callback asked. */
        assert_true(request.answer == -ESHUTDOWN || request.answer == 0);
        assert_int_equal(count_of(&late, COMPLETE), request.answer == 0);
        assert_int_equal(count_of(&late, RELEASE), request.answer == 0);
        hall.purgatory = NULL;
        gate_done(&gate);
        hall_close(&hall);
    }
}

/* Nothing could expire any more; what is inside can still end otherwise. */
static void on_a_stopped_service_operations_are_refused(void **state)
{
    (void)state;
    struct hall hall;
    struct request requests[4], late;
    hall_open(&hall, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 4; i++) {
        request_init(&requests[i], 100);
        request_wait(&hall, &requests[i], i, 1);
    }
    tkw_service_stop(hall.scene.service);
    request_init(&late, 100);
    assert_int_equal(request_watch_numbers(&hall, &late, 1, 2), -ESHUTDOWN);
    assert_int_equal(count_of(&late, RELEASE), 0);
    assert_holds(&hall, 4, 4, 4);
    request_set_ready(&requests[0]);
    assert_int_equal(check_number(&hall, 0), 1);
    assert_true(complete(&requests[1]));
    assert_int_equal(cancel_number(&hall, 2), 1);
    assert_holds(&hall, 1, 1, 1);
    assert_ended(&hall, 2, 0, 1);
    hall_close(&hall);
    assert_int_equal(count_of(&requests[3], COMPLETE), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_hands_back_what_is_left),
        cmocka_unit_test(close_without_each_completes_what_is_left),
        cmocka_unit_test(closing_an_empty_purgatory_is_fine),
        cmocka_unit_test(close_from_a_callback_is_a_deadlock),
        cmocka_unit_test(close_from_a_nested_callback_is_a_deadlock),
        cmocka_unit_test(another_purgatory_can_be_closed_in_a_callback),
        cmocka_unit_test(while_closing_new_operations_are_refused),
        cmocka_unit_test(close_waits_for_callbacks_that_are_running),
        cmocka_unit_test(on_a_stopped_service_operations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
