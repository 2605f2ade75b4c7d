/*
 * server/engine/scene.h - an engine with clients that talk the protocol, for
 * tests.
 *
 * A test writes what a client sends, and what the client receives, without the
 * last CRLF.  Clients have numbers, and connect when they are first used.
 *
 *     struct scene *scene = scene_open();
 *     ASK(scene, ANN, "put 0 0 60 1\r\na", "INSERTED 1");
 *     ASK(scene, BOB, "reserve", "RESERVED 1 1\r\na");
 *     turn(scene, 60 * SECOND);
 *     ASK(scene, BOB, "delete 1", "DELETED");
 *     scene_close(scene);
 *
 * OBSERVER is a client that the functions below use for statistics.
 */
#ifndef TESTS_SERVER_ENGINE_SCENE_H
#define TESTS_SERVER_ENGINE_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "memory.h"
#include "server.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define SECOND UINT64_C(1000000000)

/* The server time at which a scene begins. */
#define START (UINT64_C(1000000) * SECOND)

enum { OBSERVER, ANN, BOB, CID, DAN, CONNECTIONS = 32 };

struct scene {
    struct server server;
    struct memory memory;
    struct tkd_store *store;
    bool is_unchecked; /* no tkd_engine_check() after each step */
    const char *label; /* NULL, or what a failure says of the case */
};

/* Open a scene on a store that keeps nothing. */
struct scene *scene_open(void);

/* The parts of scene_open(), for tests that change the configuration, and room
 * for `connection_max` clients. */
struct scene *scene_prepare(void);
struct tkd_engine_config scene_config(const struct scene *scene);
void scene_begin(struct scene *scene, const struct tkd_engine_config *config,
                 unsigned connection_max);

/* Close the scene and its store.  Fail if a client has received more than the
 * test expected, or if memory is still allocated. */
void scene_close(struct scene *scene);

/* Connect a client, if it is not connected.  SEND() does so, too. */
void join(struct scene *scene, unsigned client);

/* Disconnect a client. */
void leave(struct scene *scene, unsigned client);

/* Let time pass. */
void turn(struct scene *scene, uint64_t ns);

/* Send a command, with a CRLF after it. */
#define SEND(scene, client, text) \
    send_at(scene, client, text, __FILE__, __LINE__)

/* Fail unless the next bytes that a client has received are `text` and CRLF. */
#define EXPECT(scene, client, text) \
    expect_at(scene, client, text, __FILE__, __LINE__)

/* Fail if a client has received anything else. */
#define EXPECT_NOTHING(scene, client) \
    expect_nothing_at(scene, client, __FILE__, __LINE__)

/* Send a command, and expect a reply and no more. */
#define ASK(scene, client, text, reply)                       \
    do {                                                      \
        send_at(scene, client, text, __FILE__, __LINE__);     \
        expect_at(scene, client, reply, __FILE__, __LINE__);  \
        expect_nothing_at(scene, client, __FILE__, __LINE__); \
    } while (0)

/* Fail unless `value` belongs to `key` in what stats-job, stats-tube or stats
 * shows. */
#define EXPECT_JOB(scene, id, key, value) \
    expect_job_at(scene, id, key, value, __FILE__, __LINE__)
#define EXPECT_TUBE(scene, tube, key, value) \
    expect_tube_at(scene, tube, key, value, __FILE__, __LINE__)
#define EXPECT_STATS(scene, key, value) \
    expect_stats_at(scene, key, value, __FILE__, __LINE__)

/* Fail unless a job, or a tube, does not exist. */
#define EXPECT_NO_JOB(scene, id) \
    expect_job_at(scene, id, NULL, NULL, __FILE__, __LINE__)
#define EXPECT_NO_TUBE(scene, tube) \
    expect_tube_at(scene, tube, NULL, NULL, __FILE__, __LINE__)

/* Return the whole reply to a command of the observer, valid until the next
 * call. */
const char *observe(struct scene *scene, const char *command);

/* Return the number that belongs to `key` in what `command` shows. */
uint64_t number_of(struct scene *scene, const char *command, const char *key);

void send_at(struct scene *scene, unsigned client, const char *text,
             const char *file, int line);
void expect_at(struct scene *scene, unsigned client, const char *text,
               const char *file, int line);
void expect_nothing_at(struct scene *scene, unsigned client, const char *file,
                       int line);
void expect_job_at(struct scene *scene, uint64_t id, const char *key,
                   const char *value, const char *file, int line);
void expect_tube_at(struct scene *scene, const char *tube, const char *key,
                    const char *value, const char *file, int line);
void expect_stats_at(struct scene *scene, const char *key, const char *value,
                     const char *file, int line);

/* Settle, and fail if the engine has broken a promise. */
void settle_at(struct scene *scene, const char *file, int line);

#define SETTLE(scene) settle_at(scene, __FILE__, __LINE__)

#endif
