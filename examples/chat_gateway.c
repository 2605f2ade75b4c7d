/*
 * chat_gateway.c - who has gone silent?  A chat that hangs up on guests of whom
 * nothing was heard for 400 ms.
 *
 * One thread, one epoll: every packet touches its guest in a tracker, and that
 * says how long to sleep.  The program is its own guests, in a second thread:
 * one says nothing, one a single line, and one talks until both have been hung
 * up on, and leaves.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>

#include <tickwheel/idle.h>

#include "loopback.h"

enum { GUESTS = 3, EVENTS = 16 };

struct gateway {
    int epoll, listener;
    struct tkw_idle *idle; /* holds who is there, by descriptor */
    int left, hung_up_on;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * TKW_SECOND + (uint64_t)now.tv_nsec;
}

static void welcome(struct gateway *gateway, uint64_t now)
{
    int guest = accept(gateway->listener, NULL, NULL);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = guest};
    if (epoll_ctl(gateway->epoll, EPOLL_CTL_ADD, guest, &event) != 0 ||
        tkw_idle_touch(gateway->idle, tkw_key_number((uint64_t)guest), now) < 0)
        close(guest);
}

static void hear(struct gateway *gateway, int guest, uint64_t now)
{
    char text[200];
    ssize_t count = recv(guest, text, sizeof text - 1, 0);
    if (count <= 0) {
        tkw_idle_forget(gateway->idle, tkw_key_number((uint64_t)guest));
        close(guest);
        gateway->left++;
        return;
    }
    text[count] = '\0';
    tkw_idle_touch(gateway->idle, tkw_key_number((uint64_t)guest), now);
    struct tkw_idle_cursor walk = {0};
    for (struct tkw_idle_key one; tkw_idle_walk(gateway->idle, &walk, &one);) {
        if ((int)one.key.number != guest)
            loopback_say((int)one.key.number, text);
    }
}

static void hang_up_on_the_silent(struct gateway *gateway, uint64_t now)
{
    struct tkw_idle_key silent[EVENTS];
    size_t count = tkw_idle_pop_silent(gateway->idle, silent, EVENTS, now);
    for (size_t i = 0; i < count; i++) {
        char text[80];
        snprintf(text, sizeof text, "hung up on after %d ms of silence\n",
                 (int)((now - silent[i].last_ns) / TKW_MILLISECOND));
        loopback_say((int)silent[i].key.number, text);
        close((int)silent[i].key.number);
        gateway->hung_up_on++;
    }
}

/* For epoll: how long nobody can go silent, rounded up. */
static int patience_ms(const struct gateway *gateway, uint64_t now)
{
    uint64_t next = tkw_idle_next(gateway->idle);
    if (next == UINT64_MAX)
        return -1;
    return next <= now ? 0 : (int)((next - now - 1) / TKW_MILLISECOND + 1);
}

static void serve(struct gateway *gateway)
{
    while (gateway->left + gateway->hung_up_on < GUESTS) {
        struct epoll_event events[EVENTS];
        uint64_t asked = now_ns();
        int count = epoll_wait(gateway->epoll, events, EVENTS,
                               patience_ms(gateway, asked));
        uint64_t heard = now_ns();
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == gateway->listener)
                welcome(gateway, heard);
            else
                hear(gateway, events[i].data.fd, heard);
        }
        /* As of before epoll was asked, and only if it told all: what has
         * arrived and was not looked at is no silence. */
        if (count < EVENTS)
            hang_up_on_the_silent(gateway, asked);
    }
}

static void *visit(void *address)
{
    int guests[GUESTS];
    for (int i = 0; i < GUESTS; i++)
        guests[i] = loopback_connect(address);
    for (int word = 0; word < 14; word++) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        loopback_say(guests[2], "hello?\n");
        if (word == 2)
            loopback_say(guests[1], "back in a minute\n");
    }
    for (int i = 0; i < GUESTS; i++) {
        char text[300];
        printf("guest %d: %s\n", i + 1,
               loopback_last_line(guests[i], text, sizeof text));
        close(guests[i]);
    }
    return NULL;
}

int main(void)
{
    struct tkw_idle_config config = {.limit_ns = 400 * TKW_MILLISECOND,
                                     .tick_ns = 10 * TKW_MILLISECOND,
                                     .start_ns = now_ns()};
    struct sockaddr_in address;
    struct gateway gateway = {.epoll = epoll_create1(EPOLL_CLOEXEC),
                              .listener = loopback_listen(&address)};
    struct epoll_event event = {.events = EPOLLIN, .data.fd = gateway.listener};
    pthread_t guests;
    if (tkw_idle_open(&gateway.idle, &config) != 0 ||
        epoll_ctl(gateway.epoll, EPOLL_CTL_ADD, event.data.fd, &event) != 0 ||
        pthread_create(&guests, NULL, visit, &address) != 0)
        return 1;
    serve(&gateway);
    pthread_join(guests, NULL);
    printf("%d hung up on, %d left\n", gateway.hung_up_on, gateway.left);
    tkw_idle_close(gateway.idle);
    close(gateway.listener);
    close(gateway.epoll);
    return 0;
}
