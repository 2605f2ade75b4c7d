/*
 * request_timeouts.c - handles: a pool of request timeouts, most of which are
 * cancelled, and what a handle answers when its timer is gone.
 */
#include <stdio.h>

#include <tickwheel/pool.h>

enum { REQUESTS = 6, TIMEOUT_MS = 250 };

struct request {
    int number;
    tkw_handle timeout;
};

/* Returns 0, or -ENOMEM with nothing armed. */
static int send_request(struct tkw_pool *pool, struct request *request)
{
    return tkw_pool_arm(pool, &request->timeout,
                        tkw_tick_after(tkw_pool_now(pool), TIMEOUT_MS),
                        (struct tkw_user){.pointer = request});
}

/* An answer has come; it may be too late, and that is no special case. */
static void take_answer(struct tkw_pool *pool, struct request *request)
{
    bool is_in_time = tkw_pool_cancel(pool, request->timeout);
    printf("request %d: answered%s\n", request->number,
           is_in_time ? "" : ", too late");
}

int main(void)
{
    struct request requests[REQUESTS];
    struct tkw_pool *pool;
    if (tkw_pool_open(&pool, NULL) != 0)
        return 1;

    for (int i = 0; i < REQUESTS; i++) {
        tkw_pool_advance(pool, 10 * (tkw_tick)i);
        requests[i].number = i;
        if (send_request(pool, &requests[i]) != 0)
            return 1;
    }
    for (int i = 0; i < REQUESTS; i += 2)
        take_answer(pool, &requests[i]);

    tkw_pool_advance(pool, 280);
    for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);) {
        const struct request *request = timer.user.pointer;
        printf("request %d: timed out at %d ms\n", request->number,
               (int)timer.deadline);
    }
    take_answer(pool, &requests[1]);

    printf("%zu pending\n", tkw_pool_count(pool));
    tkw_pool_close(pool);
    return 0;
}
