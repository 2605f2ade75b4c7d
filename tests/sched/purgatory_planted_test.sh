#!/bin/sh
# Tests the scenarios of the purgatory and the monitor: races planted in a copy
# of their sources, one at a time, must be found by the scenario that is there
# for them.
#
# Environment: CC (default: cc), SOURCE: the root of the source tree
set -eu

test=purgatory_planted_test
scenarios='service_scene service_probe monitor_scene monitor_races
    purgatory_scene purgatory_actors purgatory_races purgatory_races_complete
    purgatory_races_watch purgatory_races_cancel purgatory_races_release
    purgatory_races_close'
# shellcheck source=tests/sched/planted.sh
. "$SOURCE/tests/sched/planted.sh"

plant 'taken by a look and a store' purgatory/life.c \
    '/^static bool own(/,/^}/s/!sync_replace_ordered(&operation->word, &word, then)/(sync_put_ordered(\&operation->word, then), false)/' \
    check_against_check

plant 'decided by a look and a store' purgatory/life.c \
    '/^bool tkw__operation_decide(/,/^}/{
         s/!sync_replace_ordered(&operation->word, &word,/(sync_put_ordered(\&operation->word,/
         s/word + OPERATION_DECIDED + how));/word + OPERATION_DECIDED + how), false));/;}' \
    complete_against_expire

plant 'finds it taken and leaves no wish' purgatory/life.c \
    '/^static bool own(/,/^}/s/OPERATION_AGAIN : OPERATION_OWNED/0 : OPERATION_OWNED/' \
    check_against_check_in_vain

plant 'lets go without a look at the wish' purgatory/life.c \
    '/^enum disown_result tkw__operation_disown(/,/^}/s/(word & OPERATION_AGAIN) \&\& !is_decided/false/' \
    check_holding_a_lock_against_check

plant 'finds it being placed and leaves no wish' purgatory/life.c \
    '/^bool tkw__operation_hold(/,/^}/s/word | OPERATION_AGAIN/word/' \
    check_against_watch

plant 'is not tried once it is on its lists' purgatory/watch.c \
    '/^static int place(/,/^}/{/It may have come to be met/,+2d;}' \
    check_of_the_last_key_against_watch

plant 'tries what is decided' purgatory/life.c \
    '/^static bool own(/,/^}/{/OPERATION_DECIDED/,+1d;}' \
    complete_against_check_in_vain

plant 'calls back beside the owner' purgatory/life.c \
    '/^void tkw__operation_end(/,/^}/s/while (word & OPERATION_OWNED)/while (false)/' \
    check_in_vain_against_expire

plant 'completes what it does not hold on to' purgatory/watch.c \
    '/^static bool end_one(/,/^}/{s/how | OPERATION_REF/how/;/tkw__operation_drop/d;}' \
    complete_against_watch

plant 'cancels what it does not hold on to' purgatory/list.c \
    '/^static bool hold_or_decide(/,/^}/s/OPERATION_REF | OPERATION_CANCELLED/OPERATION_CANCELLED/' \
    cancelled_against_check

plant 'lets go for a timer that is running' purgatory/life.c \
    '/^void tkw__operation_leave(/,/^}/s/^        1)$/        1 || true)/' \
    checked_against_expire

plant 'lets go by a look and a store' purgatory/life.c \
    '/^static uint32_t word_add(/,/^}/s/!sync_replace_ordered(&operation->word, &word, word + number)/(sync_put_ordered(\&operation->word, word + number), false)/' \
    expired_against_check

plant 'touches it after its release' purgatory/life.c \
    '/^static void release_operation(/,/^}/{/sync_put_ordered(&operation->word, 0);/{h;d;}
     /call_user(/G;}' \
    used_again_against_check

plant 'refused by a store' purgatory/life.c \
    '/^bool tkw__operation_refuse(/,/^}/s/!sync_replace_ordered(&operation->word, &word, 0)/(sync_put_ordered(\&operation->word, 0), false)/' \
    refused_against_complete

plant 'refused before it has left its lists' purgatory/watch.c \
    '/^static int place(/,/^}/s/tkw__lists_refuse(operation);/sync_put_ordered(\&operation->word, 0), tkw__lists_refuse(operation);/' \
    refused_against_check

plant 'closes without waiting' purgatory/watch.c \
    's/while (shard->live > 0)/while (false)/' \
    close_against_expire

plant 'says that it has released outside of the mutex' purgatory/life.c \
    '/^static void release_operation(/,/^}/{/_lock(\|_unlock(/d;}' \
    close_handing_back_against_expire

plant 'enters a list without a look whether it is closed' purgatory/list.c \
    '/^static int enter_list(/,/^}/s/sync_get_relaxed(&purgatory->is_closing)/false/' \
    close_against_watch_inside

plant 'looks for the next, and files outside of the mutex' idle/monitor.c \
    '/^static void report_silent(/,/^}/{s/shard->wake_ns = tkw/uint64_t next_ns = shard->wake_ns = tkw/
     /tkw_service_rearm_at(/{s/shard->wake_ns/next_ns/;h;d;}
     /shard_unlock(/G;}' \
    add_sooner_against_a_look

plant 'adds, and tells outside of the mutex' idle/monitor.c \
    '/^int tkw_monitor_touch_limit(/,/^}/{/shard_lock(/d;/shard_unlock(/d;}' \
    add_sooner_against_a_look

plant 'tells, and does not write it down' idle/monitor.c \
    '/^static int wake_by(/,/^}/{/shard->wake_ns = due_ns;/d;}' \
    two_add_against_each_other

plant 'closes beside on_silent' idle/monitor.c \
    's/tkw_service_cancel_sync(/tkw_service_cancel(/' \
    close_against_silence

plant 'frees bytes that a walk looks at' idle/tracker.c \
    's/if (idle->walks > 0)/if (false)/' \
    walk_against_forget

plant 'frees bytes that another walk looks at' idle/tracker.c \
    's/if (--idle->walks == 0)/if (idle->walks-- > 0)/' \
    walk_against_walk_and_forget

plant 'refuses, and tells close nothing' purgatory/list.c \
    '/^static void leave_lists(/,/^}/s/shard_count_out(shard)/shard->live--/' \
    close_against_half_a_watch_inside

plant 'counts in and looks whether it was too many' idle/monitor.c \
    '/^static bool count_in(/,/^}/s/if (keys >= monitor->keys_max)/if (sync_add_relaxed(\&monitor->keys, 1) >= monitor->keys_max \&\& (sync_add_relaxed(\&monitor->keys, -1), true))/' \
    limit_against_refusing

plant 'counts out when others may have looked' idle/monitor.c \
    '/^bool tkw_monitor_forget(/,/^}/{/if (was_held)/,+1d
     s/    return was_held;/    if (was_held) count_out(monitor, 1);\n    return was_held;/;}' \
    limit_against_forget

plant 'goes on where it was, without a mark' purgatory/list.c \
    '/^bool tkw__walk_on_locked(/,/^}/{
         s/list_insert_before(&walk->mark, next);/walk->mark.next = next;/
         /list_remove(shard, &walk->mark);/d;}' \
    neighbours_against_check

plant 'begins anew with each batch' purgatory/list.c \
    '/^bool tkw__walk_on_locked(/,/^}/s/if (walk->is_under_way)/if (false)/' \
    check_in_vain_against_leaving

plant 'leaves its mark behind' purgatory/list.c \
    '/^static void end_walk(/,/^}/s/if (walk->is_under_way)/if (false)/' \
    check_all_against_check_all
