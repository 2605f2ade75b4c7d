/*
 * purgatory/cancel_test.c - operations that end without being completed, as
 * their key is cancelled (P4).
 */
#include "support/purgatory.h"

/* Uncompleted, its timer stopped, and gone from its other keys. */
static void a_cancelled_operation_is_handed_back(void **state)
{
    (void)state;
    for (uint64_t key = 1; key <= 3; key++) {
        struct hall hall;
        struct request request;
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&request, 100);
        request_wait(&hall, &request, 1, 3);
        assert_int_equal(cancel_number(&hall, 4), 0);
        assert_int_equal(cancel_number(&hall, key), 1);
        assert_story(&request, "tthr");
        assert_holds(&hall, 0, 0, 0);
        assert_ended(&hall, 0, 0, 1);
        request_set_ready(&request);
        for (uint64_t other = 1; other <= 3; other++) {
            assert_int_equal(check_number(&hall, other), 0);
            assert_int_equal(cancel_number(&hall, other), 0);
        }
        hall_go(&hall, 2000);
        assert_story(&request, "tthr");
        struct tkw_service_stats stats =
            tkw_service_read_stats(hall.scene.service);
        assert_int_equal(stats.fired, 0);
        assert_int_equal(stats.cancelled, 1);
        hall_close(&hall);
    }
}

/* `each` may be missing: then they are only released. */
static void cancelled_without_each_they_are_released(void **state)
{
    (void)state;
    struct hall hall;
    struct request requests[3];
    hall_open(&hall, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 3; i++) {
        request_init(&requests[i], 100);
        request_wait(&hall, &requests[i], i, 3);
    }
    assert_int_equal(
        tkw_purgatory_cancel(hall.purgatory, tkw_key_number(2), NULL, NULL), 3);
    for (size_t i = 0; i < 3; i++)
        assert_story(&requests[i], "ttr");
    assert_holds(&hall, 0, 0, 0);
    assert_ended(&hall, 0, 0, 3);
    hall_close(&hall);
}

/* Those on this key, oldest first; the others stay, with their counts. */
static void a_cancel_takes_those_on_its_key_oldest_first(void **state)
{
    (void)state;
    struct hall hall;
    struct request requests[9];
    hall_open(&hall, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 9; i++) {
        request_init(&requests[i], 100);
        request_wait(&hall, &requests[i], i % 3, 2); /* 0 1, 1 2, 2 3 */
    }
    assert_holds(&hall, 18, 9, 4);
    assert_int_equal(cancel_number(&hall, 1), 6);
    assert_holds(&hall, 6, 3, 2);
    unsigned last = 0;
    for (size_t i = 0; i < 9; i++) {
        assert_story(&requests[i], i % 3 == 2 ? "tt" : "tthr");
        if (i % 3 == 2)
            continue;
        assert_true(requests[i].places[HAND_BACK] > last);
        last = requests[i].places[HAND_BACK];
    }
    assert_int_equal(cancel_number(&hall, 1), 0);
    hall_go(&hall, 1100);
    assert_ended(&hall, 3, 3, 6);
    hall_close(&hall);
}

/* On one key twice it is one operation still. */
static void named_twice_it_is_handed_back_once(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    struct tkw_key keys[] = {tkw_key_number(1), tkw_key_number(2),
                             tkw_key_number(1)};
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    assert_int_equal(request_watch(&hall, &request, keys, 3), 0);
    assert_int_equal(cancel_number(&hall, 1), 1);
    assert_story(&request, "tthr");
    assert_holds(&hall, 0, 0, 0);
    assert_ended(&hall, 0, 0, 1);
    hall_close(&hall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_operation_is_handed_back),
        cmocka_unit_test(cancelled_without_each_they_are_released),
        cmocka_unit_test(a_cancel_takes_those_on_its_key_oldest_first),
        cmocka_unit_test(named_twice_it_is_handed_back_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
