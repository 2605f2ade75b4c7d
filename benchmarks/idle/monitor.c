/*
 * idle/monitor.c - the monitor of monitor.h, in real time: touched at random by
 * some threads as fast as they can.
 */
#include <stdlib.h>
#include <tickwheel/monitor.h>

#include "bench.h"
#include "service/bench.h"

void idle_none_is_silent(void *context, const struct tkw_idle_key *silent,
                         size_t count)
{
    (void)context;
    (void)silent;
    (void)count;
    fail("keeping keys that were touched");
}

struct run {
    const struct idle_monitor_setting *setting;
    struct tkw_monitor *monitor;
    _Atomic unsigned started;
};

static void touch(struct tkw_monitor *monitor, uint32_t id, int answer)
{
    if (tkw_monitor_touch(monitor, tkw_key_number(id)) != answer)
        fail("a touch");
}

static void *touch_at_random(void *argument)
{
    struct run *run = argument;
    const struct idle_load *load = run->setting->load;
    unsigned number = run->started++;
    size_t at = load->order_count / THREADS_MAX * number;
    for (size_t i = 0; i < run->setting->touches; i++) {
        touch(run->monitor, load->order[at], 0);
        at = at + 1 < load->order_count ? at + 1 : 0;
    }
    return NULL;
}

void idle_monitor_run(const void *argument, double *values)
{
    const struct idle_monitor_setting *setting = argument;
    size_t keys = setting->load->keys;
    struct tkw_service *service = open_service(0, 0);
    struct tkw_monitor_config config = {.idle = {.limit_ns = IDLE_LIMIT_NS},
                                        .on_silent = idle_none_is_silent};
    struct run run = {.setting = setting};
    double bytes = resident_bytes();
    if (tkw_monitor_open(&run.monitor, service, &config) != 0)
        fail("open");
    for (size_t id = 0; id < keys; id++)
        touch(run.monitor, (uint32_t)id, 1);
    values[KEY_BYTES] = (resident_bytes() - bytes) / (double)keys;

    uint64_t cpu = cpu_ns();
    uint64_t began = now_ns();
    in_threads(setting->threads, touch_at_random, &run);
    double touches = (double)setting->touches * setting->threads;
    values[TOUCH_NS] = (double)(cpu_ns() - cpu) / touches;
    values[MEGA_TOUCHES] = touches * 1e3 / (double)(now_ns() - began);
    if (tkw_monitor_count(run.monitor) != keys)
        fail("holding all keys");
    tkw_monitor_close(run.monitor);
    tkw_service_close(service, NULL, NULL);
}
