/*
 * purgatory/basics_test.c - try, else watch (P1); completed once, by a check,
 * by its timeout or by force (P2); what a check returns (P3); what the counts
 * are and how they fall (P5).
 */
#define _POSIX_C_SOURCE 200809L

#include "support/executor.h"
#include "support/purgatory.h"

/* What nothing could ever check is an error, even if it were completed. */
static void without_keys_it_is_an_error(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    struct tkw_key key = tkw_key_number(7);
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    assert_int_equal(request_watch(&hall, &request, NULL, 0), -EINVAL);
    request_set_ready(&request);
    assert_int_equal(request_watch(&hall, &request, &key, 0), -EINVAL);
    assert_int_equal(count_of(&request, COMPLETE), 0);
    assert_int_equal(count_of(&request, RELEASE), 0);
    assert_holds(&hall, 0, 0, 0);
    assert_ended(&hall, 0, 0, 0);
    assert_int_equal(request_watch(&hall, &request, &key, 1), 1);
    hall_close(&hall);
}

/* So is what could never be tried. */
static void without_a_try_it_is_an_error(void **state)
{
    (void)state;
    struct hall hall;
    const struct tkw_operation_type type = {.try_complete = NULL};
    struct tkw_operation operation = {.timeout_ns = 100};
    struct tkw_key key = tkw_key_number(7);
    hall_open(&hall, TKW_DRIVER_NONE);
    for (int i = 0; i < 2; i++) {
        operation.type = i == 0 ? NULL : &type;
        assert_int_equal(tkw_purgatory_try_complete_else_watch(
                             hall.purgatory, &operation, &key, 1),
                         -EINVAL);
    }
    assert_holds(&hall, 0, 0, 0);
    hall_close(&hall);
}

/* The common case costs nothing: no list, no timer. */
static void completed_at_once_it_is_not_watched(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    request_set_ready(&request);
    assert_int_equal(request_watch_numbers(&hall, &request, 1, 3), 1);
    assert_story(&request, "tcr");
    assert_holds(&hall, 0, 0, 0);
    assert_ended(&hall, 1, 0, 0);
    assert_int_equal(tkw_service_read_stats(hall.scene.service).armed, 0);
    for (uint64_t key = 1; key <= 3; key++)
        assert_int_equal(check_number(&hall, key), 0);
    hall_go(&hall, 2000);
    assert_story(&request, "tcr");
    hall_close(&hall);
}

/* Tried, watched, tried: what became true in between is seen. */
static void otherwise_it_is_watched_on_every_key_and_tried_twice(void **state)
{
    (void)state;
    for (uint64_t key = 1; key <= 3; key++) {
        struct hall hall;
        struct request request;
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&request, 100);
        request_wait(&hall, &request, 1, 3);
        assert_story(&request, "tt");
        assert_holds(&hall, 3, 1, 3);
        assert_ended(&hall, 0, 0, 0);
        assert_int_equal(tkw_service_read_stats(hall.scene.service).armed, 1);
        request_set_ready(&request);
        assert_int_equal(check_number(&hall, 4), 0);
        assert_int_equal(check_number(&hall, key), 1);
        assert_story(&request, "tttcr");
        hall_close(&hall);
    }
}

/* The second try completes it: it leaves its keys, and no timer was armed. */
static void completed_between_try_and_watch_it_arms_no_timer(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    request.ready_at = 2;
    assert_int_equal(request_watch_numbers(&hall, &request, 1, 3), 1);
    assert_story(&request, "ttcr");
    assert_holds(&hall, 0, 0, 0);
    assert_ended(&hall, 1, 0, 0);
    assert_int_equal(tkw_service_read_stats(hall.scene.service).armed, 0);
    hall_close(&hall);
}

/* Pairs and timeouts: three operations on one, two and three keys. */
static void the_counts_fall_with_each_completion(void **state)
{
    (void)state;
    struct hall hall;
    struct request requests[3];
    hall_open(&hall, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 3; i++) {
        request_init(&requests[i], 100);
        request_wait(&hall, &requests[i], 1, i + 1);
    }
    assert_holds(&hall, 6, 3, 3);
    request_set_ready(&requests[1]);
    assert_int_equal(check_number(&hall, 2), 1);
    assert_holds(&hall, 4, 2, 3);
    assert_ended(&hall, 1, 0, 0);
    assert_true(complete(&requests[2]));
    assert_holds(&hall, 1, 1, 1);
    assert_ended(&hall, 2, 0, 0);
    hall_go(&hall, 1100);
    assert_holds(&hall, 0, 0, 0);
    assert_ended(&hall, 3, 1, 0);
    assert_story(&requests[0], "ttcxr");
    assert_story(&requests[1], "tttcr");
    assert_story(&requests[2], "tttcr");
    hall_close(&hall);
}

/* P3.  Those that it completed, not those that it tried. */
static void a_check_returns_how_many_it_completed(void **state)
{
    (void)state;
    struct hall hall;
    struct request requests[5];
    hall_open(&hall, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 5; i++) {
        request_init(&requests[i], 100);
        request_wait(&hall, &requests[i], 1, 1);
    }
    assert_int_equal(check_number(&hall, 1), 0);
    request_set_ready(&requests[1]);
    request_set_ready(&requests[4]);
    assert_int_equal(check_number(&hall, 1), 2);
    assert_int_equal(check_number(&hall, 1), 0);
    assert_holds(&hall, 3, 3, 1);
    for (size_t i = 0; i < 5; i++) {
        bool is_done = i == 1 || i == 4;
        assert_story(&requests[i], is_done ? "ttttcr" : "ttttt");
        request_set_ready(&requests[i]);
    }
    assert_int_equal(check_number(&hall, 1), 3);
    assert_holds(&hall, 0, 0, 0);
    assert_int_equal(check_number(&hall, 1), 0);
    hall_close(&hall);
}

/* Nobody is tried for somebody else's key. */
static void a_check_tries_only_those_on_its_key(void **state)
{
    (void)state;
    struct hall hall;
    struct request ours, theirs;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&ours, 100);
    request_init(&theirs, 100);
    request_wait(&hall, &ours, 1, 2);
    request_wait(&hall, &theirs, 3, 2);
    request_set_ready(&ours);
    request_set_ready(&theirs);
    assert_int_equal(check_number(&hall, 0), 0);
    assert_int_equal(check_number(&hall, 5), 0);
    assert_int_equal(check_number(&hall, 2), 1);
    assert_story(&theirs, "tt");
    assert_holds(&hall, 2, 1, 2);
    hall_close(&hall);
}

/* First come, first tried; also when some in the middle have gone. */
static void a_check_tries_the_oldest_first(void **state)
{
    (void)state;
    struct hall hall;
    struct request requests[8];
    hall_open(&hall, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 8; i++) {
        request_init(&requests[i], 100);
        request_wait(&hall, &requests[i], 1 + i % 2, 2);
    }
    assert_true(complete(&requests[3]));
    assert_true(complete(&requests[0]));
    assert_true(complete(&requests[7]));
    request_init(&requests[3], 100);
    request_wait(&hall, &requests[3], 2, 1);
    assert_int_equal(check_number(&hall, 2), 0);
    const size_t order[] = {1, 2, 4, 5, 6, 3};
    for (size_t i = 1; i < COUNT_OF(order); i++)
        assert_int_equal(requests[order[i]].places[TRY],
                         requests[order[i - 1]].places[TRY] + 1);
    hall_close(&hall);
}

/* Never early, and each at its own time whatever the order they came in. */
static void each_expires_at_its_own_deadline(void **state)
{
    (void)state;
    for (size_t d = 0; d < COUNT_OF(both); d++) {
        struct hall hall;
        struct request requests[3];
        const uint64_t timeouts[] = {300, 100, 200};
        hall_open(&hall, both[d]);
        for (size_t i = 0; i < 3; i++) {
            request_init(&requests[i], timeouts[i]);
            request_wait(&hall, &requests[i], i, 2);
        }
        for (uint64_t now = 1000; now <= 1400; now++) {
            hall_go(&hall, now);
            for (size_t i = 0; i < 3; i++)
                assert_int_equal(count_of(&requests[i], EXPIRE),
                                 now >= 1000 + timeouts[i]);
        }
        for (size_t i = 0; i < 3; i++)
            assert_story(&requests[i], "ttcxr");
        assert_holds(&hall, 0, 0, 0);
        assert_ended(&hall, 3, 3, 0);
        hall_close(&hall);
    }
}

/* However coarse the tick and odd the time: not before it has passed. */
static void no_operation_expires_early(void **state)
{
    (void)state;
    for (uint64_t start = 1000; start < 1020; start += 7) {
        for (uint64_t timeout = 1; timeout < 40; timeout++) {
            struct hall hall;
            struct request request;
            hall_open(&hall, TKW_DRIVER_NONE);
            hall_go(&hall, start);
            request_init(&request, timeout);
            request_wait(&hall, &request, 1, 1);
            hall_go(&hall, start + timeout - 1);
            assert_story(&request, "tt");
            hall_go(&hall, start + timeout + 10);
            assert_story(&request, "ttcxr");
            hall_close(&hall);
        }
    }
}

/* Time 0 is a timeout like any other, in the service's thread. */
static void a_timeout_of_nothing_expires_when_the_service_runs(void **state)
{
    (void)state;
    struct hall hall;
    struct request late, ready;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&late, 0);
    request_init(&ready, 0);
    ready.ready_at = 2;
    assert_int_equal(request_watch_numbers(&hall, &ready, 1, 1), 1);
    request_wait(&hall, &late, 1, 1);
    assert_story(&late, "tt");
    assert_holds(&hall, 1, 1, 1);
    hall_rest(&hall);
    assert_story(&late, "ttcxr");
    assert_story(&ready, "ttcr");
    hall_close(&hall);
}

/* UINT64_MAX, and what is beyond the end of time: it waits for a check. */
static void what_has_no_timeout_never_expires(void **state)
{
    (void)state;
    for (uint64_t timeout = UINT64_MAX; timeout >= UINT64_MAX - 1; timeout--) {
        struct hall hall;
        struct request request;
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&request, timeout);
        request_wait(&hall, &request, 1, 2);
        hall_go(&hall, 1000 * 24 * HOUR);
        assert_story(&request, "tt");
        assert_int_equal(tkw_purgatory_read_stats(hall.purgatory).watched, 2);
        request_set_ready(&request);
        assert_int_equal(check_number(&hall, 2), 1);
        assert_story(&request, "tttcr");
        assert_holds(&hall, 0, 0, 0);
        hall_close(&hall);
    }
}

/* P2.  Its timer is stopped with it: the service has nothing left to call. */
static void what_is_completed_does_not_expire(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(both); i++) {
        struct hall hall;
        struct request request;
        hall_open(&hall, both[i / 2]);
        request_init(&request, 100);
        request_wait(&hall, &request, 1, 2);
        request_set_ready(&request);
        if (i % 2 == 0)
            assert_int_equal(check_number(&hall, 1), 1);
        else
            assert_true(complete(&request));
        assert_holds(&hall, 0, 0, 0);
        hall_go(&hall, 2000);
        assert_story(&request, i % 2 == 0 ? "tttcr" : "ttcr");
        assert_ended(&hall, 1, 0, 0);
        struct tkw_service_stats stats =
            tkw_service_read_stats(hall.scene.service);
        assert_int_equal(stats.fired, 0);
        assert_int_equal(stats.cancelled, 1);
        hall_close(&hall);
    }
}

/* Whatever try_complete says; it is not even asked. */
static void a_forced_completion_asks_nobody(void **state)
{
    (void)state;
    struct hall hall;
    struct request request, other;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    request_init(&other, 100);
    request_wait(&hall, &request, 1, 3);
    request_wait(&hall, &other, 1, 3);
    assert_true(complete(&request));
    assert_story(&request, "ttcr");
    assert_story(&other, "tt");
    assert_holds(&hall, 3, 1, 3);
    assert_ended(&hall, 1, 0, 0);
    assert_int_equal(check_number(&hall, 1), 0);
    assert_story(&request, "ttcr");
    hall_close(&hall);
}

static void complete_again(struct request *request)
{
    request->answer = complete(request);
}

/* Only the first completes it: in on_complete and in on_expire it is over. */
static void the_second_call_to_complete_it_returns_false(void **state)
{
    (void)state;
    for (enum moment moment = COMPLETE; moment <= EXPIRE; moment++) {
        struct hall hall;
        struct request request;
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&request, 100);
        request.moment = moment;
        request.act = complete_again;
        request.answer = 7;
        request_wait(&hall, &request, 1, 1);
        bring_about(&hall, &request, 1, moment);
        assert_int_equal(request.answer, false);
        assert_int_equal(count_of(&request, COMPLETE), 1);
        assert_int_equal(count_of(&request, RELEASE), 1);
        assert_ended(&hall, 1, moment == EXPIRE, 0);
        hall_close(&hall);
    }
}

static bool never(struct tkw_operation *operation)
{
    (void)operation;
    return false;
}

/* A type needs nothing but its try; however its operations end. */
static void callbacks_may_be_missing(void **state)
{
    (void)state;
    struct hall hall;
    const struct tkw_operation_type type = {.try_complete = never};
    struct tkw_operation operations[5] = {{0}};
    hall_open(&hall, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 5; i++) {
        struct tkw_key key = tkw_key_number(i);
        operations[i].type = &type;
        operations[i].timeout_ns = 100 + 1000 * i;
        assert_int_equal(tkw_purgatory_try_complete_else_watch(
                             hall.purgatory, &operations[i], &key, 1),
                         0);
    }
    hall_go(&hall, 1100);
    assert_ended(&hall, 1, 1, 0);
    assert_true(tkw_purgatory_complete(hall.purgatory, &operations[1]));
    assert_int_equal(
        tkw_purgatory_cancel(hall.purgatory, tkw_key_number(2), NULL, NULL), 1);
    assert_holds(&hall, 2, 2, 2);
    assert_ended(&hall, 2, 1, 1);
    hall_close(&hall);
}

/* A timeout goes where it is sent; while it is on its way it can be stopped. */
static void timeouts_run_where_the_executor_says(void **state)
{
    (void)state;
    struct hall hall;
    struct tray tray;
    struct request first, second;
    tray_init(&tray, 10);
    struct tkw_service_config config = hands(0, 0, &tray);
    config.executor = TKW_ON_DRIVER;
    hall_open_with(&hall, config,
                   (struct tkw_purgatory_config){.executor = TKW_BY_SUBMIT});
    request_init(&first, 100);
    request_init(&second, 100);
    request_wait(&hall, &first, 1, 1);
    request_wait(&hall, &second, 2, 1);
    hall_go(&hall, 1100);
    assert_int_equal(tray_count(&tray), 2);
    assert_story(&first, "tt");
    request_set_ready(&second);
    assert_int_equal(check_number(&hall, 2), 1);
    assert_int_equal(tray_run_all(&tray), 1);
    assert_story(&first, "ttcxr");
    assert_story(&second, "tttcr");
    assert_true(pthread_equal(first.threads[EXPIRE], pthread_self()));
    assert_ended(&hall, 2, 1, 0);
    hall_close(&hall);
}

/* One that the service does not have is an error, at once. */
static void an_executor_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct scene scene;
    struct tkw_purgatory *purgatory = NULL;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    struct tkw_purgatory_config config = {.executor = TKW_ON_WORKERS};
    assert_null(tkw_purgatory_config_fault(&config));
    assert_int_equal(tkw_purgatory_open(&purgatory, scene.service, &config),
                     -EINVAL);
    assert_null(purgatory);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_keys_it_is_an_error),
        cmocka_unit_test(without_a_try_it_is_an_error),
        cmocka_unit_test(completed_at_once_it_is_not_watched),
        cmocka_unit_test(otherwise_it_is_watched_on_every_key_and_tried_twice),
        cmocka_unit_test(completed_between_try_and_watch_it_arms_no_timer),
        cmocka_unit_test(the_counts_fall_with_each_completion),
        cmocka_unit_test(a_check_returns_how_many_it_completed),
        cmocka_unit_test(a_check_tries_only_those_on_its_key),
        cmocka_unit_test(a_check_tries_the_oldest_first),
        cmocka_unit_test(each_expires_at_its_own_deadline),
        cmocka_unit_test(no_operation_expires_early),
        cmocka_unit_test(a_timeout_of_nothing_expires_when_the_service_runs),
        cmocka_unit_test(what_has_no_timeout_never_expires),
        cmocka_unit_test(what_is_completed_does_not_expire),
        cmocka_unit_test(a_forced_completion_asks_nobody),
        cmocka_unit_test(the_second_call_to_complete_it_returns_false),
        cmocka_unit_test(callbacks_may_be_missing),
        cmocka_unit_test(timeouts_run_where_the_executor_says),
        cmocka_unit_test(an_executor_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
