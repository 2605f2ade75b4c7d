/*
 * server/engine/store_scene.h - a scene on a store that the test controls.
 */
#ifndef TESTS_SERVER_ENGINE_STORE_SCENE_H
#define TESTS_SERVER_ENGINE_STORE_SCENE_H

#include "fake_store.h"
#include "scene.h"

static inline struct fake_store *fake_of(const struct scene *scene)
{
    return (struct fake_store *)(uintptr_t)scene->store;
}

/* Open a scene whose next job has the number `next_id`. */
static inline struct scene *store_scene_open(uint64_t next_id)
{
    struct scene *scene = scene_prepare();
    scene->store = &fake_open(&scene->memory.allocator)->store;
    struct tkd_engine_config config = scene_config(scene);
    config.next_id = next_id;
    scene_begin(scene, &config, CONNECTIONS);
    return scene;
}

/* Fail if the engine has broken a promise of store.h. */
static inline void store_scene_close(struct scene *scene)
{
    assert_string_equal(
        fake_of(scene)->fault != NULL ? fake_of(scene)->fault : "", "");
    scene_close(scene);
}

/* Make the submitted batch durable. */
static inline void commit(struct scene *scene)
{
    fake_commit(fake_of(scene));
    SETTLE(scene);
}

/* Answer all questions, which are few: an engine may keep bodies, too. */
static inline void answer(struct scene *scene)
{
    while (fake_of(scene)->question_count > 0) {
        fake_answer(fake_of(scene), 0);
        SETTLE(scene);
    }
}

/* Let the store commit and answer at once, from now on or no longer. */
static inline void set_automatic(struct scene *scene, bool is_automatic)
{
    fake_of(scene)->is_automatic = is_automatic;
    if (is_automatic && fake_of(scene)->is_busy)
        commit(scene);
    if (is_automatic)
        answer(scene);
}

/* Send commands that the store does at once.  The replies are dropped. */
static inline void prepare(struct scene *scene, unsigned client,
                           const char *text)
{
    bool was_automatic = fake_of(scene)->is_automatic;
    set_automatic(scene, true);
    SEND(scene, client, text);
    bytes_clear(&scene->server.connections[client].out);
    set_automatic(scene, was_automatic);
}

#endif
