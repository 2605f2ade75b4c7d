#define _POSIX_C_SOURCE 200809L

#include "address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/un.h>

static void format_ipv4(const struct sockaddr_in *address,
                        char text[TKD_ADDRESS_MAX])
{
    char host[INET_ADDRSTRLEN] = "?";
    inet_ntop(AF_INET, &address->sin_addr, host, sizeof host);
    snprintf(text, TKD_ADDRESS_MAX, "%s:%u", host, ntohs(address->sin_port));
}

static void format_ipv6(const struct sockaddr_in6 *address,
                        char text[TKD_ADDRESS_MAX])
{
    char host[INET6_ADDRSTRLEN] = "?";
    inet_ntop(AF_INET6, &address->sin6_addr, host, sizeof host);
    snprintf(text, TKD_ADDRESS_MAX, "[%s]:%u", host, ntohs(address->sin6_port));
}

/* The path has no 0 at its end if it is as long as can be.  The address of a
 * client has no path. */
static void format_unix(const struct sockaddr_un *address, socklen_t length,
                        char text[TKD_ADDRESS_MAX])
{
    size_t start = offsetof(struct sockaddr_un, sun_path);
    size_t most = length > start ? length - start : 0;
    snprintf(text, TKD_ADDRESS_MAX, "unix:%.*s", (int)most, address->sun_path);
    /* A client chooses its path, and must not forge lines of the log. */
    for (char *at = text; *at != '\0'; at++)
        if (*at <= ' ' || *at > '~')
            *at = '?';
}

void tkd_address_format(const struct sockaddr_storage *address,
                        socklen_t length, char text[TKD_ADDRESS_MAX])
{
    const void *any = address;
    switch (address->ss_family) {
    case AF_INET:
        format_ipv4(any, text);
        break;
    case AF_INET6:
        format_ipv6(any, text);
        break;
    case AF_UNIX:
        format_unix(any, length, text);
        break;
    default:
        snprintf(text, TKD_ADDRESS_MAX, "family-%d", address->ss_family);
        break;
    }
}
