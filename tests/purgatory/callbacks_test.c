/*
 * purgatory/callbacks_test.c - who may call what from where (P6): anything from
 * any callback, and locks of the caller's in a try.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/purgatory.h"

/* Those that a callback deals with, each on a key of its own but the first. */
struct cast {
    struct request beside; /* on the key of the one that is called: ready */
    struct request ready;
    struct request to_cancel;
    struct request to_force;
    struct request to_watch;
    struct request to_pass; /* completed at once */
    size_t beside_count, ready_count, cancel_count;
    bool did_force;
    int watch_answer, pass_answer;
};

static void call_anything(struct request *request)
{
    struct hall *hall = request->hall;
    struct cast *cast = request->context;
    cast->beside_count = check_number(hall, 1);
    cast->ready_count = check_number(hall, 2);
    cast->cancel_count = cancel_number(hall, 3);
    cast->did_force = complete(&cast->to_force);
    cast->watch_answer = request_watch_numbers(hall, &cast->to_watch, 1, 5);
    cast->pass_answer = request_watch_numbers(hall, &cast->to_pass, 1, 5);
}

static void cast_enter(struct cast *cast, struct hall *hall)
{
    memset(cast, 0, sizeof *cast);
    struct request *all[] = {&cast->beside,   &cast->ready,    &cast->to_cancel,
                             &cast->to_force, &cast->to_watch, &cast->to_pass};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        request_init(all[i], 10000);
    for (size_t i = 0; i < 4; i++)
        request_wait(hall, all[i], 1 + i, 1);
    request_set_ready(&cast->beside);
    request_set_ready(&cast->ready);
    request_set_ready(&cast->to_pass);
}

/* No lock is held: neither of the operation, nor of its keys. */
static void callbacks_may_call_anything(void **state)
{
    (void)state;
    for (enum moment moment = COMPLETE; moment <= RELEASE; moment++) {
        struct hall hall;
        struct cast cast;
        struct request request;
        hall_open_narrow(&hall, TKW_DRIVER_NONE);
        request_init(&request, 100);
        request.moment = moment;
        request.act = call_anything;
        request.context = &cast;
        request_wait(&hall, &request, 1, 2);
        cast_enter(&cast, &hall);
        bring_about(&hall, &request, 1, moment);
        assert_int_equal(count_of(&request, RELEASE), 1);
        assert_int_equal(count_of(&cast.beside, RELEASE), 1);
        assert_int_equal(count_of(&cast.beside, COMPLETE) +
                             count_of(&cast.beside, HAND_BACK),
                         1);
        assert_true(cast.beside_count <= count_of(&cast.beside, COMPLETE));
        assert_int_equal(cast.ready_count, 1);
        assert_story(&cast.ready, "tttcr");
        assert_int_equal(cast.cancel_count, 1);
        assert_story(&cast.to_cancel, "tthr");
        assert_true(cast.did_force);
        assert_story(&cast.to_force, "ttcr");
        assert_int_equal(cast.watch_answer, 0);
        assert_int_equal(cast.pass_answer, 1);
        assert_story(&cast.to_pass, "tcr");
        assert_holds(&hall, 5, 1, 5);
        hall_close(&hall);
        assert_int_equal(count_of(&cast.to_watch, COMPLETE), 1);
    }
}

static void check_here(struct request *request)
{
    request->answer = (int64_t)check_number(request->hall, 1);
}

/* A check in a check in a check: each completion is counted by one of them. */
static void checks_inside_of_checks_add_up(void **state)
{
    (void)state;
    static struct request requests[300];
    const enum moment moments[] = {COMPLETE, EXPIRE, RELEASE};
    for (size_t m = 0; m < COUNT_OF(moments); m++) {
        struct hall hall;
        int64_t sum = 0;
        hall_open_narrow(&hall, TKW_DRIVER_NONE);
        for (size_t i = 0; i < COUNT_OF(requests); i++) {
            request_init(&requests[i], 100);
            requests[i].moment = moments[m];
            requests[i].act = check_here;
            request_wait(&hall, &requests[i], 1, 1 + i % 3);
            request_set_ready(&requests[i]);
        }
        if (moments[m] == EXPIRE)
            hall_go(&hall, 1100);
        else
            sum += (int64_t)check_number(&hall, 1);
        for (size_t i = 0; i < COUNT_OF(requests); i++) {
            sum += requests[i].answer;
            assert_int_equal(count_of(&requests[i], COMPLETE), 1);
            assert_int_equal(count_of(&requests[i], RELEASE), 1);
        }
        sum += (int64_t)tkw_purgatory_read_stats(hall.purgatory).expired;
        assert_int_equal(sum, COUNT_OF(requests));
        assert_holds(&hall, 0, 0, 0);
        hall_close(&hall);
    }
}

static void watch_until_the_next_check(struct request *request)
{
    request->ready_at = count_of(request, TRY) + 3;
    if (count_of(request, RELEASE) < 100)
        request->answer = request_watch_numbers(request->hall, request, 1, 1);
}

/* What comes back to the key while that is being checked, or cancelled, is not
   taken for ever: it waits for the next time. */
static void a_check_ends_though_operations_come_back(void **state)
{
    (void)state;
    static struct request requests[100];
    struct hall hall;
    hall_open_narrow(&hall, TKW_DRIVER_NONE);
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        request_init(&requests[i], 100);
        requests[i].moment = RELEASE;
        requests[i].act = watch_until_the_next_check;
        requests[i].ready_at = 3;
        request_wait(&hall, &requests[i], 1, 1);
    }
    for (unsigned round = 1; round < 20; round++) {
        assert_int_equal(round % 2 != 0 ? check_number(&hall, 1)
                                        : cancel_number(&hall, 1),
                         COUNT_OF(requests));
        for (size_t i = 0; i < COUNT_OF(requests); i++)
            assert_int_equal(count_of(&requests[i], RELEASE), round);
        assert_holds(&hall, COUNT_OF(requests), COUNT_OF(requests), 1);
    }
    for (size_t i = 0; i < COUNT_OF(requests); i++)
        requests[i].act = NULL;
    hall_close(&hall);
}

/* What the counts are inside of a callback. */
static void read_counts(struct request *request)
{
    struct hall *hall = request->hall;
    struct tkw_purgatory_stats *stats = request->context;
    *stats = tkw_purgatory_read_stats(hall->purgatory);
    request->answer = (int64_t)tkw_service_count(hall->scene.service);
}

/* P5.  It leaves both counts at once, before anybody is told. */
static void what_has_ended_has_left_before_its_callback(void **state)
{
    (void)state;
    for (enum moment moment = COMPLETE; moment <= RELEASE; moment++) {
        struct hall hall;
        struct request request;
        struct tkw_purgatory_stats stats = {.watched = 77};
        hall_open_narrow(&hall, TKW_DRIVER_NONE);
        request_init(&request, 100);
        request.moment = moment;
        request.act = read_counts;
        request.context = &stats;
        request_wait(&hall, &request, 1, 3);
        bring_about(&hall, &request, 2, moment);
        assert_int_equal(stats.watched, 0);
        assert_int_equal(stats.delayed, 0);
        assert_int_equal(stats.keys, 0);
        assert_int_equal(request.answer, 0);
        hall_close(&hall);
    }
}

static void complete_in_this_try(struct request *request)
{
    if (count_of(request, TRY) == request->hold_at)
        request->answer = complete(request);
}

/* try_complete may complete its own operation, whatever it then returns: it is
   told once, when it has returned. */
static void a_try_may_complete_its_own_operation(void **state)
{
    (void)state;
    const char *const stories[] = {"tcr", "ttcr", "tttcr"};
    for (unsigned i = 0; i < 6; i++) {
        struct hall hall;
        struct request request;
        unsigned number = 1 + i / 2;
        hall_open_narrow(&hall, TKW_DRIVER_NONE);
        request_init(&request, 100);
        request.act = complete_in_this_try;
        request.hold_at = number;
        request.ready_at = i % 2 == 0 ? 0 : number;
        assert_int_equal(request_watch_numbers(&hall, &request, 1, 2),
                         number < 3);
        if (number == 3)
            assert_int_equal(check_number(&hall, 1), 1);
        assert_int_equal(request.answer, true);
        assert_story(&request, stories[number - 1]);
        assert_holds(&hall, 0, 0, 0);
        assert_ended(&hall, 1, 0, 0);
        assert_int_equal(tkw_service_read_stats(hall.scene.service).armed,
                         number == 3);
        hall_close(&hall);
    }
}

static void take_the_lock(struct request *request)
{
    if (request->gate != NULL)
        sem_post(&request->gate->entered);
    pthread_mutex_lock(request->context);
    pthread_mutex_unlock(request->context);
}

/* The lock that try_complete takes is held by whoever checks, here by the same
   thread ... */
static void a_try_may_take_a_lock_of_the_thread_that_checks(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    pthread_mutex_t lock;
    recursive_init(&lock);
    hall_open_narrow(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    request.act = take_the_lock;
    request.context = &lock;
    pthread_mutex_lock(&lock);
    request_wait(&hall, &request, 1, 2);
    request_set_ready(&request);
    assert_int_equal(check_number(&hall, 2), 1);
    pthread_mutex_unlock(&lock);
    assert_story(&request, "tttcr");
    pthread_mutex_destroy(&lock);
    hall_close(&hall);
}

/* ... and here while another thread is in try_complete, waiting for it. */
static void a_check_does_not_wait_for_a_try_that_waits_for_it(void **state)
{
    (void)state;
    struct hall hall;
    struct gate gate;
    struct request request, other;
    pthread_mutex_t lock;
    struct errand checker = {&hall, .key = tkw_key_number(1), .deed = CHECK};
    recursive_init(&lock);
    hall_open_narrow(&hall, TKW_DRIVER_NONE);
    gate_init(&gate);
    request_init(&request, 100);
    request_init(&other, 100);
    request.context = &lock;
    request_wait(&hall, &request, 1, 2);
    request_wait(&hall, &other, 3, 1);
    pthread_mutex_lock(&lock);
    request.gate = &gate;
    request.act = take_the_lock;
    errand_start(&checker);
    gate_await(&gate);
    request_set_ready(&request);
    assert_int_equal(check_number(&hall, 1), 0);
    assert_int_equal(check_number(&hall, 2), 0);
    assert_int_equal(cancel_number(&hall, 3), 1);
    request_wait(&hall, &other, 1, 1);
    assert_true(complete(&other));
    hall_go(&hall, 1050);
    assert_int_equal(count_of(&request, TRY), 3);
    pthread_mutex_unlock(&lock);
    assert_int_equal(errand_end(&checker), 1);
    assert_story(&request, "ttttcr");
    pthread_mutex_destroy(&lock);
    gate_done(&gate);
    hall_close(&hall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks_may_call_anything),
        cmocka_unit_test(checks_inside_of_checks_add_up),
        cmocka_unit_test(a_check_ends_though_operations_come_back),
        cmocka_unit_test(what_has_ended_has_left_before_its_callback),
        cmocka_unit_test(a_try_may_complete_its_own_operation),
        cmocka_unit_test(a_try_may_take_a_lock_of_the_thread_that_checks),
        cmocka_unit_test(a_check_does_not_wait_for_a_try_that_waits_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
