/*
 * purgatory/again_test.c - an operation is refused while it is inside, and can
 * be used again once it is released.
 */
#include "support/purgatory.h"

#include <stdio.h>

/* However it has ended, a released operation is as good as new. */
static void a_released_operation_can_be_used_again(void **state)
{
    (void)state;
    const enum moment ends[] = {COMPLETE, EXPIRE, HAND_BACK};
    for (size_t i = 0; i < 9; i++) {
        struct hall halls[2];
        struct request request;
        hall_open(&halls[0], TKW_DRIVER_NONE);
        hall_open(&halls[1], TKW_DRIVER_NONE);
        request_init(&request, 100);
        request_wait(&halls[0], &request, 1, 3);
        bring_about(&halls[0], &request, 2, ends[i / 3]);
        assert_int_equal(count_of(&request, RELEASE), 1);
        atomic_store(&request.is_ready, false);
        request_wait(&halls[1], &request, 2, 1);
        assert_holds(&halls[0], 0, 0, 0);
        assert_holds(&halls[1], 1, 1, 1);
        bring_about(&halls[1], &request, 2, ends[i % 3]);
        assert_int_equal(count_of(&request, RELEASE), 2);
        assert_holds(&halls[1], 0, 0, 0);
        hall_close(&halls[1]);
        hall_close(&halls[0]);
    }
}

static void watch_itself_again(struct request *request)
{
    atomic_store(&request->is_ready, false);
    if (count_of(request, RELEASE) < 3)
        request->answer = request_watch_numbers(request->hall, request, 1, 2);
}

/* on_release is the last of it, and may be the first of the next. */
static void on_release_can_use_it_again(void **state)
{
    (void)state;
    const enum moment ends[] = {COMPLETE, EXPIRE, HAND_BACK};
    const char *const parts[] = {"tttcr", "ttcxr", "tthr"};
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        struct hall hall;
        struct request request;
        char story[STORY_MAX];
        snprintf(story, sizeof story, "%s%s%s", parts[i], parts[i], parts[i]);
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&request, 100);
        request.moment = RELEASE;
        request.act = watch_itself_again;
        request_wait(&hall, &request, 1, 2);
        for (unsigned round = 1; round <= 3; round++) {
            bring_about(&hall, &request, 1, ends[i]);
            assert_int_equal(request.answer, 0);
            assert_int_equal(count_of(&request, RELEASE), round);
            assert_holds(&hall, round == 3 ? 0 : 2, round != 3,
                         round == 3 ? 0 : 2);
        }
        assert_story(&request, story);
        hall_close(&hall);
    }
}

static int watch_busy(struct hall *hall, struct request *request)
{
    struct tkw_key key = tkw_key_number(5);
    return tkw_purgatory_try_complete_else_watch(hall->purgatory,
                                                 &request->operation, &key, 1);
}

static void watch_itself_too_early(struct request *request)
{
    request->answer = watch_busy(request->hall, request);
}

/* It is the purgatory's until on_release, and nobody else's. */
static void inside_a_purgatory_it_is_busy(void **state)
{
    (void)state;
    for (enum moment moment = COMPLETE; moment < RELEASE; moment++) {
        struct hall halls[2];
        struct request request;
        hall_open(&halls[0], TKW_DRIVER_NONE);
        hall_open(&halls[1], TKW_DRIVER_NONE);
        request_init(&request, 100);
        request.moment = moment;
        request.act = watch_itself_too_early;
        request_wait(&halls[0], &request, 1, 2);
        assert_int_equal(watch_busy(&halls[0], &request), -EBUSY);
        assert_int_equal(watch_busy(&halls[1], &request), -EBUSY);
        assert_holds(&halls[0], 2, 1, 2);
        assert_holds(&halls[1], 0, 0, 0);
        bring_about(&halls[0], &request, 1, moment);
        assert_int_equal(request.answer, -EBUSY);
        assert_int_equal(count_of(&request, RELEASE), 1);
        assert_holds(&halls[0], 0, 0, 0);
        hall_close(&halls[1]);
        hall_close(&halls[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_released_operation_can_be_used_again),
        cmocka_unit_test(on_release_can_use_it_again),
        cmocka_unit_test(inside_a_purgatory_it_is_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
