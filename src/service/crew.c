/*
 * service/crew.c - callbacks that run elsewhere: in threads of the service
 * behind a queue, or wherever the user's submit puts them.
 *
 * The runner hands over what is due, in order.  A crew that has no room takes
 * nothing: the timers stay in their batch and their pool, and the runner goes
 * on with the others.  It comes back when there is room:
 *
 *     runner                          thread of the crew
 *     (mutex) queue is full
 *     is_full = true
 *     ... sleeps                      (mutex) takes one, sees is_full, and
 *                                     that half of the queue is empty
 *                                     earliest = 0, wakes the runner
 *
 * To wait in a queue is not to run: what waits is claimed when it is taken out.
 */
#include <tickwheel/service.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "os/probes.h"
#include "private.h"

/* A callback is about to run, or not if the service was stopped.  With the
 * mutex; stop says that it stops, then looks whether any is running. */
static bool begin(struct tkw_service *service)
{
    if (sync_get_ordered(&service->is_stopping))
        return false;
    service->running_count++;
    return true;
}

/* It has returned.  With the mutex: who waits for the last one may free all. */
static void end(struct tkw_service *service)
{
    service->running_count--;
    if (service->running_count == 0)
        sync_broadcast(&service->quiet);
}

/* Take the first of a queue that is not empty.  Returns whether the runner
 * waits for room that is there now. */
static bool take(struct crew *crew, struct due *due)
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
    sync_lock(&service->mutex);
    while (!service->is_closing) {
        if (crew->queue_count == 0) {
            crew->idle_count++;
            sync_wait(&crew->work, &service->mutex);
            crew->idle_count--;
            continue;
        }
        struct due due;
        bool is_room = take(crew, &due);
        bool may_run = begin(service);
        sync_unlock(&service->mutex);
        if (is_room)
            tkw__service_wake(service, 0);
        uint64_t now = 0;
        if (may_run)
            tkw__job_fire(service, &due, &now);
        sync_lock(&service->mutex);
        if (may_run)
            end(service);
    }
    sync_unlock(&service->mutex);
    return NULL;
}

/* Was a timer cancelled or moved since it was taken for due?  Then there is no
 * use in handing it over. */
static bool is_gone(const struct due *due)
{
    return sync_get_acquire(&due->job->word) != due->word;
}

/* Put what is due of a shard into the queue, as much as there is room for, and
 * count it.  Returns whether anything was dealt with. */
static bool enqueue(struct crew *crew, struct shard *shard,
                    const struct portion *portion, int *count)
{
    struct tkw_service *service = crew->service;
    uint32_t before = shard->batch_at;
    uint32_t put = 0;
    sync_lock(&service->mutex);
    while (shard->batch_at < shard->batch_count &&
           crew->queue_count < crew->queue_room &&
           put < (uint32_t)portion->most) {
        const struct due *due = &shard->batch[shard->batch_at];
        if (due->deadline > portion->until ||
            due_is_held(service, due, portion->now_ns))
            break;
        shard->batch_at++;
        if (is_gone(due))
            continue;
        uint32_t end = crew->queue_at + crew->queue_count++;
        crew->queue[end % crew->queue_room] = *due;
        put++;
    }
    crew->is_full = shard->batch_at == before;
    if (crew->is_full)
        PROBE2(full, service, crew->thread_count);
    if (put == 1 && crew->idle_count > 0)
        sync_signal(&crew->work);
    else if (crew->idle_count > 0)
        sync_broadcast(&crew->work);
    sync_unlock(&service->mutex);
    *count += (int)put;
    return shard->batch_at > before;
}

/* Count jobs that the user has. */
static void count_jobs(struct tkw_service *service, uint64_t count)
{
    sync_lock(&service->mutex);
    service->out_count += count;
    if (service->out_count == 0)
        sync_broadcast(&service->quiet);
    sync_unlock(&service->mutex);
}

/* Submit the first of a shard, and count it.  Returns whether that is dealt
 * with. */
static bool submit(struct crew *crew, struct shard *shard, int *count)
{
    struct tkw_service *service = crew->service;
    const struct due *due = &shard->batch[shard->batch_at];
    if (is_gone(due)) {
        shard->batch_at++;
        return true;
    }
    struct tkw_job job = {
        .service = service,
        .due_ns = sync_get_relaxed(&due->job->due_ns),
        .word = due->word,
        .place = {shard->number, due->job->index},
    };
    count_jobs(service, 1);
    /* Before it can refuse: whoever ends a job after that is to call us. */
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

/* Hand what is due of a shard to its crew, and count it.  Returns whether
 * anything was dealt with. */
bool tkw__crew_hand_over(struct crew *crew, struct shard *shard,
                         const struct portion *portion, int *count)
{
    bool is_taken = crew->is_submit ? submit(crew, shard, count)
                                    : enqueue(crew, shard, portion, count);
    sync_put_ordered(&crew->is_refusing, !is_taken);
    return is_taken;
}

/* The timer of a job; its word may be another by now.  So may it be after very
 * many armings, and have come round to the same: then its time tells. */
static bool find_timer(const struct tkw_job *job, struct due *due)
{
    due->shard = job->service->shards[job->place[0]];
    due->job = job_at(due->shard, job->place[1]);
    due->word = job->word;
    return sync_get_relaxed(&due->job->due_ns) == job->due_ns;
}

bool tkw_job_run(const struct tkw_job *job)
{
    struct tkw_service *service = job->service;
    struct due due;
    bool is_same = find_timer(job, &due);
    sync_lock(&service->mutex);
    bool has_run = begin(service);
    sync_unlock(&service->mutex);
    if (has_run) {
        uint64_t now = 0;
        has_run = is_same && tkw__job_fire(service, &due, &now);
        /* There may be room now, for what was refused. */
        if (sync_get_ordered(&due.shard->crew->is_refusing))
            tkw__service_wake(service, 0);
        sync_lock(&service->mutex);
        end(service);
        sync_unlock(&service->mutex);
    }
    count_jobs(service, (uint64_t)-1);
    return has_run;
}

void tkw_job_return(const struct tkw_job *job)
{
    struct tkw_service *service = job->service;
    struct due due;
    bool is_same = find_timer(job, &due);
    struct shard *shard = due.shard;
    sync_lock(&shard->mutex);
    if (is_same && !is_gone(&due)) {
        uint64_t now = tkw_service_now(service);
        tkw_tick deadline =
            tkw__service_aim_from(service, now, now).deadline + 1;
        /* It has its place: this fails only if it is cancelled now. */
        if (tkw__job_arm_again(service, shard, due.job, due.word, deadline) ==
            1)
            tkw__service_announce(service, shard, deadline);
    }
    sync_unlock(&shard->mutex);
    count_jobs(service, (uint64_t)-1);
}

/* Make a crew's queue and start its threads, with names that end in a letter
 * and a number.  Returns 0 or a negative errno; what there is by then
 * tkw__crew_close() takes away. */
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

/* End a crew's threads.  Nobody hands anything over any more. */
void tkw__crew_close(struct crew *crew)
{
    struct tkw_service *service = crew->service;
    if (crew->threads == NULL)
        return;
    sync_lock(&service->mutex);
    service->is_closing = true;
    sync_broadcast(&crew->work);
    sync_unlock(&service->mutex);
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
