/*
 * service/queue.c - an executor as a user would write it: a queue with an end,
 * and threads that take from it.
 */
#include <pthread.h>
#include <stdlib.h>

#include "bench.h"

enum { QUEUE_ROOM = 1024 }; /* as much as the service's own has by default */

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t work;
    struct tkw_job jobs[QUEUE_ROOM]; /* a ring; from here on: mutex */
    size_t at;
    size_t count;
    unsigned idle_count;
    bool is_closing;
    unsigned thread_count;
    pthread_t threads[THREADS_MAX];
};

static void *run_jobs(void *argument)
{
    struct queue *queue = argument;
    pthread_mutex_lock(&queue->mutex);
    while (queue->count > 0 || !queue->is_closing) {
        if (queue->count == 0) {
            queue->idle_count++;
            pthread_cond_wait(&queue->work, &queue->mutex);
            queue->idle_count--;
            continue;
        }
        struct tkw_job job = queue->jobs[queue->at];
        queue->at = (queue->at + 1) % QUEUE_ROOM;
        queue->count--;
        pthread_mutex_unlock(&queue->mutex);
        tkw_job_run(&job);
        pthread_mutex_lock(&queue->mutex);
    }
    pthread_mutex_unlock(&queue->mutex);
    return NULL;
}

struct queue *queue_open(unsigned threads)
{
    struct queue *queue = must_allocate(1, sizeof *queue);
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->work, NULL);
    queue->thread_count = threads;
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&queue->threads[i], NULL, run_jobs, queue) != 0)
            fail("a thread");
    return queue;
}

int queue_submit(void *context, const struct tkw_job *job)
{
    struct queue *queue = context;
    pthread_mutex_lock(&queue->mutex);
    bool is_room = queue->count < QUEUE_ROOM;
    if (is_room) {
        queue->jobs[(queue->at + queue->count) % QUEUE_ROOM] = *job;
        queue->count++;
        if (queue->idle_count > 0)
            pthread_cond_signal(&queue->work);
    }
    pthread_mutex_unlock(&queue->mutex);
    return is_room ? 0 : 1;
}

void queue_close(struct queue *queue)
{
    if (queue == NULL)
        return;
    pthread_mutex_lock(&queue->mutex);
    queue->is_closing = true;
    pthread_cond_broadcast(&queue->work);
    pthread_mutex_unlock(&queue->mutex);
    for (unsigned i = 0; i < queue->thread_count; i++)
        pthread_join(queue->threads[i], NULL);
    pthread_mutex_destroy(&queue->mutex);
    pthread_cond_destroy(&queue->work);
    free(queue);
}

struct tkw_service *open_with_executors(const struct setting *setting,
                                        struct queue **queue)
{
    struct tkw_service_config config = {
        .tick_ns = setting->tick_ns,
        .shards = setting->shards,
        .workers = setting->workers,
    };
    *queue = NULL;
    if (setting->submit_threads > 0) {
        *queue = queue_open(setting->submit_threads);
        config.submit = queue_submit;
        config.submit_context = *queue;
    }
    struct tkw_service *service;
    if (tkw_service_open(&service, &config) != 0)
        fail("open");
    return service;
}
