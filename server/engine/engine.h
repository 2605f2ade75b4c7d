/*
 * engine/engine.h - the jobs, tubes and clients of a server.
 *
 * An engine is a state machine: time, commands and answers of the store go in,
 * replies and changes for the store come out.  It reads no clock, calls no
 * operating system and never blocks.  One `tkw_pool` holds everything that
 * waits for a time: delays, times to run, timeouts of reserve, and pauses.
 *
 *     tkd_engine_advance(engine, now_ns, 1000);
 *     tkd_client_command(client, &command);
 *     tkd_engine_sync(engine);
 *     for (struct tkd_delivery d; tkd_engine_pop(engine, &d);)
 *         append(d.user, &d.reply, d.body);
 *     sleep_until(tkd_engine_next(engine));
 *
 * States of a job, and what the commands do.  A reply in brackets is that to a
 * job in any other state.  "held" is reserved by the client that sends the
 * command.
 *
 *     command      | states               | new state          | reply
 *     -------------+----------------------+--------------------+----------
 *     put          | -                    | ready or delayed * | INSERTED
 *     reserve      | ready                | reserved           | RESERVED
 *     reserve-job  | ready delayed buried | reserved *         | RESERVED
 *                  |                      |                    | [NOT_FOUND]
 *     delete       | held ready delayed   | - *                | DELETED
 *                  | buried               |                    | [NOT_FOUND]
 *     release      | held                 | ready or delayed * | RELEASED
 *                  |                      |                    | [NOT_FOUND]
 *     bury         | held                 | buried *           | BURIED
 *                  |                      |                    | [NOT_FOUND]
 *     touch        | held                 | reserved           | TOUCHED
 *                  |                      |                    | [NOT_FOUND]
 *     kick-job     | delayed buried       | ready *            | KICKED
 *                  |                      |                    | [NOT_FOUND]
 *     kick         | buried, else delayed | ready *            | KICKED n
 *     peek, stats-job: any state          | the same           | FOUND, OK
 *     (due)        | delayed              | ready              |
 *     (TTR over)   | reserved             | ready              |
 *     (disconnect) | held                 | ready              |
 *
 *     * the engine writes the change to the store.  reserve-job writes only
 *       for a delayed job (it is due now) and for a buried one.
 *
 * Ready and reserved jobs are in the store as jobs whose due time has come.
 *
 * Promises:
 *   - never early: a job is not ready before its due time.  The engine counts
 *     time in ticks of TKD_TICK_NS and rounds up: delays, times to run,
 *     timeouts and pauses end at a multiple of TKD_TICK_NS, less than a tick
 *     late;
 *   - replies of a client come in the order of its commands;
 *   - with a store that is not volatile, a reply that depends on a change comes
 *     after the change is durable;
 *   - a command that finds no memory gets OUT_OF_MEMORY and changes nothing;
 *   - no call takes long: the due jobs of one instant, a large kick and the
 *     jobs of a client that disconnects are handled in steps;
 *   - a command costs no scan of tubes, clients or jobs.  The exceptions are
 *     in proportion to what the client itself has done: reserve visits the
 *     tubes that the client watches, list-tubes visits all tubes.
 *
 * Threads: an engine belongs to one thread.
 */
#ifndef TKD_ENGINE_ENGINE_H
#define TKD_ENGINE_ENGINE_H

#include <protocol/command.h>
#include <protocol/parser.h>
#include <protocol/reply.h>
#include <store/store.h>

struct tkd_engine;
struct tkd_client;

/* The end of time: nothing is due. */
#define TKD_NEVER UINT64_MAX

/* The length of a tick: see "Promises". */
#define TKD_TICK_NS UINT64_C(50000)

/* The tubes that one client may watch.  More get OUT_OF_MEMORY. */
enum { TKD_WATCH_MAX = 16384 };

/* Delayed jobs in memory if the configuration does not say. */
#define TKD_WINDOW_JOBS_DEFAULT UINT64_C(1000000)

/* Bytes of changes that wait for the store, about. */
#define TKD_BATCH_MAX (UINT64_C(32) << 20)

/* Bytes that identify a boot of the machine and its clock. */
enum { TKD_BOOT_SIZE = 24 };

/* Jobs, kicks and so on that one step of an engine handles at most. */
enum { TKD_STEP = 1000 };

/* Facts about the process, for stats.  The engine formats them into each
 * reply. */
struct tkd_facts {
    const char *version;
    const char *id; /* 16 hexadecimal digits, another one for each start */
    const char *hostname;
    const char *os;
    const char *platform;
    uint64_t pid;
    uint64_t user_us;   /* processor time of the process */
    uint64_t system_us; /* the same, in the kernel */
};

struct tkd_engine_config {
    const struct tkw_allocator *allocator; /* NULL: malloc and free */
    struct tkd_store *store;               /* must outlive the engine */
    uint64_t now_ns;                       /* the current server time */
    uint64_t next_id; /* of the next job; 0 means 1; a store that has given ids
                         out knows better */
    uint64_t window_jobs;              /* delayed jobs in memory, about; 0:
                             TKD_WINDOW_JOBS_DEFAULT */
    unsigned char boot[TKD_BOOT_SIZE]; /* stored with the time */
    uint64_t memory_max;               /* put refuses above this; 0: no limit */
    uint64_t hash_seed;                /* any number that clients cannot know */
    uint32_t body_max;                 /* 0: TKD_BODY_MAX_DEFAULT */
};

/* Read the time that the last engine has stored.  The store must not have an
 * engine yet.  Returns false if there is none. */
bool tkd_engine_stored_time(struct tkd_store *store, uint64_t *time_ns,
                            unsigned char boot[TKD_BOOT_SIZE]);

/* Open an engine.  Returns 0 and stores it in `*engine`, or returns -ENOMEM, or
 * -EBADMSG if the store is damaged: see `failure` of the store. */
int tkd_engine_open(struct tkd_engine **engine,
                    const struct tkd_engine_config *config);

/* Close an engine, with its clients and jobs.  The store stays open.  `engine`
 * may be NULL: the call does nothing. */
void tkd_engine_close(struct tkd_engine *engine);

/*
 * Set the current server time, and handle at most `budget` jobs and timeouts
 * that are due.  Time that goes back is ignored.  Returns whether all are
 * handled; if not, tkd_engine_next() is the current time.
 */
bool tkd_engine_advance(struct tkd_engine *engine, uint64_t now_ns,
                        size_t budget);

/* Return the time of the next tkd_engine_advance(), or TKD_NEVER. */
uint64_t tkd_engine_next(const struct tkd_engine *engine);

/* Submit the changes to the store if it is free, and take its answers.  Returns
 * false if the store has failed: then no reply that waits for a change will
 * ever come. */
bool tkd_engine_sync(struct tkd_engine *engine);

/* Return whether the changes that wait for the store need more than
 * TKD_BATCH_MAX bytes.  Then the caller executes no more commands until the
 * store has taken them: see tkd_engine_sync(). */
bool tkd_engine_is_behind(const struct tkd_engine *engine);

/* From now on refuse every put with DRAINING. */
void tkd_engine_drain(struct tkd_engine *engine);

/* Replace the facts that stats shows.  The engine keeps the strings'
 * addresses. */
void tkd_engine_describe(struct tkd_engine *engine,
                         const struct tkd_facts *facts);

/* A reply to a client, in order.  `body` is NULL, or is sent after the line of
 * the reply, followed by CRLF. */
struct tkd_delivery {
    struct tkd_client *client;
    void *user; /* of tkd_client_open() */
    struct tkd_reply reply;
    const struct tkd_body *body;
};

/* Take the next reply of any client.  Returns false if none can be sent now.
 * Pointers in `*delivery` are valid until the next call to the engine. */
bool tkd_engine_pop(struct tkd_engine *engine, struct tkd_delivery *delivery);

/* Add a connection.  Returns 0 and stores it in `*client`, or returns
 * -ENOMEM. */
int tkd_client_open(struct tkd_engine *engine, struct tkd_client **client,
                    void *user);

/* Remove a connection.  Its jobs become ready again; replies that were not
 * popped are dropped. */
void tkd_client_close(struct tkd_client *client);

/* Return whether the client can take a command now.  It cannot while a command
 * waits for a job, a timeout or the disk: then the caller keeps the client's
 * bytes, and asks again after a reply was popped. */
bool tkd_client_is_open_to_commands(const struct tkd_client *client);

/* Return whether the client's last command is a reserve that waits for a
 * job. */
bool tkd_client_is_waiting(const struct tkd_client *client);

/* End a reserve that waits, with TIMED_OUT, as if its timeout were over.  Does
 * nothing if none waits. */
void tkd_client_give_up(struct tkd_client *client);

/* Return the number of replies that are not popped yet, of commands that wait
 * included. */
size_t tkd_client_pending_count(const struct tkd_client *client);

/*
 * Execute a command.  The client must be open to commands.  After TKD_PUT the
 * caller passes the body by tkd_client_body() and tkd_client_body_end().
 * TKD_QUIT does nothing: the caller closes the connection.
 */
void tkd_client_command(struct tkd_client *client,
                        const struct tkd_command *command);
void tkd_client_body(struct tkd_client *client, const char *bytes, size_t size);
void tkd_client_body_end(struct tkd_client *client, bool has_crlf);

/* Reply to bytes that are no command.  `counted` as in struct tkd_event. */
void tkd_client_refuse(struct tkd_client *client, enum tkd_refusal refusal,
                       enum tkd_verb counted);

/* Verify all invariants, and return whether they hold; for tests.  O(all). */
bool tkd_engine_check(const struct tkd_engine *engine);

#endif
