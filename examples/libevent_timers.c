/*
 * libevent_timers.c - timers in a libevent loop: a line that takes too long to
 * arrive.
 *
 * It comes through a pipe.  One timer writes its first half, and none the
 * second; another, armed when the line has begun, loses patience.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tickwheel/libevent.h>

struct reader {
    struct event_base *base;
    struct tkw_event timers;
    tkw_handle patience;
    int ends[2]; /* of the pipe */
    char line[64];
    size_t length;
};

static void write_half(void *argument, const struct tkw_firing *firing)
{
    const struct reader *reader = argument;
    (void)firing;
    (void)!write(reader->ends[1], "to be, or", 9);
}

/* Called by the loop, as on_bytes() is: never at the same time. */
static void lose_patience(void *argument, const struct tkw_firing *firing)
{
    struct reader *reader = argument;
    (void)firing;
    printf("no end of the line in time, only \"%s\"\n", reader->line);
    event_base_loopbreak(reader->base);
}

static void on_bytes(evutil_socket_t fd, short what, void *argument)
{
    struct reader *reader = argument;
    size_t room = sizeof reader->line - 1 - reader->length;
    ssize_t count = read((int)fd, reader->line + reader->length, room);
    (void)what;
    if (count <= 0)
        return;
    if (reader->length == 0)
        tkw_service_arm(reader->timers.service, &reader->patience,
                        50 * TKW_MILLISECOND,
                        (struct tkw_task){lose_patience, reader, NULL});
    reader->length += (size_t)count;
    if (strchr(reader->line, '\n') != NULL) {
        tkw_service_cancel(reader->timers.service, reader->patience);
        event_base_loopbreak(reader->base);
    }
}

int main(void)
{
    static struct reader reader;
    struct tkw_service *service;
    struct tkw_service_config config = {.driver = TKW_DRIVER_NONE};
    reader.base = event_base_new();
    if (reader.base == NULL || pipe(reader.ends) != 0 ||
        tkw_service_open(&service, &config) != 0 ||
        tkw_event_open(&reader.timers, reader.base, service) != 0)
        return 1;
    struct event *bytes = event_new(reader.base, reader.ends[0],
                                    EV_READ | EV_PERSIST, on_bytes, &reader);
    if (bytes == NULL || event_add(bytes, NULL) != 0)
        return 1;

    if (tkw_service_arm(service, NULL, 10 * TKW_MILLISECOND,
                        (struct tkw_task){write_half, &reader, NULL}) != 0)
        return 1;
    event_base_dispatch(reader.base);

    tkw_event_close(&reader.timers);
    tkw_service_close(service, NULL, NULL);
    event_free(bytes);
    event_base_free(reader.base);
    close(reader.ends[0]);
    close(reader.ends[1]);
    return 0;
}
