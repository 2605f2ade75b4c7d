/*
 * service_races.c - the service's sources, with their threads in every order.
 *
 * The sources are built with -DTKW_SYNC='"sched/sync_scheduled.h"', and with
 * constants so small that opening a service takes no time.  See sched.h for
 * what this does not show: above all, memory is sequentially consistent here.
 */
#include "service_races.h"

#include "sched.h"

/* clang-format off */
#define SCENARIO(function) {#function, function, false}
/* clang-format on */

static const struct sched_scenario scenarios[] = {
    SCENARIO(cancel_against_fire),
    SCENARIO(cancel_against_cancel),
    SCENARIO(cancel_against_cancel_and_fire),
    SCENARIO(cancel_against_cancel_of_another),
    SCENARIO(cancel_sync_against_fire),
    SCENARIO(cancel_sync_against_arming_itself),
    SCENARIO(cancel_sync_against_dropping),
    SCENARIO(cancel_sync_twice_against_fire),
    SCENARIO(cancel_against_arming_itself),
    SCENARIO(cancel_joined_then_close),
    SCENARIO(count_against_clearing),
    SCENARIO(query_against_fire_and_reuse),
    SCENARIO(stale_cancel_against_reuse),
    SCENARIO(guess_against_arm),
    SCENARIO(reuse_against_a_batch),

    SCENARIO(postpone_against_fire),
    SCENARIO(rearm_against_fire),
    SCENARIO(rearm_against_running),
    SCENARIO(rearm_against_cancel),
    SCENARIO(rearm_against_cancel_and_fire),
    SCENARIO(postpone_against_cancel),
    SCENARIO(postpone_against_cancel_and_fire),
    SCENARIO(rearm_against_rearm),

    SCENARIO(arm_against_falling_asleep),
    SCENARIO(arm_earlier_against_falling_asleep),
    SCENARIO(two_arm_against_falling_asleep),
    SCENARIO(rearm_earlier_against_falling_asleep),
    SCENARIO(arm_later_wakes_nobody),
    SCENARIO(turn_against_pass),
    SCENARIO(set_back_against_arm),
    SCENARIO(set_back_against_fire),
    SCENARIO(set_back_after_a_part_of_a_batch),
    SCENARIO(callback_arms_against_arm),
    SCENARIO(two_shards_keep_ticks_in_order),

    SCENARIO(stop_against_fire),
    SCENARIO(stop_inside_the_callback),
    SCENARIO(stop_inside_against_stop),
    SCENARIO(stop_against_stop),
    SCENARIO(stop_against_arm),
    SCENARIO(stop_against_rearm),
    SCENARIO(stop_inside_the_drop),
    SCENARIO(close_against_fire),
    SCENARIO(run_against_run),
    SCENARIO(run_against_stop),
    SCENARIO(limit_against_two_arming),
    SCENARIO(limit_against_cancel),
    SCENARIO(limit_against_fire),
    SCENARIO(limit_against_starting_again),

    SCENARIO(cancel_against_a_worker),
    SCENARIO(cancel_sync_against_a_worker),
    SCENARIO(cancel_in_the_queue),
    SCENARIO(reuse_against_the_queue),
    SCENARIO(rearm_against_a_worker),
    SCENARIO(postpone_against_a_worker),
    SCENARIO(due_again_while_running),
    SCENARIO(rearm_for_now_against_a_worker),
    SCENARIO(rearm_for_now_against_due_again),
    SCENARIO(rearm_against_due_again),
    SCENARIO(cancel_against_due_again),
    SCENARIO(cancel_sync_against_due_again),
    SCENARIO(cancel_against_hurrying),
    SCENARIO(room_against_a_full_queue),
    SCENARIO(room_in_half_of_the_queue),
    SCENARIO(room_against_falling_asleep),
    SCENARIO(arm_against_a_full_queue),
    SCENARIO(room_against_a_small_budget),
    SCENARIO(stop_against_workers),
    SCENARIO(stop_inside_a_worker_against_stop),
    SCENARIO(close_against_workers),
    SCENARIO(set_back_against_a_worker),

    SCENARIO(job_run_against_cancel),
    SCENARIO(job_run_against_cancel_sync),
    SCENARIO(job_run_against_rearm),
    SCENARIO(job_due_again_while_running),
    SCENARIO(job_run_against_rearm_for_now),
    SCENARIO(stale_job_against_reuse),
    SCENARIO(job_run_against_stop),
    SCENARIO(job_run_against_close),
    SCENARIO(job_return_against_close),
    SCENARIO(job_return_against_cancel),
    SCENARIO(job_return_against_rearm),
    SCENARIO(job_return_against_falling_asleep),
    SCENARIO(job_run_against_refusing),
    SCENARIO(refusing_against_job_run),
    SCENARIO(stop_against_running_at_once),
    SCENARIO(cancel_sync_of_an_outer_callback),
    SCENARIO(set_back_against_job_run),

    SCENARIO(two_count_in_a_histogram),
    SCENARIO(two_are_slow),
    SCENARIO(cancel_against_ending_a_recording),
    SCENARIO(cancel_against_recording_anew),

    SCENARIO(cancel_against_repeating),
    SCENARIO(cancel_sync_against_repeating),
    SCENARIO(cancel_twice_against_repeating),
    SCENARIO(cancel_against_repeating_on_a_worker),
    SCENARIO(cancel_sync_against_repeating_on_a_worker),
    SCENARIO(rearm_against_repeating),
    SCENARIO(rearm_against_repeating_on_a_worker),
    SCENARIO(rearm_for_now_against_repeating),
    SCENARIO(rearm_against_cancel_and_repeating),
    SCENARIO(stop_against_repeating),
    SCENARIO(stop_against_repeating_on_a_worker),
    SCENARIO(turn_against_repeating),
    SCENARIO(limit_against_repeating),
    SCENARIO(limit_against_cancel_of_repeating),
    SCENARIO(cancel_against_the_last_call),
    SCENARIO(cancel_sync_against_the_last_call),
    SCENARIO(rearm_against_the_last_call),
    SCENARIO(limit_against_the_last_call),

    SCENARIO(cancel_owner_against_fire),
    SCENARIO(cancel_owner_against_a_worker),
    SCENARIO(cancel_owner_against_giving_back),
    SCENARIO(cancel_owner_against_arm),
    SCENARIO(cancel_owner_against_cancel),
    SCENARIO(cancel_owner_against_cancel_owner),
    SCENARIO(cancel_owner_sync_against_fire),
    SCENARIO(cancel_owner_sync_against_a_worker),
    SCENARIO(cancel_owner_sync_twice_against_fire),
    SCENARIO(cancel_owner_inside_against_cancel_owner_sync),
    SCENARIO(cancel_owner_against_repeating),
    SCENARIO(cancel_owner_sync_against_repeating),

    SCENARIO(arm_against_the_end_of_run),
    SCENARIO(two_run_against_arm),
    SCENARIO(two_arm_against_a_loop),
    SCENARIO(fd_against_arm),
    SCENARIO(room_against_a_loop),
};

int main(int count, char **texts)
{
    struct sched_program program = {.figures_of = "service_races",
                                    .scenarios = scenarios,
                                    .scenario_count =
                                        sizeof scenarios / sizeof scenarios[0]};

    return sched_main(count, texts, &program);
}
