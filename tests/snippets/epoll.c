/* epoll.c - the snippets of epoll.h: a timer, and an event of another kind. */
#include <sys/eventfd.h>
#include <unistd.h>

#include <tickwheel/epoll.h>

#include "harness.h"

static int served, rung, dropped;

static void serve(int *fd)
{
    eventfd_t value;
    must(eventfd_read(*fd, &value) == 0);
    served++;
}

static void ring(void *argument, const struct tkw_firing *firing)
{
    (void)argument;
    (void)firing;
    rung++;
}

static void drop(void *argument)
{
    (void)argument;
    dropped++;
}

int main(void)
{
    struct tkw_service *service;
    struct epoll_event events[64];
    int error, epoll = epoll_create1(0), other = eventfd(1, 0);
    struct epoll_event readable = {.events = EPOLLIN, .data.ptr = &other};
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, other, &readable) == 0);

#include "epoll.1.1"

    must(error == 0);
    error = tkw_service_arm(service, NULL, TKW_MILLISECOND,
                            (struct tkw_task){.callback = ring});
    must(error == 0);
    while (served < 1 || rung < 1) {
#include "epoll.1.2"
    }

    /* One timer is left.  A copy of the descriptor outlives the service, to
     * see that epoll forgets it, not just that it is closed. */
    int fd = tkw_service_fd(service), copy = dup(fd);
    error = tkw_service_arm(service, NULL, 3600 * TKW_SECOND,
                            (struct tkw_task){ring, NULL, drop});
    must(error == 0);

#include "epoll.1.3"

    must(served == 1 && rung == 1 && dropped == 1);
    must(dup2(copy, fd) == fd);
    must(epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL) == -1 && errno == ENOENT);
    close(copy);
    close(fd);
    close(other);
    close(epoll);
    return 0;
}
