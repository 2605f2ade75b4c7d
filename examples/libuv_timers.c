/*
 * libuv_timers.c - timers in a libuv loop: called in the loop's thread, armed
 * also from libuv's thread pool.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>

#include <tickwheel/libuv.h>

struct kitchen {
    uv_loop_t loop;
    uv_thread_t thread; /* the loop's */
    struct tkw_uv timers;
    uv_work_t shopping;
    tkw_handle egg, tea;
};

static void say(struct kitchen *kitchen, const char *what)
{
    uv_thread_t self = uv_thread_self();
    printf("%s%s\n", what,
           uv_thread_equal(&self, &kitchen->thread) ? ", in the loop" : "");
}

/* The last: with the timers closed, the loop has nothing left to do. */
static void on_dinner(void *argument, const struct tkw_firing *firing)
{
    struct kitchen *kitchen = argument;
    (void)firing;
    say(kitchen, "dinner is served");
    tkw_uv_close(&kitchen->timers, NULL);
}

/* In another thread: arming wakes the loop. */
static void shop(uv_work_t *shopping)
{
    struct kitchen *kitchen = shopping->data;
    say(kitchen, "shopping, in another thread");
    if (tkw_service_arm(kitchen->timers.service, NULL, 10 * TKW_MILLISECOND,
                        (struct tkw_task){on_dinner, kitchen, NULL}) != 0)
        printf("no dinner\n");
}

static void on_tea(void *argument, const struct tkw_firing *firing)
{
    (void)firing;
    say(argument, "the tea is ready");
}

static void on_egg(void *argument, const struct tkw_firing *firing)
{
    struct kitchen *kitchen = argument;
    say(kitchen, "the egg is ready");
    if (tkw_service_cancel(firing->service, kitchen->tea) == 1)
        printf("no tea then\n");
    kitchen->shopping.data = kitchen;
    uv_queue_work(&kitchen->loop, &kitchen->shopping, shop, NULL);
}

int main(void)
{
    static struct kitchen kitchen;
    struct tkw_service *service;
    struct tkw_service_config config = {.driver = TKW_DRIVER_NONE};
    kitchen.thread = uv_thread_self();
    if (uv_loop_init(&kitchen.loop) != 0 ||
        tkw_service_open(&service, &config) != 0 ||
        tkw_uv_open(&kitchen.timers, &kitchen.loop, service) != 0)
        return 1;

    if (tkw_service_arm(service, &kitchen.tea, 3600 * TKW_SECOND,
                        (struct tkw_task){on_tea, &kitchen, NULL}) != 0 ||
        tkw_service_arm(service, &kitchen.egg, 20 * TKW_MILLISECOND,
                        (struct tkw_task){on_egg, &kitchen, NULL}) != 0)
        return 1;
    uv_run(&kitchen.loop, UV_RUN_DEFAULT);

    tkw_service_close(service, NULL, NULL);
    return uv_loop_close(&kitchen.loop);
}
