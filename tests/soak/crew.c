/*
 * crew.c - an executor of one's own, not always at its best.
 */
#define _GNU_SOURCE

#include "crew.h"

#include <string.h>

#include "watch.h"

static _Thread_local bool is_at_job;

bool crew_is_at_job(void)
{
    bool was = is_at_job;
    is_at_job = false;
    return was;
}

int crew_submit(void *context, const struct tkw_job *job)
{
    struct crew *crew = context;
    pthread_mutex_lock(&crew->mutex);
    bool is_taken =
        crew->count < CREW_ROOM && !random_percent(&crew->random, 5);
    if (is_taken) {
        crew->jobs[(crew->first + crew->count++) % CREW_ROOM] = *job;
        pthread_cond_signal(&crew->cond);
    }
    pthread_mutex_unlock(&crew->mutex);
    if (!is_taken)
        atomic_fetch_add(&crew->refused, 1);
    return is_taken ? 0 : 1;
}

static bool take(struct crew *crew, struct tkw_job *job, bool *is_to_run)
{
    if (crew->count == 0)
        return false;
    *job = crew->jobs[crew->first];
    crew->first = (crew->first + 1) % CREW_ROOM;
    crew->count--;
    *is_to_run = !random_percent(&crew->random, 8);
    return true;
}

static void deal_with(struct crew *crew, const struct tkw_job *job,
                      bool is_to_run)
{
    if (!is_to_run) {
        atomic_fetch_add(&crew->returned, 1);
        tkw_job_return(job);
        return;
    }
    is_at_job = true;
    bool has_run = tkw_job_run(job);
    DEMAND(has_run != is_at_job, "a job says that it %s, and it did not",
           has_run ? "ran" : "did not run");
    is_at_job = false;
    if (has_run)
        atomic_fetch_add(&crew->ran, 1);
}

void crew_help(struct crew *crew)
{
    struct tkw_job job;
    bool is_to_run;
    pthread_mutex_lock(&crew->mutex);
    bool is_there = take(crew, &job, &is_to_run);
    pthread_mutex_unlock(&crew->mutex);
    if (is_there)
        deal_with(crew, &job, is_to_run);
}

static void *crew_work(void *context)
{
    struct crew *crew = context;
    struct tkw_job job;
    bool is_to_run;
    pthread_mutex_lock(&crew->mutex);
    for (;;) {
        if (take(crew, &job, &is_to_run)) {
            pthread_mutex_unlock(&crew->mutex);
            deal_with(crew, &job, is_to_run);
            pthread_mutex_lock(&crew->mutex);
        } else if (crew->is_over) {
            break;
        } else {
            pthread_cond_wait(&crew->cond, &crew->mutex);
        }
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

void crew_open(struct crew *crew, uint64_t seed)
{
    memset(crew, 0, sizeof *crew);
    crew->random.state = seed;
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->cond, NULL);
    for (int i = 0; i < CREW_THREADS; i++) {
        int error = pthread_create(&crew->threads[i], NULL, crew_work, crew);
        DEMAND(error == 0, "there is no thread for the crew");
    }
}

void crew_close(struct crew *crew)
{
    pthread_mutex_lock(&crew->mutex);
    DEMAND(crew->count == 0, "a service has closed before its jobs came back");
    crew->is_over = true;
    pthread_cond_broadcast(&crew->cond);
    pthread_mutex_unlock(&crew->mutex);
    for (int i = 0; i < CREW_THREADS; i++)
        pthread_join(crew->threads[i], NULL);
    pthread_mutex_destroy(&crew->mutex);
    pthread_cond_destroy(&crew->cond);
}
