/*
 * idle_connections.c - timers inside your own objects, pushed back again and
 * again: connections that are hung up after 30 seconds of silence.
 */
#include <stdio.h>

#include <tickwheel/wheel.h>

enum { IDLE_LIMIT_MS = 30000, CONNECTIONS = 3 };

struct connection {
    int number;
    struct tkw_timer idle;
};

static union {
    struct tkw_wheel wheel;
    char bytes[TKW_WHEEL_DEFAULT_BYTES];
} memory;

static void on_packet(struct tkw_wheel *wheel, struct connection *connection,
                      tkw_tick now)
{
    tkw_wheel_postpone(wheel, &connection->idle,
                       tkw_tick_after(now, IDLE_LIMIT_MS));
}

int main(void)
{
    struct tkw_wheel *wheel = &memory.wheel;
    struct connection connections[CONNECTIONS] = {0};

    tkw_wheel_init(wheel, sizeof memory, NULL, 0);
    for (int i = 0; i < CONNECTIONS; i++) {
        connections[i].number = i;
        tkw_wheel_arm(wheel, &connections[i].idle, IDLE_LIMIT_MS);
    }

    /* Connection 1 is heard from every 20 s for two minutes; the others are
     * silent. */
    for (tkw_tick now = 0; now <= 240000; now += 20000) {
        tkw_wheel_advance(wheel, now);
        for (struct tkw_timer *t; (t = tkw_wheel_pop(wheel)) != NULL;) {
            struct connection *c = TKW_CONTAINER(t, struct connection, idle);
            printf("connection %d went silent, seen at %llu s\n", c->number,
                   (unsigned long long)now / 1000);
        }
        if (now <= 120000)
            on_packet(wheel, &connections[1], now);
    }
    return 0;
}
