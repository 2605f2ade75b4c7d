/*
 * purgatory_races.h - the scenarios of the purgatory and of the monitor, by
 * file.  Their names say who races with whom; what must come of it is said
 * where they are.
 *
 * Threads: those of the scheduler; see purgatory_scene.h.
 */
#ifndef SCHED_PURGATORY_RACES_H
#define SCHED_PURGATORY_RACES_H

/* purgatory_races_complete.c */
void complete_against_expire(void);
void check_against_expire(void);
void check_in_vain_against_expire(void);
void check_against_the_driver(void);
void complete_against_check(void);
void complete_against_check_in_vain(void);
void complete_against_complete(void);
void complete_against_check_and_expire(void);
void check_against_check(void);
void check_against_check_in_vain(void);
void check_against_two_checks_in_vain(void);
void check_of_two_keys(void);
void check_of_two_keys_against_expire(void);
void check_of_two_keys_of_two(void);
void complete_inside_against_check(void);
void check_inside_against_check(void);
void check_holding_a_lock_against_check(void);
void check_holding_a_lock_against_expire(void);
void check_against_leaving(void);
void check_in_vain_against_leaving(void);
void check_all_against_check_all(void);

/* purgatory_races_watch.c */
void check_against_watch(void);
void check_of_the_last_key_against_watch(void);
void check_of_two_keys_against_watch(void);
void check_in_vain_against_watch(void);
void expire_against_watch(void);
void expire_against_watch_and_check(void);
void watch_for_no_time_against_the_driver(void);
void complete_against_watch(void);
void complete_against_watch_and_check(void);
void complete_inside_against_watch(void);
void cancel_against_watch(void);
void cancel_of_two_keys_against_watch(void);
void watch_against_watch(void);
void watch_twice(void);
void watch_against_the_last_leaving(void);
void watch_inside_against_check(void);
void watch_inside_a_check_of_two(void);
void refused_against_check(void);
void refused_against_checks_in_vain(void);
void refused_against_complete(void);
void refused_against_cancel(void);
void refused_against_cancel_and_check(void);
void refused_against_leaving(void);
void out_of_memory_against_check(void);
void stop_against_watch(void);

/* purgatory_races_cancel.c */
void cancel_key_against_check(void);
void cancel_key_against_check_in_vain(void);
void cancel_key_against_two_checks(void);
void cancel_key_against_check_of_another(void);
void cancel_key_against_expire(void);
void cancel_key_against_the_driver(void);
void cancel_key_against_complete(void);
void cancel_key_against_complete_and_check(void);
void cancel_key_against_check_and_expire(void);
void cancel_key_against_cancel_key(void);
void cancel_of_two_keys(void);
void watch_inside_cancel_against_check(void);
void cancel_inside_a_check(void);

/* purgatory_races_release.c */
void expired_against_check(void);
void expired_against_checks_of_two_keys(void);
void checked_against_check(void);
void checked_against_expire(void);
void cancelled_against_check(void);
void cancelled_against_expire(void);
void cancelled_against_check_and_expire(void);
void checked_against_a_check_on_the_list(void);
void neighbours_against_check(void);
void used_again_against_check(void);
void used_again_against_expire(void);
void used_again_against_cancel(void);
void used_again_against_all(void);

/* purgatory_races_close.c */
void close_against_expire(void);
void close_handing_back_against_expire(void);
void close_against_the_driver(void);
void close_handing_back_against_the_driver(void);
void close_between_two_expiries(void);
void close_inside_callbacks(void);
void close_against_watch_inside(void);
void close_against_half_a_watch_inside(void);
void close_against_refused_inside(void);
void close_against_check_inside(void);
void close_against_complete_inside(void);
void close_against_cancel_inside(void);
void close_against_stop(void);
void close_against_stop_and_the_driver(void);

/* monitor_races.c */
void touch_against_silence(void);
void touch_in_time_against_a_look(void);
void touch_against_the_driver(void);
void two_touch_against_silence(void);
void touch_inside_against_touch(void);
void forget_against_silence(void);
void forget_against_the_driver(void);
void forget_against_touch(void);
void add_sooner_against_a_look(void);
void add_sooner_against_the_driver(void);
void add_against_the_last_going(void);
void add_against_the_driver(void);
void two_add_against_each_other(void);
void shorten_against_a_look(void);
void limit_against_two_adding(void);
void limit_against_silence(void);
void limit_against_forget(void);
void limit_against_refusing(void);
void bytes_against_touch_and_forget(void);
void walk_against_silence(void);
void walk_against_forget(void);
void walk_against_walk_and_forget(void);
void close_against_silence(void);
void close_against_the_monitors_driver(void);
void close_inside_on_silent(void);
void stop_against_add(void);

#endif
