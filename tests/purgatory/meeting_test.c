/*
 * purgatory/meeting_test.c - who calls whom when two threads meet at one
 * operation (P6): one of them is in a try of it, the other comes and goes.
 */
#include "support/purgatory.h"

/* The check returns at once; what it came for is not lost, as the other thread
   tries again, and completes it. */
static void a_check_has_the_thread_that_is_trying_try_again(void **state)
{
    (void)state;
    struct meeting meeting;
    for (unsigned checks = 1; checks < 4; checks++) {
        meeting_begin(&meeting, CHECK, 3, false);
        request_set_ready(&meeting.request);
        for (unsigned i = 0; i < checks; i++)
            assert_int_equal(check_number(&meeting.hall, 1), 0);
        assert_int_equal(meeting_end(&meeting), 1);
        assert_story(&meeting.request, "ttttcr");
        assert_ended(&meeting.hall, 1, 0, 0);
        meeting_close(&meeting, COMPLETE);
    }
}

/* If there is nothing to complete it is tried again all the same, and then let
   go: the next check finds nobody trying. */
static void tried_again_in_vain_it_stays(void **state)
{
    (void)state;
    struct meeting meeting;
    meeting_begin(&meeting, CHECK, 3, false);
    assert_int_equal(check_number(&meeting.hall, 1), 0);
    assert_int_equal(meeting_end(&meeting), 0);
    assert_story(&meeting.request, "tttt");
    assert_holds(&meeting.hall, 1, 1, 1);
    request_set_ready(&meeting.request);
    assert_int_equal(check_number(&meeting.hall, 1), 1);
    assert_story(&meeting.request, "tttttcr");
    gate_done(&meeting.gate);
    hall_close(&meeting.hall);
}

/* The same while it is on its way in: in the first try nobody can find it yet,
   in the second it is tried again. */
static void a_check_while_it_is_being_watched_is_not_lost(void **state)
{
    (void)state;
    for (unsigned number = 1; number <= 2; number++) {
        struct meeting meeting;
        meeting_begin(&meeting, WATCH, number, false);
        request_set_ready(&meeting.request);
        assert_int_equal(check_number(&meeting.hall, 1), 0);
        assert_int_equal(meeting_end(&meeting), 1);
        assert_story(&meeting.request, number == 1 ? "ttcr" : "tttcr");
        assert_ended(&meeting.hall, 1, 0, 0);
        meeting_close(&meeting, COMPLETE);
    }
}

/* Others on the same key do not wait for the one that is being tried. */
static void a_check_passes_by_the_one_that_is_being_tried(void **state)
{
    (void)state;
    struct meeting meeting;
    struct request other;
    meeting_begin(&meeting, CHECK, 3, true);
    request_init(&other, 100);
    request_wait(&meeting.hall, &other, 1, 1);
    request_set_ready(&other);
    assert_int_equal(check_number(&meeting.hall, 1), 1);
    assert_story(&other, "tttcr");
    assert_int_equal(meeting_end(&meeting), 1);
    meeting_close(&meeting, COMPLETE);
}

/* Completed while another is trying it: by this call, but told by the other,
   once its try has returned, whatever that says. */
static void
completed_while_it_is_tried_the_other_thread_calls_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct meeting meeting;
        meeting_begin(&meeting, CHECK, 3, i == 1);
        assert_int_equal(check_number(&meeting.hall, 1), 0);
        assert_true(complete(&meeting.request));
        assert_false(complete(&meeting.request));
        hall_go(&meeting.hall, 1100);
        assert_int_equal(meeting_end(&meeting), 0);
        assert_story(&meeting.request, "tttcr");
        assert_ended(&meeting.hall, 1, 0, 0);
        meeting_close(&meeting, COMPLETE);
    }
}

/* The same in the second try of the thread that brings it in. */
static void completed_while_it_is_being_watched_it_has_no_timer(void **state)
{
    (void)state;
    struct meeting meeting;
    meeting_begin(&meeting, WATCH, 2, false);
    assert_true(complete(&meeting.request));
    assert_true(meeting_end(&meeting) >= 0);
    assert_story(&meeting.request, "ttcr");
    assert_ended(&meeting.hall, 1, 0, 0);
    meeting_close(&meeting, COMPLETE);
}

/* Its time is up while another is trying it: the service does not wait, and it
   has expired even if the try says yes. */
static void expired_while_it_is_tried_the_other_thread_calls_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct meeting meeting;
        meeting_begin(&meeting, CHECK, 3, i == 1);
        hall_go(&meeting.hall, 1100);
        assert_false(complete(&meeting.request));
        assert_int_equal(meeting_end(&meeting), 0);
        assert_story(&meeting.request, "tttcxr");
        assert_ended(&meeting.hall, 1, 1, 0);
        assert_true(pthread_equal(meeting.request.threads[EXPIRE],
                                  meeting.errand.thread));
        meeting_close(&meeting, COMPLETE);
    }
}

/* Handed back at once, but released by the other, and never completed. */
static void cancelled_while_it_is_tried_it_is_released_by_the_other(void **s)
{
    (void)s;
    for (unsigned i = 0; i < 2; i++) {
        struct meeting meeting;
        meeting_begin(&meeting, CHECK, 3, i == 1);
        assert_int_equal(cancel_number(&meeting.hall, 1), 1);
        assert_story(&meeting.request, "ttth");
        assert_int_equal(cancel_number(&meeting.hall, 1), 0);
        assert_false(complete(&meeting.request));
        hall_go(&meeting.hall, 1100);
        assert_int_equal(meeting_end(&meeting), 0);
        assert_story(&meeting.request, "ttthr");
        assert_ended(&meeting.hall, 0, 0, 1);
        meeting_close(&meeting, RELEASE);
    }
}

/* It cannot be given a timer, the service having been stopped meanwhile, but is
   completed by then: it is not handed back with an error. */
static void completed_while_it_is_refused_it_is_completed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct meeting meeting;
        bool is_completed = i == 1;
        meeting_begin(&meeting, WATCH, 2, false);
        tkw_service_stop(meeting.hall.scene.service);
        if (is_completed)
            assert_true(complete(&meeting.request));
        int64_t answer = meeting_end(&meeting);
        assert_true(is_completed ? answer >= 0 : answer == -ESHUTDOWN);
        assert_story(&meeting.request, is_completed ? "ttcr" : "tt");
        assert_holds(&meeting.hall, 0, 0, 0);
        assert_ended(&meeting.hall, is_completed, 0, 0);
        gate_done(&meeting.gate);
        hall_close(&meeting.hall);
    }
}

static void ask_at_the_end_of_watching(void *context,
                                       struct tkw_operation *operation)
{
    struct meeting *meeting = context;
    assert_int_equal(tkw_operation_outcome(operation), TKW_WAITING);
    assert_int_equal(meeting_end(meeting), 0);
    assert_int_equal(tkw_operation_outcome(operation), TKW_WAITING);
}

static void ask_at_release(struct request *request)
{
    request->answer = tkw_operation_outcome(&request->operation);
}

/* Who hands it back finds it waiting, even if the other is done with it. */
static void
cancelled_while_it_is_being_watched_it_waits_till_released(void **state)
{
    (void)state;
    struct meeting meeting;
    meeting_begin(&meeting, WATCH, 2, false);
    meeting.request.moment = RELEASE;
    meeting.request.act = ask_at_release;
    assert_int_equal(tkw_purgatory_cancel(meeting.hall.purgatory,
                                          tkw_key_number(1),
                                          ask_at_the_end_of_watching, &meeting),
                     1);
    assert_story(&meeting.request, "ttr");
    assert_int_equal(meeting.request.answer, TKW_WITHDRAWN);
    gate_done(&meeting.gate);
    hall_close(&meeting.hall);
}

/* A cancel may miss what is only coming in, but not by half. */
static void cancelled_while_it_is_being_watched_it_is_out_or_in(void **state)
{
    (void)state;
    for (unsigned number = 1; number <= 2; number++) {
        struct meeting meeting;
        meeting_begin(&meeting, WATCH, number, false);
        bool is_out = cancel_number(&meeting.hall, 1) == 1;
        assert_int_equal(meeting_end(&meeting), 0);
        assert_int_equal(count_of(&meeting.request, HAND_BACK), is_out);
        assert_int_equal(count_of(&meeting.request, RELEASE), is_out);
        assert_holds(&meeting.hall, !is_out, !is_out, !is_out);
        assert_int_equal(cancel_number(&meeting.hall, 1), !is_out);
        assert_ended(&meeting.hall, 0, 0, 1);
        gate_done(&meeting.gate);
        hall_close(&meeting.hall);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_has_the_thread_that_is_trying_try_again),
        cmocka_unit_test(tried_again_in_vain_it_stays),
        cmocka_unit_test(a_check_while_it_is_being_watched_is_not_lost),
        cmocka_unit_test(a_check_passes_by_the_one_that_is_being_tried),
        cmocka_unit_test(
            completed_while_it_is_tried_the_other_thread_calls_back),
        cmocka_unit_test(completed_while_it_is_being_watched_it_has_no_timer),
        cmocka_unit_test(expired_while_it_is_tried_the_other_thread_calls_back),
        cmocka_unit_test(
            cancelled_while_it_is_tried_it_is_released_by_the_other),
        cmocka_unit_test(completed_while_it_is_refused_it_is_completed),
        cmocka_unit_test(cancelled_while_it_is_being_watched_it_is_out_or_in),
        cmocka_unit_test(
            cancelled_while_it_is_being_watched_it_waits_till_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
