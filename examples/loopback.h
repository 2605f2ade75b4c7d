/*
 * loopback.h - sockets within one machine, so that an example of a server can
 * be its own clients.
 */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Listen on any port; the system says which, in `*address`.  Returns the
 * socket or -1. */
static inline int loopback_listen(struct sockaddr_in *address)
{
    socklen_t bytes = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)address, bytes) != 0 ||
        getsockname(fd, (struct sockaddr *)address, &bytes) != 0 ||
        listen(fd, 16) != 0)
        return -1;
    return fd;
}

/* Returns the socket or -1. */
static inline int loopback_connect(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 ||
        connect(fd, (const struct sockaddr *)address, sizeof *address) != 0)
        return -1;
    return fd;
}

/* Send text, or as much of it as there is room for; who has hung up misses
 * it. */
static inline void loopback_say(int fd, const char *text)
{
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/*
 * Wait for text, and find the last line of what has come, without its end; of
 * nothing that is the empty text.  It is put in `text`, which has `size` bytes.
 */
static inline const char *loopback_last_line(int fd, char *text, size_t size)
{
    ssize_t count = recv(fd, text, size - 1, 0);
    text[count > 0 ? count - 1 : 0] = '\0';
    const char *end = strrchr(text, '\n');
    return end != NULL ? end + 1 : text;
}

/* Say each line in a connection of its own, one after the other, and print what
 * is answered to each; there may be up to 16. */
static inline void loopback_ask(const struct sockaddr_in *address,
                                const char *const *lines, size_t count)
{
    int fds[16];
    for (size_t i = 0; i < count; i++) {
        fds[i] = loopback_connect(address);
        loopback_say(fds[i], lines[i]);
    }
    for (size_t i = 0; i < count; i++) {
        char text[300];
        printf("%.*s: %s\n", (int)strlen(lines[i]) - 1, lines[i],
               loopback_last_line(fds[i], text, sizeof text));
        close(fds[i]);
    }
}

#endif
