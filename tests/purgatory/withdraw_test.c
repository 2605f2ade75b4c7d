/*
 * purgatory/withdraw_test.c - taking out one operation, how an operation has
 * ended, those without a timeout, and looking into a purgatory from inside.
 */
#include "support/purgatory.h"

static bool withdraw(struct request *request)
{
    return tkw_purgatory_withdraw(request->hall->purgatory,
                                  &request->operation);
}

/* Off its keys, disarmed, uncompleted, released; others stay. */
static void one_is_taken_out_and_others_stay(void **state)
{
    (void)state;
    struct hall hall;
    struct request one, other;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&one, 100);
    request_init(&other, 100);
    request_wait(&hall, &one, 1, 3);
    request_wait(&hall, &other, 1, 3);
    assert_true(withdraw(&one));
    assert_story(&one, "ttr");
    assert_holds(&hall, 3, 1, 3);
    assert_ended(&hall, 0, 0, 1);
    assert_false(withdraw(&one));
    hall_go(&hall, 2000);
    assert_story(&one, "ttr");
    assert_story(&other, "ttcxr");
    assert_false(withdraw(&other));
    hall_close(&hall);
}

/* What is in no purgatory cannot be taken out, nor completed. */
static void what_is_not_in_is_not_taken_out(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    request.hall = &hall;
    assert_false(withdraw(&request));
    assert_false(complete(&request));
    assert_story(&request, "");
    hall_close(&hall);
}

/* Taken out while another thread tries it: that thread releases it, having
 * completed nothing, whatever the try says. */
static void taken_out_while_it_is_tried(void **state)
{
    (void)state;
    for (int says_yes = 0; says_yes < 2; says_yes++) {
        struct meeting meeting;
        meeting_begin(&meeting, CHECK, 3, says_yes);
        assert_true(withdraw(&meeting.request));
        assert_holds(&meeting.hall, 0, 0, 0);
        assert_int_equal(count_of(&meeting.request, RELEASE), 0);
        assert_int_equal(meeting_end(&meeting), 0);
        assert_story(&meeting.request, "tttr");
        meeting_close(&meeting, RELEASE);
    }
}

/* Taken out while it is only being watched: that call says that it is, and then
 * it is not. */
static void taken_out_while_it_is_being_watched(void **state)
{
    (void)state;
    struct meeting meeting;
    meeting_begin(&meeting, WATCH, 2, false);
    assert_true(withdraw(&meeting.request));
    assert_int_equal(meeting_end(&meeting), 0);
    assert_story(&meeting.request, "ttr");
    assert_holds(&meeting.hall, 0, 0, 0);
    meeting_close(&meeting, RELEASE);
}

/* What was told at each moment. */
static enum tkw_outcome outcomes[MOMENTS];

static void note_outcome(struct request *request)
{
    outcomes[request->moment] = tkw_operation_outcome(&request->operation);
}

static enum tkw_outcome outcome_at(enum moment asked, enum moment end)
{
    struct hall hall;
    struct request request;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    request.moment = asked;
    request.act = note_outcome;
    outcomes[asked] = (enum tkw_outcome) - 1;
    request_wait(&hall, &request, 1, 2);
    bring_about(&hall, &request, 1, end);
    hall_close(&hall);
    return outcomes[asked];
}

/* All who are called can tell how it ended. */
static void the_outcome_says_how_it_ended(void **state)
{
    (void)state;
    assert_int_equal(outcome_at(TRY, COMPLETE), TKW_WAITING);
    assert_int_equal(outcome_at(COMPLETE, COMPLETE), TKW_COMPLETED);
    assert_int_equal(outcome_at(RELEASE, COMPLETE), TKW_COMPLETED);
    assert_int_equal(outcome_at(COMPLETE, EXPIRE), TKW_EXPIRED);
    assert_int_equal(outcome_at(EXPIRE, EXPIRE), TKW_EXPIRED);
    assert_int_equal(outcome_at(RELEASE, EXPIRE), TKW_EXPIRED);
    assert_int_equal(outcome_at(RELEASE, HAND_BACK), TKW_WITHDRAWN);
}

/* Without a timeout there is no timer, and nothing is delayed. */
static void without_a_timeout_nothing_is_delayed(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, UINT64_MAX);
    request_wait(&hall, &request, 1, 2);
    assert_holds(&hall, 2, 0, 2);
    assert_int_equal(tkw_service_read_stats(hall.scene.service).armed, 0);
    assert_true(tkw_purgatory_check(hall.purgatory));
    request_set_ready(&request);
    assert_int_equal(check_number(&hall, 2), 1);
    assert_holds(&hall, 0, 0, 0);
    hall_close(&hall);
}

static void audit(struct request *request)
{
    request->answer = tkw_purgatory_check(request->hall->purgatory);
}

/* A purgatory is sound also in the middle of a check, whose mark is in the
 * list. */
static void it_is_sound_inside_of_a_check(void **state)
{
    (void)state;
    enum { MANY = 100 };
    static struct request requests[MANY];
    struct hall hall;
    hall_open(&hall, TKW_DRIVER_NONE);
    for (unsigned i = 0; i < MANY; i++) {
        request_init(&requests[i], 100);
        requests[i].moment = i % 2 ? COMPLETE : RELEASE;
        requests[i].act = audit;
        request_wait(&hall, &requests[i], 1, 2);
        request_set_ready(&requests[i]);
    }
    assert_int_equal(check_number(&hall, 1), MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(requests[i].answer, true);
    hall_close(&hall);
}

static void complete_the_other(struct request *request)
{
    request->answer += complete(request->other);
}

/* Inside of a try, another is completed by that call, not by the check. */
static void a_try_that_completes_another_claims_it_not(void **state)
{
    (void)state;
    struct hall hall;
    struct request request, other;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    request_init(&other, 100);
    request_wait(&hall, &other, 2, 1);
    request_wait(&hall, &request, 1, 1);
    request.moment = TRY;
    request.act = complete_the_other;
    request.other = &other;
    assert_int_equal(check_number(&hall, 1), 0);
    assert_int_equal(request.answer, 1);
    assert_story(&other, "ttcr");
    assert_holds(&hall, 1, 1, 1);
    hall_close(&hall);
}

#ifdef NDEBUG

static void misbehave(struct request *request)
{
    struct tkw_purgatory *purgatory = request->hall->purgatory;
    struct tkw_key key = tkw_key_number(1);
    request->answer =
        (int64_t)check_number(request->hall, 1) +
        (int64_t)tkw_purgatory_cancel(purgatory, key, NULL, NULL) +
        tkw_purgatory_withdraw(purgatory, &request->operation) +
        request_watch(request->hall, request->other, &key, 1);
}

/* What a try must not do is an assertion; without these, it does nothing. */
static void a_try_that_asks_for_more_is_refused(void **state)
{
    (void)state;
    struct hall hall;
    struct request request, other;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    request_init(&other, 100);
    request.moment = TRY;
    request.act = misbehave;
    request.other = &other;
    request_wait(&hall, &request, 1, 1);
    assert_int_equal(request.answer, -EDEADLK);
    assert_story(&request, "tt");
    assert_story(&other, "");
    hall_close(&hall);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_taken_out_and_others_stay),
        cmocka_unit_test(what_is_not_in_is_not_taken_out),
        cmocka_unit_test(taken_out_while_it_is_tried),
        cmocka_unit_test(taken_out_while_it_is_being_watched),
        cmocka_unit_test(the_outcome_says_how_it_ended),
        cmocka_unit_test(without_a_timeout_nothing_is_delayed),
        cmocka_unit_test(it_is_sound_inside_of_a_check),
        cmocka_unit_test(a_try_that_completes_another_claims_it_not),
#ifdef NDEBUG
        cmocka_unit_test(a_try_that_asks_for_more_is_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
