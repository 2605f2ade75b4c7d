/*
 * os/sync.c - the functions of sync.h that are too long to be inline.
 */
#include "system.h"

#include "sync.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

uint32_t tkw__sync_numbered;

_Thread_local struct sync_self tkw__sync_self_of_thread;

void tkw__sync_cond_init(struct sync_cond *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&cond->cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

void tkw__sync_wait_until(struct sync_cond *cond, struct sync_mutex *mutex,
                          uint64_t time)
{
    if (time == UINT64_MAX) {
        sync_wait(cond, mutex);
        return;
    }
    struct timespec until = {
        .tv_sec = (time_t)(time / 1000000000),
        .tv_nsec = (long)(time % 1000000000),
    };
    pthread_cond_timedwait(&cond->cond, &mutex->mutex, &until);
}

int tkw__sync_start(struct sync_thread *thread, void *(*run)(void *),
                    void *argument, const char *name)
{
    /* A new thread inherits the signal mask of its creator. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread->thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        char shown[16] = ""; /* the system's limit */
        memcpy(shown, name, strnlen(name, sizeof shown - 1));
        pthread_setname_np(thread->thread, shown);
    }
    return -error;
}

void tkw__sync_be_punctual(void)
{
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}
