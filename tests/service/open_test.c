/*
 * service/open_test.c - opening a service, each thing that can be wrong with
 * its configuration, what its thread is like, and running without one.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static void assert_refused(const struct tkw_service_config *config)
{
    struct tkw_service *mark = (struct tkw_service *)&mark;
    struct tkw_service *service = mark;
    assert_int_equal(tkw_service_open(&service, config), -EINVAL);
    assert_ptr_equal(service, mark);
    const char *fault = tkw_service_config_fault(config);
    assert_non_null(fault);
    assert_true(strlen(fault) > 10);
}

/* Which field it is can be told. */
static void what_is_wrong_with_a_configuration_is_said(void **state)
{
    (void)state;
    static const struct {
        struct tkw_service_config config;
        const char *word;
    } cases[] = {
        {{.shards = 100}, "shards"},
        {{.driver = (enum tkw_driver)9}, "driver"},
        {{.clock_kind = (enum tkw_clock_kind)9}, "clock"},
        {{.workers = 1025}, "workers"},
        {{.queue_max = (1 << 24) + 1}, "queue_max"},
        {{.executor = TKW_ON_WORKERS}, "executor"},
        {{.executor = TKW_BY_SUBMIT}, "executor"},
        {{.executor = (enum tkw_executor)9}, "executor"},
        {{.reserved = {1, 0, 0, 0}}, "reserved"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_refused(&cases[i].config);
        assert_non_null(
            strstr(tkw_service_config_fault(&cases[i].config), cases[i].word));
    }
    assert_null(tkw_service_config_fault(&(struct tkw_service_config){0}));
}

/* What is wrong is refused, and the pointer left alone. */
static void each_wrong_configuration_is_refused(void **state)
{
    (void)state;
    static const struct tkw_service_config wrong[] = {
        {.geometry = {.sizes = {1}}},
        {.geometry = {.sizes = {20, 0, 20}}},
        {.geometry = {.beyond = 2}},
        {.geometry = {.sizes = {UINT32_MAX}, .beyond = TKW_ROUNDS}},
        {.shards = TKW_SHARDS_MAX + 1},
        {.shards = UINT32_MAX},
        {.driver = (enum tkw_driver)2},
        {.clock_kind = (enum tkw_clock_kind)3},
        {.reserved = {1, 0, 0, 0}},
        {.reserved = {0, 1, 0, 0}},
        {.reserved = {0, 0, 1, 0}},
        {.reserved = {0, 0, 0, UINT64_MAX}},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_refused(&wrong[i]);
}

/* An allocator or a clock that lacks a function would be called at NULL. */
static void half_an_allocator_or_clock_is_refused(void **state)
{
    (void)state;
    struct account account;
    struct tkw_manual_clock *manual;
    account_init(&account);
    assert_int_equal(tkw_manual_clock_open(&manual, 0), 0);
    for (int lacks = 0; lacks < 2; lacks++) {
        struct tkw_allocator half = account.allocator;
        if (lacks == 0)
            half.allocate = NULL;
        else
            half.release = NULL;
        assert_refused(&(struct tkw_service_config){.allocator = &half});
    }
    for (int lacks = 0; lacks < 3; lacks++) {
        struct tkw_clock half = *tkw_manual_clock_source(manual);
        if (lacks == 0)
            half.now = NULL;
        else if (lacks == 1)
            half.wait_until = NULL;
        else
            half.wake = NULL;
        assert_refused(&(struct tkw_service_config){
            .clock = &half, .allocator = &account.allocator});
    }
    tkw_manual_clock_close(manual);
    account_done(&account);
}

/* NULL and {0} open; closing nothing is fine; every number of shards goes. */
static void every_good_configuration_opens(void **state)
{
    (void)state;
    static const struct tkw_service_config good[] = {
        {0},
        {.driver = TKW_DRIVER_NONE},
        {.shards = 1},
        {.shards = TKW_SHARDS_MAX},
        {.tick_ns = 1},
        {.tick_ns = UINT64_MAX},
        {.geometry = {.sizes = {512}, .beyond = TKW_ROUNDS}},
        {.clock_kind = TKW_BOOTTIME},
        {.clock_kind = TKW_WALL},
        {.timers_max = 1},
        {.thread_name = ""},
        {.thread_name = "a name that is longer than any thread may have"},
    };
    struct tkw_service *service = NULL;
    assert_int_equal(tkw_service_close(NULL, NULL, NULL), 0);
    assert_int_equal(tkw_service_open(&service, NULL), 0);
    assert_int_equal(tkw_service_count(service), 0);
    assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_int_equal(tkw_service_open(&service, &good[i]), 0);
        assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
    }
}

/* The default tick is 100 us: a nanosecond more waits for the next. */
static void the_default_tick_is_100_us(void **state)
{
    (void)state;
    const uint64_t tick = 100 * TKW_MICROSECOND;
    struct scene scene;
    struct probe on = {0}, past = {0};
    scene_open(&scene, 0,
               (struct tkw_service_config){.driver = TKW_DRIVER_NONE});
    probe_arm(&scene, &on, tick);
    probe_arm(&scene, &past, tick + 1);
    assert_int_equal(scene_go(&scene, tick - 1), 0);
    assert_int_equal(scene_go(&scene, tick), 1);
    assert_int_equal(scene_go(&scene, 2 * tick - 1), 0);
    assert_int_equal(scene_go(&scene, 2 * tick), 1);
    scene_close(&scene);
}

/* All that a service allocates comes from its allocator, and goes back. */
static void memory_comes_from_the_allocator_and_goes_back(void **state)
{
    (void)state;
    struct scene scene;
    scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
    assert_true(account_bytes(&scene.account) > 0);
    scene_close(&scene); /* which looks at the account */
}

/* What the thread of a service found out about itself. */
struct thread_facts {
    atomic_uint starts;
    atomic_bool ran_before_start;
    pthread_t starter, runner;
    char name[17];
    sigset_t mask;
};

static void note_start(void *context)
{
    struct thread_facts *facts = context;
    facts->starter = pthread_self();
    atomic_fetch_add(&facts->starts, 1);
}

static void note_thread(void *argument, const struct tkw_firing *firing)
{
    struct thread_facts *facts = argument;
    (void)firing;
    if (atomic_load(&facts->starts) == 0)
        atomic_store(&facts->ran_before_start, true);
    facts->runner = pthread_self();
    prctl(PR_GET_NAME, facts->name);
    pthread_sigmask(SIG_BLOCK, NULL, &facts->mask);
}

static void learn_facts(struct thread_facts *facts, const char *name)
{
    struct scene scene;
    memset(facts, 0, sizeof *facts);
    scene_open(&scene, 0,
               (struct tkw_service_config){.thread_name = name,
                                           .thread_start = note_start,
                                           .context = facts});
    assert_int_equal(
        tkw_service_arm(scene.service, NULL, 0,
                        (struct tkw_task){note_thread, facts, NULL}),
        0);
    scene_rest(&scene);
    scene_close(&scene);
}

/* thread_start is called first, once, by the thread that calls back. */
static void thread_start_is_called_first_by_the_thread(void **state)
{
    (void)state;
    struct thread_facts facts;
    learn_facts(&facts, NULL);
    assert_int_equal(atomic_load(&facts.starts), 1);
    assert_false(atomic_load(&facts.ran_before_start));
    assert_true(pthread_equal(facts.starter, facts.runner));
    assert_false(pthread_equal(facts.runner, pthread_self()));
}

/* A thread in a list of threads says whose it is. */
static void the_thread_has_the_name_it_was_given(void **state)
{
    (void)state;
    struct thread_facts facts;
    learn_facts(&facts, NULL);
    assert_string_equal(facts.name, "tickwheel");
    learn_facts(&facts, "sandglass");
    assert_string_equal(facts.name, "sandglass");
}

/* A signal for the program must not land in the service's thread. */
static void the_thread_takes_no_signals(void **state)
{
    (void)state;
    static const int signals[] = {SIGHUP,  SIGINT,  SIGTERM, SIGALRM, SIGUSR1,
                                  SIGUSR2, SIGCHLD, SIGPIPE, SIGQUIT};
    struct thread_facts facts;
    sigset_t before, after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    learn_facts(&facts, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        assert_int_equal(sigismember(&facts.mask, signals[i]), 1);
        assert_int_equal(sigismember(&after, signals[i]),
                         sigismember(&before, signals[i]));
    }
}

/* Too few descriptors are an answer, and cost none of those there are. */
static void too_few_descriptors_are_an_answer(void **state)
{
    (void)state;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int kind = TKW_MONOTONIC; kind <= TKW_WALL; kind++) {
        struct tkw_service_config config = {.clock_kind =
                                                (enum tkw_clock_kind)kind};
        int error = -EMFILE, before = open_descriptors();
        for (rlim_t most = 0; error == -EMFILE; most++) {
            struct tkw_service *service = NULL;
            struct rlimit few = {most, limit.rlim_max};
            assert_true(most < 64);
            assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
            error = tkw_service_open(&service, &config);
            setrlimit(RLIMIT_NOFILE, &limit);
            assert_true(error == 0 ? service != NULL : service == NULL);
            assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
        }
        assert_int_equal(error, 0);
        assert_int_equal(open_descriptors(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_with_a_configuration_is_said),
        cmocka_unit_test(each_wrong_configuration_is_refused),
        cmocka_unit_test(half_an_allocator_or_clock_is_refused),
        cmocka_unit_test(every_good_configuration_opens),
        cmocka_unit_test(the_default_tick_is_100_us),
        cmocka_unit_test(memory_comes_from_the_allocator_and_goes_back),
        cmocka_unit_test(thread_start_is_called_first_by_the_thread),
        cmocka_unit_test(the_thread_has_the_name_it_was_given),
        cmocka_unit_test(the_thread_takes_no_signals),
        cmocka_unit_test(too_few_descriptors_are_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
