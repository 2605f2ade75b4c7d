/*
 * core.c - a user of the core alone: no threads.
 */
#include <stddef.h>

#include <tickwheel/pool.h>

int main(void)
{
    struct tkw_pool *pool;
    struct tkw_pool_timer timer;
    if (tkw_pool_open(&pool, NULL) != 0)
        return 1;
    tkw_pool_arm(pool, NULL, 90000, (struct tkw_user){.word = 7});
    tkw_pool_advance(pool, 90000);
    int status = tkw_pool_pop(pool, &timer) && timer.user.word == 7 ? 0 : 1;
    tkw_pool_close(pool);
    return status;
}
