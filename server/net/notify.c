#define _GNU_SOURCE

#include "notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void tkd_notify(const char *state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
    const char *path = getenv("NOTIFY_SOCKET");
    if (path == NULL || (*path != '/' && *path != '@'))
        return;
    size_t length = strlen(path);
    if (length > sizeof address.sun_path - 1)
        return;
    memcpy(address.sun_path, path, length);
    if (*path == '@')
        address.sun_path[0] = '\0'; /* an abstract socket */
    socklen_t size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
                 (struct sockaddr *)&address, size);
    close(fd);
}
