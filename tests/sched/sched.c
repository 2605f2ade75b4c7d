/*
 * sched.c - threads that take turns, and what they wait for.
 *
 * A thread is runnable if its next step can be done: if the mutex it is about
 * to take is free, if the thread it joins has ended.  Whoever changes that says
 * so at once:
 *
 *     sync_lock()       takes the runnable bit of all others who want the mutex
 *     sync_unlock()     gives it to all who want the mutex
 *     sync_broadcast()  makes waiters wanters; the same if the mutex is free
 *     the end           gives it to the joiner
 *
 * So a thread that is picked never finds out that it should have been blocked,
 * and no two schedules differ only in who looked in vain.  An operation is done
 * after its step; but unlocking and starting before it, for the sake of what
 * follows them and ought to have come first.
 */
#include "sched.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coroutine.h"
#include "os/sync.h"
#include "schedule.h"

#ifndef TKW_SYNC
#error "build this with -DTKW_SYNC='\"sched/sync_scheduled.h\"'"
#endif

#define MUTEX_MARK 0x6d757478
#define COND_MARK 0x636f6e64

enum state { GOES_ON, WANTS_MUTEX, WAITS, JOINS, ENDED };

struct thread {
    struct coroutine coroutine;
    struct sync_self self;
    void (*run)(void *); /* one of these two */
    void *(*start)(void *);
    void *argument;
    const char *name;
    enum state state;
    struct sync_mutex *mutex; /* it WANTS, or had when it began to wait */
    struct sync_cond *cond;   /* it WAITS for ... */
    uint64_t until;           /* ... and how long */
    unsigned joined;          /* whom it JOINS */
    uint32_t joiner;          /* set of one or none */
    bool is_joined;
    uint32_t held_count;
};

/*
 * The one global: a scheduler stands for the machine, and code under test has
 * no way to say which.  Threads keep their stacks from schedule to schedule.
 */
static struct {
    struct schedule *schedule; /* NULL: none is being run */
    struct coroutine outside;  /* who runs it */
    struct sync_self self_outside;
    char what_outside[SCHEDULE_WHAT_MAX];
    struct thread threads[SCHED_THREADS_MAX];
    unsigned thread_count;
    unsigned ended_count;
    unsigned current;
    uint32_t runnable; /* set */
    uint64_t now;
} world;

static uint32_t bit(unsigned number)
{
    return UINT32_C(1) << number;
}

static struct thread *current_thread(void)
{
    return &world.threads[world.current];
}

bool schedule_is_running(void)
{
    return world.schedule != NULL;
}

void schedule_fail(const char *format, ...)
{
    char *what = world.what_outside;
    va_list arguments;

    if (world.schedule != NULL)
        what = world.schedule->what;
    va_start(arguments, format);
    /* clang-tidy 14 forgets va_start() where it is given several files. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(what, SCHEDULE_WHAT_MAX, format, arguments);
    va_end(arguments);
    if (world.schedule == NULL) {
        fprintf(stderr, "%s, outside of any schedule\n", what);
        abort();
    }
    world.schedule->has_failed = true;
    coroutine_switch(&current_thread()->coroutine, &world.outside);
    abort();
}

void sched_fail(const char *file, int line, const char *text)
{
    schedule_fail("%s:%d: thread %u requires %s", file, line, world.current,
                  text);
}

static _Noreturn void fail_deadlocked(void)
{
    static const char *const reasons[] = {
        [GOES_ON] = "goes on",
        [WANTS_MUTEX] = "wants a mutex",
        [WAITS] = "waits for a cond",
        [JOINS] = "joins a thread",
        [ENDED] = "ended",
    };
    char text[400] = "";
    size_t length = 0;

    for (unsigned i = 0; i < world.thread_count; i++) {
        const struct thread *thread = &world.threads[i];
        if (thread->state == ENDED || length >= sizeof text)
            continue;
        int more = snprintf(
            text + length, sizeof text - length, "%s thread %u%s%s %s",
            length > 0 ? "," : "", i, thread->name != NULL ? " " : "",
            thread->name != NULL ? thread->name : "", reasons[thread->state]);
        length += more > 0 ? (size_t)more : 0;
    }
    schedule_fail("deadlock:%s", text);
}

/* The mutex is all that a thread misses from now on. */
static void want(unsigned number, struct sync_mutex *mutex)
{
    world.threads[number].state = WANTS_MUTEX;
    world.threads[number].mutex = mutex;
    mutex->wanted |= bit(number);
    if (mutex->holder == 0)
        world.runnable |= bit(number);
    else
        world.runnable &= ~bit(number);
}

static void wake(unsigned number)
{
    struct thread *thread = &world.threads[number];

    thread->cond->waiters &= ~bit(number);
    want(number, thread->mutex);
}

/*
 * Nobody can run: go to the time of the earliest timeout.  Whose mutex is held
 * by someone blocked stays blocked, so this may take several.
 */
static void let_time_pass(void)
{
    while (world.runnable == 0) {
        uint64_t next = UINT64_MAX;

        for (unsigned i = 0; i < world.thread_count; i++)
            if (world.threads[i].state == WAITS &&
                world.threads[i].until < next)
                next = world.threads[i].until;
        if (next == UINT64_MAX)
            fail_deadlocked();
        world.now = next;
        for (unsigned i = 0; i < world.thread_count; i++)
            if (world.threads[i].state == WAITS &&
                world.threads[i].until <= next)
                wake(i);
    }
}

static unsigned choose(void)
{
    struct schedule *schedule = world.schedule;

    if (world.runnable == 0)
        let_time_pass();
    if ((world.runnable & (world.runnable - 1)) == 0)
        return (unsigned)__builtin_ctz(world.runnable);

    unsigned next =
        schedule->pick(schedule->context, world.current, world.runnable);
    assert((world.runnable & bit(next)) != 0);
    return next;
}

/* The place where others may come in. */
static void step(void)
{
    struct schedule *schedule = world.schedule;

    if (schedule->step_count == schedule->steps_max)
        schedule_fail("it does not end within %u steps",
                      (unsigned)schedule->steps_max);

    unsigned last = world.current, next = last;
    if (world.runnable != bit(last))
        next = choose();
    schedule->trace[schedule->step_count++] = (uint8_t)next;
    if (next == last)
        return;
    world.current = next;
    coroutine_switch(&world.threads[last].coroutine,
                     &world.threads[next].coroutine);
}

void sched_point(void)
{
    if (world.schedule != NULL)
        step();
}

static void require_inside(const char *what)
{
    if (world.schedule == NULL)
        schedule_fail("%s", what);
}

/* Bring the running thread to its end.  Returns when its stack is used for the
 * next thread. */
static void end(void)
{
    struct thread *self = current_thread();

    if (self->held_count > 0)
        schedule_fail("thread %u ends holding a mutex", world.current);
    self->state = ENDED;
    world.runnable &= ~bit(world.current);
    world.runnable |= self->joiner;
    if (++world.ended_count < world.thread_count)
        step();
    else
        coroutine_switch(&self->coroutine, &world.outside);
}

static void live(void *argument)
{
    struct thread *self = argument;

    for (;;) {
        if (self->run != NULL)
            self->run(self->argument);
        else
            self->start(self->argument);
        end();
    }
}

static struct thread *add_thread(void)
{
    if (world.thread_count == SCHED_THREADS_MAX)
        schedule_fail("more than %d threads", SCHED_THREADS_MAX);

    struct thread *thread = &world.threads[world.thread_count];
    if (thread->coroutine.stack == NULL)
        coroutine_make(&thread->coroutine, live, thread);
    thread->self = (struct sync_self){.number = world.thread_count + 1};
    thread->run = NULL;
    thread->start = NULL;
    thread->name = NULL;
    thread->state = GOES_ON;
    thread->joiner = 0;
    thread->is_joined = false;
    thread->held_count = 0;
    world.runnable |= bit(world.thread_count++);
    return thread;
}

static void run_scenario(void *argument)
{
    (void)argument;
    world.schedule->run();
}

static void find_unjoined(void)
{
    for (unsigned i = 1; i < world.thread_count; i++)
        if (!world.threads[i].is_joined && !world.schedule->has_failed) {
            world.schedule->has_failed = true;
            snprintf(world.schedule->what, sizeof world.schedule->what,
                     "thread %u was not joined", i);
        }
}

/* Those that did not come to their end begin with an empty stack next time; so
 * does the one that failed, which may have been about to end. */
static void abandon_threads(void)
{
    for (unsigned i = 0; i < world.thread_count; i++)
        if (world.threads[i].state != ENDED || i == world.current)
            coroutine_make(&world.threads[i].coroutine, live,
                           &world.threads[i]);
}

void schedule_run(struct schedule *schedule)
{
    assert(world.schedule == NULL);
    world.schedule = schedule;
    world.thread_count = world.ended_count = 0;
    world.current = 0;
    world.runnable = 0;
    world.now = 0;
    schedule->step_count = 0;
    schedule->has_failed = false;

    struct thread *first = add_thread();
    first->run = run_scenario;
    coroutine_switch(&world.outside, &first->coroutine);
    if (schedule->has_failed)
        abandon_threads();
    find_unjoined();
    world.schedule = NULL;
}

uint64_t sched_now(void)
{
    return world.now;
}

uint32_t tkw__sync_numbered;

struct sync_self *sync_self(void)
{
    return world.schedule != NULL ? &current_thread()->self
                                  : &world.self_outside;
}

unsigned sched_spawn(void (*run)(void *), void *argument)
{
    require_inside("a thread is started");
    unsigned number = world.thread_count;
    struct thread *thread = add_thread();
    thread->run = run;
    thread->argument = argument;
    step();
    return number;
}

int tkw__sync_start(struct sync_thread *thread, void *(*run)(void *),
                    void *argument, const char *name)
{
    require_inside("a thread is started");
    thread->number = world.thread_count;
    struct thread *added = add_thread();
    added->start = run;
    added->argument = argument;
    added->name = name;
    step();
    return 0;
}

void sched_join(unsigned number)
{
    require_inside("a thread is joined");
    if (number >= world.thread_count || number == world.current)
        schedule_fail("thread %u joins thread %u", world.current, number);

    struct thread *self = current_thread();
    struct thread *joined = &world.threads[number];
    if (joined->is_joined || joined->joiner != 0)
        schedule_fail("thread %u is joined twice", number);
    joined->joiner = bit(world.current);
    self->state = JOINS;
    if (joined->state != ENDED)
        world.runnable &= ~bit(world.current);
    step();
    self->state = GOES_ON;
    joined->is_joined = true;
}

void sync_join(struct sync_thread *thread)
{
    sched_join(thread->number);
}

static void require_mutex(const struct sync_mutex *mutex, const char *verb)
{
    require_inside("a mutex is used");
    if (mutex->mark != MUTEX_MARK)
        schedule_fail("thread %u %s a mutex that does not exist", world.current,
                      verb);
}

static void require_cond(const struct sync_cond *cond, const char *verb)
{
    require_inside("a cond is used");
    if (cond->mark != COND_MARK)
        schedule_fail("thread %u %s a cond that does not exist", world.current,
                      verb);
}

void sync_mutex_init(struct sync_mutex *mutex)
{
    *mutex = (struct sync_mutex){.mark = MUTEX_MARK};
}

void sync_mutex_destroy(struct sync_mutex *mutex)
{
    require_mutex(mutex, "destroys");
    if (mutex->holder != 0)
        schedule_fail("thread %u destroys a mutex held by thread %u",
                      world.current, mutex->holder - 1);
    if (mutex->wanted != 0)
        schedule_fail("thread %u destroys a mutex wanted by thread %d",
                      world.current, __builtin_ctz(mutex->wanted));
    mutex->mark = 0;
}

/* Take the mutex one WANTS, as one that was picked while it did. */
static void take(struct sync_mutex *mutex)
{
    assert(mutex->holder == 0);
    mutex->wanted &= ~bit(world.current);
    mutex->holder = world.current + 1;
    world.runnable &= ~mutex->wanted;
    current_thread()->state = GOES_ON;
    current_thread()->held_count++;
}

static void release(struct sync_mutex *mutex)
{
    mutex->holder = 0;
    world.runnable |= mutex->wanted;
    current_thread()->held_count--;
}

void sync_lock(struct sync_mutex *mutex)
{
    require_mutex(mutex, "locks");
    if (mutex->holder == world.current + 1)
        schedule_fail("deadlock: thread %u locks a mutex it holds",
                      world.current);
    want(world.current, mutex);
    step();
    take(mutex);
}

void sync_unlock(struct sync_mutex *mutex)
{
    require_mutex(mutex, "unlocks");
    if (mutex->holder != world.current + 1)
        schedule_fail("thread %u unlocks a mutex it does not hold",
                      world.current);
    release(mutex);
    step();
}

void tkw__sync_cond_init(struct sync_cond *cond)
{
    *cond = (struct sync_cond){.mark = COND_MARK};
}

void sync_cond_destroy(struct sync_cond *cond)
{
    require_cond(cond, "destroys");
    if (cond->waiters != 0)
        schedule_fail("thread %u destroys a cond that thread %d waits for",
                      world.current, __builtin_ctz(cond->waiters));
    cond->mark = 0;
}

void sync_wait(struct sync_cond *cond, struct sync_mutex *mutex)
{
    tkw__sync_wait_until(cond, mutex, UINT64_MAX);
}

void tkw__sync_wait_until(struct sync_cond *cond, struct sync_mutex *mutex,
                          uint64_t time)
{
    sched_point();
    require_cond(cond, "waits for");
    require_mutex(mutex, "waits with");
    if (mutex->holder != world.current + 1)
        schedule_fail("thread %u waits with a mutex it does not hold",
                      world.current);

    struct thread *self = current_thread();
    release(mutex);
    self->state = WAITS;
    self->mutex = mutex;
    self->cond = cond;
    self->until = time;
    cond->waiters |= bit(world.current);
    world.runnable &= ~bit(world.current);
    if (time <= world.now)
        wake(world.current);
    step();
    take(mutex);
}

void sync_broadcast(struct sync_cond *cond)
{
    sched_point();
    require_cond(cond, "broadcasts to");
    for (uint32_t left = cond->waiters; left != 0; left &= left - 1)
        wake((unsigned)__builtin_ctz(left));
}

/* Wakes the first of them; which one that is makes no difference to those who
   follow the rules, and is tried out by who waits first. */
void sync_signal(struct sync_cond *cond)
{
    sched_point();
    require_cond(cond, "signals");
    if (cond->waiters != 0)
        wake((unsigned)__builtin_ctz(cond->waiters));
}
