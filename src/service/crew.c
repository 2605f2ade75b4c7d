/*
 * service/crew.c - callbacks that the runner does not call itself: workers take
 * them from a queue, or the user's submit() takes them.
 *
 * The runner hands over jobs that are due, in order.  A crew that has no room
 * takes none: the jobs stay in their batch and their pool, and the runner
 * serves the other crews.  A worker that makes room wakes the runner:
 *
 *     runner                          worker
 *     (mutex) queue is full
 *     is_full = true
 *     ... sleeps                      (mutex) takes a job, reads is_full;
 *                                     half of the queue is empty
 *                                     earliest = 0, wakes the runner
 *
 * A job in the queue is not running yet.  The worker claims it after taking it
 * out of the queue; until then any thread can cancel or move it.
 */
#include <tickwheel/service.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "os/probes.h"
#include "private.h"

/* Count a callback that is about to run.  Returns false if the service was
 * stopped.  With the mutex: tkw_service_stop() sets is_stopping, then reads the
 * count. */
static bool begin(struct tkw_service *service)
{
    if (sync_get_ordered(&service->is_stopping))
        return false;
    service->running_count++;
    return true;
}

/* Count out a callback that has returned.  With the mutex: a thread that waits
 * for the last one may free the service. */
static void end(struct tkw_service *service)
{
    service->running_count--;
    if (service->running_count == 0)
        sync_broadcast(&service->quiet);
}

/* Take the first job of a queue that is not empty, and store it in `*due`.
 * Returns whether the runner waits for room and half of the queue is empty. */
static bool dequeue(struct crew *crew, struct due_job *due)
{
    *due = crew->queue[crew->queue_at];
    crew->queue_at = (crew->queue_at + 1) % crew->queue_room;
    crew->queue_count--;
    if (!crew->is_full || crew->queue_count > crew->queue_room / 2)
        return false;
    crew->is_full = false;
    return true;
}

static void *work(void *argument)
{
    struct crew *crew = argument;
    struct tkw_service *service = crew->service;
    if (service->thread_start != NULL)
        service->thread_start(service->context);
    service_lock(service);
    while (!service->is_closing) {
        if (crew->queue_count == 0) {
            crew->idle_count++;
            sync_wait(&crew->work, &service->mutex);
            crew->idle_count--;
            continue;
        }
        struct due_job due;
        bool is_room = dequeue(crew, &due);
        bool may_run = begin(service);
        service_unlock(service);
        if (is_room)
            tkw__wakeup_wake(service, 0);
        uint64_t now = 0;
        if (may_run)
            tkw__job_fire(service, &due, &now);
        service_lock(service);
        if (may_run)
            end(service);
    }
    service_unlock(service);
    return NULL;
}

/* Returns whether a thread has cancelled or moved a job since it left the
 * pool. */
static bool is_gone(const struct due_job *due)
{
    return sync_get_acquire(&due->job->word) != due->word;
}

/* Move jobs from a shard's batch to the queue while there is room, and add
 * their number to `*count`.  Returns false if there is room for none. */
static bool enqueue(struct crew *crew, struct shard *shard,
                    const struct portion *portion, int *count)
{
    struct tkw_service *service = crew->service;
    uint32_t before = shard->batch_at;
    uint32_t queued = 0;
    service_lock(service);
    while (shard->batch_at < shard->batch_count &&
           crew->queue_count < crew->queue_room &&
           queued < (uint32_t)portion->most) {
        const struct due_job *due = &shard->batch[shard->batch_at];
        if (due->deadline > portion->until)
            break;
        shard->batch_at++;
        if (is_gone(due)) {
            tkw__due_discard(due);
            continue;
        }
        uint32_t end = crew->queue_at + crew->queue_count++;
        crew->queue[end % crew->queue_room] = *due;
        queued++;
    }
    crew->is_full = shard->batch_at == before;
    if (crew->is_full)
        PROBE2(full, service, crew->thread_count);
    if (queued == 1 && crew->idle_count > 0)
        sync_signal(&crew->work);
    else if (crew->idle_count > 0)
        sync_broadcast(&crew->work);
    service_unlock(service);
    *count += (int)queued;
    return shard->batch_at > before;
}

/* Add `count` to the number of jobs that submit() has taken. */
static void count_jobs(struct tkw_service *service, uint64_t count)
{
    service_lock(service);
    service->out_count += count;
    if (service->out_count == 0)
        sync_broadcast(&service->quiet);
    service_unlock(service);
}

/* Pass the first job of a shard's batch to submit().  If submit() takes it,
 * increment `*count`.  Returns false if submit() refuses it. */
static bool submit(struct crew *crew, struct shard *shard, int *count)
{
    struct tkw_service *service = crew->service;
    const struct due_job *due = &shard->batch[shard->batch_at];
    if (is_gone(due)) {
        shard->batch_at++;
        return true;
    }
    struct tkw_job job = {
        .service = service,
        .due_ns = sync_get_relaxed(&due->job->due_ns),
        .word = due->word,
        .place = {shard->number, due->index},
    };
    count_jobs(service, 1);
    /* Before the call: if submit() refuses, a thread that ends a job after that
     * wakes the runner. */
    sync_put_ordered(&crew->is_refusing, true);
    struct frame frame;
    frame_enter(&frame, service, 0);
    bool is_taken = service->submit(service->submit_context, &job) == 0;
    frame_leave(&frame);
    if (is_taken)
        shard->batch_at++;
    else
        count_jobs(service, (uint64_t)-1);
    *count += is_taken;
    return is_taken;
}

/* Hand jobs of a shard's batch to its crew, and add their number to `*count`.
 * Returns false if the crew has no room. */
bool tkw__crew_hand_over(struct crew *crew, struct shard *shard,
                         const struct portion *portion, int *count)
{
    bool is_taken = crew->is_submit ? submit(crew, shard, count)
                                    : enqueue(crew, shard, portion, count);
    sync_put_ordered(&crew->is_refusing, !is_taken);
    return is_taken;
}

/* Find the timer of a submitted job.  Returns false if the word is that of
 * another arming, at another time: epochs repeat after 2^23 armings. */
static bool find_timer(const struct tkw_job *job, struct due_job *due)
{
    due->shard = job->service->shards[job->place[0]];
    due->index = job->place[1];
    due->job = job_at(due->shard, due->index);
    due->word = job->word;
    return sync_get_relaxed(&due->job->due_ns) == job->due_ns;
}

bool tkw_job_run(const struct tkw_job *job)
{
    struct tkw_service *service = job->service;
    struct due_job due;
    bool is_same = find_timer(job, &due);
    service_lock(service);
    bool has_run = begin(service);
    service_unlock(service);
    if (has_run) {
        uint64_t now = 0;
        has_run = is_same && tkw__job_fire(service, &due, &now);
        /* There may be room now for a job that submit() has refused. */
        if (sync_get_ordered(&due.shard->crew->is_refusing))
            tkw__wakeup_wake(service, 0);
        service_lock(service);
        end(service);
        service_unlock(service);
    }
    count_jobs(service, (uint64_t)-1);
    return has_run;
}

void tkw_job_return(const struct tkw_job *job)
{
    struct tkw_service *service = job->service;
    struct due_job due;
    bool is_same = find_timer(job, &due);
    struct shard *shard = due.shard;
    shard_lock(shard);
    if (is_same) {
        uint64_t now = tkw_service_now(service);
        tkw_tick deadline = tkw__time_due(service, now, now).tick + 1;
        /* The pool has memory in reserve: this fails only if the job was
         * cancelled or moved. */
        if (tkw__job_arm_again(service, shard, due.index, due.word, deadline) ==
            1)
            tkw__wakeup_announce(service, shard, deadline);
    }
    shard_unlock(shard);
    count_jobs(service, (uint64_t)-1);
}

/* Allocate a crew's queue and start its threads, with names that end in
 * `letter` and a number.  Returns 0 or a negative errno; then tkw__crew_close()
 * frees the parts that exist. */
int tkw__crew_open(struct crew *crew, const struct tkw_service_config *config,
                   uint32_t threads, char letter)
{
    const struct tkw_allocator *allocator = &crew->service->allocator;
    crew->queue_room = config->queue_max != 0 ? config->queue_max : QUEUE_ROOM;
    crew->threads_room = threads;
    crew->threads = allocator->allocate(allocator->context,
                                        threads * sizeof *crew->threads);
    if (crew->threads == NULL)
        return -ENOMEM;
    crew->queue = allocator->allocate(allocator->context,
                                      crew->queue_room * sizeof *crew->queue);
    if (crew->queue == NULL)
        return -ENOMEM;

    const char *name =
        config->thread_name != NULL ? config->thread_name : THREAD_NAME;
    int error = 0;
    while (error == 0 && crew->thread_count < threads) {
        char own[32];
        snprintf(own, sizeof own, "%.10s/%c%" PRIu32, name, letter,
                 crew->thread_count + 1);
        error = tkw__sync_start(&crew->threads[crew->thread_count], work, crew,
                                own);
        crew->thread_count += error == 0;
    }
    return error;
}

/* Join a crew's threads and free its queue.  The runner has ended before. */
void tkw__crew_close(struct crew *crew)
{
    struct tkw_service *service = crew->service;
    if (crew->threads == NULL)
        return;
    service_lock(service);
    service->is_closing = true;
    sync_broadcast(&crew->work);
    service_unlock(service);
    for (uint32_t i = 0; i < crew->thread_count; i++)
        sync_join(&crew->threads[i]);

    const struct tkw_allocator *allocator = &service->allocator;
    if (crew->queue != NULL)
        allocator->release(allocator->context, crew->queue,
                           crew->queue_room * sizeof *crew->queue);
    allocator->release(allocator->context, crew->threads,
                       crew->threads_room * sizeof *crew->threads);
    crew->threads = NULL;
}
