/*
 * support/service.h - what the tests of the service share: a service on a clock
 * that is turned by hand, timers that write down what became of them, a gate to
 * hold a callback in, and an allocator that keeps account.
 *
 * Callbacks may run in another thread, where nothing can be asserted: they only
 * write down, and the test asserts when the service is at rest.
 */
#ifndef TESTS_SUPPORT_SERVICE_H
#define TESTS_SUPPORT_SERVICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <tickwheel/service.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define HOUR (3600 * TKW_SECOND)

/* An allocator for any thread; what comes back must have the size it had. */
struct account {
    struct tkw_allocator allocator;
    pthread_mutex_t lock;
    uint64_t calls; /* of allocate, failed ones included */
    uint64_t blocks;
    uint64_t bytes;      /* out now */
    uint64_t fails_from; /* the number of the first call that fails, from 1 */
    uint64_t fails_count;
};

#define FOR_EVER UINT64_MAX

void account_init(struct account *account);

/* From here on: the next `skip` calls succeed, the `count` after them fail. */
void account_fail(struct account *account, uint64_t skip, uint64_t count);
uint64_t account_bytes(struct account *account);

/* Nothing is out any more. */
void account_done(struct account *account);

/* Functions of an allocator that has nothing. */
void *no_memory(void *context, size_t bytes);
void no_release(void *context, void *memory, size_t bytes);

/* Without a driver and with one: what most tests are to try. */
extern const enum tkw_driver both[2];

/* A service and the hand-turned clock it goes by. */
struct scene {
    struct tkw_manual_clock *manual;
    struct tkw_service *service;
    struct account account;
    enum tkw_driver driver;
    atomic_uint turns; /* callbacks started so far */
};

/* The clock shows `now`; clock and allocator are filled in where NULL. */
void scene_open(struct scene *scene, uint64_t now,
                struct tkw_service_config config);

/* Like scene_open(), but `scene->hand` is a wall clock. */
void scene_open_wall(struct scene *scene, uint64_t now,
                     struct tkw_service_config config);

/* The same, with or without a driver, one shard, and a tick of 10. */
void scene_open_tens(struct scene *scene, uint64_t now, enum tkw_driver driver);

/* Let all that is due happen.  Returns how many callbacks were started; with a
   driver, those before the call are not seen. */
unsigned scene_rest(struct scene *scene);

/* Set the clock, and let all that is due happen. */
unsigned scene_go(struct scene *scene, uint64_t now);

/* What must hold at rest: one outcome per arming. */
void assert_conserved(struct scene *scene);

/* Close everything: what was pending is handed back, no byte is left. */
void scene_close(struct scene *scene);

/* A timer that writes down what became of it. */
struct probe {
    struct scene *scene;
    atomic_uint ran;
    atomic_uint dropped;
    unsigned place;           /* the how-manieth callback it was, last time */
    struct tkw_firing firing; /* what it was told, last time */
    uint64_t clock_ns;        /* what the clock said then */
    int answer;               /* for act() to leave something behind */
    int second;
    tkw_handle handle; /* as armed, for others */
    struct probe *other;
    struct gate *gate;
    uint64_t delay_ns;
    void (*act)(struct probe *probe);         /* called in the callback ... */
    void (*act_on_drop)(struct probe *probe); /* ... and when dropped */
};

struct tkw_task probe_task(struct scene *scene, struct probe *probe);

/* Arm it; it must not fail. */
tkw_handle probe_arm(struct scene *scene, struct probe *probe, uint64_t delay);
tkw_handle probe_arm_at(struct scene *scene, struct probe *probe,
                        uint64_t time);

/* How often it ran so far. */
unsigned ran(struct probe *probe);
unsigned dropped(struct probe *probe);

void assert_state(struct scene *scene, tkw_handle handle,
                  enum tkw_state expected);

/* Pending or ready: which of them, between coming due and being called, is
   for the service to say. */
void assert_waiting(struct scene *scene, tkw_handle handle);

/* A place to hold a callback in: act() of a probe whose `gate` this is. */
struct gate {
    sem_t entered;
    sem_t leave;
    atomic_bool passed; /* the callback has left */
};

void gate_init(struct gate *gate);
void gate_hold(struct probe *probe);
void gate_await(struct gate *gate); /* until a callback is in it */
void gate_open(struct gate *gate);
void gate_done(struct gate *gate);

/* A timer with a gate, armed and in its callback when this returns: due at
   once, in the service's thread. */
tkw_handle gate_enter(struct scene *scene, struct probe *probe,
                      struct gate *gate);

/* Start a thread; join it. */
pthread_t thread_start(void *(*function)(void *), void *argument);
void thread_join(pthread_t thread);

/* A thread that calls cancel_sync, and what it found when that returned. */
struct canceller {
    struct probe *held; /* armed, with a gate */
    int answer;
    bool had_passed; /* the callback was over */
    atomic_bool returned;
};

/* The function of that thread. */
void *cancel_and_see(void *canceller);

/* act() of a probe: the first time, arm it again in 100 and wait for its own
   end.  What they say goes to `second` and to `answer`. */
void rearm_then_cancel_sync_itself(struct probe *probe);

/* Give others plenty of chances to do what they must not do. */
void have_patience(void);

/* How many descriptors the process has. */
int open_descriptors(void);

/* Whether it is readable now, and nothing else; or within so many
   milliseconds. */
bool is_readable(int fd);
bool is_readable_within(int fd, int ms);

#endif
