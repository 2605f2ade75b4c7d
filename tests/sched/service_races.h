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

/* service_races_crew.c */
void cancel_against_a_worker(void);
void cancel_sync_against_a_worker(void);
void cancel_in_the_queue(void);
void reuse_against_the_queue(void);
void rearm_against_a_worker(void);
void postpone_against_a_worker(void);
void due_again_while_running(void);
void rearm_for_now_against_a_worker(void);
void rearm_for_now_against_due_again(void);
void rearm_against_due_again(void);
void cancel_against_due_again(void);
void cancel_sync_against_due_again(void);
void cancel_against_hurrying(void);
void room_against_a_full_queue(void);
void room_in_half_of_the_queue(void);
void room_against_falling_asleep(void);
void arm_against_a_full_queue(void);
void room_against_a_small_budget(void);
void stop_against_workers(void);
void stop_inside_a_worker_against_stop(void);
void close_against_workers(void);
void set_back_against_a_worker(void);

/* service_races_submit.c */
void job_run_against_cancel(void);
void job_run_against_cancel_sync(void);
void job_run_against_rearm(void);
void job_due_again_while_running(void);
void job_run_against_rearm_for_now(void);
void stale_job_against_reuse(void);
void job_run_against_stop(void);
void job_run_against_close(void);
void job_return_against_close(void);
void job_return_against_cancel(void);
void job_return_against_rearm(void);
void job_return_against_falling_asleep(void);
void job_run_against_refusing(void);
void refusing_against_job_run(void);
void stop_against_running_at_once(void);
void cancel_sync_of_an_outer_callback(void);
void set_back_against_job_run(void);

/* service_races_stats.c */
void two_count_in_a_histogram(void);
void two_are_slow(void);

/* service_races_record.c */
void cancel_against_ending_a_recording(void);
void cancel_against_recording_anew(void);

/* service_races_repeat.c */
void cancel_against_repeating(void);
void cancel_sync_against_repeating(void);
void cancel_twice_against_repeating(void);
void cancel_against_repeating_on_a_worker(void);
void cancel_sync_against_repeating_on_a_worker(void);
void rearm_against_repeating(void);
void rearm_against_repeating_on_a_worker(void);
void rearm_for_now_against_repeating(void);
void rearm_against_cancel_and_repeating(void);
void stop_against_repeating(void);
void stop_against_repeating_on_a_worker(void);
void turn_against_repeating(void);
void limit_against_repeating(void);
void limit_against_cancel_of_repeating(void);
void cancel_against_the_last_call(void);
void cancel_sync_against_the_last_call(void);
void rearm_against_the_last_call(void);
void limit_against_the_last_call(void);

/* service_races_owner.c */
void cancel_owner_against_fire(void);
void cancel_owner_against_a_worker(void);
void cancel_owner_against_giving_back(void);
void cancel_owner_against_arm(void);
void cancel_owner_against_cancel(void);
void cancel_owner_against_cancel_owner(void);
void cancel_owner_sync_against_fire(void);
void cancel_owner_sync_against_a_worker(void);
void cancel_owner_sync_twice_against_fire(void);
void cancel_owner_inside_against_cancel_owner_sync(void);
void cancel_owner_against_repeating(void);
void cancel_owner_sync_against_repeating(void);

/* service_races_loop.c */
void arm_against_the_end_of_run(void);
void two_run_against_arm(void);
void two_arm_against_a_loop(void);
void fd_against_arm(void);
void room_against_a_loop(void);

#endif
