#define _GNU_SOURCE

#include "durable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#ifdef TKD_HAS_ROCKSDB

#include <store/rocks.h>

#define NS_PER_SECOND UINT64_C(1000000000)

enum { BOOT_ID_SIZE = 16, UUID_SIZE = 36 };

_Static_assert((int)TKD_ROCKS_WHY_MAX <= (int)TKD_DURABLE_FAULT_MAX,
               "a line fits");
_Static_assert(BOOT_ID_SIZE + 8 == (int)TKD_BOOT_SIZE, "no gap");

/* Called by the threads of the store.  If the counter of the descriptor is
 * full, it is readable anyway. */
static void wake(void *context)
{
    const struct tkd_durable *durable = context;
    uint64_t one = 1;
    ssize_t size = write(durable->wake_fd, &one, sizeof one);
    (void)size;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Store the number of this boot.  If the system does not say, it is 0: then no
 * restart counts as one on the same boot. */
static bool read_boot_id(unsigned char id[BOOT_ID_SIZE])
{
    char text[UUID_SIZE];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    memset(id, 0, BOOT_ID_SIZE);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, text, sizeof text);
    close(fd);
    size_t digits = 0;
    for (ssize_t i = 0; i < size && digits < (size_t)2 * BOOT_ID_SIZE; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0)
            continue;
        id[digits / 2] = (unsigned char)(id[digits / 2] << 4 | digit);
        digits++;
    }
    return digits == (size_t)2 * BOOT_ID_SIZE;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Set the clock after a boot. */
static bool set_after_boot(const struct tkd_durable_config *config,
                           struct tkd_clock *clock, uint64_t stored_ns,
                           char fault[TKD_DURABLE_FAULT_MAX])
{
    uint64_t now_ns = tkd_clock_now(clock);
    uint64_t jump_s = distance(now_ns, stored_ns) / NS_PER_SECOND;
    if (jump_s > config->max_jump_s && !config->accepts_time) {
        snprintf(fault, TKD_DURABLE_FAULT_MAX,
                 "%s: the clock is %" PRIu64 " s %s the time of this store; "
                 "set the clock, or give --accept-time",
                 config->directory, jump_s,
                 now_ns > stored_ns ? "ahead of" : "behind");
        return false;
    }
    if (now_ns < stored_ns)
        clock->anchor_ns += stored_ns - now_ns;
    return true;
}

/* Continue the time of the store. */
static bool continue_time(struct tkd_durable *durable,
                          const struct tkd_durable_config *config,
                          struct tkd_clock *clock,
                          char fault[TKD_DURABLE_FAULT_MAX])
{
    uint64_t stored_ns;
    unsigned char stored[TKD_BOOT_SIZE];
    unsigned char id[BOOT_ID_SIZE];
    bool has_id = read_boot_id(id);
    if (tkd_engine_stored_time(durable->store, &stored_ns, stored)) {
        if (has_id && memcmp(id, stored, sizeof id) == 0)
            memcpy(&clock->anchor_ns, stored + sizeof id, 8);
        else if (!set_after_boot(config, clock, stored_ns, fault))
            return false;
    }
    memcpy(durable->boot, id, sizeof id);
    memcpy(durable->boot + sizeof id, &clock->anchor_ns, 8);
    return true;
}

bool tkd_durable_open(struct tkd_durable *durable,
                      const struct tkd_durable_config *config,
                      struct tkd_clock *clock,
                      char fault[TKD_DURABLE_FAULT_MAX])
{
    struct tkd_rocks_config rocks = {
        .allocator = config->allocator,
        .directory = config->directory,
        .sync_ms = config->sync_ms,
        .disk_spare = config->disk_reserve,
        .is_strict = config->is_strict,
        .wake = wake,
        .wake_context = durable,
    };
    durable->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (durable->wake_fd < 0) {
        snprintf(fault, TKD_DURABLE_FAULT_MAX, "cannot make a descriptor: %s",
                 strerror(errno));
        return false;
    }
    return tkd_rocks_open(&durable->store, &rocks, fault) == 0 &&
           continue_time(durable, config, clock, fault);
}

bool tkd_durable_check(const char *directory,
                       char report[TKD_DURABLE_FAULT_MAX])
{
    uint64_t jobs;
    if (!tkd_rocks_check(directory, &jobs, report))
        return false;
    snprintf(report, TKD_DURABLE_FAULT_MAX, "%s: sound, jobs: %" PRIu64,
             directory, jobs);
    return true;
}

#else

static bool refuse(char fault[TKD_DURABLE_FAULT_MAX])
{
    snprintf(fault, TKD_DURABLE_FAULT_MAX,
             "-b: this tickwheeld was built without RocksDB; build it with "
             "librocksdb-dev, or omit -b");
    return false;
}

bool tkd_durable_open(struct tkd_durable *durable,
                      const struct tkd_durable_config *config,
                      struct tkd_clock *clock,
                      char fault[TKD_DURABLE_FAULT_MAX])
{
    (void)durable;
    (void)config;
    (void)clock;
    return refuse(fault);
}

bool tkd_durable_check(const char *directory,
                       char report[TKD_DURABLE_FAULT_MAX])
{
    (void)directory;
    return refuse(report);
}

#endif

void tkd_durable_close(struct tkd_durable *durable)
{
    tkd_store_close(durable->store);
    durable->store = NULL;
    if (durable->wake_fd >= 0)
        close(durable->wake_fd);
    durable->wake_fd = -1;
}
