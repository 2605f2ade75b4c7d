/*
 * pauses.c - SIGSTOP and SIGCONT every few seconds, from a child to its parent:
 * all threads stand still while the clocks go on.
 *
 * The child is never ended by force while the parent lives: it might be between
 * the two signals, and who is stopped stays so.
 */
#define _GNU_SOURCE

#include "pauses.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../model/random.h"
#include "watch.h"

#define MILLISECOND UINT64_C(1000000)

/* In memory that both share. */
static struct shared {
    atomic_bool is_over;
    atomic_uint_fast64_t count;
    atomic_uint_fast64_t ns;
} * shared;

static pid_t child;

static _Noreturn void be_child(pid_t parent, struct random random)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent && !atomic_load(&shared->is_over)) {
        uint64_t rest = 500 + random_below(&random, 4000);
        for (; rest > 50 && !atomic_load(&shared->is_over); rest -= 50)
            sleep_ns(50 * MILLISECOND);
        if (atomic_load(&shared->is_over) || getppid() != parent)
            break;
        uint64_t ns = (10 + random_below(&random, 290)) * MILLISECOND;
        kill(parent, SIGSTOP);
        sleep_ns(ns);
        kill(parent, SIGCONT);
        atomic_fetch_add(&shared->count, 1);
        atomic_fetch_add(&shared->ns, ns);
    }
    _exit(0);
}

void pauses_start(uint64_t seed)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    DEMAND(shared != MAP_FAILED, "there is no memory to share");
    pid_t parent = getpid();
    child = fork();
    DEMAND(child >= 0, "there is no child");
    if (child == 0)
        be_child(parent, (struct random){seed});
}

uint64_t pauses_count(void)
{
    return shared != NULL ? atomic_load(&shared->count) : 0;
}

uint64_t pauses_ns(void)
{
    return shared != NULL ? atomic_load(&shared->ns) : 0;
}

void pauses_stop(void)
{
    if (shared == NULL)
        return;
    atomic_store(&shared->is_over, true);
    while (waitpid(child, NULL, 0) != child)
        continue;
}
