/*
 * service_scene.c - the service that scenarios race on.
 *
 * Memory comes from a static arena that each schedule begins anew: one that was
 * dropped where it stood has lost nothing, and opening costs little.
 */
#include "service_scene.h"

#include <string.h>

#include "service/private.h"

/* Two segments of jobs and two of extras; not touched. */
#define ARENA_BYTES ((size_t)400 << 20)
#define SPOILED_MAX 1024

struct scene scene;

static struct {
    _Alignas(64) char bytes[ARENA_BYTES];
    size_t used;
    unsigned out; /* pieces not given back */
} arena;

/*
 * Wait for the threads of crews to start: one at a time, as they are made, so
 * that no orders are spent on how they do.
 */
static void wait_for_threads(const struct tkw_service *service)
{
    unsigned count = 0;
    for (int i = 0; i < CREWS; i++)
        count += service->crews[i].thread_count;
    sync_lock(&scene.mutex);
    while (scene.thread_count < count)
        sync_wait(&scene.has_changed, &scene.mutex);
    sync_unlock(&scene.mutex);
}

static void *arena_allocate(void *context, size_t bytes)
{
    (void)context;
    /* The first piece is the service, which is being opened. */
    if (scene.workers != 0 && arena.out > 0 && scene.service == NULL)
        wait_for_threads((const void *)arena.bytes);
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

/* Threads of the service are started in this order: one for the driver's own
 * callbacks, if it has no time for them; workers; the driver. */
static void start_thread(void *context)
{
    (void)context;
    bool is_driver = sync_self()->number == scene.workers + 3;
    be_thread(1);
    if (scene.workers == 0)
        return;
    sync_lock(&scene.mutex);
    scene.thread_count += !is_driver;
    sync_broadcast(&scene.has_changed);
    while (is_driver && scene.is_held)
        sync_wait(&scene.has_changed, &scene.mutex);
    sync_unlock(&scene.mutex);
}

void scene_resume(void)
{
    sync_lock(&scene.mutex);
    scene.is_held = false;
    sync_broadcast(&scene.has_changed);
    sync_unlock(&scene.mutex);
}

static int take_job(void *context, const struct tkw_job *job)
{
    (void)context;
    SYNC_POINT();
    if (scene.runs_at_once) {
        tkw_job_run(job);
        return 0;
    }
    if (scene.job_count == scene.job_room)
        return -1;
    sched_require(scene.job_count < SCENE_JOBS);
    scene.jobs[scene.job_count++] = *job;
    return 0;
}

static int no_descriptor(void *context)
{
    (void)context;
    return 0;
}

static void note_aim(void *context, uint64_t time)
{
    (void)context;
    SYNC_POINT();
    scene.aimed = time;
    SYNC_POINT();
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
        .is_wall = config.is_wall,
        .is_held = config.is_held,
        .workers = config.workers,
        .timers_max = config.timers_max != 0 ? config.timers_max : SCENE_PROBES,
        .inside_max = config.workers != 0 ? config.workers : 1,
        .job_room = config.job_room,
        .aimed = UINT64_MAX,
    };
    if (config.job_room != 0)
        scene.inside_max = SCENE_JOBS;
    be_thread(2);
    sync_mutex_init(&scene.mutex);
    tkw__sync_cond_init(&scene.has_changed);
    sched_require(tkw_manual_clock_open(&scene.manual, config.now) == 0);
    tkw_manual_clock_set_wall(scene.manual, config.is_wall);

    scene.clock = *tkw_manual_clock_source(scene.manual);
    scene.clock.fd = no_descriptor;
    scene.clock.aim = note_aim;
    struct tkw_service_config of_service = {
        .tick_ns = SCENE_TICK,
        .geometry = {.sizes = {4}, .beyond = TKW_ROUNDS},
        .shards = config.shards != 0 ? config.shards : 1,
        .driver = config.has_no_driver ? TKW_DRIVER_NONE : TKW_DRIVER_THREAD,
        .clock = &scene.clock,
        .allocator = &allocator,
        .timers_max = scene.timers_max,
        .thread_start = start_thread,
        .workers = config.workers,
        .queue_max = config.queue_max,
        .submit = config.job_room != 0 ? take_job : NULL,
    };
    sched_require(tkw_service_open(&scene.service, &of_service) == 0);
    if (config.workers != 0)
        wait_for_threads(scene.service);
    if (!config.is_awake && !config.is_held)
        scene_settle();
}

static bool is_busy(const struct tkw_service *service)
{
    uint32_t count = service->running_count;
    for (int i = 0; i < CREWS; i++)
        count += service->crews[i].queue_count;
    return count > 0;
}

/* A thread that has work and sleeps would make this a deadlock. */
void scene_wait_for_workers(void)
{
    struct tkw_service *service = scene.service;
    sync_lock(&service->mutex);
    while (is_busy(service))
        sync_wait(&service->quiet, &service->mutex);
    sync_unlock(&service->mutex);
}

static void settle_driver(void)
{
    if (!scene.has_no_driver) {
        tkw_manual_clock_settle(scene.manual);
        return;
    }
    while (tkw_service_next(scene.service) <=
           tkw_manual_clock_now(scene.manual)) {
        sched_require(tkw_service_run(scene.service, 0) >= 0);
        scene.passes++;
    }
}

/* The driver and the workers wake each other up: they are at rest when the
 * workers had nothing to do, and the driver has not begun a pass since before
 * it last slept. */
void scene_settle(void)
{
    const struct tkw_service *service = scene.service;
    uint64_t before;
    do {
        before = service->wakeups + scene.passes;
        settle_driver();
        scene_wait_for_workers();
        settle_driver();
    } while (service->wakeups + scene.passes != before);
}

bool scene_run_job(unsigned at)
{
    sched_require(at < scene.job_count);
    return tkw_job_run(&scene.jobs[at]);
}

void scene_return_job(unsigned at)
{
    sched_require(at < scene.job_count);
    tkw_job_return(&scene.jobs[at]);
}

void scene_turn(uint64_t ns)
{
    tkw_manual_clock_advance(scene.manual, ns);
    scene_settle();
}

void scene_check(void)
{
    unsigned armed = 0, fired = 0, dropped = 0, pending = 0, repeating = 0;
    sched_require(!scene.is_inside);
    for (int i = 0; i < SCENE_PROBES; i++) {
        const struct probe *probe = &scene.probes[i];
        fired += probe->started;
        dropped += probe->dropped;
        pending += probe_check(probe);
        if (probe->repeats)
            repeating++;
        else
            armed += probe->armings;
    }

    struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
    sched_require(stats.fired == fired);
    sched_require(stats.pending == pending);
    sched_require(tkw_service_count(scene.service) == pending);
    sched_require(stats.cancelled <= dropped);
    if (repeating == 0) { /* what ends by itself was not cancelled */
        sched_require(stats.armed == armed);
        sched_require(stats.cancelled == dropped);
    }
}

static void take_back(void *context, const struct tkw_pending_timer *rest)
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
        if (probe->repeats)
            sched_require(probe->dropped == 1);
        else
            sched_require(probe->started + probe->dropped == probe->armings);
    }
    sched_require(arena.out == 0);
    tkw_manual_clock_close(scene.manual);
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

/* Mark the jobs of a list that are to be freed.  None is on two of them. */
static void mark_list(const struct shard *shard, uint32_t list, bool *is_marked)
{
    for (; list != 0; list = job_at(shard, list - 1)->next) {
        sched_require(!is_marked[list - 1]);
        is_marked[list - 1] = true;
    }
}

/* At rest: a job that the pool does not hold is in the intake, or in a batch or
 * a queue, or running, or about to be freed.  No other place leads to it. */
static void check_no_job_is_lost(struct shard *shard)
{
    bool is_marked[SEGMENTS * SEGMENT_RECORDS] = {false};
    shard_lock(shard);
    mark_list(shard, shard->finished, is_marked);
    for (int i = 0; i < TKW_STACKS; i++) {
        mark_list(shard, shard->reaping[i], is_marked);
        mark_list(shard, shard->ended[i], is_marked);
    }
    for (uint32_t i = 0; i < shard->used; i++) {
        const struct job *job = job_at(shard, i);
        if ((job->record.word & WORD_STATE) != IS_KEPT || is_marked[i])
            continue;
        sched_require(job_is_in_intake(shard, job) ||
                      (job->word & (JOB_ARMED | JOB_RUNNING)) != 0);
    }
    shard_unlock(shard);
}

void scene_end(void)
{
    if (!scene.is_quiet)
        scene_settle();
    scene_check();
    for (uint32_t i = 0; i < scene.service->shard_count; i++)
        check_no_job_is_lost(scene.service->shards[i]);
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
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    if (scene.has_no_driver)
        sched_require(tkw_service_run(scene.service, 0) >= 0);
    sched_join(threads[0]);
    if (second != NULL)
        sched_join(threads[1]);
}
