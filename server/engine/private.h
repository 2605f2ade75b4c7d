/*
 * engine/private.h - what the files of the engine share.
 *
 * Read in this order: jobs.c (all jobs, by number), heap.c (ready and reserved
 * jobs), soonest.c (delayed jobs of a tube), tubes.c, state.c (the states of a
 * job), reserve.c (workers that wait), replies.c (replies that wait), fetch.c
 * (jobs that are only in the store), rows.c, settle.c, window.c and far.c (what
 * is in memory and what is not), commands.c, kick.c, stats.c, clock.c.
 */
#ifndef TKD_ENGINE_PRIVATE_H
#define TKD_ENGINE_PRIVATE_H

#include <tickwheel/pool.h>

#include "engine.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* The last part of a job's time to run, in which its holder's reserve gets
 * DEADLINE_SOON. */
#define MARGIN_NS NS_PER_SECOND

enum { URGENT_PRI = 1024 }; /* more urgent jobs are counted apart */

/* No job. */
#define NO_JOB UINT32_MAX

enum state {
    STATE_DELAYED,  /* in the pool, and in the tube's list of delayed jobs */
    STATE_READY,    /* in the tube's heap */
    STATE_RESERVED, /* in the holder's heap, and in the pool unless chosen */
    STATE_BURIED,   /* in the tube's list of buried jobs */
    STATE_MOVING,   /* between two states, within a call */
    STATE_DELETED,  /* kept until its deletion is durable */
    STATE_ASKED,    /* not here: the store was asked for it */
};

/* A link of a ring that includes its head. */
struct link {
    struct link *next;
    struct link *previous;
};

struct job {
    uint64_t id;
    uint32_t chain; /* the next job of the same bucket, or of the free list */
    uint32_t number;
    uint32_t place; /* in a heap */
    uint32_t pri;
    uint8_t state;
    bool is_chosen;  /* reserved: RESERVED was not delivered yet */
    bool is_cached;  /* `body` counts in the cache: the store has it, too */
    bool is_reading; /* the store was asked for the body ahead of time */
    uint64_t due_ns; /* delayed: when it becomes ready; reserved: when its time
                        to run ends; buried: its number in the order */
    struct tube *tube;
    struct tkd_client *holder; /* reserved */
    union {
        tkw_handle timer; /* delayed, reserved: 0 if none */
        struct {
            uint32_t next; /* buried; deleted: the next one to free */
            uint32_t previous;
        };
    };
    struct tkd_body *body; /* or NULL: only in the store */
    uint64_t batch;        /* the last batch with a change of it */
    uint64_t created_ns;
    union {
        uint64_t home_ns;  /* the first due time */
        uint64_t question; /* STATE_ASKED: the number of the question */
    };
    uint64_t delay_ns;
    uint64_t ttr_ns;
    struct link askers;      /* clients whose commands wait for the store */
    struct tkd_place stored; /* where the store has it */
    uint32_t size;           /* of the body */
    uint32_t reserves, timeouts, releases, buries, kicks;
};

/* A change of a job that has not settled.  See settle.c. */
struct change {
    uint64_t id;
    uint64_t batch;
};

struct changes {
    struct change *ring;
    uint32_t first;
    uint32_t count;
    uint32_t room; /* a power of two, or 0 */
};

/* The jobs that are near.  See window.c. */
struct window {
    uint64_t end_ns;            /* jobs due before this stay in memory */
    struct tkd_position loaded; /* jobs due before this are all in memory */
    uint64_t asked_end_ns;      /* `end_ns` when the store was asked */
    uint64_t slice_ns;          /* by which the end moves next */
    size_t slice_jobs;          /* found since it has moved */
    bool is_asking;             /* a list is being read */
    bool is_stale; /* the list does not follow `loaded`: ignore it */
    bool is_turn_of_clients;
    bool is_opening; /* the time of the start is not reached yet */
};

/* The bytes of durable bodies that are kept in memory. */
#define TKD_CACHE_MAX (UINT64_C(32) << 20)

/* All jobs, by number and by id.  See jobs.c. */
struct jobs {
    struct job **segments;
    uint32_t **heads; /* buckets: the first segment has 1,024, each later one
                         as many as all before it */
    uint64_t seed;
    uint32_t segment_count;
    uint32_t used;    /* numbers that were ever used */
    uint32_t free;    /* the first free number, or NO_JOB */
    uint32_t count;   /* jobs */
    uint32_t buckets; /* in use */
};

/* An entry of a heap: ordered by `high`, then by `low`, whose low half is the
 * number of the job. */
struct entry {
    uint64_t high;
    uint64_t low;
};

/* A heap of jobs.  See heap.c. */
struct heap {
    struct entry **segments;
    uint32_t segment_room; /* pointers in `segments` */
    uint32_t count;
    uint32_t room; /* entries in the segments */
};

/* The delayed jobs of a tube.  See soonest.c. */
struct soonest {
    struct heap heap; /* by due time and the low half of the id */
    uint32_t cursor;  /* where the next step of sweeping begins */
    bool is_ordered;  /* `heap` is a heap; else its entries are in no order */
};

/* Jobs by state. */
struct job_counts {
    uint32_t ready, urgent, reserved, delayed, buried;
};

struct tube {
    struct tube *chain;   /* of the same bucket */
    struct link all;      /* all tubes, in order of creation */
    struct link waiting;  /* watches of clients that wait, in order */
    struct link unserved; /* in the engine's list if clients may wait though
                             there are ready jobs */
    struct heap ready;
    struct soonest delayed;
    uint32_t buried_first; /* or NO_JOB */
    uint32_t buried_last;
    uint64_t pause_ns; /* 0: not paused */
    uint64_t pause_end_ns;
    tkw_handle timer; /* of the pause; 0 if none */
    uint64_t hash;
    struct tube *next_numbered; /* of the same bucket, by number */
    struct link changed;        /* while the store's row is out of date */
    uint64_t total_jobs, deletes, pauses;
    struct job_counts in;
    uint32_t using_count, watching_count, waiting_count;
    uint32_t kick_count; /* kicks of delayed jobs that have begun: none of the
                            tube's jobs is evicted meanwhile */
    uint32_t references; /* of clients and jobs, far ones included */
    uint32_t far;        /* delayed jobs that only the store has */
    uint32_t number;     /* for the store */
    bool is_stored;      /* the store has a row of it */
    uint8_t name_length;
    char name[];
};

/* A tube that a client watches. */
struct watch {
    struct link waiting; /* in the tube's list while the client waits */
    struct tkd_client *client;
};

struct watched {
    struct tube *tube;
    struct watch *watch;
};

/* A reply that was not popped yet. */
struct answer {
    uint64_t id;
    uint64_t number;
    uint64_t batch; /* the reply waits until this one is durable; 0: none */
    struct tkd_body *body; /* USING: the name of the tube, which may be gone
                              when the reply is sent */
    uint8_t kind;
    bool wants_body; /* the store was asked for the body */
};

/* Why a client is not open to commands. */
enum wait {
    WAIT_NONE,
    WAIT_BODY_IN, /* the rest of a put */
    WAIT_DISCARD, /* the rest of a put that has got its reply */
    WAIT_JOB,     /* a reserve */
    WAIT_FETCH,   /* a command whose job is only in the store */
    WAIT_BODY,    /* a reply whose body is only in the store */
    WAIT_KICK,    /* a kick of many jobs */
    WAIT_LIST,    /* far jobs; or the window is being opened */
    WAIT_CLOSE,   /* the connection is gone; its jobs are being returned */
};

struct tkd_client {
    struct tkd_engine *engine;
    void *user;
    struct link all;
    struct link queued; /* in `sendable` or `stalled` of the engine */
    struct link chore;  /* in `chores` or `listers` of the engine */
    struct link asking; /* ... of the job that a command waits for */

    struct tube *used;
    struct watched *watched;
    uint32_t watched_count;
    uint32_t watched_room;

    struct heap held; /* reserved jobs, by the end of their time to run:
                         TKD_NEVER while they are chosen */

    tkw_handle timer;       /* of a reserve that waits */
    uint64_t wait_until_ns; /* TKD_NEVER: no timeout */
    uint64_t wait_number;   /* grows in the order in which clients wait */

    struct answer *answers; /* a ring */
    uint32_t answer_first;
    uint32_t answer_count;
    uint32_t answer_room; /* a power of two, or 0 */

    enum wait wait;
    bool is_producer;
    bool is_worker;
    bool is_asking;    /* the store was asked for a body or a list */
    bool kicks_buried; /* kick: buried jobs, not delayed ones */
    bool is_kicking;   /* counts in `kick_count` of its tube */
    bool wants_far;    /* kick: the next job may be far */

    /* The command that waits: put, kick, or one with an id. */
    enum tkd_verb verb;
    uint32_t pri;
    uint64_t id; /* kick: the number of jobs */
    uint64_t delay_ns;
    uint64_t ttr_ns;
    uint64_t done;  /* kick: jobs so far.  put: bytes of the body so far */
    uint64_t batch; /* kick: the last change */
    struct tkd_position cursor; /* see far.c */
    struct tkd_body *body;
};

/* What has happened since the engine was opened. */
struct counts {
    uint64_t commands[TKD_VERBS];
    uint64_t timeouts;
    uint64_t total_jobs;
    uint64_t total_clients;
};

struct tkd_engine {
    struct tkw_allocator allocator;
    struct tkd_store *store;
    struct tkw_pool *pool;
    uint64_t now_ns;
    uint64_t start_ns;
    uint64_t next_id;
    uint64_t id_ceiling;    /* the store knows that lower ids were given out */
    uint64_t time_saved_ns; /* the time that was written last */
    unsigned char boot[TKD_BOOT_SIZE];
    bool are_ids_new; /* `id_ceiling` is to be written */
    bool are_tubes_new;
    uint64_t next_buried;
    uint64_t wait_number; /* of the last client that began to wait */
    uint64_t memory_max;
    uint64_t memory; /* bytes of jobs and bodies */
    uint32_t body_max;
    bool is_draining;
    bool has_failed; /* the store has */

    uint64_t batch;       /* the batch that is being filled */
    uint64_t durable;     /* the last durable batch */
    uint64_t batch_bytes; /* of the changes in it, with their bodies */
    bool is_batch_dirty;

    struct jobs jobs;
    struct changes changes;
    struct window window;
    uint64_t window_jobs; /* delayed jobs in memory, about */
    uint64_t cached;      /* bytes of bodies that the store has, too */
    uint64_t questions;   /* about jobs, so far */
    uint32_t far;         /* the sum over all tubes */

    struct tube **tubes;    /* buckets */
    struct tube **numbered; /* buckets by number, as many */
    struct link changed_tubes;
    uint32_t bucket_count; /* a power of two */
    uint32_t tube_count;
    uint32_t tube_number;
    struct link all_tubes;
    struct tube *default_tube;

    struct link clients;
    struct link sendable; /* clients whose first reply may be sent */
    struct link stalled;  /* clients whose first reply waits for a batch */
    struct link chores;   /* clients that kick, or are being closed */
    struct link unserved; /* tubes */
    struct link listers;  /* clients that wait for a list */
    struct answer popped; /* of the last pop; holds its body */

    uint32_t client_count, producer_count, worker_count, waiting_count;
    struct job_counts jobs_in; /* the sums over all tubes */
    struct counts counts;
    struct tkd_facts facts;
};

static inline void link_init(struct link *link)
{
    link->next = link;
    link->previous = link;
}

static inline bool link_is_alone(const struct link *link)
{
    return link->next == link;
}

static inline void link_append(struct link *head, struct link *link)
{
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

/* Take a link out of its ring.  A link that is alone stays alone. */
static inline void link_remove(struct link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    link_init(link);
}

/* memory.c */
void *tkd__allocate(struct tkd_engine *engine, size_t bytes);
void tkd__release(struct tkd_engine *engine, void *memory, size_t bytes);

/* Make room for at least `wanted` elements of `size` bytes in `*array`, which
 * has room for `*room`.  Returns false and changes nothing if the allocator
 * refuses. */
bool tkd__grow(struct tkd_engine *engine, void *array, uint32_t *room,
               uint32_t wanted, size_t size);

/* jobs.c */
void tkd__jobs_open(struct jobs *jobs, uint64_t seed);
void tkd__jobs_close(struct tkd_engine *engine);

/* Return the job of a number. */
struct job *tkd__job_at(const struct jobs *jobs, uint32_t number);

/* Return the job of an id, or NULL. */
struct job *tkd__job_find(const struct jobs *jobs, uint64_t id);

/* Make a zero-filled job with an id that no job has.  Returns NULL if the
 * allocator refuses. */
struct job *tkd__job_new(struct tkd_engine *engine, uint64_t id);

/* Free a job, and its body. */
void tkd__job_free(struct tkd_engine *engine, struct job *job);

/* heap.c: the functions keep `place` of the jobs up to date, or if `jobs` is
 * NULL, they do not know jobs. */
bool tkd__heap_reserve(struct tkd_engine *engine, struct heap *heap,
                       uint32_t room);
void tkd__heap_close(struct tkd_engine *engine, struct heap *heap);
void tkd__heap_push(struct jobs *jobs, struct heap *heap, struct entry entry);
void tkd__heap_remove(struct jobs *jobs, struct heap *heap, uint32_t place);
/* Append an entry to an array that is no heap yet. */
void tkd__heap_append(struct heap *heap, struct entry entry);
/* Make a heap of an array. */
void tkd__heap_make(struct heap *heap);

enum { HEAP_SEGMENT_BITS = 10 }; /* entries of a whole segment */

static inline struct entry *heap_at(const struct heap *heap, uint32_t place)
{
    return &heap->segments[place >> HEAP_SEGMENT_BITS]
                          [place & ((1U << HEAP_SEGMENT_BITS) - 1)];
}

/* Return the first job of a heap that is not empty. */
static inline struct job *heap_first(const struct jobs *jobs,
                                     const struct heap *heap)
{
    return tkd__job_at(jobs, (uint32_t)heap_at(heap, 0)->low);
}

static inline bool entry_is_less(struct entry a, struct entry b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}
static inline uint32_t entry_job(struct entry entry)
{
    return (uint32_t)entry.low;
}

/* soonest.c */
bool tkd__soonest_reserve(struct tkd_engine *engine, struct tube *tube);
void tkd__soonest_add(struct job *job);
/* A delayed job of the tube became something else. */
void tkd__soonest_forget(struct tkd_engine *engine, struct tube *tube);
/* Return the delayed job that is due first, or NULL. */
struct job *tkd__soonest_first(struct tkd_engine *engine, struct tube *tube);

/* tubes.c */
bool tkd__tubes_open(struct tkd_engine *engine);
void tkd__tubes_close(struct tkd_engine *engine);
struct tube *tkd__tube_find(const struct tkd_engine *engine, const char *name,
                            uint8_t length);
/* Make a tube that the store has.  It has no reference.  Returns NULL if the
 * allocator refuses. */
struct tube *tkd__tube_load(struct tkd_engine *engine, uint32_t number,
                            const char *name, uint8_t length);
/* Return the tube of a number, or NULL. */
struct tube *tkd__tube_numbered(const struct tkd_engine *engine,
                                uint32_t number);
/* Find a tube or make it, and take a reference.  Returns NULL if the allocator
 * refuses. */
struct tube *tkd__tube_take(struct tkd_engine *engine, const char *name,
                            uint8_t length);
/* Make room for one more job in a tube, in any state.  Returns false if the
 * allocator refuses. */
bool tkd__tube_reserve(struct tkd_engine *engine, struct tube *tube);
static inline void tube_hold(struct tube *tube)
{
    tube->references++;
}
/* Give a reference back.  A tube without references is freed. */
void tkd__tube_release(struct tkd_engine *engine, struct tube *tube);
void tkd__tube_pause(struct tkd_engine *engine, struct tube *tube,
                     uint64_t pause_ns);
void tkd__tube_resume(struct tkd_engine *engine, struct tube *tube);

/* state.c: how a job enters and leaves its states. */
/* Take a job out of its state. */
void tkd__job_leave(struct tkd_engine *engine, struct job *job);
/* File a job by its state in the store: ready, delayed or buried. */
void tkd__job_enter_ready(struct tkd_engine *engine, struct job *job);
void tkd__job_enter_delayed(struct tkd_engine *engine, struct job *job,
                            uint64_t due_ns);
void tkd__job_enter_buried(struct tkd_engine *engine, struct job *job,
                           uint64_t number);
void tkd__job_enter_reserved(struct tkd_engine *engine, struct job *job,
                             struct tkd_client *client);
/* Begin the time to run of a chosen job.  Other jobs stay as they are. */
void tkd__job_start(struct tkd_engine *engine, struct job *job);
/* Begin a reserved job's time to run once more. */
void tkd__job_touch(struct tkd_engine *engine, struct job *job);
/* Delete a job that has left its state. */
void tkd__job_delete(struct tkd_engine *engine, struct job *job);
/* File a job that is new or was released, due after its delay, and write it. */
void tkd__job_file(struct tkd_engine *engine, struct job *job);
/* Tell the store the present state of a job. */
void tkd__job_write(struct tkd_engine *engine, struct job *job);
/* Drop the body of a job, which may have none. */
void tkd__job_drop_body(struct tkd_engine *engine, struct job *job);
/* Return the bytes that count against the limit: the cache does not. */
static inline uint64_t tkd__memory_used(const struct tkd_engine *engine)
{
    return engine->memory - engine->cached;
}
static inline bool tube_is_paused(const struct tube *tube)
{
    return tube->pause_ns > 0;
}

/* record.c: a job as the bytes that the store keeps. */
size_t tkd__record_encode(const struct job *job,
                          unsigned char record[TKD_RECORD_MAX]);
struct record {
    uint64_t created_ns, due_ns, home_ns, delay_ns, ttr_ns;
    uint32_t pri, size;
    uint32_t reserves, timeouts, releases, buries, kicks;
    uint32_t tube;
    bool is_buried;
};
bool tkd__record_decode(struct record *record, const unsigned char *bytes,
                        size_t size);

/* reserve.c */
void tkd__reserve(struct tkd_client *client, bool has_timeout);
void tkd__reserve_stop(struct tkd_client *client);
void tkd__reserve_expire(struct tkd_client *client);
/* The time to run of a job has begun: set the timer of its holder anew if the
 * holder waits for another job. */
void tkd__reserve_reschedule(struct tkd_client *client);
/* A job of the tube became ready: give one job to the client that waits longest
 * for this tube, if there is one. */
void tkd__tube_serve(struct tkd_engine *engine, struct tube *tube);
/* Many jobs of the tube may have become ready.  tkd__serve_later() has to
 * follow, now or at the next step. */
void tkd__tube_serve_later(struct tkd_engine *engine, struct tube *tube);
/* Serve the tubes that were marked, `most` clients at most.  Returns how many
 * it served. */
size_t tkd__serve_later(struct tkd_engine *engine, size_t most);
/* Reserve a job for a client and reply RESERVED.  The job is in no state. */
void tkd__choose(struct tkd_client *client, struct job *job);

/* replies.c */
/* Make room for two more replies.  Returns false if the allocator refuses. */
bool tkd__reply_reserve(struct tkd_client *client);
struct answer *tkd__reply_add(struct tkd_client *client,
                              enum tkd_reply_kind kind);
/* Add a reply that waits until the changes of `job` are durable.  `job` may be
 * NULL: then the reply waits for nothing. */
struct answer *tkd__reply_about(struct tkd_client *client,
                                enum tkd_reply_kind kind,
                                const struct job *job);
/* Add a reply with the body of a job.  If only the store has the body, the
 * client is not open to commands until it comes.  Returns false if the store
 * cannot be asked; then the reply is OUT_OF_MEMORY. */
bool tkd__reply_job(struct tkd_client *client, enum tkd_reply_kind kind,
                    const struct job *job);
/* Add USING and the name of a tube.  Returns false if there is no memory; then
 * the reply is OUT_OF_MEMORY. */
bool tkd__reply_using(struct tkd_client *client, const struct tube *tube);
/* Add OK and a text, whose reference the reply takes over.  `text` may be NULL:
 * then the reply is OUT_OF_MEMORY. */
void tkd__reply_text(struct tkd_client *client, struct tkd_body *text);
/* The store has answered with the body for a client's last reply, or with
 * NULL. */
void tkd__reply_complete(struct tkd_client *client, struct tkd_body *body);
/* Batches became durable. */
void tkd__replies_wake(struct tkd_engine *engine);
/* Drop all replies of a client. */
void tkd__replies_close(struct tkd_client *client);
/* Release what the last reply that was popped refers to. */
void tkd__popped_release(struct tkd_engine *engine);

/* fetch.c */
/*
 * Find the job that a client's command names.  Returns true and stores in
 * `*job` the job, a deleted job, or NULL if there is none.  Returns false if
 *   - the store was asked: tkd__run() is called with the answer;
 *   - there is no memory to ask: the client has got OUT_OF_MEMORY.
 */
bool tkd__fetch(struct tkd_client *client, struct job **job);
void tkd__fetch_answer(struct tkd_engine *engine, struct tkd_answer *answer);
/* A put is about to make a job of this id: commands that have asked the store
 * for it came too early, and get NOT_FOUND. */
void tkd__askers_dismiss(struct tkd_engine *engine, uint64_t id);
/* File a job of a list unless it is in memory.  Returns false if there is no
 * memory, or if the store is damaged. */
bool tkd__file_item(struct tkd_engine *engine, const struct tkd_item *item);
/* The store has something that cannot be: fail.  Always returns false. */
bool tkd__damaged(struct tkd_engine *engine);

/* rows.c */
/* Read what the store has when the engine is opened.  Returns false if that
 * fails. */
bool tkd__rows_load(struct tkd_engine *engine);
/* Add the rows that have changed to the batch.  Returns false if there is no
 * memory. */
bool tkd__rows_write(struct tkd_engine *engine);
void tkd__rows_remove_tube(struct tkd_engine *engine, const struct tube *tube);
/* Return an id that no job has had. */
uint64_t tkd__next_id(struct tkd_engine *engine);

/* settle.c */
/* Reserve memory to write one change of a job. */
bool tkd__reserve_write(struct tkd_engine *engine);
/* Have a job settle once its batch is durable.  Memory was reserved. */
void tkd__change_add(struct tkd_engine *engine, const struct job *job);
/* Settle all jobs whose batch is durable. */
void tkd__settle(struct tkd_engine *engine);
void tkd__changes_close(struct tkd_engine *engine);

/* ahead.c */
/* Count the body of a job, which the store has, too, in the cache. */
void tkd__body_cache(struct tkd_engine *engine, struct job *job);
/* Read the bodies of the jobs that are next in a tube. */
void tkd__read_ahead(struct tkd_engine *engine, const struct tube *tube);
/* Return whether an answer is to a question of tkd__read_ahead(). */
bool tkd__is_ahead(const struct tkd_answer *answer);
void tkd__ahead_answer(struct tkd_engine *engine, struct tkd_answer *answer);

/* window.c */
void tkd__window_open(struct tkd_engine *engine);
/* Ask the store for jobs if that is necessary. */
void tkd__window_run(struct tkd_engine *engine);
/* Return when the next tkd__window_run() is necessary. */
uint64_t tkd__window_next(const struct tkd_engine *engine);
void tkd__list_answer(struct tkd_engine *engine,
                      const struct tkd_answer *answer);
/* File the jobs of a list, in order.  Returns how many there was memory for. */
size_t tkd__file_items(struct tkd_engine *engine,
                       const struct tkd_answer *answer);

/* far.c */
/* Return whether a far job of the client's tube may be due before `job`, the
 * soonest in memory, or NULL. */
bool tkd__needs_far(const struct tkd_client *client, const struct job *job);
/* Have the client's command wait for far jobs. */
void tkd__far_wait(struct tkd_client *client);
/* Ask for the list that the first client in `listers` needs.  Returns whether
 * the store is asked. */
bool tkd__far_ask(struct tkd_engine *engine);
void tkd__far_answer(struct tkd_client *client,
                     const struct tkd_answer *answer);

/* job_commands.c */
/* Execute the command that `client` keeps, which names a job.  `job` may be
 * NULL or deleted. */
void tkd__run(struct tkd_client *client, struct job *job);
/* Reply FOUND, or NOT_FOUND if there is no job. */
void tkd__peek(struct tkd_client *client, struct job *job);

/* put.c */
void tkd__put_begin(struct tkd_client *client,
                    const struct tkd_command *command);

/* commands.c */
/* Execute the peek of a tube that `client` keeps. */
void tkd__peek_in_tube(struct tkd_client *client);
/* Make room for one more job among those that the client holds.  Returns false
 * if the allocator refuses. */
bool tkd__prepare_hold(struct tkd_client *client);
void tkd__mark_worker(struct tkd_client *client);
/* Reserve memory for all that one command may need.  Returns false if the
 * allocator refuses; then the client has got OUT_OF_MEMORY. */
bool tkd__prepare(struct tkd_client *client);

/* client.c */
/* Stop to use the used tube, to watch a tube by its place in `watched`. */
void tkd__unuse(struct tkd_client *client);
void tkd__unwatch(struct tkd_client *client, uint32_t index);
/* Return the place of a tube in `watched`, or `watched_count`. */
uint32_t tkd__watched_index(const struct tkd_client *client,
                            const struct tube *tube);
/* Watch a tube.  Returns false and changes nothing if there is no memory, or if
 * the client watches TKD_WATCH_MAX tubes. */
bool tkd__watch(struct tkd_client *client, const char *name, uint8_t length);
/* Give up to `most` of the jobs of a closed client back, and free the client
 * once it has none.  Returns how many jobs it gave back. */
size_t tkd__client_wind_up(struct tkd_client *client, size_t most);
/* Free all clients; their jobs are freed later. */
void tkd__clients_close(struct tkd_engine *engine);

/* kick.c */
void tkd__kick(struct tkd_client *client, uint64_t bound);
/* Go on with a kick that waited for far jobs. */
void tkd__kick_resume(struct tkd_client *client);
/* The kick of a client is over. */
void tkd__kick_end(struct tkd_client *client);
/* Kick one job, which is delayed or buried. */
void tkd__kick_job(struct tkd_engine *engine, struct job *job);
/* Go on with what takes many steps.  Returns how much of `budget` is left. */
size_t tkd__chores_run(struct tkd_engine *engine, size_t budget);

/* stats.c: each returns a text, or NULL if the allocator refuses. */
struct tkd_body *tkd__stats_all(struct tkd_engine *engine);
struct tkd_body *tkd__stats_tube(struct tkd_engine *engine,
                                 const struct tube *tube);
struct tkd_body *tkd__stats_job(struct tkd_engine *engine,
                                const struct job *job);
struct tkd_body *tkd__list_tubes(struct tkd_engine *engine);
struct tkd_body *tkd__list_watched(struct tkd_client *client);

/* clock.c: what waits in the pool. */
enum waiter { WAITER_JOB, WAITER_CLIENT, WAITER_TUBE };
/* Arm a timer; memory was reserved. */
tkw_handle tkd__timer_arm(struct tkd_engine *engine, uint64_t at_ns,
                          enum waiter waiter, void *pointer);
void tkd__timer_cancel(struct tkd_engine *engine, tkw_handle *timer);

#endif
