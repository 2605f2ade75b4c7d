#include "scene.h"

#include <inttypes.h>

struct scene *scene_prepare(void)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    memory_init(&scene->memory);
    return scene;
}

struct tkd_engine_config scene_config(const struct scene *scene)
{
    return (struct tkd_engine_config){
        .allocator = &scene->memory.allocator,
        .store = scene->store,
        .now_ns = START,
        .hash_seed = 42,
    };
}

void scene_begin(struct scene *scene, const struct tkd_engine_config *config,
                 unsigned connection_max)
{
    assert_int_equal(server_open(&scene->server, config, connection_max), 0);
}

struct scene *scene_open(void)
{
    struct scene *scene = scene_prepare();
    scene->store = tkd_memory_open(&scene->memory.allocator);
    assert_non_null(scene->store);
    struct tkd_engine_config config = scene_config(scene);
    scene_begin(scene, &config, CONNECTIONS);
    return scene;
}

void scene_close(struct scene *scene)
{
    for (unsigned n = 0; n < scene->server.connection_max; n++)
        EXPECT_NOTHING(scene, n);
    server_close(&scene->server);
    tkd_store_close(scene->store);
    assert_int_equal(scene->memory.bytes, 0);
    free(scene);
}

static const char *label_of(const struct scene *scene)
{
    return scene->label != NULL ? scene->label : "scene";
}

static void assert_sound(struct scene *scene, const char *file, int line)
{
    const char *fault = scene->server.fault;
    if (fault == NULL && !scene->is_unchecked &&
        !tkd_engine_check(scene->server.engine))
        fault = "tkd_engine_check() returns false";
    if (fault != NULL) {
        print_error("%s: %s\n", label_of(scene), fault);
        _fail(file, line);
    }
}

void settle_at(struct scene *scene, const char *file, int line)
{
    server_settle(&scene->server);
    assert_sound(scene, file, line);
}

void join(struct scene *scene, unsigned client)
{
    assert_true(client < scene->server.connection_max);
    if (scene->server.connections[client].client == NULL)
        assert_int_equal(server_connect(&scene->server, client), 0);
}

void leave(struct scene *scene, unsigned client)
{
    server_disconnect(&scene->server, client);
    SETTLE(scene);
}

void turn(struct scene *scene, uint64_t ns)
{
    server_turn(&scene->server, scene->server.now + ns);
    SETTLE(scene);
}

void send_at(struct scene *scene, unsigned client, const char *text,
             const char *file, int line)
{
    join(scene, client);
    server_queue(&scene->server, client, text, strlen(text));
    server_queue(&scene->server, client, "\r\n", 2);
    settle_at(scene, file, line);
}

static void complain(const struct scene *scene, unsigned client,
                     const char *expected, const char *file, int line)
{
    const struct bytes *out = &scene->server.connections[client].out;
    print_error("%s: client %u: expected \"%s\", received \"%s\"\n",
                label_of(scene), client, expected,
                out->size > 0 ? out->data : "");
    _fail(file, line);
}

void expect_at(struct scene *scene, unsigned client, const char *text,
               const char *file, int line)
{
    struct bytes *out = &scene->server.connections[client].out;
    size_t length = strlen(text);
    if (out->size < length + 2 || memcmp(out->data, text, length) != 0 ||
        memcmp(out->data + length, "\r\n", 2) != 0)
        complain(scene, client, text, file, line);
    bytes_consume(out, length + 2);
}

void expect_nothing_at(struct scene *scene, unsigned client, const char *file,
                       int line)
{
    if (scene->server.connections[client].out.size > 0)
        complain(scene, client, "", file, line);
}

const char *observe(struct scene *scene, const char *command)
{
    static struct bytes reply;
    struct bytes *out = &scene->server.connections[OBSERVER].out;
    SEND(scene, OBSERVER, command);
    bytes_clear(&reply);
    bytes_append(&reply, out->size > 0 ? out->data : "", out->size);
    bytes_clear(out);
    return reply.size > 0 ? reply.data : "";
}

/* Return the value of a key of YAML, up to the end of its line, or NULL. */
static const char *find_value(const char *yaml, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = yaml; (at = strchr(at, '\n')) != NULL;) {
        at++;
        if (strncmp(at, key, length) == 0 && at[length] == ':' &&
            at[length + 1] == ' ')
            return at + length + 2;
    }
    return NULL;
}

uint64_t number_of(struct scene *scene, const char *command, const char *key)
{
    const char *value = find_value(observe(scene, command), key);
    if (value == NULL)
        fail_msg("%s shows no %s", command, key);
    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

static bool has_value(const char *yaml, const char *key, const char *value)
{
    const char *found = find_value(yaml, key);
    size_t length = strlen(value);
    return found != NULL && strncmp(found, value, length) == 0 &&
           found[length] == '\n';
}

/* Compare the value of a key.  Without a key, expect NOT_FOUND. */
static void compare(struct scene *scene, const char *command, const char *key,
                    const char *value, const char *file, int line)
{
    const char *reply = observe(scene, command);
    bool is_missing = strcmp(reply, "NOT_FOUND\r\n") == 0;
    if (key == NULL ? is_missing : has_value(reply, key, value))
        return;
    print_error("%s: %s: expected %s %s, received \"%s\"\n", label_of(scene),
                command, key != NULL ? key : "NOT_FOUND",
                key != NULL ? value : "", reply);
    _fail(file, line);
}

void expect_job_at(struct scene *scene, uint64_t id, const char *key,
                   const char *value, const char *file, int line)
{
    char command[64];
    snprintf(command, sizeof command, "stats-job %" PRIu64, id);
    compare(scene, command, key, value, file, line);
}

void expect_tube_at(struct scene *scene, const char *tube, const char *key,
                    const char *value, const char *file, int line)
{
    char command[TKD_LINE_MAX];
    snprintf(command, sizeof command, "stats-tube %s", tube);
    compare(scene, command, key, value, file, line);
}

void expect_stats_at(struct scene *scene, const char *key, const char *value,
                     const char *file, int line)
{
    compare(scene, "stats", key, value, file, line);
}
