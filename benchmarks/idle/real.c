/*
 * idle/real.c - the steady load in real time: what a monitor takes of a
 * processor.
 *
 * A key's timer comes round only every 30 s.  Not to wait that long, the
 * service has a clock that is ahead of the system's, by more and more while the
 * first half minute is played quickly; then it goes on as the system's does.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <tickwheel/monitor.h>
#include <time.h>

#include "bench.h"
#include "service/bench.h"

#define STEP_NS (10 * TKW_MILLISECOND) /* between packets that are read */
#define FIRST_NS (35 * TKW_SECOND)     /* that are played quickly */

struct ahead {
    struct tkw_clock clock;
    _Atomic uint64_t by_ns;
    pthread_mutex_t mutex;
    pthread_cond_t woken;
    bool is_woken; /* mutex */
};

static uint64_t ahead_now(void *context)
{
    struct ahead *ahead = context;
    return now_ns() + ahead->by_ns;
}

static void ahead_wait_until(void *context, uint64_t time)
{
    struct ahead *ahead = context;
    uint64_t by = ahead->by_ns;
    uint64_t until = time > by ? time - by : 0;
    struct timespec spec = {(time_t)(until / TKW_SECOND),
                            (long)(until % TKW_SECOND)};
    pthread_mutex_lock(&ahead->mutex);
    if (!ahead->is_woken && time == UINT64_MAX)
        pthread_cond_wait(&ahead->woken, &ahead->mutex);
    else if (!ahead->is_woken)
        pthread_cond_timedwait(&ahead->woken, &ahead->mutex, &spec);
    ahead->is_woken = false;
    pthread_mutex_unlock(&ahead->mutex);
}

static void ahead_wake(void *context)
{
    struct ahead *ahead = context;
    pthread_mutex_lock(&ahead->mutex);
    ahead->is_woken = true;
    pthread_cond_signal(&ahead->woken);
    pthread_mutex_unlock(&ahead->mutex);
}

static void ahead_init(struct ahead *ahead)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    *ahead = (struct ahead){.clock = {.now = ahead_now,
                                      .wait_until = ahead_wait_until,
                                      .wake = ahead_wake,
                                      .context = ahead}};
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->woken, &attributes);
}

static void ahead_turn(struct ahead *ahead, uint64_t by_ns)
{
    ahead->by_ns += by_ns;
    ahead_wake(ahead);
}

struct real {
    const struct idle_real_setting *setting;
    struct ahead ahead;
    struct tkw_monitor *monitor;
    uint64_t start_ns;
    size_t touched;
};

/* Touch whoever was to be heard of by now. */
static void catch_up(struct real *real)
{
    const struct idle_load *load = real->setting->load;
    uint64_t now = ahead_now(&real->ahead) - real->start_ns;
    for (; real->touched * load->gap_ns <= now; real->touched++) {
        uint32_t id = load->order[real->touched % load->order_count];
        if (!real->setting->is_touching)
            __asm__ volatile("" ::"r"(id) : "memory");
        else if (tkw_monitor_touch(real->monitor, tkw_key_number(id)) < 0)
            fail("a touch");
    }
}

static void measure(struct real *real, double *values)
{
    uint64_t for_ns = real->setting->for_ns;
    uint64_t checks = tkw_monitor_read_stats(real->monitor).checks;
    size_t touched = real->touched;
    uint64_t cpu = cpu_ns();
    uint64_t began = now_ns();
    for (uint64_t step = 1; step * STEP_NS <= for_ns; step++) {
        uint64_t due = began + step * STEP_NS;
        uint64_t now = now_ns();
        if (now < due)
            sleep_ns(due - now);
        catch_up(real);
    }
    double seconds = (double)(now_ns() - began) / 1e9;
    values[0] = (double)(cpu_ns() - cpu) / 1e7 / seconds;
    checks = tkw_monitor_read_stats(real->monitor).checks - checks;
    values[1] = (double)(real->touched - touched) / seconds;
    values[2] = (double)checks / seconds;
}

void idle_real_run(const void *argument, double *values)
{
    struct real real = {.setting = argument};
    ahead_init(&real.ahead);
    struct tkw_service *service;
    struct tkw_service_config service_config = {.clock = &real.ahead.clock};
    struct tkw_monitor_config config = {.idle = {.limit_ns = IDLE_LIMIT_NS},
                                        .on_silent = idle_none_is_silent};
    if (tkw_service_open(&service, &service_config) != 0 ||
        tkw_monitor_open(&real.monitor, service, &config) != 0)
        fail("open");

    real.start_ns = ahead_now(&real.ahead);
    while (ahead_now(&real.ahead) - real.start_ns < FIRST_NS) {
        ahead_turn(&real.ahead, STEP_NS);
        catch_up(&real);
    }
    sleep_ns(10 * STEP_NS); /* for the service to catch up as well */
    catch_up(&real);
    measure(&real, values);
    tkw_monitor_close(real.monitor);
    tkw_service_close(service, NULL, NULL);
}
