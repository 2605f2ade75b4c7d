/*
 * purgatory_races.c - the sources of the purgatory and the monitor, and the
 * service's under them, with their threads in every order.
 *
 * The sources are built with -DTKW_SYNC='"sched/sync_scheduled.h"', and with
 * constants so small that opening them takes no time.  See sched.h for what
 * this does not show: above all, memory is sequentially consistent here.
 */
#include "purgatory_races.h"

#include "sched.h"

/* clang-format off */
#define SCENARIO(function) {#function, function, false}
/* clang-format on */

static const struct sched_scenario scenarios[] = {
    SCENARIO(complete_against_expire),
    SCENARIO(check_against_expire),
    SCENARIO(check_in_vain_against_expire),
    SCENARIO(check_against_the_driver),
    SCENARIO(complete_against_check),
    SCENARIO(complete_against_check_in_vain),
    SCENARIO(complete_against_complete),
    SCENARIO(complete_against_check_and_expire),
    SCENARIO(check_against_check),
    SCENARIO(check_against_check_in_vain),
    SCENARIO(check_against_two_checks_in_vain),
    SCENARIO(check_of_two_keys),
    SCENARIO(check_of_two_keys_against_expire),
    SCENARIO(check_of_two_keys_of_two),
    SCENARIO(complete_inside_against_check),
    SCENARIO(check_inside_against_check),
    SCENARIO(check_holding_a_lock_against_check),
    SCENARIO(check_holding_a_lock_against_expire),
    SCENARIO(check_against_leaving),
    SCENARIO(check_in_vain_against_leaving),
    SCENARIO(check_all_against_check_all),

    SCENARIO(check_against_watch),
    SCENARIO(check_of_the_last_key_against_watch),
    SCENARIO(check_of_two_keys_against_watch),
    SCENARIO(check_in_vain_against_watch),
    SCENARIO(expire_against_watch),
    SCENARIO(expire_against_watch_and_check),
    SCENARIO(watch_for_no_time_against_the_driver),
    SCENARIO(complete_against_watch),
    SCENARIO(complete_against_watch_and_check),
    SCENARIO(complete_inside_against_watch),
    SCENARIO(cancel_against_watch),
    SCENARIO(cancel_of_two_keys_against_watch),
    SCENARIO(watch_against_watch),
    SCENARIO(watch_twice),
    SCENARIO(watch_against_the_last_leaving),
    SCENARIO(watch_inside_against_check),
    SCENARIO(watch_inside_a_check_of_two),
    SCENARIO(refused_against_check),
    SCENARIO(refused_against_checks_in_vain),
    SCENARIO(refused_against_complete),
    SCENARIO(refused_against_cancel),
    SCENARIO(refused_against_cancel_and_check),
    SCENARIO(refused_against_leaving),
    SCENARIO(out_of_memory_against_check),
    SCENARIO(stop_against_watch),

    SCENARIO(cancel_key_against_check),
    SCENARIO(cancel_key_against_check_in_vain),
    SCENARIO(cancel_key_against_two_checks),
    SCENARIO(cancel_key_against_check_of_another),
    SCENARIO(cancel_key_against_expire),
    SCENARIO(cancel_key_against_the_driver),
    SCENARIO(cancel_key_against_complete),
    SCENARIO(cancel_key_against_complete_and_check),
    SCENARIO(cancel_key_against_check_and_expire),
    SCENARIO(cancel_key_against_cancel_key),
    SCENARIO(cancel_of_two_keys),
    SCENARIO(watch_inside_cancel_against_check),
    SCENARIO(cancel_inside_a_check),

    SCENARIO(expired_against_check),
    SCENARIO(expired_against_checks_of_two_keys),
    SCENARIO(checked_against_check),
    SCENARIO(checked_against_expire),
    SCENARIO(cancelled_against_check),
    SCENARIO(cancelled_against_expire),
    SCENARIO(cancelled_against_check_and_expire),
    SCENARIO(checked_against_a_check_on_the_list),
    SCENARIO(neighbours_against_check),
    SCENARIO(used_again_against_check),
    SCENARIO(used_again_against_expire),
    SCENARIO(used_again_against_cancel),
    SCENARIO(used_again_against_all),

    SCENARIO(close_against_expire),
    SCENARIO(close_handing_back_against_expire),
    SCENARIO(close_against_the_driver),
    SCENARIO(close_handing_back_against_the_driver),
    SCENARIO(close_between_two_expiries),
    SCENARIO(close_inside_callbacks),
    SCENARIO(close_against_watch_inside),
    SCENARIO(close_against_half_a_watch_inside),
    SCENARIO(close_against_refused_inside),
    SCENARIO(close_against_check_inside),
    SCENARIO(close_against_complete_inside),
    SCENARIO(close_against_cancel_inside),
    SCENARIO(close_against_stop),
    SCENARIO(close_against_stop_and_the_driver),

    SCENARIO(touch_against_silence),
    SCENARIO(touch_in_time_against_a_look),
    SCENARIO(touch_against_the_driver),
    SCENARIO(two_touch_against_silence),
    SCENARIO(touch_inside_against_touch),
    SCENARIO(forget_against_silence),
    SCENARIO(forget_against_the_driver),
    SCENARIO(forget_against_touch),
    SCENARIO(add_sooner_against_a_look),
    SCENARIO(add_sooner_against_the_driver),
    SCENARIO(add_against_the_last_going),
    SCENARIO(add_against_the_driver),
    SCENARIO(two_add_against_each_other),
    SCENARIO(shorten_against_a_look),
    SCENARIO(limit_against_two_adding),
    SCENARIO(limit_against_silence),
    SCENARIO(limit_against_forget),
    SCENARIO(limit_against_refusing),
    SCENARIO(bytes_against_touch_and_forget),
    SCENARIO(walk_against_silence),
    SCENARIO(walk_against_forget),
    SCENARIO(walk_against_walk_and_forget),
    SCENARIO(close_against_silence),
    SCENARIO(close_against_the_monitors_driver),
    SCENARIO(close_inside_on_silent),
    SCENARIO(stop_against_add),
};

int main(int count, char **texts)
{
    struct sched_program program = {.figures_of = "purgatory_races",
                                    .scenarios = scenarios,
                                    .scenario_count =
                                        sizeof scenarios / sizeof scenarios[0]};

    return sched_main(count, texts, &program);
}
