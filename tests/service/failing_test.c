/*
 * service/failing_test.c - memory, threads and descriptors that are not to be
 * had, each in turn.
 *
 * The calls by which the library asks the system for them are wrapped by the
 * linker.
 */
#include "os/system.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <tickwheel/service.h>

#include "service/private.h"
#include "support/service.h"

static struct {
    size_t until; /* calls that succeed; the next one fails */
    bool is_for_ever;
    size_t count;       /* calls so far */
    long balance;       /* pieces of memory that are allocated */
    int error;          /* of a thread or a descriptor */
    long processors;    /* that there seem to be; 0: as many as there are */
    bool clock_was_set; /* the next that sets a timer is told so */
} fate;

static bool is_refused(void)
{
    size_t number = fate.count++;
    return fate.is_for_ever ? number >= fate.until : number == fate.until;
}

/* The linker wants these names. */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
#if defined(__GLIBC__) && LONG_MAX == INT_MAX
/* There times of 64 bits have a function of their own. */
#define __real_timerfd_settime __real___timerfd_settime64
#define __wrap_timerfd_settime __wrap___timerfd_settime64
#endif
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void __real_free(void *memory);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);
int __real_timerfd_create(int clock, int flags);
int __real_timerfd_settime(int timer, int flags, const struct itimerspec *time,
                           struct itimerspec *before);
int __real_eventfd(unsigned count, int flags);
long __real_sysconf(int name);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void __wrap_free(void *memory);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);
int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_settime(int timer, int flags, const struct itimerspec *time,
                           struct itimerspec *before);
int __wrap_eventfd(unsigned count, int flags);
long __wrap_sysconf(int name);

void *__wrap_malloc(size_t bytes)
{
    if (is_refused())
        return NULL;
    fate.balance++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    if (is_refused())
        return NULL;
    fate.balance++;
    return __real_calloc(count, bytes);
}

void __wrap_free(void *memory)
{
    fate.balance -= memory != NULL;
    __real_free(memory);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    if (is_refused())
        return EAGAIN;
    return __real_pthread_create(thread, attributes, run, argument);
}

int __wrap_timerfd_create(int clock, int flags)
{
    if (!is_refused())
        return __real_timerfd_create(clock, flags);
    errno = fate.error;
    return -1;
}

int __wrap_timerfd_settime(int timer, int flags, const struct itimerspec *time,
                           struct itimerspec *before)
{
    int result = __real_timerfd_settime(timer, flags, time, before);
    if (!fate.clock_was_set)
        return result;
    fate.clock_was_set = false;
    errno = ECANCELED; /* as the system says it, the timer being set */
    return -1;
}

long __wrap_sysconf(int name)
{
    return fate.processors != 0 ? fate.processors : __real_sysconf(name);
}

int __wrap_eventfd(unsigned count, int flags)
{
    if (!is_refused())
        return __real_eventfd(count, flags);
    errno = fate.error;
    return -1;
}

/* NOLINTEND(bugprone-reserved-identifier) */

/* Open and close a service, a call being refused.  Returns what open said. */
static int open_with_one_refused(enum tkw_clock_kind kind, size_t until,
                                 bool is_for_ever)
{
    struct tkw_service_config config = {.clock_kind = kind, .shards = 3};
    struct tkw_service *service = NULL;
    fate.until = until;
    fate.is_for_ever = is_for_ever;
    fate.count = 0;
    fate.balance = 0;
    fate.error = until % 2 != 0 ? EMFILE : ENFILE;
    int error = tkw_service_open(&service, &config);
    if (error == 0)
        assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
    else
        assert_null(service);
    return error;
}

/*
 * Whatever is refused while a service is opened, the error is told, and all
 * that was got is given back.
 */
static void opening_gives_back_what_it_got(void **state)
{
    (void)state;
    const enum tkw_clock_kind kinds[] = {TKW_MONOTONIC, TKW_BOOTTIME, TKW_WALL};
    for (unsigned i = 0; i < 2 * COUNT_OF(kinds); i++) {
        int before = open_descriptors();
        int error = -1;
        for (size_t until = 0; error != 0; until++) {
            error = open_with_one_refused(kinds[i / 2], until, i % 2 != 0);
            assert_true(error == 0 || error == -ENOMEM || error == -EAGAIN ||
                        error == -fate.error);
            assert_int_equal(fate.balance, 0);
            assert_int_equal(open_descriptors(), before);
            assert_true(until < 100);
        }
    }
}

/* Each kind of refusal is told as itself. */
static void a_refusal_is_returned(void **state)
{
    (void)state;
    /* The service, its clock, a shard and what is in it, then the thread. */
    struct tkw_service_config config = {.clock_kind = TKW_BOOTTIME,
                                        .shards = 1};
    bool was_returned[3] = {false};
    int error = -1;
    for (size_t until = 0; error != 0; until++) {
        struct tkw_service *service;
        fate.until = until;
        fate.is_for_ever = false;
        fate.count = 0;
        fate.error = EMFILE;
        error = tkw_service_open(&service, &config);
        if (error == 0)
            tkw_service_close(service, NULL, NULL);
        was_returned[0] |= error == -ENOMEM;
        was_returned[1] |= error == -EMFILE;
        was_returned[2] |= error == -EAGAIN;
    }
    assert_true(was_returned[0]);
    assert_true(was_returned[1]);
    assert_true(was_returned[2]);
}

static void do_nothing(void *argument, const struct tkw_firing *firing)
{
    (void)argument;
    (void)firing;
}

/* An arming that is refused memory has changed nothing, and the next goes. */
static void arming_without_memory_changes_nothing(void **state)
{
    (void)state;
    struct tkw_service *service;
    struct tkw_service_config config = {.shards = 1};
    struct tkw_task task = {do_nothing, NULL, NULL};
    fate.until = SIZE_MAX;
    fate.is_for_ever = false;
    assert_int_equal(tkw_service_open(&service, &config), 0);

    size_t refused = 0;
    for (size_t i = 0; i < 100000; i++) {
        tkw_handle handle = 77;
        size_t before = tkw_service_count(service);
        fate.count = 0;
        fate.until = 0;
        fate.is_for_ever = true;
        int error = tkw_service_arm(service, &handle, TKW_SECOND * 600, task);
        fate.is_for_ever = false;
        fate.until = SIZE_MAX;
        if (error == 0)
            continue;
        refused++;
        assert_int_equal(error, -ENOMEM);
        assert_int_equal(handle, 77);
        assert_int_equal(tkw_service_count(service), before);
        assert_int_equal(
            tkw_service_arm(service, &handle, TKW_SECOND * 600, task), 0);
    }
    assert_true(refused > 3); /* segments of records, and chunks */
    assert_int_equal(tkw_service_count(service), 100000);
    tkw_service_close(service, NULL, NULL);
}

/* A shard for each processor: at least one, and not too many. */
static void shards_are_as_many_as_processors(void **state)
{
    (void)state;
    const struct {
        long processors;
        uint32_t shards;
    } cases[] = {{-1, 1}, {1, 1}, {2, 2}, {16, 16}, {17, 16}, {4096, 16}};
    fate.until = SIZE_MAX;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tkw_service *service;
        fate.processors = cases[i].processors;
        assert_int_equal(tkw_service_open(&service, NULL), 0);
        assert_int_equal(service->shard_count, cases[i].shards);
        tkw_service_close(service, NULL, NULL);
    }
    fate.processors = 0;
}

/* The hand-turned clock is memory too. */
static void a_hand_without_memory_is_an_error(void **state)
{
    (void)state;
    struct tkw_manual_clock *manual = NULL;
    fate.count = 0;
    fate.until = 0;
    assert_int_equal(tkw_manual_clock_open(&manual, 0), -ENOMEM);
    assert_null(manual);
    fate.until = SIZE_MAX;
    assert_int_equal(tkw_manual_clock_open(&manual, 0), 0);
    tkw_manual_clock_close(manual);
}

/* Somebody sets the wall clock between our reading it and aiming the
   descriptor: it must be readable, or the step would not be seen. */
static void a_step_while_aiming_makes_the_descriptor_readable(void **state)
{
    (void)state;
    struct tkw_service *service;
    struct tkw_service_config config = {.clock_kind = TKW_WALL,
                                        .driver = TKW_DRIVER_NONE};
    fate.until = SIZE_MAX;
    fate.is_for_ever = false;
    assert_int_equal(tkw_service_open(&service, &config), 0);
    int fd = tkw_service_fd(service);
    assert_true(fd >= 0);
    assert_int_equal(tkw_service_arm(service, NULL, 3600 * TKW_SECOND,
                                     (struct tkw_task){.callback = do_nothing}),
                     0);
    assert_false(is_readable(fd));
    fate.clock_was_set = true;
    assert_int_equal(tkw_service_run(service, 0), 0);
    assert_true(is_readable(fd));
    assert_int_equal(tkw_service_run(service, 0), 0);
    assert_false(is_readable(fd));
    tkw_service_close(service, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_gives_back_what_it_got),
        cmocka_unit_test(a_refusal_is_returned),
        cmocka_unit_test(arming_without_memory_changes_nothing),
        cmocka_unit_test(shards_are_as_many_as_processors),
        cmocka_unit_test(a_hand_without_memory_is_an_error),
        cmocka_unit_test(a_step_while_aiming_makes_the_descriptor_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
