/*
 * service/crew.h - a crew: where callbacks run.
 *
 * The runner calls them itself, or workers take them from a queue, or the
 * user's submit() takes them.  Each crew has shards of its own, so that its
 * timers stay in their pools while it is busy.
 */
#ifndef TKW_SERVICE_CREW_H
#define TKW_SERVICE_CREW_H

#include "shard.h"

struct crew {
    struct tkw_service *service; /* NULL: the service has no such crew */
    bool is_direct;              /* the runner calls the callbacks itself */
    bool is_submit;              /* submit() takes the jobs */
    bool is_refusing; /* it has no room; the runner's, read by any thread */
    uint32_t first_shard;

    /* Threads and their queue; from here on: the service's mutex. */
    uint32_t thread_count;
    uint32_t threads_room;
    struct sync_thread *threads; /* NULL: none */
    struct sync_cond work;       /* the queue has jobs, or threads must end */
    struct due_job *queue;       /* a ring */
    uint32_t queue_room;
    uint32_t queue_at;
    uint32_t queue_count;
    uint32_t idle_count; /* threads that wait for work */
    bool is_full;        /* a worker that makes room must wake the runner */
};

/* How much of a shard's batch the crew may take. */
struct portion {
    tkw_tick until; /* jobs up to this tick ... */
    int most;       /* ... and at most this many */
};

/* service/crew.c */
int tkw__crew_open(struct crew *crew, const struct tkw_service_config *config,
                   uint32_t threads, char letter);
void tkw__crew_close(struct crew *crew);
bool tkw__crew_hand_over(struct crew *crew, struct shard *shard,
                         const struct portion *portion, int *count);

/* service/arm.c, service/owner.c */
struct shard *tkw__crew_own_shard(const struct crew *crew);
struct shard *tkw__owner_shard(const struct crew *crew,
                               const struct tkw_owner *owner);

#endif
