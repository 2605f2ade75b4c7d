/*
 * servers/address.c - where the server listens.
 */
#define _POSIX_C_SOURCE 200809L

#include "address.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "support.h"

enum { CONNECT_SECONDS_MAX = 10, HOST_MAX = 256 };

static const char *parse_unix(struct address *address, const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0)
        return "unix: needs a path";
    if (length >= sizeof name.sun_path)
        return "the path is too long for a unix socket";
    memcpy(name.sun_path, path, length);
    memcpy(&address->socket, &name, sizeof name);
    address->socket_size = sizeof name;
    return NULL;
}

static const char *parse_internet(struct address *address, const char *text)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == '\0')
        return "give HOST:PORT or unix:PATH";
    size_t length = (size_t)(colon - text);
    if (text[0] == '[' && colon[-1] == ']') {
        text++;
        length -= 2;
    }
    char host[HOST_MAX];
    if (length >= sizeof host)
        return "the host name is too long";
    memcpy(host, text, length);
    host[length] = '\0';

    /* IPv4 first: for "localhost", where servers listen on 127.0.0.1. */
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_family = AF_INET};
    struct addrinfo *found;
    int error = getaddrinfo(host, colon + 1, &wanted, &found);
    if (error != 0) {
        wanted.ai_family = AF_UNSPEC;
        error = getaddrinfo(host, colon + 1, &wanted, &found);
    }
    if (error != 0)
        return gai_strerror(error);
    memcpy(&address->socket, found->ai_addr, found->ai_addrlen);
    address->socket_size = found->ai_addrlen;
    freeaddrinfo(found);
    return NULL;
}

const char *address_parse(struct address *address, const char *text)
{
    *address = (struct address){.text = text};
    if (strncmp(text, "unix:", 5) == 0)
        return parse_unix(address, text + 5);
    return parse_internet(address, text);
}

static _Noreturn void fail_to_connect(const struct address *address, int error)
{
    if (error == EINPROGRESS || error == EAGAIN)
        fail("cannot connect to %s: no answer within %d s", address->text,
             CONNECT_SECONDS_MAX);
    fail("cannot connect to %s: %s", address->text, strerror(error));
}

int address_connect(const struct address *address)
{
    int family = address->socket.ss_family;
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0)
        fail_to_connect(address, errno);
    /* Linux applies the send timeout to connect(), too. */
    struct timeval most = {.tv_sec = CONNECT_SECONDS_MAX};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    if (connect(fd, (const struct sockaddr *)&address->socket,
                address->socket_size) != 0)
        fail_to_connect(address, errno);

    int yes = 1;
    if (family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        fail_to_connect(address, errno);
    return fd;
}
