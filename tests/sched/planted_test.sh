#!/bin/sh
# Tests the scenarios of the service: races planted in a copy of its sources, one
# at a time, must be found by the scenario that is there for them.
#
# Environment: CC (default: cc), SOURCE: the root of the source tree
set -eu

test=planted_test
scenarios=$(cd "$SOURCE/tests/sched" && find . -name 'service_*.c' | sed 's/\.c$//')
# shellcheck source=tests/sched/planted.sh
. "$SOURCE/tests/sched/planted.sh"

plant 'claimed by a look and a store' service/fire.c \
    's/!sync_replace_ordered(&job->word, &word, running)/sync_get_ordered(\&job->word) != word || (sync_put_ordered(\&job->word, running), false)/' \
    cancel_against_fire

plant 'looks for the earliest, then falls asleep' service/wakeup.c \
    '/sync_put_ordered(&service->is_asleep, true);/{h;d;}
     /tkw_tick tick = sync_get_ordered(&service->earliest);/G' \
    arm_against_falling_asleep

plant 'forgets the earliest after its visit' service/run.c \
    '/sync_put_relaxed(&service->earliest, TKW_NEVER);/{h;d;}
     /^    visit_all(service, /G' \
    arm_earlier_against_falling_asleep

plant 'runs without a look whether to stop' service/run.c \
    '/^static bool serve/,/^}/s/sync_get_ordered(&service->is_stopping)/false/' \
    stop_against_stop

plant 'stops without waiting' service/open.c \
    's/while (sync_get_ordered(&service->is_active) ||.*/while (false)/' \
    stop_against_stop

plant 'says that it is quiet outside of the mutex' service/run.c \
    '/^static void end_pass/,/^}/{/_lock(\|_unlock(/d;}' \
    run_against_stop

plant 'says that it has ended outside of the mutex' service/fire.c \
    '/if (word & JOB_WAITED)/,/}/{/_lock(\|_unlock(/d;}' \
    cancel_sync_against_fire

plant 'armed again without a new epoch' service/move.c \
    's/(word + JOB_EPOCH) & JOB_EPOCHS/word \& JOB_EPOCHS/' \
    postpone_against_fire

plant 'armed again after a cancel' service/move.c \
    '/if (word & JOB_CANCELLED)$/,+1d' \
    cancel_against_arming_itself

plant 'counted in by a look and a store' service/jobs.c \
    's/!sync_replace_ordered(&service->pending, &pending, pending + 1)/sync_put_ordered(\&service->pending, pending + 1), false/' \
    limit_against_two_arming

plant 'put on the stack by a look and a store' service/reap.c \
    's/!sync_replace_ordered(list, &before, index + 1)/sync_put_ordered(list, index + 1), false/' \
    cancel_owner_against_cancel

plant 'given up in a batch, and not freed' service/fire.c \
    '/^void tkw__due_discard/,/^}/{/if (due_is_given_up/,+1d;}' \
    cancel_against_fire

plant 'makes room and tells nobody' service/crew.c \
    '/^static void \*work/,/^}/{/if (is_room)/,+1d;}' \
    room_against_a_full_queue

plant 'says that it is full outside of the mutex' service/crew.c \
    '/^static bool enqueue/,/^}/{/crew->is_full = shard->batch_at == before;/{h;d;}
     /service_unlock/G;}' \
    room_against_a_full_queue

plant 'ends a callback outside of the mutex' service/crew.c \
    '/^static void \*work/,/^}/{/^        service_lock/{h;d;}
     /^            end(service);/G;}' \
    stop_against_workers

plant 'begins without a look whether to stop' service/crew.c \
    '/^static bool begin/,/^}/{/is_stopping/,+1d;}' \
    job_run_against_stop

plant 'closes without waiting for jobs' service/open.c \
    's/while (service->out_count > 0)/while (false)/' \
    job_run_against_close

plant 'taken for due while it is running' service/run.c \
    's/while (word & JOB_RUNNING && word & JOB_ARMED)/while (false)/' \
    due_again_while_running

plant 'late, and nobody looks' service/fire.c \
    's/if (word & JOB_LATE)/if (false)/' \
    due_again_while_running

plant 'armed for its next time after a cancel' service/plan.c \
    's/(word & (JOB_ARMED | JOB_CANCELLED)) == 0/(word \& JOB_ARMED) == 0/' \
    cancel_against_repeating

plant 'makes room for others while it repeats' service/fire.c \
    's/if ((word & JOB_REPEATS) == 0)/if (true)/' \
    limit_against_repeating

plant 'freed, and still with its owner' service/jobs.c \
    '/^static void free_plan/,/^}/{/if (plan->owner != NULL)/,+1d;}' \
    cancel_owner_against_giving_back

plant 'reads the plan of a job that was freed meanwhile' service/owner.c \
    's/ && job_is_in_use(job)//' \
    cancel_owner_against_giving_back

plant 'aims without the mutex' service/wakeup.c \
    '/^void tkw__wakeup_aim/,/^}/{/_lock(\|_unlock(/d;}' \
    two_arm_against_a_loop

plant 'mutes the descriptor outside of the mutex' service/wakeup.c \
    '/^RARE void tkw__wakeup_mute/,/^}/{/_lock(\|_unlock(/d;}' \
    two_run_against_arm

plant 'records without a look whether to go on' service/record.c \
    's/bool is_recording = sync_get_relaxed(&service->is_recording);/bool is_recording = true;/' \
    cancel_against_ending_a_recording
