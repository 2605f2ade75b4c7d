/*
 * sched_misuse_test.c - whoever uses a mutex, a cond or a thread wrongly is
 * told so by the scheduler, and how.
 */
#include "sched_shared.h"

static void unlocks_what_it_does_not_hold(void)
{
    prepare();
    sync_unlock(&shared.a);
}

static void locks_twice(void)
{
    prepare();
    sync_lock(&shared.a);
    sync_lock(&shared.a);
}

static void destroys_what_it_holds(void)
{
    prepare();
    sync_lock(&shared.a);
    sync_mutex_destroy(&shared.a);
}

static void let_others_block(void)
{
    sync_lock(&shared.b);
    tkw__sync_wait_until(&shared.never, &shared.b, 1);
    sync_unlock(&shared.b);
}

static void destroys_what_is_wanted(void)
{
    prepare();
    sync_lock(&shared.a);
    sched_spawn(add_locked, NULL);
    let_others_block();
    sync_unlock(&shared.a);
    sync_mutex_destroy(&shared.a);
}

static void destroys_what_is_waited_for(void)
{
    prepare();
    sched_spawn(await_inside, NULL);
    let_others_block();
    sync_cond_destroy(&shared.cond);
}

static void locks_what_is_destroyed(void)
{
    prepare();
    sync_mutex_destroy(&shared.a);
    sync_lock(&shared.a);
}

static void broadcasts_to_what_is_destroyed(void)
{
    prepare();
    sync_cond_destroy(&shared.cond);
    sync_broadcast(&shared.cond);
}

static void waits_without_the_mutex(void)
{
    prepare();
    sync_wait(&shared.cond, &shared.a);
}

static void ends_holding(void)
{
    prepare();
    sync_lock(&shared.a);
}

static void leaves_a_thread(void)
{
    prepare();
    sched_spawn(add_well, NULL);
}

static void joins_twice(void)
{
    prepare();
    unsigned other = sched_spawn(add_well, NULL);
    sched_join(other);
    sched_join(other);
}

static void joins_itself(void)
{
    sched_join(0);
}

static void waits_for_ever(void)
{
    prepare();
    sync_lock(&shared.a);
    tkw__sync_wait_until(&shared.cond, &shared.a, UINT64_MAX);
}

static void runs_for_ever(void)
{
    for (;;)
        SYNC_POINT();
}

static void starts_too_many(void)
{
    prepare();
    for (int i = 0; i < SCHED_THREADS_MAX; i++)
        sched_join(sched_spawn(add_well, NULL));
}

static void aborts(void)
{
    SYNC_POINT();
    abort();
}

static void each_misuse_is_reported(void **state)
{
    (void)state;
    assert_finds(unlocks_what_it_does_not_hold, 0, "does not hold");
    assert_finds(locks_twice, 0, "deadlock: thread 0 locks a mutex it holds");
    assert_finds(destroys_what_it_holds, 0, "destroys a mutex held by");
    assert_finds(destroys_what_is_wanted, 0, "destroys a mutex wanted by");
    assert_finds(destroys_what_is_waited_for, 0, "destroys a cond that");
    assert_finds(locks_what_is_destroyed, 0, "locks a mutex that does not");
    assert_finds(broadcasts_to_what_is_destroyed, 0, "a cond that does not");
    assert_finds(waits_without_the_mutex, 0, "waits with a mutex it does not");
    assert_finds(ends_holding, 0, "ends holding a mutex");
    assert_finds(leaves_a_thread, 0, "thread 1 was not joined");
    assert_finds(joins_twice, 0, "joined twice");
    assert_finds(joins_itself, 0, "thread 0 joins thread 0");
    assert_finds(waits_for_ever, 0, "deadlock: thread 0 waits for a cond");
    assert_finds(runs_for_ever, 0, "does not end within 20000 steps");
    assert_finds(starts_too_many, 0, "more than 32 threads");
    assert_finds(aborts, 0, "it crashed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_misuse_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
