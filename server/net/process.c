#define _GNU_SOURCE

#include "process.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <tickwheel/version.h>
#include <unistd.h>

#define NS_PER_SECOND UINT64_C(1000000000)

/* Descriptors that are no connections: standard ones, sockets that listen,
 * those of the loop, and some to spare. */
enum { DESCRIPTORS_KEPT = 64 };

/* Connections if the system sets no limit. */
enum { CONNECTIONS_MAX = 1 << 20 };

void tkd_process_init(struct tkd_process *process, uint64_t id)
{
    *process = (struct tkd_process){0};
    uname(&process->names);
    snprintf(process->id, sizeof process->id, "%016" PRIx64, id);
    process->facts.version = TKW_VERSION;
    process->facts.id = process->id;
    process->facts.hostname = process->names.nodename;
    process->facts.os = process->names.version;
    process->facts.platform = process->names.machine;
    process->facts.pid = (uint64_t)getpid();
}

static uint64_t microseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

void tkd_process_describe(struct tkd_process *process,
                          struct tkd_engine *engine, uint64_t now_ns)
{
    if (process->refreshed_ns != 0 &&
        now_ns - process->refreshed_ns < NS_PER_SECOND)
        return;
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        process->facts.user_us = microseconds(&usage.ru_utime);
        process->facts.system_us = microseconds(&usage.ru_stime);
    }
    process->refreshed_ns = now_ns;
    tkd_engine_describe(engine, &process->facts);
}

uint32_t tkd_process_connections_max(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return CONNECTIONS_MAX;
    rlim_t soft = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        limit.rlim_cur = soft;
    if (limit.rlim_cur > CONNECTIONS_MAX)
        return CONNECTIONS_MAX;
    uint32_t descriptors = (uint32_t)limit.rlim_cur;
    return descriptors > 2 * DESCRIPTORS_KEPT ? descriptors - DESCRIPTORS_KEPT
                                              : descriptors / 2;
}
