/*
 * support/service.c - what the tests of the service share.
 */
#define _POSIX_C_SOURCE 200809L

#include "service.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>

/* In front of every block; as large as malloc's alignment. */
union note {
    size_t bytes;
    max_align_t align;
};

static void *account_allocate(void *context, size_t bytes)
{
    struct account *account = context;
    union note *note = NULL;

    pthread_mutex_lock(&account->lock);
    account->calls++;
    if (account->fails_from == 0 || account->calls < account->fails_from ||
        account->calls - account->fails_from >= account->fails_count)
        note = malloc(sizeof *note + bytes);
    if (note != NULL) {
        account->blocks++;
        account->bytes += bytes;
    }
    pthread_mutex_unlock(&account->lock);
    if (note == NULL)
        return NULL;
    note->bytes = bytes;
    return memset(note + 1, 0xa5, bytes);
}

static void account_release(void *context, void *memory, size_t bytes)
{
    struct account *account = context;
    union note *note = (union note *)memory - 1;

    if (note->bytes != bytes) {
        fprintf(stderr, "%zu bytes come back as %zu\n", note->bytes, bytes);
        abort();
    }
    pthread_mutex_lock(&account->lock);
    account->blocks--;
    account->bytes -= bytes;
    pthread_mutex_unlock(&account->lock);
    memset(memory, 0x5a, bytes);
    free(note);
}

void account_init(struct account *account)
{
    memset(account, 0, sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    account->allocator =
        (struct tkw_allocator){account_allocate, account_release, account};
}

void account_fail(struct account *account, uint64_t skip, uint64_t count)
{
    pthread_mutex_lock(&account->lock);
    account->fails_from = count == 0 ? 0 : account->calls + skip + 1;
    account->fails_count = count;
    pthread_mutex_unlock(&account->lock);
}

uint64_t account_bytes(struct account *account)
{
    pthread_mutex_lock(&account->lock);
    uint64_t bytes = account->bytes;
    pthread_mutex_unlock(&account->lock);
    return bytes;
}

void account_done(struct account *account)
{
    assert_int_equal(account->blocks, 0);
    assert_int_equal(account->bytes, 0);
    pthread_mutex_destroy(&account->lock);
}

void *no_memory(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return NULL;
}

void no_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)memory;
    (void)bytes;
}

const enum tkw_driver both[2] = {TKW_DRIVER_NONE, TKW_DRIVER_THREAD};

void scene_open(struct scene *scene, uint64_t now,
                struct tkw_service_config config)
{
    memset(scene, 0, sizeof *scene);
    account_init(&scene->account);
    scene->driver = config.driver;
    if (config.clock == NULL) {
        assert_int_equal(tkw_manual_clock_open(&scene->manual, now), 0);
        config.clock = tkw_manual_clock_source(scene->manual);
    }
    if (config.allocator == NULL)
        config.allocator = &scene->account.allocator;
    assert_int_equal(tkw_service_open(&scene->service, &config), 0);
}

void scene_open_wall(struct scene *scene, uint64_t now,
                     struct tkw_service_config config)
{
    struct tkw_manual_clock *manual;
    assert_int_equal(tkw_manual_clock_open(&manual, now), 0);
    tkw_manual_clock_set_wall(manual, true);
    config.clock = tkw_manual_clock_source(manual);
    scene_open(scene, now, config);
    scene->manual = manual;
}

void scene_open_tens(struct scene *scene, uint64_t now, enum tkw_driver driver)
{
    scene_open(scene, now,
               (struct tkw_service_config){
                   .tick_ns = 10, .shards = 1, .driver = driver});
}

unsigned scene_rest(struct scene *scene)
{
    unsigned before = atomic_load(&scene->turns);
    if (scene->driver == TKW_DRIVER_THREAD) {
        tkw_manual_clock_settle(scene->manual);
        return atomic_load(&scene->turns) - before;
    }
    unsigned sum = 0;
    for (int called = 1; called != 0;) {
        called = tkw_service_run(scene->service, 0);
        assert_true(called >= 0);
        sum += (unsigned)called;
    }
    assert_int_equal(atomic_load(&scene->turns) - before, sum);
    return sum;
}

unsigned scene_go(struct scene *scene, uint64_t now)
{
    unsigned before = atomic_load(&scene->turns);
    tkw_manual_clock_set(scene->manual, now);
    scene_rest(scene);
    return atomic_load(&scene->turns) - before;
}

void assert_conserved(struct scene *scene)
{
    struct tkw_service_stats stats = tkw_service_read_stats(scene->service);
    assert_int_equal(stats.armed,
                     stats.fired + stats.cancelled + stats.pending);
    assert_int_equal(stats.pending, tkw_service_count(scene->service));
}

static void count_rest(void *context, const struct tkw_pending_timer *rest)
{
    (void)rest;
    ++*(uint64_t *)context;
}

void scene_close(struct scene *scene)
{
    tkw_service_stop(scene->service);
    assert_conserved(scene);
    uint64_t rest = 0, pending = tkw_service_count(scene->service);
    assert_int_equal(tkw_service_close(scene->service, count_rest, &rest), 0);
    assert_int_equal(rest, pending);
    tkw_manual_clock_close(scene->manual);
    account_done(&scene->account);
}

static void probe_run(void *argument, const struct tkw_firing *firing)
{
    struct probe *probe = argument;
    probe->place = 1 + atomic_fetch_add(&probe->scene->turns, 1);
    probe->firing = *firing;
    probe->clock_ns = tkw_service_now(firing->service);
    if (probe->act != NULL)
        probe->act(probe);
    atomic_fetch_add(&probe->ran, 1);
}

static void probe_drop(void *argument)
{
    struct probe *probe = argument;
    if (probe->act_on_drop != NULL)
        probe->act_on_drop(probe);
    atomic_fetch_add(&probe->dropped, 1);
}

struct tkw_task probe_task(struct scene *scene, struct probe *probe)
{
    probe->scene = scene;
    return (struct tkw_task){probe_run, probe, probe_drop};
}

tkw_handle probe_arm(struct scene *scene, struct probe *probe, uint64_t delay)
{
    assert_int_equal(tkw_service_arm(scene->service, &probe->handle, delay,
                                     probe_task(scene, probe)),
                     0);
    assert_int_not_equal(probe->handle, 0);
    return probe->handle;
}

tkw_handle probe_arm_at(struct scene *scene, struct probe *probe, uint64_t time)
{
    assert_int_equal(tkw_service_arm_at(scene->service, &probe->handle, time,
                                        probe_task(scene, probe)),
                     0);
    assert_int_not_equal(probe->handle, 0);
    return probe->handle;
}

unsigned ran(struct probe *probe)
{
    return atomic_load(&probe->ran);
}

unsigned dropped(struct probe *probe)
{
    return atomic_load(&probe->dropped);
}

void assert_state(struct scene *scene, tkw_handle handle,
                  enum tkw_state expected)
{
    assert_int_equal(tkw_service_query(scene->service, handle, NULL), expected);
}

void assert_waiting(struct scene *scene, tkw_handle handle)
{
    enum tkw_state now = tkw_service_query(scene->service, handle, NULL);
    assert_true(now == TKW_PENDING || now == TKW_READY);
}

void gate_init(struct gate *gate)
{
    memset(gate, 0, sizeof *gate);
    sem_init(&gate->entered, 0, 0);
    sem_init(&gate->leave, 0, 0);
}

static void sem_wait_surely(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue;
}

void gate_hold(struct probe *probe)
{
    sem_post(&probe->gate->entered);
    sem_wait_surely(&probe->gate->leave);
    atomic_store(&probe->gate->passed, true);
}

void gate_await(struct gate *gate)
{
    sem_wait_surely(&gate->entered);
}

void gate_open(struct gate *gate)
{
    sem_post(&gate->leave);
}

void gate_done(struct gate *gate)
{
    sem_destroy(&gate->entered);
    sem_destroy(&gate->leave);
}

tkw_handle gate_enter(struct scene *scene, struct probe *probe,
                      struct gate *gate)
{
    gate_init(gate);
    probe->gate = gate;
    if (probe->act == NULL)
        probe->act = gate_hold;
    tkw_handle handle = probe_arm(scene, probe, 0);
    gate_await(gate);
    return handle;
}

pthread_t thread_start(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    return thread;
}

void thread_join(pthread_t thread)
{
    assert_int_equal(pthread_join(thread, NULL), 0);
}

void *cancel_and_see(void *argument)
{
    struct canceller *canceller = argument;
    struct probe *held = canceller->held;
    canceller->answer =
        tkw_service_cancel_sync(held->scene->service, held->handle);
    canceller->had_passed = atomic_load(&held->gate->passed);
    atomic_store(&canceller->returned, true);
    return NULL;
}

void rearm_then_cancel_sync_itself(struct probe *probe)
{
    if (ran(probe) > 0)
        return;
    probe->second =
        tkw_service_rearm(probe->scene->service, probe->firing.handle, 100);
    probe->answer =
        tkw_service_cancel_sync(probe->scene->service, probe->firing.handle);
}

void have_patience(void)
{
    for (int i = 0; i < 2000; i++)
        sched_yield();
}

int open_descriptors(void)
{
    int count = 0;
    for (int i = 0; i < 1024; i++)
        count += fcntl(i, F_GETFD) != -1;
    return count;
}

bool is_readable_within(int fd, int ms)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    int count = poll(&entry, 1, ms);
    assert_true(count >= 0);
    assert_true(count == 0 || entry.revents == POLLIN);
    return count == 1;
}

bool is_readable(int fd)
{
    return is_readable_within(fd, 0);
}
