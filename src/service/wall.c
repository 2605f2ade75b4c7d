/*
 * service/wall.c - following a wall clock that is set back.
 *
 * The pools cannot go back in time.  When the runner reads that the clock has
 * gone back, it adds the difference to `shift_ns`, so that the time of the
 * pools stands still.  It then files every job anew, for a tick that is later
 * by the difference:
 *
 *     clock       1000  1100 | 600   700 ...  1100
 *     shift_ns       0     0 | 500   500 ...   500
 *     pools       1000  1100 | 1100  1200 ... 1600
 *
 * A job has too early a tick if it has left its pool by then, or if a thread
 * arms it before the runner reads the clock.  tkw__job_fire() compares the
 * job's time with the clock before it claims the job, and puts it back into the
 * pool.
 */
#include <tickwheel/service.h>

#include "private.h"

/*
 * File every job of a shard anew.  A job that the pool has no memory for stays
 * where it is: it leaves the pool too early, and tkw__job_fire() puts it back.
 * The pool does not sweep for memory here: with the lock held, a sweep for each
 * job would take too long.
 */
static void file_anew(struct tkw_service *service, struct shard *shard)
{
    shard_lock(shard);
    for (uint32_t at = 0; at < shard->used; at++) {
        struct job *job = job_at(shard, at);
        uint64_t word = sync_get_acquire(&job->word);
        if ((word & JOB_ARMED) == 0)
            continue;
        if (!job_is_in_intake(shard, job) && !tkw__shard_reserve(shard, 1, 0))
            continue;
        tkw_tick deadline = tkw__time_tick(service, job->due_ns);
        if (tkw__job_refile(shard, at, deadline) == 0)
            tkw__job_arm_again(service, shard, at, word, deadline);
    }
    shard_unlock(shard);
}

/* Call the user's log function.  It counts as a callback. */
static void write_log(struct tkw_service *service, const char *message)
{
    if (service->log == NULL)
        return;
    struct frame frame;
    frame_enter(&frame, service, 0);
    service->log(service->context, message);
    frame_leave(&frame);
}

/*
 * Read the clock, for a pass.  Returns the time of the pools, which never goes
 * back, and stores the time of the clock in `*now`.
 */
uint64_t tkw__wall_read(struct tkw_service *service, uint64_t *now)
{
    uint64_t read = service->clock.now(service->clock.context);
    if (read < service->read_ns) {
        sync_add_relaxed(&service->steps_back, 1);
        write_log(service, "the clock went back");
    }
    service->read_ns = read;
    if (!service->clock.is_wall) {
        *now = tkw__time_clamp(service, read);
        return *now;
    }

    *now = read;
    uint64_t shift = sync_get_relaxed(&service->shift_ns); /* the runner's */
    uint64_t time = saturating_add(read, shift);
    if (time < service->shown_ns) {
        shift += service->shown_ns - time;
        sync_put_relaxed(&service->shift_ns, shift);
        for (uint32_t i = 0; i < service->shard_count; i++)
            file_anew(service, service->shards[i]);
        return service->shown_ns;
    }
    service->shown_ns = time;
    return time;
}

/*
 * Put a job that left the pool too early back into it.  The pool has memory in
 * reserve for each job of a wall clock, so this fails only if the job was
 * cancelled or moved meanwhile.
 */
void tkw__wall_refile(struct tkw_service *service, const struct due_job *due)
{
    struct job *job = due->job;
    shard_lock(due->shard);
    tkw_tick deadline = tkw__time_tick(service, job->due_ns);
    if (tkw__job_arm_again(service, due->shard, due->index, due->word,
                           deadline) == 1)
        tkw__wakeup_announce(service, due->shard, deadline);
    shard_unlock(due->shard);
}
