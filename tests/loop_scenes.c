/*
 * loop_scenes.c - what the timers of a service and an event loop owe each
 * other.
 */
#define _POSIX_C_SOURCE 200809L

#include "loop_scenes.h"

#include <unistd.h>

/* More turns than a loop may take to come to rest, for no reason. */
enum { TURNS_MAX = 1000 };

/* Let the loop have the service.  The descriptor is asked for here and never
   again: asking might aim it. */
static void stage_attach(struct stage *stage)
{
    assert_int_equal(stage->kind->attach(stage->loop, stage->scene.service), 0);
    stage->fd = tkw_service_fd(stage->scene.service);
    assert_true(stage->fd >= 0);
}

void stage_open(struct stage *stage, const struct loop_kind *kind)
{
    stage->kind = kind;
    stage->loop = kind->open();
    scene_open_tens(&stage->scene, 1000, TKW_DRIVER_NONE);
    stage_attach(stage);
}

void stage_rest(struct stage *stage)
{
    for (int turns = 0; is_readable(stage->fd); turns++) {
        assert_true(turns < TURNS_MAX);
        stage->kind->turn(stage->loop, false);
    }
}

void stage_go(struct stage *stage, uint64_t now)
{
    tkw_hand_set(stage->scene.hand, now);
    stage_rest(stage);
}

void stage_close(struct stage *stage)
{
    stage->kind->detach(stage->loop);
    scene_close(&stage->scene);
    stage->kind->close(stage->loop);
}

/* Nobody calls run but the loop: what fires, fires through it. */
void timers_fire_through_the_loop_in_order_and_never_early(void **state)
{
    struct stage stage;
    struct probe probes[4] = {0};
    static const uint64_t delays[] = {100, 50, 50, 1000};
    stage_open(&stage, *state);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        probe_arm(&stage.scene, &probes[i], delays[i]);
    stage_go(&stage, 1049);
    assert_int_equal(atomic_load(&stage.scene.turns), 0);
    stage_go(&stage, 1050);
    assert_int_equal(probes[1].place, 1);
    assert_int_equal(probes[2].place, 2);
    assert_int_equal(ran(&probes[0]), 0);
    stage_go(&stage, 1099);
    assert_int_equal(ran(&probes[0]), 0);
    stage_go(&stage, 1100);
    assert_int_equal(probes[0].place, 3);
    stage_go(&stage, 1999);
    assert_int_equal(ran(&probes[3]), 0);
    stage_go(&stage, 2000 + HOUR);
    assert_int_equal(probes[3].place, 4);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        assert_int_equal(ran(&probes[i]), 1);
    stage_close(&stage);
}

/* The descriptor knows of timers that are older than it is. */
void what_was_armed_before_the_loop_fires_too(void **state)
{
    struct stage stage = {.kind = *state};
    struct probe overdue = {0}, later = {0};
    stage.loop = stage.kind->open();
    scene_open_tens(&stage.scene, 1000, TKW_DRIVER_NONE);
    probe_arm(&stage.scene, &overdue, 50);
    probe_arm(&stage.scene, &later, 500);
    tkw_hand_set(stage.scene.hand, 1100);
    stage_attach(&stage);
    stage_rest(&stage);
    assert_int_equal(ran(&overdue), 1);
    assert_int_equal(ran(&later), 0);
    stage_go(&stage, 1500);
    assert_int_equal(ran(&later), 1);
    stage_close(&stage);
}

/* Another thread, told when the loop is about to sleep. */
struct intruder {
    struct stage *stage;
    struct probe *probe;
    sem_t told;
    bool is_late; /* it lets the loop fall asleep first; mostly */
    void (*act)(struct intruder *intruder);
};

static void *intrude(void *argument)
{
    struct intruder *intruder = argument;
    while (sem_wait(&intruder->told) != 0)
        continue;
    if (intruder->is_late)
        have_patience();
    intruder->act(intruder);
    return NULL;
}

/* Let the loop sleep until an intruder's timer has fired. */
static void be_intruded(struct stage *stage, struct probe *probe,
                        void (*act)(struct intruder *), bool is_late)
{
    struct intruder intruder = {
        .stage = stage, .probe = probe, .is_late = is_late, .act = act};
    sem_init(&intruder.told, 0, 0);
    pthread_t thread = thread_start(intrude, &intruder);
    sem_post(&intruder.told);
    for (int turns = 0; ran(probe) == 0; turns++) {
        assert_true(turns < TURNS_MAX);
        stage->kind->turn(stage->loop, true);
    }
    thread_join(thread);
    sem_destroy(&intruder.told);
}

static void arm_for_now(struct intruder *intruder)
{
    struct scene *scene = &intruder->stage->scene;
    (void)tkw_service_arm(scene->service, &intruder->probe->handle, 0,
                          probe_task(scene, intruder->probe));
}

/* L14: it is the earliest, and the loop sleeps for another or for ever. */
void a_timer_armed_by_another_thread_wakes_the_loop(void **state)
{
    struct stage stage;
    struct probe later = {0};
    stage_open(&stage, *state);
    for (int i = 0; i < 100; i++) {
        struct probe probe = {0};
        if (i == 50)
            probe_arm(&stage.scene, &later, HOUR);
        be_intruded(&stage, &probe, arm_for_now, i % 2 == 1);
        assert_int_equal(ran(&probe), 1);
    }
    assert_int_equal(ran(&later), 0);
    stage_close(&stage);
}

static void turn_by_an_hour(struct intruder *intruder)
{
    tkw_hand_turn(intruder->stage->scene.hand, HOUR);
}

/* So that tests of programs with a loop can turn the clock. */
void a_clock_turned_by_another_thread_wakes_the_loop(void **state)
{
    struct stage stage;
    stage_open(&stage, *state);
    for (int i = 0; i < 100; i++) {
        struct probe probe = {0};
        probe_arm(&stage.scene, &probe, HOUR);
        be_intruded(&stage, &probe, turn_by_an_hour, i % 2 == 1);
        assert_int_equal(ran(&probe), 1);
    }
    stage_close(&stage);
}

/* Another event of the loop: a pipe.  Once there is a byte in it, which nobody
   reads, it is ready for ever. */
struct other {
    struct stage *stage;
    int ends[2];
    unsigned calls;
    struct probe *victim; /* to be cancelled */
    int answer;
};

static void other_ready(void *context)
{
    struct other *other = context;
    other->calls++;
    if (other->victim != NULL)
        other->answer = tkw_service_cancel(other->stage->scene.service,
                                           other->victim->handle);
}

static void other_open(struct other *other, struct stage *stage)
{
    other->stage = stage;
    assert_int_equal(pipe(other->ends), 0);
    stage->kind->watch(stage->loop, other->ends[0], other_ready, other);
}

static void other_ring(const struct other *other)
{
    (void)!write(other->ends[1], "!", 1);
}

static void other_close(struct other *other)
{
    other->stage->kind->unwatch(other->stage->loop);
    close(other->ends[0]);
    close(other->ends[1]);
}

void a_handler_of_the_loop_cancels_a_timer(void **state)
{
    struct stage stage;
    struct probe victim = {0}, witness = {0};
    struct other other = {.victim = &victim};
    stage_open(&stage, *state);
    probe_arm(&stage.scene, &victim, 100);
    probe_arm(&stage.scene, &witness, 100);
    other_open(&other, &stage);
    other_ring(&other);
    stage.kind->turn(stage.loop, true);
    assert_int_equal(other.calls, 1);
    assert_int_equal(other.answer, 1);
    assert_int_equal(dropped(&victim), 1);
    stage_go(&stage, 1100);
    assert_int_equal(ran(&victim), 0);
    assert_int_equal(ran(&witness), 1);
    other_close(&other);
    stage_close(&stage);
}

static void cancel_the_other(struct probe *probe)
{
    probe->answer =
        tkw_service_cancel(probe->scene->service, probe->other->handle);
}

void a_timer_cancels_another_that_is_due_with_it(void **state)
{
    struct stage stage;
    struct probe victim = {0};
    struct probe probe = {.act = cancel_the_other, .other = &victim};
    stage_open(&stage, *state);
    probe_arm(&stage.scene, &probe, 100);
    probe_arm(&stage.scene, &victim, 100);
    stage_go(&stage, 1100);
    assert_int_equal(probe.answer, 1);
    assert_int_equal(ran(&victim), 0);
    assert_int_equal(dropped(&victim), 1);
    stage_close(&stage);
}

static void count_call(void *count, const struct tkw_firing *firing)
{
    (void)firing;
    ++*(unsigned *)count;
}

/* The budget: between two turns of other events there are so many timers, and
   in the end all of them. */
void thousands_due_at_once_leave_room_for_other_events(void **state)
{
    enum { TIMERS = 10000 };
    struct stage stage;
    struct other other = {0};
    unsigned fired = 0;
    stage_open(&stage, *state);
    other_open(&other, &stage);
    other_ring(&other);
    for (int i = 0; i < TIMERS; i++)
        assert_int_equal(
            tkw_service_arm(stage.scene.service, NULL, 100,
                            (struct tkw_task){count_call, &fired, NULL}),
            0);
    tkw_hand_set(stage.scene.hand, 1100);
    for (unsigned turns = 1; fired < TIMERS; turns++) {
        unsigned before = fired;
        assert_true(turns <= TURNS_MAX);
        stage.kind->turn(stage.loop, true);
        assert_true(fired - before <= LOOP_BUDGET);
        assert_int_equal(other.calls, turns);
    }
    assert_int_equal(fired, TIMERS);
    other_close(&other);
    stage_close(&stage);
}

static void detach_the_loop(struct probe *probe)
{
    struct stage *stage = TKW_CONTAINER(probe->scene, struct stage, scene);
    stage->kind->detach(stage->loop);
}

/* What is due beyond the budget waits for its turn; and for whoever runs the
   service next, if the loop is closed before that. */
void a_budget_of_one_is_one_timer_a_turn(void **state)
{
    struct stage stage;
    struct probe probes[5] = {{0}, {0}, {.act = detach_the_loop}};
    stage_open(&stage, *state);
    stage.kind->limit(stage.loop, 1);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        probe_arm(&stage.scene, &probes[i], 100);
    tkw_hand_set(stage.scene.hand, 1100);
    for (unsigned turns = 1; turns <= 3; turns++) {
        stage.kind->turn(stage.loop, true);
        assert_int_equal(atomic_load(&stage.scene.turns), turns);
    }
    for (int turns = 0; turns < 5; turns++)
        stage.kind->turn(stage.loop, false);
    assert_int_equal(atomic_load(&stage.scene.turns), 3);
    assert_int_equal(scene_rest(&stage.scene), 2);
    scene_close(&stage.scene);
    stage.kind->close(stage.loop);
}

static void arm_again_for_now(struct probe *probe)
{
    probe->answer =
        tkw_service_rearm(probe->scene->service, probe->firing.handle, 0);
}

/* It is due for ever, and so is the other event: both have their turns. */
void a_timer_that_arms_itself_for_now_leaves_room_too(void **state)
{
    struct stage stage;
    struct other other = {0};
    struct probe probe = {.act = arm_again_for_now};
    stage_open(&stage, *state);
    other_open(&other, &stage);
    other_ring(&other);
    probe_arm(&stage.scene, &probe, 0);
    for (unsigned turns = 1; turns <= 10; turns++) {
        unsigned before = ran(&probe);
        stage.kind->turn(stage.loop, true);
        assert_in_range(ran(&probe) - before, 1, LOOP_BUDGET);
        assert_int_equal(other.calls, turns);
    }
    assert_int_equal(tkw_service_cancel(stage.scene.service, probe.handle), 1);
    stage_rest(&stage);
    other_close(&other);
    stage_close(&stage);
}

void closing_the_loop_leaves_timers_pending_to_be_handed_back(void **state)
{
    struct stage stage;
    struct probe done = {0}, due = {0}, later = {0};
    stage_open(&stage, *state);
    probe_arm(&stage.scene, &done, 50);
    probe_arm(&stage.scene, &due, 100);
    probe_arm(&stage.scene, &later, HOUR);
    stage_go(&stage, 1050);
    tkw_hand_set(stage.scene.hand, 1100);
    stage.kind->detach(stage.loop);
    assert_int_equal(tkw_service_count(stage.scene.service), 2);
    scene_close(&stage.scene); /* counts them, too */
    stage.kind->close(stage.loop);
    assert_int_equal(ran(&done), 1);
    assert_int_equal(ran(&due), 0);
    assert_int_equal(ran(&later), 0);
    assert_int_equal(dropped(&done), 0);
    assert_int_equal(dropped(&due), 1);
    assert_int_equal(dropped(&later), 1);
}

/* Other events go on; the timers are still the service's. */
void a_loop_closed_in_a_callback_calls_no_more(void **state)
{
    struct stage stage;
    struct other other = {0};
    struct probe closer = {.act = detach_the_loop}, later = {0};
    stage_open(&stage, *state);
    other_open(&other, &stage);
    other_ring(&other);
    probe_arm(&stage.scene, &closer, 100);
    probe_arm(&stage.scene, &later, 200);
    tkw_hand_set(stage.scene.hand, 1100);
    for (int turns = 0; ran(&closer) == 0; turns++) {
        assert_true(turns < TURNS_MAX);
        stage.kind->turn(stage.loop, true);
    }
    tkw_hand_set(stage.scene.hand, 1200);
    unsigned before = other.calls;
    for (int turns = 0; turns < 10; turns++)
        stage.kind->turn(stage.loop, true);
    assert_int_equal(other.calls - before, 10);
    assert_int_equal(ran(&later), 0);
    assert_int_equal(scene_rest(&stage.scene), 1);
    assert_int_equal(ran(&later), 1);
    other_close(&other);
    scene_close(&stage.scene);
    stage.kind->close(stage.loop);
}

void a_loop_closed_is_opened_again(void **state)
{
    struct stage stage;
    struct probe probes[3] = {0};
    stage_open(&stage, *state);
    for (size_t i = 0; i < COUNT_OF(probes); i++) {
        probe_arm(&stage.scene, &probes[i], 100);
        stage.kind->detach(stage.loop);
        stage.kind->turn(stage.loop, false);
        tkw_hand_turn(stage.scene.hand, 100);
        stage.kind->turn(stage.loop, false);
        assert_int_equal(ran(&probes[i]), 0);
        stage_attach(&stage);
        stage_rest(&stage);
        assert_int_equal(ran(&probes[i]), 1);
    }
    stage_close(&stage);
}

static void stop_the_service(struct probe *probe)
{
    tkw_service_stop(probe->scene->service);
}

/* What is due is never called: it must not keep the descriptor readable. */
void a_stopped_service_lets_the_loop_sleep(void **state)
{
    for (int by_callback = 0; by_callback < 2; by_callback++) {
        struct stage stage;
        struct probe stopper = {.act = stop_the_service}, due = {0};
        stage_open(&stage, *state);
        if (by_callback)
            probe_arm(&stage.scene, &stopper, 100);
        probe_arm(&stage.scene, &due, 100);
        tkw_hand_set(stage.scene.hand, 1100);
        if (!by_callback)
            tkw_service_stop(stage.scene.service);
        stage_rest(&stage);
        stage_go(&stage, 1200);
        assert_int_equal(ran(&due), 0);
        assert_int_equal(tkw_service_count(stage.scene.service), 1);
        stage_close(&stage);
        assert_int_equal(dropped(&due), 1);
    }
}

/* The last timer, which tells the loop so. */
struct ringer {
    struct probe probe;
    const struct other *other;
};

static void ring(struct probe *probe)
{
    other_ring(TKW_CONTAINER(probe, struct ringer, probe)->other);
}

/* L13: what there is no room for stays pending and does not keep the descriptor
   readable; when there is room, the loop is woken. */
void workers_without_room_let_the_loop_sleep(void **state)
{
    struct stage stage = {.kind = *state};
    struct gate gate;
    struct other other = {0};
    struct probe held = {.act = gate_hold, .gate = &gate}, waiting[3] = {0};
    struct ringer last = {.probe = {.act = ring}, .other = &other};
    stage.loop = stage.kind->open();
    scene_open(&stage.scene, 1000,
               (struct tkw_service_config){.tick_ns = 10,
                                           .shards = 1,
                                           .driver = TKW_DRIVER_NONE,
                                           .workers = 1,
                                           .queue_max = 1});
    stage_attach(&stage);
    other_open(&other, &stage);
    gate_init(&gate);
    probe_arm(&stage.scene, &held, 100);
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        probe_arm(&stage.scene, &waiting[i], 100);
    probe_arm(&stage.scene, &last.probe, 100);
    stage_go(&stage, 1100);
    gate_await(&gate);
    stage_rest(&stage);
    assert_int_equal(tkw_service_count(stage.scene.service), 4);

    gate_open(&gate);
    for (int turns = 0; other.calls == 0; turns++) {
        assert_true(turns < TURNS_MAX);
        stage.kind->turn(stage.loop, true);
    }
    assert_int_equal(tkw_service_count(stage.scene.service), 0);
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        assert_int_equal(ran(&waiting[i]), 1);
    tkw_service_stop(stage.scene.service);
    other_close(&other);
    gate_done(&gate);
    stage_close(&stage);
}

/* And nothing is left in the loop: closing it would say so. */
void a_service_with_a_driver_is_refused(void **state)
{
    const struct loop_kind *kind = *state;
    struct scene scene;
    struct probe probe = {0};
    void *loop = kind->open();
    scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
    assert_int_equal(kind->attach(loop, scene.service), -EINVAL);
    probe_arm(&scene, &probe, 100);
    assert_int_equal(scene_go(&scene, 1100), 1);
    kind->close(loop);
    scene_close(&scene);
}

/* The clock of somebody who has never heard of event loops. */
static uint64_t their_now(void *context)
{
    (void)context;
    return 1000;
}

static void their_wait(void *context, uint64_t time)
{
    (void)context;
    (void)time;
}

static void their_wake(void *context)
{
    (void)context;
}

void a_clock_without_a_descriptor_is_refused(void **state)
{
    const struct loop_kind *kind = *state;
    const struct tkw_clock clock = {
        .now = their_now, .wait_until = their_wait, .wake = their_wake};
    struct scene scene;
    void *loop = kind->open();
    scene_open(&scene, 0,
               (struct tkw_service_config){.driver = TKW_DRIVER_NONE,
                                           .clock = &clock});
    assert_int_equal(kind->attach(loop, scene.service), -ENOTSUP);
    kind->close(loop);
    scene_close(&scene);
}

/* A timer in real time, and what it found. */
struct real {
    uint64_t due_ns;
    uint64_t came_ns;
    unsigned calls;
};

static void come(void *argument, const struct tkw_firing *firing)
{
    struct real *real = argument;
    real->due_ns = firing->due_ns;
    real->came_ns = tkw_service_now(firing->service);
    real->calls++;
}

/* On each clock of the system, with the loop's own way of sleeping. */
void real_time_is_never_early(void **state)
{
    static const enum tkw_clock_kind clocks[] = {TKW_MONOTONIC, TKW_BOOTTIME,
                                                 TKW_WALL};
    const struct loop_kind *kind = *state;
    for (size_t i = 0; i < COUNT_OF(clocks); i++) {
        struct tkw_service *service;
        struct tkw_service_config config = {.driver = TKW_DRIVER_NONE,
                                            .clock_kind = clocks[i]};
        struct real reals[20] = {0};
        uint64_t asked_ns[COUNT_OF(reals)];
        void *loop = kind->open();
        assert_int_equal(tkw_service_open(&service, &config), 0);
        assert_int_equal(kind->attach(loop, service), 0);
        for (size_t k = 0; k < COUNT_OF(reals); k++) {
            uint64_t delay_ns = k * 1700 * TKW_MICROSECOND;
            asked_ns[k] = tkw_service_now(service) + delay_ns;
            assert_int_equal(
                tkw_service_arm(service, NULL, delay_ns,
                                (struct tkw_task){come, &reals[k], NULL}),
                0);
        }
        while (tkw_service_count(service) > 0)
            kind->turn(loop, true);
        for (size_t k = 0; k < COUNT_OF(reals); k++) {
            assert_int_equal(reals[k].calls, 1);
            assert_true(reals[k].due_ns >= asked_ns[k]);
            assert_true(reals[k].came_ns >= reals[k].due_ns);
        }
        kind->detach(loop);
        assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
        kind->close(loop);
    }
}
