/*
 * servers/address.h - where the server listens.
 *
 * "HOST:PORT", "[HOST]:PORT" for a HOST with colons, or "unix:PATH".
 */
#ifndef SERVERS_ADDRESS_H
#define SERVERS_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

struct address {
    const char *text; /* as given; not copied */
    struct sockaddr_storage socket;
    socklen_t socket_size;
};

/* Resolves `text`.  Returns NULL, or a message that says what is wrong. */
const char *address_parse(struct address *address, const char *text);

/* Returns a connected, non-blocking socket.  Fails the program if the server
 * does not accept the connection within ten seconds. */
int address_connect(const struct address *address);

#endif
