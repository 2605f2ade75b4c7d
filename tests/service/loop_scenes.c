/*
 * service/loop_scenes.c - a service and an event loop that are together: timers
 * fire in order and never early, whoever arms them, and leave room for other
 * events.
 */
#include "loop_scenes.h"

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
    tkw_manual_clock_set(stage.scene.manual, 1100);
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
    sem_t start;
    bool is_late; /* it lets the loop fall asleep first; mostly */
    void (*act)(struct intruder *intruder);
};

static void *intrude(void *argument)
{
    struct intruder *intruder = argument;
    while (sem_wait(&intruder->start) != 0)
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
    sem_init(&intruder.start, 0, 0);
    pthread_t thread = thread_start(intrude, &intruder);
    sem_post(&intruder.start);
    for (int turns = 0; ran(probe) == 0; turns++) {
        assert_true(turns < TURNS_MAX);
        stage->kind->turn(stage->loop, true);
    }
    thread_join(thread);
    sem_destroy(&intruder.start);
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
    tkw_manual_clock_advance(intruder->stage->scene.manual, HOUR);
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
    tkw_manual_clock_set(stage.scene.manual, 1100);
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
    tkw_manual_clock_set(stage.scene.manual, 1100);
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

/* For loops whose budget is a field of yours: any number is a good one. */
void a_budget_below_one_is_no_bound(void **state)
{
    for (int budget = -1; budget <= 0; budget++) {
        struct stage stage;
        unsigned fired = 0;
        stage_open(&stage, *state);
        stage.kind->limit(stage.loop, budget);
        for (int i = 0; i < 2 * LOOP_BUDGET; i++)
            assert_int_equal(
                tkw_service_arm(stage.scene.service, NULL, 100,
                                (struct tkw_task){count_call, &fired, NULL}),
                0);
        tkw_manual_clock_set(stage.scene.manual, 1100);
        stage.kind->turn(stage.loop, true);
        assert_int_equal(fired, 2 * LOOP_BUDGET);
        stage_close(&stage);
    }
}

static void arm_again_for_now(struct probe *probe)
{
    probe->answer =
        tkw_service_rearm(probe->scene->service, probe->firing.handle, 0);
}

/* It is due for ever, and so is the other event: each is called once a turn, as
   a libuv timer of 0 ms is. */
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
        assert_int_equal(ran(&probe) - before, 1);
        assert_int_equal(other.calls, turns);
    }
    assert_int_equal(tkw_service_cancel(stage.scene.service, probe.handle), 1);
    stage_rest(&stage);
    other_close(&other);
    stage_close(&stage);
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
