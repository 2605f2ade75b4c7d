#define _GNU_SOURCE

#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

enum { BACKLOG = 1024, PORT_DIGITS = 6 };

/* Write a message.  Always returns false, so that callers can tail-call it. */
__attribute__((format(printf, 2, 3))) static bool
fail(char fault[TKD_LISTENER_FAULT_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(fault, TKD_LISTENER_FAULT_MAX, format, arguments);
    va_end(arguments);
    return false;
}

static void set_flag(int fd, int level, int option, int value)
{
    /* An option that cannot be set is not worth refusing to start. */
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

/* Store the name of a socket that listens. */
static void name(struct tkd_listener *listener)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    getsockname(listener->fd, (struct sockaddr *)&address, &length);
    tkd_address_format(&address, length, listener->name);
}

/* Connections inherit these options from the socket that listens.  Keep-alive
 * finds peers whose machine is gone. */
static void set_tcp_options(int fd)
{
    set_flag(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_flag(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

/* TCP. */

static bool fail_tcp(char fault[TKD_LISTENER_FAULT_MAX], const char *where,
                     uint16_t port, int error)
{
    if (error == EADDRINUSE)
        return fail(fault,
                    "%s port %u is in use; stop the server that uses it, or "
                    "choose another port by -p",
                    where, port);
    if (error == EACCES)
        return fail(fault,
                    "%s port %u: permission denied; choose a port above 1023 "
                    "by -p, or start as root with -u",
                    where, port);
    if (error == EADDRNOTAVAIL)
        return fail(fault,
                    "%s is no address of this machine; choose another by -l",
                    where);
    return fail(fault, "cannot listen on %s port %u: %s; choose another by -l",
                where, port, uv_strerror(-error));
}

/* Returns a descriptor or a negative errno. */
static int listen_tcp(const struct addrinfo *info)
{
    int type = info->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = socket(info->ai_family, type, info->ai_protocol);
    if (fd < 0)
        return -errno;
    set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (info->ai_family == AF_INET6)
        set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    set_tcp_options(fd);
    if (bind(fd, info->ai_addr, info->ai_addrlen) != 0 ||
        listen(fd, BACKLOG) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

/* Listen on the first address of a name that works. */
static bool open_tcp(struct tkd_listener *listener, const char *where,
                     uint16_t port, char fault[TKD_LISTENER_FAULT_MAX])
{
    struct addrinfo hints = {
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
        .ai_socktype = SOCK_STREAM,
    };
    struct addrinfo *list;
    char digits[PORT_DIGITS];
    snprintf(digits, sizeof digits, "%u", port);
    int error = getaddrinfo(where, digits, &hints, &list);
    if (error != 0)
        return fail(fault, "cannot find the address '%s': %s; check -l", where,
                    gai_strerror(error));
    int fd = -1;
    for (struct addrinfo *at = list; at != NULL && fd < 0; at = at->ai_next)
        fd = listen_tcp(at);
    freeaddrinfo(list);
    if (fd < 0)
        return fail_tcp(fault, where, port, -fd);
    listener->fd = fd;
    name(listener);
    return true;
}

/* Unix sockets. */

static bool fail_path(char fault[TKD_LISTENER_FAULT_MAX], const char *path,
                      int error)
{
    return fail(fault,
                "cannot listen on unix:%s: %s; choose another path by -l", path,
                uv_strerror(-error));
}

/* Try to connect.  Returns 0, or an errno. */
static int probe(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int result = connect(fd, (const struct sockaddr *)address, sizeof *address);
    int error = result == 0 ? 0 : errno;
    close(fd);
    return error;
}

/* Remove a socket that a server has left behind. */
static bool remove_stale(const struct sockaddr_un *address,
                         char fault[TKD_LISTENER_FAULT_MAX])
{
    const char *path = address->sun_path;
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT || fail_path(fault, path, errno);
    if (!S_ISSOCK(status.st_mode))
        return fail(fault,
                    "%s is not a socket; remove it, or choose another path by "
                    "-l",
                    path);
    int error = probe(address);
    /* EAGAIN: a server has many connections to accept.  EPROTOTYPE: it is a
     * socket for datagrams. */
    if (error == 0 || error == EAGAIN || error == EPROTOTYPE)
        return fail(fault,
                    "unix:%s is in use; stop the server that uses it, or "
                    "choose another path by -l",
                    path);
    if (error != ECONNREFUSED)
        return fail_path(fault, path, error);
    return unlink(path) == 0 || errno == ENOENT ||
           fail_path(fault, path, errno);
}

/* Returns a descriptor or a negative errno. */
static int listen_unix(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) != 0 ||
        listen(fd, BACKLOG) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

static bool open_unix(struct tkd_listener *listener, const char *path,
                      char fault[TKD_LISTENER_FAULT_MAX])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (*path == '\0' || strlen(path) >= sizeof address.sun_path)
        return fail(fault,
                    "-l unix:%s: give a path of 1 to %zu bytes after 'unix:'",
                    path, sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (!remove_stale(&address, fault))
        return false;
    int fd = listen_unix(&address);
    if (fd < 0)
        return fail_path(fault, path, -fd);
    listener->fd = fd;
    name(listener);
    struct stat status;
    if (lstat(path, &status) == 0) {
        listener->path = path;
        listener->device = status.st_dev;
        listener->inode = status.st_ino;
    }
    return true;
}

bool tkd_listener_open(struct tkd_listener *listener, const char *where,
                       uint16_t port, char fault[TKD_LISTENER_FAULT_MAX])
{
    static const char prefix[] = "unix:";
    *listener = (struct tkd_listener){.fd = -1};
    if (strncmp(where, prefix, sizeof prefix - 1) == 0)
        return open_unix(listener, where + sizeof prefix - 1, fault);
    return open_tcp(listener, where, port, fault);
}

/* Sockets of systemd: sd_listen_fds(3). */

/* Return the number in a variable of the environment, or 0. */
static uint64_t number_in(const char *variable)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
    const char *text = getenv(variable);
    if (text == NULL || *text < '0' || *text > '9')
        return 0;
    char *end;
    uint64_t number = strtoull(text, &end, 10);
    return *end == '\0' ? number : 0;
}

size_t tkd_listener_passed_count(void)
{
    if (number_in("LISTEN_PID") != (uint64_t)getpid())
        return 0;
    return (size_t)number_in("LISTEN_FDS");
}

static bool is_listening(int fd)
{
    int type = 0;
    int accepts = 0;
    socklen_t size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0 &&
           type == SOCK_STREAM && accepts != 0;
}

bool tkd_listener_adopt(struct tkd_listener *listener, int fd,
                        char fault[TKD_LISTENER_FAULT_MAX])
{
    *listener = (struct tkd_listener){.fd = -1};
    if (!is_listening(fd))
        return fail(fault,
                    "descriptor %d of LISTEN_FDS is no stream socket that "
                    "listens; check the systemd socket unit",
                    fd);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    set_tcp_options(fd);
    listener->fd = fd;
    name(listener);
    return true;
}

/* Remove the path, unless another server has put its own socket there. */
static void remove_path(const struct tkd_listener *listener)
{
    struct stat status;
    if (listener->path != NULL && lstat(listener->path, &status) == 0 &&
        status.st_dev == listener->device && status.st_ino == listener->inode)
        (void)unlink(listener->path);
}

void tkd_listener_close(struct tkd_listener *listener)
{
    if (listener->fd < 0)
        return;
    remove_path(listener);
    close(listener->fd);
    listener->fd = -1;
}
