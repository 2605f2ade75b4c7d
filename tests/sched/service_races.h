/*
 * service_races.h - the scenarios of the service, by file.  Their names say who
 * races with whom; what must come of it is said where they are.
 *
 * Threads: those of the scheduler; see service_scene.h.
 */
#ifndef SCHED_SERVICE_RACES_H
#define SCHED_SERVICE_RACES_H

/* service_races_cancel.c */
void cancel_against_fire(void);
void cancel_against_cancel(void);
void cancel_against_cancel_and_fire(void);
void cancel_against_cancel_of_another(void);
void cancel_sync_against_fire(void);
void cancel_sync_against_arming_itself(void);
void cancel_sync_against_dropping(void);
void cancel_sync_twice_against_fire(void);
void cancel_against_arming_itself(void);
void cancel_joined_then_close(void);
void count_against_clearing(void);
void query_against_fire_and_reuse(void);
void stale_cancel_against_reuse(void);
void guess_against_arm(void);
void reuse_against_a_batch(void);

/* service_races_move.c */
void postpone_against_fire(void);
void rearm_against_fire(void);
void rearm_against_running(void);
void rearm_against_cancel(void);
void rearm_against_cancel_and_fire(void);
void postpone_against_cancel(void);
void postpone_against_cancel_and_fire(void);
void rearm_against_rearm(void);

/* service_races_wake.c */
void arm_against_falling_asleep(void);
void arm_earlier_against_falling_asleep(void);
void two_arm_against_falling_asleep(void);
void rearm_earlier_against_falling_asleep(void);
void arm_later_wakes_nobody(void);
void turn_against_pass(void);
void set_back_against_arm(void);
void set_back_against_fire(void);
void set_back_after_a_part_of_a_batch(void);
void callback_arms_against_arm(void);
void two_shards_keep_ticks_in_order(void);

/* service_races_stop.c */
void stop_against_fire(void);
void stop_inside_the_callback(void);
void stop_inside_against_stop(void);
void stop_against_stop(void);
void stop_against_arm(void);
void stop_against_rearm(void);
void stop_inside_the_drop(void);
void close_against_fire(void);
void run_against_run(void);
void run_against_stop(void);
void limit_against_two_arming(void);
void limit_against_cancel(void);
void limit_against_fire(void);
void limit_against_starting_again(void);

#endif
