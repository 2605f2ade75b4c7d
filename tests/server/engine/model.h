/*
 * server/engine/model.h - what an engine must do, said in the simplest way:
 * arrays, and scans of all that is in them.
 *
 * The model executes one act at a time, and appends what each client must
 * receive to `out`.  Where the contract leaves an order open (of jobs that
 * become ready in one instant, while clients wait for them), the model takes
 * the order that `choices` says.  A caller that sees other replies than those
 * of the model tries other choices: see model_try_next().
 */
#ifndef TESTS_SERVER_ENGINE_MODEL_H
#define TESTS_SERVER_ENGINE_MODEL_H

#include <engine/engine.h>

#include "bytes.h"

enum {
    MODEL_CLIENTS = 8,
    MODEL_TUBES = 8,
    MODEL_JOBS = 64,
    MODEL_CHOICES = 16,
    MODEL_BODY_MAX = 200, /* the engine must have this body_max, too */
};

#define MODEL_SECOND UINT64_C(1000000000)

/* What a client or the world does: a verb of the protocol, or one of these. */
enum act_kind {
    ACT_CONNECT = TKD_VERBS,
    ACT_DISCONNECT,
    ACT_TURN,        /* time becomes `time` */
    ACT_DRAIN,       /* the server drains from now on */
    ACT_GIVE_UP,     /* tkd_client_give_up() */
    ACT_PUT_LINE,    /* a put without its body ... */
    ACT_PUT_BODY,    /* ... and its body */
    ACT_PUT_BAD_END, /* a put whose body has no CRLF */
    ACT_PUT_GARBAGE, /* a put with a fifth number */
    ACT_PUT_BIG,     /* a put with too large a body */
    ACT_NONSENSE,
    ACT_KINDS
};

struct act {
    uint8_t kind;
    uint8_t client;
    uint8_t tube;
    uint8_t seed;       /* of a body's bytes */
    uint16_t body_size; /* put */
    uint32_t pri;
    uint32_t delay; /* seconds: of put, release, pause, reserve */
    uint32_t ttr;   /* seconds */
    uint64_t id;    /* kick: the bound */
    uint64_t time;  /* ACT_TURN */
};

/* Deliberate mistakes, to test the test. */
enum model_bug {
    MODEL_SOUND,
    MODEL_LAST_WAITER, /* the client that began to wait last gets the job */
    MODEL_LARGEST_ID,  /* of equal priorities the largest id is selected */
    MODEL_EARLY_TTR,   /* a TTR ends a tick too early */
    MODEL_LIFO_KICK,   /* the job that was buried last is kicked first */
    MODEL_NO_TIMEOUTS, /* timeouts are not counted */
    MODEL_KEEPS_TUBES, /* tubes do not vanish */
    MODEL_NO_SOON,     /* DEADLINE_SOON is not sent to waiting clients */
    MODEL_CRASH,       /* abort at the first kick of two jobs */
    MODEL_BUGS
};

enum model_state { MODEL_READY, MODEL_DELAYED, MODEL_BURIED, MODEL_RESERVED };

struct model_job {
    uint64_t id;
    uint64_t created;
    uint64_t end; /* of the delay, or of the TTR; not rounded */
    uint64_t
        sequence; /* a number that grows: of the bury, or of the last change
                          of `end` */
    uint32_t pri;
    uint32_t delay; /* seconds */
    uint32_t ttr;
    uint32_t reserves, timeouts, releases, buries, kicks;
    uint16_t body_size;
    uint8_t seed;
    uint8_t state;
    uint8_t tube;
    uint8_t client; /* reserved: by whom */
};

struct model_tube {
    bool exists;
    bool is_paused;
    uint32_t pause; /* seconds */
    uint64_t pause_end;
    uint64_t pause_start;           /* a number that grows */
    uint64_t puts, deletes, pauses; /* since the tube exists */
};

struct model_client {
    bool is_connected;
    bool is_waiting;
    bool is_putting; /* between ACT_PUT_LINE and ACT_PUT_BODY, */
    bool is_producer;
    bool is_worker;
    uint8_t used;
    uint8_t watched;     /* a bit for each tube */
    uint64_t wait_start; /* a number that grows */
    uint64_t wait_end;   /* TKD_NEVER: no timeout */
    uint64_t put_id;     /* ... a put of this number, at this time */
    uint64_t put_time;
    struct act put;
};

struct model_choices {
    uint8_t count; /* of choices taken by the last act */
    uint8_t taken[MODEL_CHOICES];
    uint8_t limits[MODEL_CHOICES];
};

struct model {
    uint64_t now;
    uint64_t start;
    uint64_t next_id;
    uint64_t sequence; /* the next of the numbers that grow */
    uint64_t counts[ACT_KINDS];
    uint64_t timeouts, puts, connections;
    bool is_draining;
    enum model_bug bug;
    unsigned job_count;
    struct model_job jobs[MODEL_JOBS]; /* by id */
    struct model_tube tubes[MODEL_TUBES];
    struct model_client clients[MODEL_CLIENTS];
    struct model_choices choices;
    struct bytes out[MODEL_CLIENTS];         /* what the clients must receive */
    const struct bytes *seen[MODEL_CLIENTS]; /* NULL, or what they have: an act
                                                ends where its choices cannot
                                                lead to that */
};

extern const char *const model_tubes[MODEL_TUBES]; /* their names */

/* Initialize a model without clients, at time `now`. */
void model_init(struct model *model, uint64_t now, enum model_bug bug);

void model_free(struct model *model);

/* Execute an act.  Its client must be connected and must not be waiting, unless
 * the act is ACT_CONNECT, ACT_DISCONNECT or ACT_GIVE_UP. */
void model_execute(struct model *model, const struct act *act);

/*
 * Change `choices` to those that no execution of the same act has taken yet.
 * Returns false if there are none.  The caller restores the model before it
 * executes the act again.
 */
bool model_try_next(struct model_choices *choices);

/* Return whether `seen` shows that the choices are not those of the engine. */
bool model_is_refuted(const struct model *model);

/* Return whether a client waits for a job. */
bool model_is_anyone_waiting(const struct model *model);

/* Return the time of the next event, or TKD_NEVER. */
uint64_t model_next(const struct model *model);

/* Append what a client sends to do an act. */
void act_format(const struct act *act, struct bytes *bytes);

#endif
