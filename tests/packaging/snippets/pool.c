/* pool.c - the snippets of pool.h. */
#include <tickwheel/pool.h>

#include "harness.h"

static void *hung_up;
static tkw_tick woken_at;

static void hang_up(void *connection)
{
    hung_up = connection;
}

static void sleep_until(tkw_tick tick)
{
    woken_at = tick;
}

/* What is postponed is hung up on 30,000 ticks after that, not before; and
 * whoever sleeps as long as they are told gets there. */
static void hangs_up_on_what_was_postponed(void)
{
    int theirs, *connection = &theirs;
    tkw_tick now = 0;

#include "pool.1.1"

    must(error == 0);

#include "pool.1.2"

    must(error == 0);
    must(tkw_pool_query(pool, handle, NULL) == TKW_PENDING);
    now = 10000;

#include "pool.1.3"

    while (hung_up == NULL) {
#include "pool.1.4"
        must((hung_up != NULL) == (now >= 40000));
        now = woken_at;
    }
    must(hung_up == connection && woken_at == TKW_NEVER);
    must(tkw_pool_query(pool, handle, NULL) == TKW_DONE);
    tkw_pool_close(pool);
}

#define printf note

static void walks_over_all_that_is_armed(void)
{
    struct tkw_pool *pool;
    must(tkw_pool_open(&pool, NULL) == 0);
    for (tkw_tick deadline = 7; deadline <= 9; deadline++)
        tkw_pool_arm(pool, NULL, deadline, (struct tkw_user){0});

#include "pool.2.1"

    must(strstr(noted(), "due at 7\n") != NULL);
    must(strstr(noted(), "due at 8\n") != NULL);
    must(strstr(noted(), "due at 9\n") != NULL);
    must(strlen(noted()) == 3 * strlen("due at 7\n"));
    tkw_pool_close(pool);
}

int main(void)
{
    hangs_up_on_what_was_postponed();
    walks_over_all_that_is_armed();
    return 0;
}
