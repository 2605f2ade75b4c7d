/*
 * idle/monitor_threads_test.c - a monitor among threads: several that touch,
 * forget and add while time is turned and keys go silent, with every key
 * accounted for; when the driver sleeps, and what a submitted job tells.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/executor.h"
#include "support/idle.h"

enum {
    TALKERS = 3,
    KEYS_EACH = 300,
    SHARED = 20, /* keys that all talk about */
    KEYS = SHARED + TALKERS * KEYS_EACH,
    TURNS = 700,      /* of the clock */
    OPS = 14 * TURNS, /* of each talker */
    LIVES_MAX = 64
};

/* A key, and what became of it.  `lives` are those that did not end by being
   forgotten: the n-th that is told is the n-th of them. */
struct person {
    char name[16];
    atomic_uint added;
    atomic_uint forgotten;
    atomic_uint reported;
    _Atomic uint64_t touched_ns[LIVES_MAX]; /* by its talker, in each life */
};

struct crowd {
    struct stage stage;
    struct person people[KEYS];
    atomic_uint ops;   /* of all talkers ... */
    atomic_uint turns; /* ... who wait for the clock, and it for them */
    atomic_bool is_wrong;
    atomic_bool is_over;
};

struct talker {
    struct crowd *crowd;
    uint32_t first;
    uint64_t seed;
};

static struct tkw_key person_key(struct crowd *crowd, uint32_t i)
{
    if (i % 2 == 0)
        return tkw_key_number(i);
    return tkw_key_bytes(crowd->people[i].name, 5 + i % 11);
}

static uint32_t person_index(struct tkw_key key)
{
    uint32_t i = (uint32_t)key.number;
    if (key.bytes != NULL)
        memcpy(&i, key.bytes, sizeof i);
    return i;
}

static void note_silent(void *context, const struct tkw_idle_key *silent,
                        size_t count)
{
    struct crowd *crowd = context;
    uint64_t now = tkw_service_now(crowd->stage.scene.service);
    bool is_wrong = count < 1 || count > TKW_SILENT_MAX;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = person_index(silent[i].key);
        if (index >= KEYS) {
            atomic_store(&crowd->is_wrong, true);
            return;
        }
        struct person *person = &crowd->people[index];
        unsigned life = atomic_fetch_add(&person->reported, 1) + 1;
        is_wrong |= !is_same_key(silent[i].key, person_key(crowd, index));
        is_wrong |= now - silent[i].last_ns < silent[i].limit_ns;
        if (index >= SHARED && life < LIVES_MAX)
            is_wrong |=
                silent[i].last_ns < atomic_load(&person->touched_ns[life]);
    }
    if (is_wrong)
        atomic_store(&crowd->is_wrong, true);
}

/* Touch somebody, and write down when, if nobody else does. */
static bool touch_person(struct crowd *crowd, uint32_t i, bool has_limit)
{
    struct person *person = &crowd->people[i];
    struct tkw_key key = person_key(crowd, i);
    struct tkw_monitor *monitor = crowd->stage.monitor;
    uint64_t now = tkw_service_now(crowd->stage.scene.service);
    int answer = has_limit
                     ? tkw_monitor_touch_limit(monitor, key, TICK * (1 + i % 9))
                     : tkw_monitor_touch(monitor, key);
    if (answer == 1)
        atomic_fetch_add(&person->added, 1);
    if (i < SHARED || answer < 0)
        return answer >= 0;
    unsigned life =
        atomic_load(&person->added) - atomic_load(&person->forgotten);
    if (life < LIVES_MAX)
        atomic_store(&person->touched_ns[life], now);
    struct tkw_idle_key silent;
    return !tkw_monitor_query(monitor, key, &silent) || silent.last_ns >= now;
}

static void *talk(void *argument)
{
    struct talker *talker = argument;
    struct crowd *crowd = talker->crowd;
    for (unsigned op = 0; op < OPS; op++) {
        while (op / (OPS / TURNS) > atomic_load(&crowd->turns) + 1)
            sched_yield();
        uint64_t dice = random_below(&talker->seed, 100);
        uint32_t i =
            talker->first + (uint32_t)random_below(&talker->seed, KEYS_EACH);
        if (dice % 10 == 0)
            i = (uint32_t)random_below(&talker->seed, SHARED);
        if (dice < 85)
            dice = touch_person(crowd, i, dice < 10);
        else if (tkw_monitor_forget(crowd->stage.monitor, person_key(crowd, i)))
            atomic_fetch_add(&crowd->people[i].forgotten, 1);
        if (dice == 0)
            atomic_store(&crowd->is_wrong, true);
        atomic_fetch_add(&crowd->ops, 1);
    }
    return NULL;
}

static void read_names(void *context, const struct tkw_idle_key *silent,
                       size_t count)
{
    struct crowd *crowd = context;
    bool is_wrong = count < 1 || count > TKW_SILENT_MAX;
    for (size_t i = 0; i < count; i++)
        is_wrong |= person_index(silent[i].key) >= KEYS;
    if (is_wrong)
        atomic_store(&crowd->is_wrong, true);
}

/* Whoever asks meanwhile finds every key in one place. */
static void *audit(void *argument)
{
    struct crowd *crowd = argument;
    while (!atomic_load(&crowd->is_over)) {
        struct tkw_idle_stats f = tkw_monitor_read_stats(crowd->stage.monitor);
        if (f.added != f.forgotten + f.silent + f.keys || f.keys > KEYS)
            atomic_store(&crowd->is_wrong, true);
        tkw_monitor_walk(crowd->stage.monitor, read_names, crowd);
    }
    return NULL;
}

static void open_crowd(struct crowd *crowd, uint32_t workers)
{
    memset(crowd, 0, sizeof *crowd);
    stage_set(&crowd->stage, (struct tkw_service_config){.workers = workers});
    struct tkw_monitor_config config = stage_config(&crowd->stage);
    config.on_silent = note_silent;
    config.context = crowd;
    config.shards = 3;
    stage_open_monitor(&crowd->stage, config);
    for (uint32_t i = 0; i < KEYS; i++)
        memcpy(crowd->people[i].name, &i, sizeof i);
}

/* All are silent for long enough: wait until all were told, and see that each
   was told once for each time it was added and not forgotten. */
static void settle_accounts(struct crowd *crowd)
{
    struct tkw_idle_stats f;
    struct tkw_idle_stats sum = {.keys = 0};
    tkw_manual_clock_advance(crowd->stage.scene.manual, 3 * LIMIT);
    do {
        tkw_manual_clock_settle(crowd->stage.scene.manual);
        f = tkw_monitor_read_stats(crowd->stage.monitor);
    } while (f.keys > 0);
    assert_int_equal(tkw_monitor_close(crowd->stage.monitor), 0);
    for (size_t i = 0; i < KEYS; i++) {
        struct person *person = &crowd->people[i];
        assert_int_equal(atomic_load(&person->added),
                         atomic_load(&person->forgotten) +
                             atomic_load(&person->reported));
        sum.added += atomic_load(&person->added);
        sum.forgotten += atomic_load(&person->forgotten);
        sum.silent += atomic_load(&person->reported);
    }
    assert_int_equal(f.added, sum.added);
    assert_int_equal(f.forgotten, sum.forgotten);
    assert_int_equal(f.silent, sum.silent);
    assert_true(sum.forgotten > OPS / 100);
    assert_true(sum.silent > KEYS);
    assert_false(atomic_load(&crowd->is_wrong));
}

/* Time goes on as the talkers do, so that each is heard of about once in its
   limit: some fall silent, some do not. */
static void every_key_is_accounted_for(void **state)
{
    (void)state;
    static struct crowd crowd;
    for (uint32_t workers = 0; workers <= 2; workers += 2) {
        struct talker talkers[TALKERS];
        pthread_t threads[TALKERS];
        open_crowd(&crowd, workers);
        pthread_t auditor = thread_start(audit, &crowd);
        for (uint32_t i = 0; i < TALKERS; i++) {
            talkers[i] = (struct talker){&crowd, SHARED + i * KEYS_EACH, i};
            threads[i] = thread_start(talk, &talkers[i]);
        }
        for (unsigned turn = 0; turn < TURNS; turn++) {
            tkw_manual_clock_advance(crowd.stage.scene.manual, 37);
            atomic_store(&crowd.turns, turn);
            while (atomic_load(&crowd.ops) < turn * (TALKERS * OPS / TURNS))
                sched_yield();
        }
        for (size_t i = 0; i < TALKERS; i++)
            thread_join(threads[i]);
        atomic_store(&crowd.is_over, true);
        thread_join(auditor);
        settle_accounts(&crowd);
        account_done(&crowd.stage.account);
        scene_close(&crowd.stage.scene);
    }
}

/* While the service looks at one key, another is added that is to be told
   sooner than all others: the service must hear of it, whoever comes first. */
static void a_key_added_while_others_are_reported_is_not_late(void **state)
{
    (void)state;
    struct stage stage;
    stage_set(&stage, (struct tkw_service_config){0});
    stage_open_monitor(&stage, stage_config(&stage));
    struct tkw_monitor *monitor = stage.monitor;
    for (uint64_t round = 0; round < 1000; round++) {
        uint64_t at = round * 10 * LIMIT;
        stage_go(&stage, at);
        stage_add(&stage, 0, 2);
        tkw_monitor_touch_limit(monitor, mixed_key(1), 5 * LIMIT);
        tkw_manual_clock_set(stage.scene.manual, START + at + LIMIT);
        for (uint64_t i = 0; i < round % 64; i++)
            sched_yield();
        assert_int_equal(tkw_monitor_touch_limit(monitor, mixed_key(2), TICK),
                         1);
        tkw_manual_clock_set(stage.scene.manual, START + at + LIMIT + TICK);
        tkw_manual_clock_settle(stage.scene.manual);
        assert_false(tkw_monitor_query(monitor, mixed_key(0), NULL));
        assert_false(tkw_monitor_query(monitor, mixed_key(2), NULL));
        stage_go(&stage, at + 5 * LIMIT);
        assert_int_equal(stage.count, 3);
        stage.count = 0;
    }
    stage.count = 3000;
    stage_close(&stage);
}

struct adder {
    struct stage *stage;
    uint64_t first;
    unsigned added;
    int last;
};

static void *add_until_refused(void *argument)
{
    struct adder *adder = argument;
    do
        adder->last = tkw_monitor_touch(
            adder->stage->monitor, tkw_key_number(adder->first + adder->added));
    while (adder->last == 1 && ++adder->added < 10000);
    return NULL;
}

/* The limit is for all shards together, and exact whoever adds. */
static void the_most_keys_are_exact_among_threads(void **state)
{
    (void)state;
    struct stage stage;
    struct adder adders[4];
    pthread_t threads[4];
    unsigned sum = 0;
    stage_set(&stage, (struct tkw_service_config){.driver = TKW_DRIVER_NONE});
    struct tkw_monitor_config config = stage_config(&stage);
    config.idle.keys_max = 2001;
    config.shards = 5;
    stage_open_monitor(&stage, config);
    for (size_t i = 0; i < 4; i++) {
        adders[i] = (struct adder){&stage, (uint64_t)i << 32, 0, 0};
        threads[i] = thread_start(add_until_refused, &adders[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        thread_join(threads[i]);
        assert_int_equal(adders[i].last, -EAGAIN);
        sum += adders[i].added;
    }
    assert_int_equal(sum, 2001);
    assert_int_equal(tkw_monitor_count(stage.monitor), 2001);
    stage_close(&stage);
}

/* With a thread of the service, an hour in which nobody can fall silent does
   not wake it. */
static void the_driver_sleeps_while_nobody_can_fall_silent(void **state)
{
    (void)state;
    struct stage stage;
    stage_set(&stage, (struct tkw_service_config){0});
    stage_open_monitor(&stage, stage_config(&stage));
    assert_int_equal(
        tkw_monitor_touch_limit(stage.monitor, mixed_key(0), TKW_NO_LIMIT), 1);
    stage_go(&stage, 1);
    uint64_t before = tkw_service_read_stats(stage.scene.service).wakeups;
    for (uint64_t second = 1; second <= 3600; second++)
        stage_go(&stage, second * TKW_SECOND);
    assert_int_equal(tkw_service_read_stats(stage.scene.service).wakeups,
                     before);
    stage_add(&stage, 1, 1);
    assert_int_equal(stage_go(&stage, 3600 * TKW_SECOND + LIMIT), 1);
    stage_close(&stage);
}

/* A job that waits hands out what is silent when it runs, not when it was
   submitted. */
static void by_submit_a_touch_still_counts(void **state)
{
    (void)state;
    static struct tray tray;
    struct stage stage;
    struct tkw_job job;
    tray_init(&tray, 8);
    stage_set(&stage, (struct tkw_service_config){.driver = TKW_DRIVER_NONE,
                                                  .submit = tray_submit,
                                                  .submit_context = &tray});
    struct tkw_monitor_config config = stage_config(&stage);
    config.executor = TKW_BY_SUBMIT;
    stage_open_monitor(&stage, config);
    stage_add(&stage, 0, 10);
    assert_int_equal(stage_go(&stage, LIMIT), 0);
    assert_int_equal(tkw_monitor_touch(stage.monitor, mixed_key(3)), 0);
    assert_true(tkw_monitor_forget(stage.monitor, mixed_key(4)));
    while (tray_take(&tray, &job))
        tkw_job_run(&job);
    assert_int_equal(stage.count, 8);
    assert_int_equal(tkw_monitor_count(stage.monitor), 1);
    stage_go(&stage, 2 * LIMIT);
    assert_true(tray_take(&tray, &job));
    tkw_job_run(&job);
    assert_int_equal(stage.index[8], 3);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_accounted_for),
        cmocka_unit_test(a_key_added_while_others_are_reported_is_not_late),
        cmocka_unit_test(the_most_keys_are_exact_among_threads),
        cmocka_unit_test(the_driver_sleeps_while_nobody_can_fall_silent),
        cmocka_unit_test(by_submit_a_touch_still_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
