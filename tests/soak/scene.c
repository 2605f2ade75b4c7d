/*
 * scene.c - opening services of all kinds, letting them rest, closing them.
 */
#define _GNU_SOURCE

#include "scene.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "watch.h"

enum { ROUNDS_MAX = 12, FAILS_EACH = 7 };

struct tally tally;

const char *kind_name(enum kind kind)
{
    static const char *const names[KIND_COUNT] = {
        "driver", "workers", "submit", "loop", "stepped", "wall", "limited",
    };
    return names[kind];
}

void scene_init(struct scene *scene, enum kind kind, uint32_t room,
                uint64_t seed)
{
    memset(scene, 0, sizeof *scene);
    scene->kind = kind;
    scene->random.state = seed;
    scene->room = room;
    scene->probes = calloc(room, sizeof *scene->probes);
    DEMAND(scene->probes != NULL, "there is no memory");
    for (unsigned i = 0; i < STRIPES; i++)
        pthread_mutex_init(&scene->stripes[i], NULL);
    /* All are in use for the first time: settling makes them ready. */
    for (uint32_t i = 0; i < room; i++)
        scene->probes[i].scene = scene;
    atomic_store(&scene->claimed, room);
    scene_settle(scene);
}

void scene_done(struct scene *scene)
{
    for (unsigned i = 0; i < STRIPES; i++)
        pthread_mutex_destroy(&scene->stripes[i]);
    free(scene->probes);
}

static void count_log(void *context, const char *message)
{
    (void)context;
    DEMAND(message != NULL && message[0] != '\0', "nothing to log");
    tally_add(&tally.logged, 1);
}

static struct tkw_geometry random_geometry(struct random *random)
{
    static const struct tkw_geometry geometries[] = {
        {{0}, TKW_GROW},          {{20}, TKW_GROW}, {{60, 60, 12}, TKW_GROW},
        {{256, 16, 2}, TKW_GROW}, {{0}, TKW_GROW},
    };
    return geometries[random_below(random,
                                   sizeof geometries / sizeof *geometries)];
}

/* What all kinds have in common. */
static void configure(struct scene *scene)
{
    static const uint64_t ticks[] = {0, 50000, 100000, 300001, 5000000};
    struct random *random = &scene->random;
    scene->config = (struct tkw_service_config){
        .tick_ns = ticks[random_below(random, 5)],
        .geometry = random_geometry(random),
        .shards = random_below(random, 5),
        .allocator = &scene->account.allocator,
        .log = count_log,
        .context = scene,
    };
    if (random_percent(random, 30))
        scene->config.executor = TKW_ON_DRIVER;
}

static void configure_kind(struct scene *scene)
{
    struct tkw_service_config *config = &scene->config;
    struct random *random = &scene->random;
    switch (scene->kind) {
    case KIND_WORKERS:
        config->workers = 1 + random_below(random, 3);
        config->queue_max = 1 + random_below(random, 8);
        break;
    case KIND_SUBMIT:
        config->submit = crew_submit;
        config->submit_context = &scene->crew;
        config->workers = random_below(random, 2);
        config->queue_max = 4;
        break;
    case KIND_LOOP:
        config->driver = TKW_DRIVER_NONE;
        config->clock_kind = (enum tkw_clock_kind)random_below(random, 3);
        config->workers = random_below(random, 2);
        config->queue_max = 4;
        scene->loop_polls_fd = random_percent(random, 70);
        scene->loop_seed = random_next(random);
        break;
    case KIND_STEPPED:
    case KIND_WALL:
        stepped_open(&scene->stepped, scene->kind == KIND_WALL);
        config->clock = &scene->stepped.clock;
        config->workers = random_below(random, 2);
        break;
    case KIND_LIMITED:
        config->timers_max = 20 + random_below(random, 200);
        config->workers = random_below(random, 2);
        config->queue_max = 4;
        break;
    default:
        config->clock_kind = (enum tkw_clock_kind)random_below(random, 3);
        break;
    }
    scene->is_on_wall =
        scene->kind == KIND_WALL || config->clock_kind == TKW_WALL;
}

/*
 * The loop of a program that has its own: it runs the service when the
 * descriptor says so; or by the timeout, looking often, as nothing wakes it.
 */
static void *loop_run(void *context)
{
    struct scene *scene = context;
    struct random random = {scene->loop_seed};
    struct pollfd ends[2] = {{.fd = scene->loop_end, .events = POLLIN},
                             {.fd = -1, .events = POLLIN}};
    if (scene->loop_polls_fd) {
        ends[1].fd = tkw_service_fd(scene->service);
        DEMAND(ends[1].fd >= 0, "no descriptor to poll: %d", ends[1].fd);
    }
    for (;;) {
        int timeout = -1;
        if (!scene->loop_polls_fd) {
            timeout = tkw_service_poll_timeout(scene->service);
            timeout = timeout < 0 || timeout > 4 ? 4 : timeout;
        }
        while (poll(ends, 2, timeout) < 0)
            DEMAND(errno == EINTR, "poll fails: %d", errno);
        if (ends[0].revents != 0)
            return NULL;
        int budget = random_percent(&random, 50)
                         ? 0
                         : 1 + (int)random_below(&random, 20);
        int ran = tkw_service_run(scene->service, budget);
        DEMAND(ran >= 0 && (budget == 0 || ran <= budget),
               "run of at most %d says %d", budget, ran);
    }
}

static void loop_start(struct scene *scene)
{
    scene->loop_end = eventfd(0, EFD_CLOEXEC);
    DEMAND(scene->loop_end >= 0, "there is no descriptor");
    int error = pthread_create(&scene->loop, NULL, loop_run, scene);
    DEMAND(error == 0, "there is no thread for the loop");
}

static void loop_stop(struct scene *scene)
{
    uint64_t one = 1;
    DEMAND(write(scene->loop_end, &one, sizeof one) == sizeof one,
           "the loop cannot be told to end");
    pthread_join(scene->loop, NULL);
    close(scene->loop_end);
}

void scene_open(struct scene *scene)
{
    account_init(&scene->account);
    configure(scene);
    configure_kind(scene);
    if (scene->config.submit != NULL)
        crew_open(&scene->crew, random_next(&scene->random));
    memset(scene->owners, 0, sizeof scene->owners);
    memset(scene->stale, 0, sizeof scene->stale);
    memset(&scene->sums, 0, sizeof scene->sums);
    atomic_store(&scene->is_stopping, false);
    atomic_store(&scene->has_stopped, false);
    atomic_store(&scene->is_calm, false);
    scene->rounds_left = random_below(&scene->random, ROUNDS_MAX);
    scene->may_stop = scene->rounds_left < ROUNDS_MAX / 3;

    int error = tkw_service_open(&scene->service, &scene->config);
    DEMAND(error == 0, "%s: open says %d", kind_name(scene->kind), error);
    if (random_percent(&scene->random, 15))
        atomic_store(&scene->account.fails_each, FAILS_EACH);
    if (scene->config.driver == TKW_DRIVER_NONE)
        loop_start(scene);
    if (random_percent(&scene->random, 25))
        scene_wake(scene);
    tally_add(&tally.openings, 1);
}

/* Let callbacks do nothing any more, but end themselves.  One that does not see
 * it is inside. */
static void scene_calm(struct scene *scene)
{
    atomic_store(&scene->is_calm, true);
    while (atomic_load(&scene->inside) != 0)
        sched_yield();
}

static unsigned used_probes(struct scene *scene)
{
    unsigned used = atomic_load(&scene->claimed);
    return used < scene->room ? used : scene->room;
}

/* Wait until nothing is pending that was due when we began: if a timer is lost,
 * or a wake-up, that is for ever. */
static void wait_until_done(struct scene *scene)
{
    uint64_t now = tkw_service_now(scene->service);
    unsigned used = used_probes(scene);
    for (unsigned i = 0; i < used; i++) {
        struct probe *probe = &scene->probes[i];
        tkw_handle handle = atomic_load(&probe->handle);
        if (handle == 0 || atomic_load(&probe->is_over))
            continue;
        struct tkw_outlook outlook;
        for (;;) {
            enum tkw_state state =
                tkw_service_query(scene->service, handle, &outlook);
            if ((state != TKW_PENDING && state != TKW_READY) ||
                outlook.due_ns > now)
                break;
            sleep_ns(100000);
        }
    }
}

/* End all timers, and go on with the same service. */
static void scene_keep(struct scene *scene)
{
    for (unsigned i = 0; i < OWNERS; i++) {
        size_t stopped =
            tkw_service_cancel_owner_sync(scene->service, &scene->owners[i]);
        atomic_fetch_add(&scene->owner_stopped, stopped);
        tally_add(&tally.by_owner, stopped);
    }
    unsigned used = used_probes(scene);
    for (unsigned i = 0; i < used; i++) {
        struct probe *probe = &scene->probes[i];
        tkw_handle handle = atomic_load(&probe->handle);
        if (handle == 0)
            continue;
        bool was_over = atomic_load(&probe->is_over);
        int answer = tkw_service_cancel_sync(scene->service, handle);
        probe_note_sync(probe, was_over, answer);
    }
    struct tkw_service_stats stats = tkw_service_read_stats(scene->service);
    DEMAND(stats.pending == 0, "%s: %" PRIu64 " are pending, all cancelled",
           kind_name(scene->kind), stats.pending);
    scene_settle(scene);
    scene_compare(scene, &stats);
    atomic_store(&scene->is_calm, false);
    scene->rounds_left--;
}

static void check_pending(void *context, const struct tkw_pending_timer *rest)
{
    struct scene *scene = context;
    struct probe *probe = rest->task.argument;
    DEMAND(probe->scene == scene, "handed back to another service");
    DEMAND(rest->task.callback == probe_call, "handed back as another task");
    DEMAND(rest->handle == atomic_load(&probe->handle),
           "handed back under another handle");
    DEMAND(atomic_fetch_add(&probe->handed_back, 1) == 0, "handed back twice");
    DEMAND(!atomic_load(&probe->is_running), "handed back while it runs");
    DEMAND(!atomic_load(&probe->is_over), "handed back after a cancel");
    DEMAND(atomic_load(&probe->dropped) == 0, "handed back after its drop");
    DEMAND(probe->mover == MOVED_BY_ALL ||
               rest->due_ns >= atomic_load(&probe->floor),
           "handed back with a time before what was asked for");
    if (probe->number % 16 == 0) {
        int answer = tkw_service_cancel(scene->service, rest->handle);
        DEMAND(answer == 0, "cancel says %d of what is handed back", answer);
    }
    tally_add(&tally.handed_back, 1);
}

static void scene_close(struct scene *scene)
{
    struct tkw_service_stats stats = {0};
    bool is_stopped_first = random_percent(&scene->random, 50);
    if (scene->config.driver == TKW_DRIVER_NONE)
        loop_stop(scene);
    atomic_store(&scene->is_stopping, true);
    if (is_stopped_first) {
        tkw_service_stop(scene->service);
        atomic_store(&scene->has_stopped, true);
        stats = tkw_service_read_stats(scene->service);
    }
    int error = tkw_service_close(scene->service, check_pending, scene);
    DEMAND(error == 0, "close says %d", error);
    DEMAND(atomic_load(&scene->account.blocks) == 0 &&
               atomic_load(&scene->account.bytes) == 0,
           "%s: %" PRIuFAST64 " bytes in %" PRIuFAST64
           " blocks are left after close",
           kind_name(scene->kind), atomic_load(&scene->account.bytes),
           atomic_load(&scene->account.blocks));
    scene_settle(scene);
    if (is_stopped_first)
        scene_compare(scene, &stats);
    DEMAND(scene->config.timers_max == 0 ||
               scene->sums.handed_back <= scene->config.timers_max,
           "more were pending than may be");
    if (scene->config.submit != NULL) {
        crew_close(&scene->crew);
        DEMAND(atomic_load(&scene->crew.ran) == scene->sums.by_submit,
               "%" PRIuFAST64 " jobs say that they ran, %" PRIu64 " did",
               atomic_load(&scene->crew.ran), scene->sums.by_submit);
        tally_add(&tally.jobs_refused, atomic_load(&scene->crew.refused));
        tally_add(&tally.jobs_returned, atomic_load(&scene->crew.returned));
    }
    if (scene->config.clock != NULL)
        stepped_close(&scene->stepped);
    scene->service = NULL;
}

void scene_rest(struct scene *scene, bool is_to_close)
{
    bool is_to_wait = random_percent(&scene->random, 50);
    is_to_close = is_to_close || scene->rounds_left == 0;
    /* If not calm, what is due, queued and running meets the closing. */
    if (is_to_wait || !is_to_close)
        scene_calm(scene);
    bool is_stopping = atomic_load(&scene->is_stopping);
    if (is_to_wait && !is_stopping)
        wait_until_done(scene);
    if (is_to_close || is_stopping)
        scene_close(scene);
    else
        scene_keep(scene);
}
