/*
 * server/net/session_scene.h - a session beside an engine that does what the
 * test says.
 */
#ifndef TESTS_SERVER_NET_SESSION_SCENE_H
#define TESTS_SERVER_NET_SESSION_SCENE_H

#include <net/session.h>

#include "fake_engine.h"
#include "memory.h"

struct scene {
    struct memory memory;
    struct tkd_engine engine;
    struct tkd_session_config config;
    struct tkd_session session;
    struct tkd_client *client;
    unsigned observed_count;
};

/* For cmocka: `*state` is a scene. */
int scene_open(void **state);
int scene_close(void **state);

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, scene_open, scene_close)

/* Close the session and open another one. */
void reopen(struct scene *scene);

/* Returns the number of commands. */
size_t receive(struct scene *scene, const char *text);

/* Receive a command `count` times in one call. */
size_t receive_many(struct scene *scene, const char *command, size_t count);

/* Pop replies without bodies. */
void deliver(struct scene *scene, size_t count);

/* Pop a reply with a body. */
void deliver_body(struct scene *scene, uint32_t size);

size_t output_size(const struct scene *scene);
void assert_output(const struct scene *scene, const char *expected);
void send_all(struct scene *scene);
void assert_over(const struct scene *scene, bool is_over);

#endif
