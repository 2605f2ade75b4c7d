/*
 * os/clock_set_test.c - a service on TKW_WALL when the system's wall clock is
 * set.
 *
 * A test must not set the clock of the machine.  The linker wraps the calls by
 * which the library reads the wall clock and sets, arms and reads timer
 * descriptors.  The wrappers simulate the kernel (timerfd_create(2)):
 *
 *   - The wall clock stands still until a test turns it or sets it.
 *   - A descriptor is readable from the time on that it was armed for.
 *   - Setting the clock cancels each timer that was armed with
 *     TFD_TIMER_CANCEL_ON_SET: its descriptor is readable at once, and the next
 *     read() or timerfd_settime() of it fails with ECANCELED.
 *   - Setting the clock back only delays every other timer.
 */
#include "os/system.h"

#include <limits.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "support/service.h"

#define START (1000000 * TKW_SECOND)
#define LONG_MS 60000 /* only a test that fails waits so long */

/* A timer descriptor on the wall clock. */
struct wall_timer {
    bool is_wall;
    bool cancels;      /* armed with TFD_TIMER_CANCEL_ON_SET */
    bool is_cancelled; /* the clock was set, and nobody was notified yet */
    uint64_t until;    /* 0: not armed */
};

static struct {
    pthread_mutex_t lock;
    uint64_t now;
    struct wall_timer timers[64]; /* by descriptor */
    atomic_uint armed;            /* calls of timerfd_settime() */
    _Atomic uint64_t step_to; /* the next of these calls sets the clock first,
                                 unless this is 0 */
} machine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The linker wants these names. */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
#if defined(__GLIBC__) && LONG_MAX == INT_MAX
/* There times of 64 bits have functions of their own. */
#define __real_timerfd_settime __real___timerfd_settime64
#define __wrap_timerfd_settime __wrap___timerfd_settime64
#define __real_clock_gettime __real___clock_gettime64
#define __wrap_clock_gettime __wrap___clock_gettime64
#endif
int __real_clock_gettime(clockid_t id, struct timespec *now);
int __real_timerfd_create(int clock, int flags);
int __real_timerfd_settime(int timer, int flags, const struct itimerspec *time,
                           struct itimerspec *before);
ssize_t __real_read(int fd, void *bytes, size_t count);

int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_settime(int timer, int flags, const struct itimerspec *time,
                           struct itimerspec *before);
ssize_t __wrap_read(int fd, void *bytes, size_t count);

static void machine_set_clock(uint64_t now);

/* Make a descriptor readable, or not, as the simulated clock demands.  The
 * real timer is armed for a time that has passed, or disarmed. */
static void timer_show(int fd)
{
    const struct wall_timer *timer = &machine.timers[fd];
    bool has_come = timer->until != 0 && timer->until <= machine.now;
    struct itimerspec past = {.it_value.tv_nsec =
                                  has_come || timer->is_cancelled};
    __real_timerfd_settime(fd, TFD_TIMER_ABSTIME, &past, NULL);
}

/* Returns whether the timer was cancelled; the caller is notified by that. */
static bool timer_take_cancelled(int fd)
{
    bool was_cancelled = machine.timers[fd].is_cancelled;
    machine.timers[fd].is_cancelled = false;
    return was_cancelled;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    if (id != CLOCK_REALTIME)
        return __real_clock_gettime(id, now);
    pthread_mutex_lock(&machine.lock);
    now->tv_sec = (time_t)(machine.now / TKW_SECOND);
    now->tv_nsec = (long)(machine.now % TKW_SECOND);
    pthread_mutex_unlock(&machine.lock);
    return 0;
}

int __wrap_timerfd_create(int clock, int flags)
{
    int fd = __real_timerfd_create(clock, flags);
    if (fd < 0 || fd >= (int)COUNT_OF(machine.timers))
        abort();
    pthread_mutex_lock(&machine.lock);
    machine.timers[fd] =
        (struct wall_timer){.is_wall = clock == CLOCK_REALTIME};
    pthread_mutex_unlock(&machine.lock);
    return fd;
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *time,
                           struct itimerspec *before)
{
    struct wall_timer *timer = &machine.timers[fd];
    if (!timer->is_wall)
        return __real_timerfd_settime(fd, flags, time, before);
    uint64_t step_to = atomic_exchange(&machine.step_to, 0);
    if (step_to != 0)
        machine_set_clock(step_to);
    pthread_mutex_lock(&machine.lock);
    timer->until = (uint64_t)time->it_value.tv_sec * TKW_SECOND +
                   (uint64_t)time->it_value.tv_nsec;
    timer->cancels = (flags & TFD_TIMER_CANCEL_ON_SET) != 0;
    bool was_cancelled = timer_take_cancelled(fd) && timer->cancels;
    timer_show(fd);
    pthread_mutex_unlock(&machine.lock);
    atomic_fetch_add(&machine.armed, 1);
    errno = was_cancelled ? ECANCELED : 0;
    return was_cancelled ? -1 : 0;
}

ssize_t __wrap_read(int fd, void *bytes, size_t count)
{
    if (fd >= (int)COUNT_OF(machine.timers) || !machine.timers[fd].is_wall)
        return __real_read(fd, bytes, count);
    pthread_mutex_lock(&machine.lock);
    bool was_cancelled = timer_take_cancelled(fd);
    ssize_t result = -1;
    if (was_cancelled) {
        timer_show(fd);
        errno = ECANCELED;
    } else {
        result = __real_read(fd, bytes, count);
    }
    pthread_mutex_unlock(&machine.lock);
    return result;
}

/* NOLINTEND(bugprone-reserved-identifier) */

/* Show another time, with the lock: because time has passed, or because the
 * clock was set. */
static void show_locked(uint64_t now, bool is_set)
{
    machine.now = now;
    for (int fd = 0; fd < (int)COUNT_OF(machine.timers); fd++) {
        struct wall_timer *timer = &machine.timers[fd];
        timer->is_cancelled |= is_set && timer->cancels;
        if (timer->is_wall)
            timer_show(fd);
    }
}

static void machine_set_clock(uint64_t now)
{
    pthread_mutex_lock(&machine.lock);
    show_locked(now, true);
    pthread_mutex_unlock(&machine.lock);
}

static void machine_advance(uint64_t ns)
{
    pthread_mutex_lock(&machine.lock);
    show_locked(machine.now + ns, false);
    pthread_mutex_unlock(&machine.lock);
}

/* Wait until the driver has armed its timer `times` times. */
static void await_sleeps(unsigned times)
{
    while (atomic_load(&machine.armed) < times)
        sched_yield();
}

/* A service on the simulated clock.  Each event is written to a descriptor. */
struct stage {
    struct tkw_service *service;
    int logged; /* the log hook was called */
    int ran;    /* the callback was called */
    int asked;  /* `submit` was called */
    atomic_uint refused;
};

static void stage_note(int fd)
{
    uint64_t one = 1;
    (void)!write(fd, &one, sizeof one);
}

static void note_log(void *context, const char *message)
{
    struct stage *stage = context;
    if (strcmp(message, "the clock went back") == 0)
        stage_note(stage->logged);
}

static void note_run(void *argument, const struct tkw_firing *firing)
{
    const struct stage *stage = argument;
    (void)firing;
    stage_note(stage->ran);
}

/* A tkw_submit that refuses the first job it gets. */
static int refuse_first(void *context, const struct tkw_job *job)
{
    struct stage *stage = context;
    stage_note(stage->asked);
    if (atomic_fetch_add(&stage->refused, 1) == 0)
        return -EAGAIN;
    tkw_job_run(job);
    return 0;
}

static void stage_open(struct stage *stage, struct tkw_service_config config)
{
    *stage = (struct stage){.logged = eventfd(0, EFD_NONBLOCK),
                            .ran = eventfd(0, EFD_NONBLOCK),
                            .asked = eventfd(0, EFD_NONBLOCK)};
    memset(machine.timers, 0, sizeof machine.timers);
    machine.now = START;
    atomic_store(&machine.armed, 0);
    atomic_store(&machine.step_to, 0);
    config.clock_kind = TKW_WALL;
    config.shards = 1;
    config.log = note_log;
    config.context = stage;
    config.submit_context = stage;
    assert_int_equal(tkw_service_open(&stage->service, &config), 0);
}

static void stage_arm(struct stage *stage, uint64_t time)
{
    struct tkw_task task = {.callback = note_run, .argument = stage};
    assert_int_equal(tkw_service_arm_at(stage->service, NULL, time, task), 0);
}

static void stage_close(struct stage *stage)
{
    assert_int_equal(tkw_service_close(stage->service, NULL, NULL), 0);
    close(stage->logged);
    close(stage->ran);
    close(stage->asked);
}

/* If the driver slept on, the log hook would report the step an hour late or
   never: by then the clock shows the old time again. */
static void a_sleeping_driver_sees_the_clock_set_back(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, (struct tkw_service_config){0});
    await_sleeps(1);
    stage_arm(&stage, START + HOUR);
    await_sleeps(2);
    machine_set_clock(START - HOUR);
    assert_true(is_readable_within(stage.logged, LONG_MS));
    await_sleeps(3);
    assert_int_equal(tkw_service_read_stats(stage.service).steps_back, 1);
    assert_false(is_readable(stage.ran));
    machine_advance(2 * HOUR);
    assert_true(is_readable_within(stage.ran, LONG_MS));
    stage_close(&stage);
}

/* The driver offers a refused job again with the next tick.  If the driver
   slept on, a clock that is set back by an hour would delay the job by an
   hour. */
static void a_refused_job_is_not_delayed_by_the_clock_set_back(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, (struct tkw_service_config){.submit = refuse_first});
    await_sleeps(1);
    stage_arm(&stage, TKW_SECOND);
    assert_true(is_readable_within(stage.asked, LONG_MS));
    await_sleeps(2);
    assert_false(is_readable(stage.ran));
    machine_set_clock(START - HOUR);
    assert_true(is_readable_within(stage.ran, LONG_MS));
    stage_close(&stage);
}

/* The clock is set after the driver has read it and before it sleeps.  Then it
   is timerfd_settime() that reports the step, and poll() would not. */
static void a_step_just_before_the_driver_sleeps_is_seen(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, (struct tkw_service_config){0});
    await_sleeps(1);
    atomic_store(&machine.step_to, START - HOUR);
    stage_arm(&stage, START + HOUR);
    assert_true(is_readable_within(stage.logged, LONG_MS));
    machine_advance(2 * HOUR);
    assert_true(is_readable_within(stage.ran, LONG_MS));
    stage_close(&stage);
}

/* If the descriptor stayed silent, an event loop would sleep on in the same
   way. */
static void an_event_loop_sees_the_clock_set_back(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, (struct tkw_service_config){.driver = TKW_DRIVER_NONE});
    int fd = tkw_service_fd(stage.service);
    assert_true(fd >= 0);
    stage_arm(&stage, START + HOUR);
    assert_int_equal(tkw_service_run(stage.service, 0), 0);
    assert_false(is_readable(fd));
    machine_set_clock(START - HOUR);
    assert_true(is_readable(fd));
    assert_int_equal(tkw_service_run(stage.service, 0), 0);
    assert_true(is_readable(stage.logged));
    assert_int_equal(tkw_service_read_stats(stage.service).steps_back, 1);
    /* When run() aims the descriptor, timerfd_settime() reports the step once
       more. */
    while (is_readable(fd))
        assert_int_equal(tkw_service_run(stage.service, 0), 0);
    machine_advance(2 * HOUR);
    while (!is_readable(stage.ran)) {
        assert_true(is_readable(fd));
        assert_true(tkw_service_run(stage.service, 0) >= 0);
    }
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sleeping_driver_sees_the_clock_set_back),
        cmocka_unit_test(a_refused_job_is_not_delayed_by_the_clock_set_back),
        cmocka_unit_test(a_step_just_before_the_driver_sleeps_is_seen),
        cmocka_unit_test(an_event_loop_sees_the_clock_set_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
