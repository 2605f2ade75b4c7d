/*
 * service/executor_crowd_test.c - many threads at once on driver, workers and
 * submit: no deadlock, each arming has one outcome (L3), nothing starts after
 * stop (L12), nothing is early (L1).
 */
#define _POSIX_C_SOURCE 200809L

#include "support/executor.h"

static struct tray tray;

/* A thread of the user's that runs jobs, returning one now and then. */
struct helper {
    pthread_t thread;
    atomic_bool is_over;
};

static void *help(void *argument)
{
    struct helper *helper = argument;
    unsigned turn = 0;
    while (!atomic_load(&helper->is_over) || tray_count(&tray) > 0) {
        struct tkw_job job;
        if (!tray_take(&tray, &job))
            sched_yield();
        else if (++turn % 16 == 0)
            tkw_job_return(&job);
        else
            tkw_job_run(&job);
    }
    return NULL;
}

static void helper_start(struct helper *helper)
{
    atomic_store(&helper->is_over, false);
    helper->thread = thread_start(help, helper);
}

static void helper_end(struct helper *helper)
{
    atomic_store(&helper->is_over, true);
    thread_join(helper->thread);
}

#define SLOTS 40

/* A timer that one thread arms over and over, and all cancel and move. */
struct slot {
    _Atomic tkw_handle handle;
    atomic_uint outcomes; /* runs and drops ... */
    unsigned armings;     /* ... of so many */
    atomic_uint early;
};

struct crowd {
    struct scene scene;
    struct slot slots[3][SLOTS];
    atomic_uint threads;
    atomic_bool is_enough; /* callbacks have been run ... */
    atomic_uint over;      /* ... and threads have ended */
};

static void slot_run(void *argument, const struct tkw_firing *firing)
{
    struct slot *slot = argument;
    if (firing->now_ns < firing->due_ns)
        atomic_fetch_add(&slot->early, 1);
    atomic_fetch_add(&slot->outcomes, 1);
}

static void slot_drop(void *argument)
{
    atomic_fetch_add(&((struct slot *)argument)->outcomes, 1);
}

static unsigned pick(uint64_t *random, unsigned below)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (unsigned)((*random >> 20) % below);
}

static void touch(struct crowd *crowd, struct slot *slot, uint64_t *random)
{
    struct tkw_service *service = crowd->scene.service;
    tkw_handle handle = atomic_load(&slot->handle);
    switch (pick(random, 4)) {
    case 0:
        tkw_service_cancel(service, handle);
        break;
    case 1:
        tkw_service_cancel_sync(service, handle);
        break;
    case 2:
        tkw_service_postpone(service, handle, pick(random, 100));
        break;
    default:
        tkw_service_query(service, handle, NULL);
    }
}

static void *be_busy(void *argument)
{
    struct crowd *crowd = argument;
    struct scene *scene = &crowd->scene;
    unsigned me = atomic_fetch_add(&crowd->threads, 1);
    uint64_t random = 88172645463325252 + me;
    for (int turn = 0; turn < 4000 || !atomic_load(&crowd->is_enough); turn++) {
        struct slot *slot = &crowd->slots[me][pick(&random, SLOTS)];
        struct tkw_plan plan = {
            .task = {slot_run, slot, slot_drop},
            .when_ns = pick(&random, 3) == 0 ? 0 : pick(&random, 200),
            .executor = (enum tkw_executor)pick(&random, 4)};
        tkw_handle handle;
        if (tkw_service_arm_plan(scene->service, &handle, &plan) == 0) {
            slot->armings++;
            atomic_store(&slot->handle, handle);
        }
        for (int i = 0; i < 2; i++)
            touch(crowd, &crowd->slots[pick(&random, 3)][pick(&random, SLOTS)],
                  &random);
        if (pick(&random, 64) == 0)
            sched_yield();
    }
    atomic_fetch_add(&crowd->over, 1);
    return NULL;
}

static void crowd_judge(struct crowd *crowd, uint64_t fired)
{
    for (size_t i = 0; i < 3 * SLOTS; i++) {
        struct slot *slot = &crowd->slots[i / SLOTS][i % SLOTS];
        assert_int_equal(atomic_load(&slot->outcomes), slot->armings);
        assert_int_equal(atomic_load(&slot->early), 0);
    }
    assert_true(fired > 1000);
}

/* Three threads arm, cancel and move for every executor, with little room in
   each, while time goes on: every arming has its one outcome. */
static void each_arming_has_one_outcome_whoever_interferes(void **state)
{
    (void)state;
    static struct crowd crowd;
    static const uint32_t shards[] = {1, 3};
    for (size_t i = 0; i < COUNT_OF(shards); i++) {
        struct helper helpers[2];
        pthread_t threads[3];
        memset(&crowd, 0, sizeof crowd);
        tray_init(&tray, 5);
        struct tkw_service_config config = hands(3, 4, &tray);
        config.shards = shards[i];
        scene_open(&crowd.scene, 0, config);
        for (size_t k = 0; k < 2; k++)
            helper_start(&helpers[k]);
        for (size_t k = 0; k < 3; k++)
            threads[k] = thread_start(be_busy, &crowd);
        while (atomic_load(&crowd.over) < 3) {
            tkw_manual_clock_advance(crowd.scene.manual, 7);
            if (tkw_service_read_stats(crowd.scene.service).fired > 1000)
                atomic_store(&crowd.is_enough, true);
            sched_yield();
        }
        for (size_t k = 0; k < 3; k++)
            thread_join(threads[k]);
        tkw_service_stop(crowd.scene.service);
        for (size_t k = 0; k < 2; k++)
            helper_end(&helpers[k]);
        struct tkw_service_stats stats =
            tkw_service_read_stats(crowd.scene.service);
        scene_close(&crowd.scene);
        crowd_judge(&crowd, stats.fired);
    }
}

/* Many timers that arm others from their callbacks. */
struct family {
    struct scene *scene;
    atomic_uint born;
    atomic_uint died;
    atomic_uint refused;
    unsigned wanted;
};

static void have_children(void *argument, const struct tkw_firing *firing)
{
    struct family *family = argument;
    for (int i = 0; i < 3; i++) {
        unsigned number = atomic_fetch_add(&family->born, 1);
        if (number >= family->wanted) {
            atomic_fetch_sub(&family->born, 1);
            break;
        }
        struct tkw_plan plan = {.task = {have_children, family, NULL},
                                .executor = (enum tkw_executor)(number % 4)};
        tkw_handle handle = 0;
        if (tkw_service_arm_plan(firing->service, &handle, &plan) != 0)
            atomic_fetch_add(&family->refused, 1);
        tkw_service_postpone(firing->service, handle, 0);
    }
    atomic_fetch_add(&family->died, 1);
}

/* KAFKA-2253, RussellLuo 25, 28, 53: callbacks use the timer while queues are
   full; nobody waits for room, so there is no deadlock. */
static void callbacks_that_arm_more_than_there_is_room_for_go_on(void **state)
{
    (void)state;
    struct scene scene;
    struct helper helper;
    struct family family = {.scene = &scene, .wanted = 5000};
    tray_init(&tray, 1);
    scene_open(&scene, 1000, hands(2, 1, &tray));
    helper_start(&helper);
    struct tkw_task task = {have_children, &family, NULL};
    atomic_store(&family.born, 1);
    assert_int_equal(tkw_service_arm(scene.service, NULL, 0, task), 0);
    while (atomic_load(&family.died) < family.wanted) {
        tkw_manual_clock_advance(scene.manual,
                                 10); /* for those that were returned */
        sched_yield();
    }
    tkw_service_stop(scene.service);
    helper_end(&helper);
    assert_int_equal(atomic_load(&family.refused), 0);
    assert_int_equal(tkw_service_read_stats(scene.service).armed, 5000);
    assert_int_equal(tkw_service_read_stats(scene.service).fired, 5000);
    scene_close(&scene);
}

struct ball {
    atomic_uint *started;
    atomic_uint dropped;
};

static void bounce(void *argument, const struct tkw_firing *firing)
{
    struct ball *ball = argument;
    atomic_fetch_add(ball->started, 1);
    tkw_service_rearm(firing->service, firing->handle, 0);
}

static void drop_ball(void *argument)
{
    atomic_fetch_add(&((struct ball *)argument)->dropped, 1);
}

/* Timers that are always due, everywhere: when stop has returned none starts,
   nor is submitted, and each that was waiting is handed back, once. */
static void nothing_starts_after_stop_has_returned(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        struct scene scene;
        struct helper helper;
        struct ball balls[12];
        atomic_uint started = 0;
        tray_init(&tray, 2);
        memset(balls, 0, sizeof balls);
        scene_open(&scene, 1000, hands(3, 2, &tray));
        helper_start(&helper);
        for (unsigned i = 0; i < COUNT_OF(balls); i++) {
            balls[i].started = &started;
            struct tkw_plan plan = {.task = {bounce, &balls[i], drop_ball},
                                    .executor = (enum tkw_executor)(i % 4)};
            assert_int_equal(tkw_service_arm_plan(scene.service, NULL, &plan),
                             0);
        }
        while (atomic_load(&started) < 200)
            tkw_manual_clock_advance(scene.manual, 10);
        tkw_service_stop(scene.service);
        unsigned before = atomic_load(&started);
        size_t asked = tray_asked(&tray);
        uint64_t pending = tkw_service_count(scene.service);
        tkw_manual_clock_advance(scene.manual, 1000);
        have_patience();
        helper_end(&helper);
        assert_int_equal(atomic_load(&started), before);
        assert_int_equal(tray_asked(&tray), asked);
        assert_int_equal(tkw_service_read_stats(scene.service).fired, before);
        scene_close(&scene);
        assert_int_equal(atomic_load(&started), before);
        for (unsigned i = 0; i < COUNT_OF(balls); i++)
            pending -= atomic_load(&balls[i].dropped);
        assert_int_equal(pending, 0);
    }
}

#define ARMERS 4
#define EACH 200

struct armer {
    struct scene *scene;
    struct probe probes[EACH];
    enum tkw_executor executor;
    uint64_t step;
};

static void *arm_all(void *argument)
{
    struct armer *armer = argument;
    for (uint64_t k = 0; k < EACH; k++) {
        struct probe *probe = &armer->probes[k];
        struct tkw_plan plan = {.task = probe_task(armer->scene, probe),
                                .when_ns = 1000 + 10 * (k * armer->step % 40),
                                .is_time = true,
                                .executor = armer->executor};
        tkw_service_arm_plan(armer->scene->service, &probe->handle, &plan);
    }
    return NULL;
}

static void assert_in_order(struct armer *armers)
{
    static struct probe *by_place[1 + ARMERS * EACH];
    for (size_t a = 0; a < ARMERS; a++) {
        for (size_t k = 0; k < EACH; k++) {
            struct probe *probe = &armers[a].probes[k];
            by_place[probe->place] = probe;
            for (size_t j = 0; j < k; j++)
                if (armers[a].probes[j].firing.due_ns == probe->firing.due_ns)
                    assert_true(armers[a].probes[j].place < probe->place);
        }
    }
    for (size_t p = 2; p <= ARMERS * EACH; p++)
        assert_true(by_place[p - 1]->firing.due_ns <=
                    by_place[p]->firing.due_ns);
}

/* Several threads, a shard each: they come to the one worker, and to submit, by
   ticks over all shards, and each thread's own as it armed them. */
static void shards_come_to_executors_by_ticks(void **state)
{
    (void)state;
    static struct armer armers[ARMERS];
    static const enum tkw_executor places[] = {TKW_ON_DRIVER, TKW_ON_WORKERS,
                                               TKW_BY_SUBMIT};
    for (size_t i = 0; i < 2 * COUNT_OF(places); i++) {
        struct scene scene;
        pthread_t threads[ARMERS];
        struct tkw_service_config config = hands(1, i % 2 ? 0 : 10, &tray);
        config.shards = ARMERS;
        memset(armers, 0, sizeof armers);
        tray_init(&tray, i % 2 ? SIZE_MAX : 3);
        scene_open(&scene, 0, config);
        for (size_t a = 0; a < ARMERS; a++) {
            armers[a].scene = &scene;
            armers[a].step = 2 * a + 1;
            armers[a].executor = places[i / 2];
            threads[a] = thread_start(arm_all, &armers[a]);
        }
        for (size_t a = 0; a < ARMERS; a++)
            thread_join(threads[a]);
        scene_go(&scene, 9000);
        for (size_t k = 0; k < ARMERS * EACH; k++)
            while (ran(&armers[k / EACH].probes[k % EACH]) == 0) {
                tray_run_all(&tray);
                sched_yield();
            }
        assert_in_order(armers);
        scene_close(&scene);
    }
}

/* A clock that timers follow, set back while one waits for a worker, or for its
   job to be run: its time has not come any more, and it is not early. */
static void what_waits_follows_a_wall_clock_back(void **state)
{
    (void)state;
    static const enum tkw_executor places[] = {TKW_ON_WORKERS, TKW_BY_SUBMIT};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct scene scene;
        struct gate gate;
        struct probe held = {0}, waiting = {0};
        tray_init(&tray, SIZE_MAX);
        scene_open_wall(&scene, 1000, hands(1, 0, &tray));
        workers_hold(&scene, &held, &gate, 1);
        probe_arm_on(&scene, &waiting, places[i], 500);
        scene_go(&scene, 1500);
        assert_state(&scene, waiting.handle, TKW_READY);
        scene_go(&scene, 1200);
        workers_release(&gate, 1);
        worker_flush(&scene);
        tray_run_all(&tray);
        assert_int_equal(ran(&waiting), 0);
        assert_int_equal(tkw_service_count(scene.service), 1);
        for (uint64_t now = 1500; now <= 1600; now += 10) {
            scene_go(&scene, now);
            tray_run_all(&tray);
        }
        probe_await(&waiting, 1);
        assert_true(waiting.firing.now_ns >= 1500);
        scene_close(&scene);
        gate_done(&gate);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_arming_has_one_outcome_whoever_interferes),
        cmocka_unit_test(callbacks_that_arm_more_than_there_is_room_for_go_on),
        cmocka_unit_test(nothing_starts_after_stop_has_returned),
        cmocka_unit_test(shards_come_to_executors_by_ticks),
        cmocka_unit_test(what_waits_follows_a_wall_clock_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
