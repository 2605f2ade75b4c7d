/*
 * service/loop_scenes.h - what the timers of a service and an event loop owe
 * each other: the same scenes for every adapter.  A test says how its loop is
 * used, and lists the scenes.
 */
#ifndef TESTS_SERVICE_LOOP_SCENES_H
#define TESTS_SERVICE_LOOP_SCENES_H

#include "loop_stage.h"

/* The scenes: `*state` is the kind. */
void timers_fire_through_the_loop_in_order_and_never_early(void **state);
void what_was_armed_before_the_loop_fires_too(void **state);
void a_timer_armed_by_another_thread_wakes_the_loop(void **state);
void a_clock_turned_by_another_thread_wakes_the_loop(void **state);
void a_handler_of_the_loop_cancels_a_timer(void **state);
void a_timer_cancels_another_that_is_due_with_it(void **state);
void thousands_due_at_once_leave_room_for_other_events(void **state);
void a_budget_of_one_is_one_timer_a_turn(void **state);
void a_budget_below_one_is_no_bound(void **state);
void a_timer_that_arms_itself_for_now_leaves_room_too(void **state);
void closing_the_loop_leaves_timers_pending_to_be_handed_back(void **state);
void a_loop_closed_in_a_callback_calls_no_more(void **state);
void a_loop_closed_is_opened_again(void **state);
void a_stopped_service_lets_the_loop_sleep(void **state);
void workers_without_room_let_the_loop_sleep(void **state);
void a_service_with_a_driver_is_refused(void **state);
void a_clock_without_a_descriptor_is_refused(void **state);
void real_time_is_never_early(void **state);

#define LOOP_SCENES                                                          \
    cmocka_unit_test(timers_fire_through_the_loop_in_order_and_never_early), \
        cmocka_unit_test(what_was_armed_before_the_loop_fires_too),          \
        cmocka_unit_test(a_timer_armed_by_another_thread_wakes_the_loop),    \
        cmocka_unit_test(a_clock_turned_by_another_thread_wakes_the_loop),   \
        cmocka_unit_test(a_handler_of_the_loop_cancels_a_timer),             \
        cmocka_unit_test(a_timer_cancels_another_that_is_due_with_it),       \
        cmocka_unit_test(thousands_due_at_once_leave_room_for_other_events), \
        cmocka_unit_test(a_budget_of_one_is_one_timer_a_turn),               \
        cmocka_unit_test(a_timer_that_arms_itself_for_now_leaves_room_too),  \
        cmocka_unit_test(                                                    \
            closing_the_loop_leaves_timers_pending_to_be_handed_back),       \
        cmocka_unit_test(a_loop_closed_in_a_callback_calls_no_more),         \
        cmocka_unit_test(a_loop_closed_is_opened_again),                     \
        cmocka_unit_test(a_stopped_service_lets_the_loop_sleep),             \
        cmocka_unit_test(workers_without_room_let_the_loop_sleep),           \
        cmocka_unit_test(a_service_with_a_driver_is_refused),                \
        cmocka_unit_test(a_clock_without_a_descriptor_is_refused),           \
        cmocka_unit_test(real_time_is_never_early)

#endif
