#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session_scene.h"

#include <string.h>

static void observe(void *user, const struct tkd_command *command)
{
    struct scene *scene = user;
    (void)command;
    scene->observed_count++;
}

int scene_open(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    memory_init(&scene->memory);
    scene->config = (struct tkd_session_config){
        .allocator = &scene->memory.allocator,
        .engine = &scene->engine,
        .body_max = 65535,
        .observe = observe,
    };
    assert_int_equal(tkd_session_open(&scene->session, &scene->config, scene),
                     0);
    scene->client = &scene->engine.client;
    *state = scene;
    return 0;
}

int scene_close(void **state)
{
    struct scene *scene = *state;
    tkd_session_close(&scene->session);
    assert_int_equal(scene->engine.client_count, 0);
    assert_int_equal(scene->memory.bytes, 0);
    free(scene);
    return 0;
}

void reopen(struct scene *scene)
{
    tkd_session_close(&scene->session);
    assert_int_equal(tkd_session_open(&scene->session, &scene->config, scene),
                     0);
}

size_t receive(struct scene *scene, const char *text)
{
    assert_true(tkd_session_wants_input(&scene->session));
    return tkd_session_receive(&scene->session, text, strlen(text));
}

void deliver(struct scene *scene, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct tkd_delivery delivery;
        fake_pop(scene->client, NULL, &delivery);
        assert_ptr_equal(delivery.user, scene);
        tkd_session_deliver(&scene->session, &delivery);
    }
}

void deliver_body(struct scene *scene, uint32_t size)
{
    struct tkd_body *body = tkd_body_open(&scene->memory.allocator, size);
    struct tkd_delivery delivery;
    memset(body->bytes, 'x', size);
    fake_pop(scene->client, body, &delivery);
    tkd_session_deliver(&scene->session, &delivery);
    tkd_body_release(&scene->memory.allocator, body);
}

size_t output_size(const struct scene *scene)
{
    const char *bytes;
    return tkd_session_output(&scene->session, &bytes);
}

void assert_output(const struct scene *scene, const char *expected)
{
    const char *bytes;
    size_t size = tkd_session_output(&scene->session, &bytes);
    assert_int_equal(size, strlen(expected));
    if (size > 0)
        assert_memory_equal(bytes, expected, size);
}

void send_all(struct scene *scene)
{
    tkd_session_sent(&scene->session, output_size(scene));
}

void assert_over(const struct scene *scene, bool is_over)
{
    assert_int_equal(tkd_session_is_over(&scene->session), is_over);
}

size_t receive_many(struct scene *scene, const char *command, size_t count)
{
    static char text[TKD_SESSION_INPUT_MAX + 1];
    size_t length = strlen(command);
    assert_true(count * length < sizeof text);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * length, command, length);
    text[count * length] = '\0';
    return receive(scene, text);
}
