/*
 * service_scene.c - the service that scenarios race on.
 *
 * Memory comes from a static arena that each schedule begins anew: one that was
 * dropped where it stood has lost nothing, and opening costs little.
 */
#include "service_scene.h"

#include <string.h>

#define ARENA_BYTES ((size_t)160 << 20) /* two segments of jobs; not touched */
#define SPOILED_MAX 1024

struct scene scene;

static struct {
    _Alignas(64) char bytes[ARENA_BYTES];
    size_t used;
    unsigned out; /* pieces not given back */
} arena;

static void *arena_allocate(void *context, size_t bytes)
{
    (void)context;
    size_t rounded = (bytes + 63) / 64 * 64;
    if (rounded > ARENA_BYTES - arena.used)
        return NULL;
    void *memory = arena.bytes + arena.used;
    arena.used += rounded;
    arena.out++;
    return memory;
}

/* What is used after this shows. */
static void arena_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    sched_require(arena.out > 0);
    arena.out--;
    memset(memory, 0xdd, bytes < SPOILED_MAX ? bytes : SPOILED_MAX);
}

/*
 * Threads choose their shard by a number that counts on from schedule to
 * schedule: without numbers of our own no schedule could be run again.
 */
static void be_thread(uint32_t number)
{
    sync_self()->number = number;
}

static void start_driver(void *context)
{
    (void)context;
    be_thread(1);
}

void scene_open(struct scene_config config)
{
    static const struct tkw_allocator allocator = {
        .allocate = arena_allocate,
        .release = arena_release,
    };
    arena.used = 0;
    arena.out = 0;
    scene = (struct scene){
        .has_no_driver = config.has_no_driver,
        .timers_max = config.timers_max != 0 ? config.timers_max : SCENE_PROBES,
    };
    be_thread(2);
    sched_require(tkw_hand_open(&scene.hand, config.now) == 0);
    tkw_hand_be_wall(scene.hand, config.is_wall);

    struct tkw_service_config of_service = {
        .tick_ns = SCENE_TICK,
        .geometry = {.sizes = {4}, .beyond = TKW_ROUNDS},
        .shards = config.shards != 0 ? config.shards : 1,
        .driver = config.has_no_driver ? TKW_DRIVER_NONE : TKW_DRIVER_THREAD,
        .clock = tkw_hand_clock(scene.hand),
        .allocator = &allocator,
        .timers_max = scene.timers_max,
        .thread_start = start_driver,
    };
    sched_require(tkw_service_open(&scene.service, &of_service) == 0);
    if (!config.is_awake)
        scene_settle();
}

void scene_settle(void)
{
    if (!scene.has_no_driver)
        tkw_hand_settle(scene.hand);
}

void scene_turn(uint64_t ns)
{
    tkw_hand_turn(scene.hand, ns);
    scene_settle();
}

static void check_probe(const struct probe *probe)
{
    unsigned ended = probe->started + probe->dropped;
    sched_require(probe->started == probe->returned);
    sched_require(ended <= probe->armings);
    if (probe->armings == 0)
        return;

    struct tkw_outlook outlook = {0};
    enum tkw_state state =
        tkw_service_query(scene.service, probe->handle, &outlook);
    if (ended < probe->armings) {
        sched_require(ended + 1 == probe->armings);
        sched_require(!probe->is_over);
        sched_require(state == TKW_PENDING || state == TKW_READY);
        sched_require(outlook.due_ns >= probe->not_before);
    } else if (state == TKW_DONE) {
        sched_require(probe->started > 0);
    } else if (state == TKW_CANCELLED) {
        sched_require(probe->dropped > 0);
    } else {
        sched_require(state == TKW_STALE);
    }
}

void scene_check(void)
{
    unsigned armed = 0, fired = 0, dropped = 0;
    sched_require(!scene.is_inside);
    for (int i = 0; i < SCENE_PROBES; i++) {
        const struct probe *probe = &scene.probes[i];
        check_probe(probe);
        armed += probe->armings;
        fired += probe->started;
        dropped += probe->dropped;
    }

    struct tkw_service_figures figures = tkw_service_counters(scene.service);
    sched_require(figures.armed == armed);
    sched_require(figures.fired == fired);
    sched_require(figures.cancelled == dropped);
    sched_require(figures.pending == armed - fired - dropped);
    sched_require(tkw_service_count(scene.service) == figures.pending);
}

static void take_back(void *context, const struct tkw_rest *rest)
{
    struct probe *probe = rest->task.argument;
    (void)context;
    sched_require(!scene.is_inside);
    if (probe == NULL)
        return; /* see fill() */
    sched_require(!probe->is_over);
    sched_require(rest->handle == probe->handle);
    sched_require(rest->due_ns >= probe->not_before);
    probe->handed_back++;
}

void scene_close(void)
{
    unsigned dropped[SCENE_PROBES];
    for (int i = 0; i < SCENE_PROBES; i++)
        dropped[i] = scene.probes[i].dropped;
    sched_require(tkw_service_close(scene.service, take_back, NULL) == 0);
    sched_require(!scene.is_inside);
    for (int i = 0; i < SCENE_PROBES; i++) {
        const struct probe *probe = &scene.probes[i];
        sched_require(probe->started == probe->returned);
        sched_require(probe->dropped >= dropped[i] + probe->handed_back);
        sched_require(probe->started + probe->dropped == probe->armings);
    }
    sched_require(arena.out == 0);
    tkw_hand_close(scene.hand);
}

static void never(void *argument, const struct tkw_firing *firing)
{
    (void)argument;
    (void)firing;
    sched_fail(__FILE__, __LINE__, "that it never comes");
}

/* Arm up to the limit. */
static void fill(void)
{
    struct tkw_task task = {never, NULL, NULL};
    size_t pending = tkw_service_count(scene.service);
    for (; pending < scene.timers_max; pending++)
        sched_require(tkw_service_arm(scene.service, NULL, UINT64_MAX, task) ==
                      0);
    sched_require(tkw_service_arm(scene.service, NULL, UINT64_MAX, task) ==
                  -EAGAIN);
}

void scene_end(void)
{
    if (!scene.is_quiet)
        scene_settle();
    scene_check();
    if (!scene.is_quiet)
        fill();
    scene_close();
}

static void run_actor(void *argument)
{
    const struct actor *actor = argument;
    be_thread(actor->number);
    actor->run(actor->probe);
}

unsigned scene_spawn(void (*run)(struct probe *probe), struct probe *probe)
{
    sched_require(scene.actor_count < SCENE_ACTORS);
    struct actor *actor = &scene.actors[scene.actor_count];
    *actor = (struct actor){run, probe, 3 + scene.actor_count++};
    return sched_spawn(run_actor, actor);
}

void scene_race(struct probe *probe, void (*first)(struct probe *probe),
                void (*second)(struct probe *probe))
{
    unsigned threads[2] = {scene_spawn(first, probe), 0};
    if (second != NULL)
        threads[1] = scene_spawn(second, probe);
    tkw_hand_turn(scene.hand, SCENE_TICK);
    sched_join(threads[0]);
    if (second != NULL)
        sched_join(threads[1]);
}

static void ring(void *argument, const struct tkw_firing *firing)
{
    struct probe *probe = argument;
    sched_require(!scene.is_inside);
    sched_require(!scene.is_quiet);
    sched_require(!probe->is_over);
    sched_require(firing->service == scene.service);
    sched_require(firing->handle == probe->handle);
    sched_require(firing->now_ns >= firing->due_ns);
    sched_require(firing->now_ns >= probe->not_before);
    scene.is_inside = true;
    probe->due_ns = firing->due_ns;
    probe->place = ++scene.started;
    probe->started++;
    SYNC_POINT(); /* it takes a while */
    if (probe->act != NULL)
        probe->act(probe);
    probe->returned++;
    scene.is_inside = false;
}

static void drop(void *argument)
{
    struct probe *probe = argument;
    SYNC_POINT();
    probe->dropped++;
    if (probe->act_on_drop != NULL)
        probe->act_on_drop(probe);
}

/* Counted before: its callback may come before this returns. */
int probe_arm(struct probe *probe, uint64_t delay_ns)
{
    struct tkw_task task = {ring, probe, drop};
    probe->armings++;
    int result = tkw_service_arm(scene.service, &probe->handle, delay_ns, task);
    if (result != 0)
        probe->armings--;
    return result;
}

void probe_must_arm(struct probe *probe, uint64_t delay_ns)
{
    sched_require(probe_arm(probe, delay_ns) == 0);
}

int probe_cancel(struct probe *probe)
{
    unsigned dropped = probe->dropped;
    int result = tkw_service_cancel(scene.service, probe->handle);
    if (result == 1) {
        sched_require(probe->dropped > dropped);
        probe->is_over = true;
    }
    return result;
}

int probe_cancel_sync(struct probe *probe)
{
    int result = tkw_service_cancel_sync(scene.service, probe->handle);
    sched_require(result == 0 || result == 1);
    sched_require(probe->started == probe->returned);
    probe->is_over = true;
    return result;
}

enum tkw_state probe_state(const struct probe *probe)
{
    return tkw_service_query(scene.service, probe->handle, NULL);
}
