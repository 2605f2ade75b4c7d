/*
 * main.c - tickwheeld: from the command line to a server that runs.
 *
 * Exit status: 0 after a signal, 1 if the server cannot start or go on, 2 if
 * the command line is wrong.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <grp.h>
#include <net/server.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <tickwheel/version.h>
#include <unistd.h>

#include "durable.h"
#include "options.h"

enum { STATUS_FAILED = 1, STATUS_USAGE = 2 };

#define STORE_NOTE \
    "jobs live in memory only: they are lost when the server ends"

/* The parts of the server, in the order of opening. */
struct daemon {
    struct tkd_options options;
    struct tkd_log log;
    struct tkd_listener listeners[TKD_LISTENERS_MAX];
    size_t listener_count;
    uint32_t connections_max;
    struct tkd_clock clock;
    struct tkd_process process;
    struct tkd_durable durable; /* -b; has the store then */
    struct tkd_store *store;
    struct tkd_engine *engine;
    struct tkd_server *server;
};

static void *allocate(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}

static void release(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

static const struct tkw_allocator allocator = {
    .allocate = allocate,
    .release = release,
};

/* Print a message.  Always returns false, so that callers can tail-call it. */
static bool complain(const char *message)
{
    fprintf(stderr, "tickwheeld: %s\n", message);
    return false;
}

static bool complain_about(const char *what, int error)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
    fprintf(stderr, "tickwheeld: %s: %s\n", what, strerror(error));
    return false;
}

/* Listening. */

static bool adopt_sockets(struct daemon *daemon, size_t count)
{
    char fault[TKD_LISTENER_FAULT_MAX];
    if (count > TKD_LISTENERS_MAX)
        return complain("LISTEN_FDS: there are more than 16 sockets; give "
                        "fewer in the systemd socket unit");
    for (size_t i = 0; i < count; i++) {
        struct tkd_listener *listener = &daemon->listeners[i];
        if (!tkd_listener_adopt(listener, TKD_LISTENER_FIRST + (int)i, fault))
            return complain(fault);
        daemon->listener_count++;
    }
    return true;
}

static bool open_listeners(struct daemon *daemon)
{
    const struct tkd_options *options = &daemon->options;
    char fault[TKD_LISTENER_FAULT_MAX];
    size_t passed = tkd_listener_passed_count();
    if (passed > 0)
        return adopt_sockets(daemon, passed);
    for (size_t i = 0; i < options->listen_count; i++) {
        if (!tkd_listener_open(&daemon->listeners[i], options->listen[i],
                               options->port, fault))
            return complain(fault);
        daemon->listener_count++;
    }
    return true;
}

/* Become the user of -u, with the groups of that user. */
static bool drop_privileges(const char *name)
{
    if (name == NULL)
        return true;
    errno = 0;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
    const struct passwd *user = getpwnam(name);
    if (user == NULL) {
        fprintf(stderr,
                "tickwheeld: -u: there is no user '%s'; give the name of a "
                "user of this machine\n",
                name);
        return false;
    }
    if (initgroups(name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
        setuid(user->pw_uid) != 0)
        return complain_about("-u: cannot become that user; start as root, or "
                              "without -u",
                              errno);
    return true;
}

/* Opening and closing. */

static bool open_engine(struct daemon *daemon)
{
    uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return complain_about("cannot get random numbers", errno);
    tkd_process_init(&daemon->process, random[0]);
    struct tkd_engine_config config = {
        .allocator = &allocator,
        .store = daemon->store,
        .now_ns = tkd_clock_now(&daemon->clock),
        .memory_max = daemon->options.memory_max,
        .hash_seed = random[1],
        .body_max = daemon->options.body_max,
        .window_jobs = daemon->options.window_jobs,
    };
    memcpy(config.boot, daemon->durable.boot, sizeof config.boot);
    int error = tkd_engine_open(&daemon->engine, &config);
    if (error != 0 && daemon->store->failure != NULL)
        return complain(daemon->store->failure);
    return error == 0 || complain_about("cannot start", -error);
}

static bool open_server(struct daemon *daemon)
{
    struct tkd_server_config config = {
        .allocator = &allocator,
        .engine = daemon->engine,
        .clock = &daemon->clock,
        .process = &daemon->process,
        .log = &daemon->log,
        .listeners = daemon->listeners,
        .listener_count = daemon->listener_count,
        .has_wake_fd = daemon->durable.wake_fd >= 0,
        .wake_fd = daemon->durable.wake_fd,
        .body_max = daemon->options.body_max,
        .connections_max = daemon->connections_max,
    };
    int error = tkd_server_open(&daemon->server, &config);
    return error == 0 || complain_about("cannot start", -error);
}

static bool open_store(struct daemon *daemon)
{
    const struct tkd_options *options = &daemon->options;
    char fault[TKD_DURABLE_FAULT_MAX];
    if (options->directory == NULL) {
        daemon->store = tkd_memory_open(&allocator);
        return daemon->store != NULL || complain_about("cannot start", ENOMEM);
    }
    struct tkd_durable_config config = {
        .allocator = &allocator,
        .directory = options->directory,
        .sync_ms = options->sync_ms,
        .disk_reserve = options->disk_reserve,
        .max_jump_s = options->max_jump_s,
        .accepts_time = options->accepts_time,
        .is_strict = options->is_strict,
    };
    if (!tkd_durable_open(&daemon->durable, &config, &daemon->clock, fault))
        return complain(fault);
    daemon->store = daemon->durable.store;
    return true;
}

static bool open_parts(struct daemon *daemon)
{
    if (!open_listeners(daemon) || !drop_privileges(daemon->options.user))
        return false;
    int error = tkd_clock_open(&daemon->clock);
    if (error != 0)
        return complain_about("cannot open a timer", -error);
    return open_store(daemon) && open_engine(daemon) && open_server(daemon);
}

static void close_parts(struct daemon *daemon)
{
    tkd_server_close(daemon->server);
    tkd_engine_close(daemon->engine);
    if (daemon->options.directory == NULL)
        tkd_store_close(daemon->store);
    tkd_durable_close(&daemon->durable);
    if (daemon->clock.timer >= 0)
        tkd_clock_close(&daemon->clock);
    for (size_t i = 0; i < daemon->listener_count; i++)
        tkd_listener_close(&daemon->listeners[i]);
}

/* Serving. */

static void choose_connections_max(struct daemon *daemon)
{
    uint32_t asked = daemon->options.connections_max;
    daemon->connections_max = tkd_process_connections_max();
    if (asked != 0 && asked < daemon->connections_max)
        daemon->connections_max = asked;
}

static void log_start(const struct daemon *daemon)
{
    char addresses[TKD_LISTENERS_MAX * TKD_ADDRESS_MAX];
    size_t length = 0;
    for (size_t i = 0; i < daemon->listener_count; i++)
        length += (size_t)snprintf(
            addresses + length, sizeof addresses - length, "%s%s",
            i == 0 ? "" : ",", daemon->listeners[i].name);
    tkd_log_write(&daemon->log, TKD_LOG_SERVER,
                  "event=start version=%s address=%s connections-max=%u "
                  "store=\"%s\"",
                  TKW_VERSION, addresses, daemon->connections_max,
                  daemon->options.directory != NULL ? daemon->options.directory
                                                    : STORE_NOTE);
}

static bool serve(struct daemon *daemon)
{
    choose_connections_max(daemon);
    signal(SIGPIPE, SIG_IGN);
    if (!open_parts(daemon))
        return false;
    log_start(daemon);
    if (tkd_server_run(daemon->server) != 0)
        return complain(daemon->store->failure != NULL
                            ? daemon->store->failure
                            : "the store has failed");
    return true;
}

/* While the parts are closed, a signal does not change the exit status. */
static void block_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

static int run(const struct tkd_options *options)
{
    struct daemon daemon = {
        .options = *options,
        .log.level = options->verbosity < TKD_LOG_COMMANDS
                         ? (enum tkd_log_level)options->verbosity
                         : TKD_LOG_COMMANDS,
        .clock.timer = -1,
        .durable.wake_fd = -1,
    };
    bool is_done = serve(&daemon);
    block_signals();
    close_parts(&daemon);
    return is_done ? 0 : STATUS_FAILED;
}

static int check(const char *directory)
{
    char report[TKD_DURABLE_FAULT_MAX];
    bool is_sound = tkd_durable_check(directory, report);
    fprintf(is_sound ? stdout : stderr, "%s%s\n",
            is_sound ? "" : "tickwheeld: ", report);
    return is_sound ? 0 : STATUS_FAILED;
}

int main(int argc, char **argv)
{
    struct tkd_options options;
    char fault[TKD_OPTIONS_FAULT_MAX];
    switch (tkd_options_read(&options, argc, argv, fault)) {
    case TKD_REQUEST_HELP:
        fputs(tkd_options_help, stdout);
        break;
    case TKD_REQUEST_VERSION:
        printf("tickwheeld %s\n", TKW_VERSION);
        break;
    case TKD_REQUEST_BAD:
        complain(fault);
        return STATUS_USAGE;
    case TKD_REQUEST_CHECK:
        return check(options.directory);
    case TKD_REQUEST_SERVE:
        return run(&options);
    }
    return fflush(stdout) == 0 ? 0 : STATUS_FAILED;
}
