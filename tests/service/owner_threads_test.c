/*
 * service/owner_threads_test.c - owners and many threads: connections that come
 * and go while their timers fire, and owners that several threads share.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

#define THREADS 4
#define TIMERS 12
#define CONNECTIONS 500
#define TURNS 300

static const enum tkw_executor places[] = {TKW_ON_DRIVER, TKW_ON_WORKERS};

/* Freed as soon as its owner was let go of. */
struct connection {
    struct tkw_owner owner;
    atomic_uint inside; /* callbacks running */
    atomic_uint calls;
    atomic_uint drops;
    struct scene *scene;
};

static void use_connection(void *argument, const struct tkw_firing *firing)
{
    struct connection *connection = argument;
    atomic_fetch_add(&connection->inside, 1);
    if (firing->due_ns % 3 == 0)
        tkw_service_rearm(firing->service, firing->handle, 20);
    atomic_fetch_add(&connection->calls, 1);
    atomic_fetch_sub(&connection->inside, 1);
}

static void drop_connection(void *argument)
{
    struct connection *connection = argument;
    atomic_fetch_add(&connection->drops, 1);
}

struct worker {
    struct scene *scene;
    uint64_t random;
    unsigned wrong;
    unsigned stopped;
    unsigned calls;
    atomic_bool is_done;
};

static uint64_t draw(struct worker *worker)
{
    worker->random = worker->random * 6364136223846793005 + 1442695040888963407;
    return worker->random >> 33;
}

/* Arm some for it, alone and in a batch, and cancel and move some of them. */
static void live(struct worker *worker, struct connection *connection)
{
    struct tkw_plan plans[TIMERS];
    tkw_handle handles[TIMERS] = {0};
    struct tkw_service *service = worker->scene->service;
    for (size_t k = 0; k < TIMERS; k++) {
        plans[k] = (struct tkw_plan){
            .task = {use_connection, connection, drop_connection},
            .when_ns = draw(worker) % 200,
            .period_ns = draw(worker) % 3 == 0 ? 1 + draw(worker) % 50 : 0,
            .executor = places[draw(worker) % 2],
            .jitter_ns = draw(worker) % 2 * 30,
            .slack_ns = draw(worker) % 2 * 30,
            .owner = &connection->owner};
    }
    if (tkw_service_arm_many(service, handles, plans, TIMERS / 2) != TIMERS / 2)
        worker->wrong++;
    for (size_t k = TIMERS / 2; k < TIMERS; k++)
        if (tkw_service_arm_plan(service, &handles[k], &plans[k]) != 0)
            worker->wrong++;
    uint64_t until =
        tkw_manual_clock_now(worker->scene->manual) + draw(worker) % 250;
    while (tkw_manual_clock_now(worker->scene->manual) < until)
        sched_yield();
    for (unsigned n = 0; n < 10; n++) {
        tkw_handle handle = handles[draw(worker) % TIMERS];
        if (draw(worker) % 2 == 0)
            tkw_service_cancel(service, handle);
        else
            tkw_service_rearm(service, handle, draw(worker) % 100);
    }
}

/* One whose owner was let go of a while ago has not been touched since. */
static bool is_untouched(struct connection *old, const struct connection *then)
{
    return atomic_load(&old->inside) == 0 &&
           atomic_load(&old->calls) == atomic_load(&then->calls) &&
           atomic_load(&old->drops) == atomic_load(&then->drops) &&
           memcmp(&old->owner, &then->owner, sizeof old->owner) == 0;
}

/* After _sync nothing is running, nothing will, and the memory can go: at once,
   where tools look at what is freed, or after another look. */
static void *come_and_go(void *argument)
{
    struct worker *worker = argument;
    struct connection *old = NULL, then;
    for (unsigned n = 0; n < CONNECTIONS; n++) {
        struct connection *connection = calloc(1, sizeof *connection);
        if (connection == NULL)
            abort();
        live(worker, connection);
        tkw_service_cancel_owner_sync(worker->scene->service,
                                      &connection->owner);
        if (old != NULL && !is_untouched(old, &then))
            worker->wrong++;
        free(old);
        if (atomic_load(&connection->inside) != 0)
            worker->wrong++;
        worker->calls += atomic_load(&connection->calls);
        old = n % 2 == 0 ? connection : NULL;
        if (old == NULL)
            free(connection);
        else
            memcpy(&then, old, sizeof then);
    }
    free(old);
    atomic_store(&worker->is_done, true);
    return NULL;
}

static void run_workers(struct scene *scene, void *(*function)(void *),
                        struct worker *workers)
{
    pthread_t threads[THREADS];
    unsigned done = 0;
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.scene = scene, .random = i + 1};
        threads[i] = thread_start(function, &workers[i]);
    }
    while (done < THREADS) {
        tkw_manual_clock_advance(scene->manual, 7);
        done = 0;
        for (size_t i = 0; i < THREADS; i++)
            done += atomic_load(&workers[i].is_done);
    }
    for (size_t i = 0; i < THREADS; i++)
        thread_join(threads[i]);
}

static void connections_come_and_go_in_many_threads(void **state)
{
    (void)state;
    struct scene scene;
    struct worker workers[THREADS];
    scene_open(
        &scene, 1000,
        (struct tkw_service_config){.tick_ns = 10, .shards = 2, .workers = 2});
    run_workers(&scene, come_and_go, workers);
    unsigned calls = 0;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].wrong, 0);
        calls += workers[i].calls;
    }
    assert_true(calls > 0); /* or nothing was tried */
    scene_rest(&scene);
    assert_int_equal(tkw_service_count(scene.service), 0);
    assert_conserved(&scene);
    scene_close(&scene);
}

static struct tkw_owner shared;
static struct connection common;
static atomic_uint armed_in_all;

/* All threads arm for one owner, and cancel it, at any time. */
static void *share(void *argument)
{
    struct worker *worker = argument;
    for (unsigned n = 0; n < TURNS; n++) {
        struct tkw_plan plan = {
            .task = {use_connection, &common, drop_connection},
            .when_ns = 50 * HOUR,
            .period_ns = n % 2 * 1000,
            .owner = &shared};
        for (unsigned k = 0; k < 20; k++) {
            if (tkw_service_arm_plan(worker->scene->service, NULL, &plan) != 0)
                worker->wrong++;
            atomic_fetch_add(&armed_in_all, 1);
        }
        worker->stopped +=
            (unsigned)tkw_service_cancel_owner(worker->scene->service, &shared);
    }
    atomic_store(&worker->is_done, true);
    return NULL;
}

/* Each timer is stopped by one of them, and counted there. */
static void threads_can_share_an_owner(void **state)
{
    (void)state;
    struct scene scene;
    struct worker workers[THREADS];
    memset(&shared, 0, sizeof shared);
    memset(&common, 0, sizeof common);
    atomic_store(&armed_in_all, 0);
    scene_open(&scene, 1000,
               (struct tkw_service_config){.tick_ns = 10, .shards = 3});
    run_workers(&scene, share, workers);
    size_t stopped = tkw_service_cancel_owner(scene.service, &shared);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].wrong, 0);
        stopped += workers[i].stopped;
    }
    assert_int_equal(stopped, atomic_load(&armed_in_all));
    assert_int_equal(atomic_load(&common.drops), stopped);
    assert_int_equal(atomic_load(&common.calls), 0);
    assert_int_equal(tkw_service_count(scene.service), 0);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_come_and_go_in_many_threads),
        cmocka_unit_test(threads_can_share_an_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
