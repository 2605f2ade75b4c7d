/*
 * os/lock_order_test.c - a thread that takes two locks in the wrong order, or
 * calls back with a lock held, ends with an assertion.
 */
#undef NDEBUG

#include "support/core.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/lock_order.h"

static const enum order orders[] = {ORDER_MONITOR, ORDER_PURGATORY, ORDER_SHARD,
                                    ORDER_SERVICE, ORDER_LEAF};

typedef void action(enum order first, enum order second);

/* Returns whether `act` ends a process of its own by an assertion. */
static bool is_asserted(action *act, enum order first, enum order second)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGABRT, SIG_DFL);
        assert_non_null(freopen("/dev/null", "w", stderr));
        act(first, second);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) || WTERMSIG(status) == SIGABRT);
    return WIFSIGNALED(status);
}

static void lock_both(enum order first, enum order second)
{
    struct sync_mutex a, b;
    sync_mutex_init(&a);
    sync_mutex_init(&b);
    order_lock(&a, first);
    order_lock(&b, second);
    order_unlock(&b, second);
    order_unlock(&a, first);
    order_assert_free();
}

/* A lock that is further up in the list, or of the same kind, is not taken. */
static void locks_are_taken_in_their_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(orders); i++)
        for (size_t k = 0; k < COUNT_OF(orders); k++)
            assert_true(is_asserted(lock_both, orders[i], orders[k]) ==
                        (k <= i));
}

static void call_back(enum order first, enum order second)
{
    struct sync_mutex mutex;
    (void)second;
    sync_mutex_init(&mutex);
    order_lock(&mutex, first);
    order_assert_free();
}

/* No callback is called with a lock held. */
static void callbacks_are_called_without_a_lock(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(orders); i++)
        assert_true(is_asserted(call_back, orders[i], orders[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks_are_taken_in_their_order),
        cmocka_unit_test(callbacks_are_called_without_a_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
