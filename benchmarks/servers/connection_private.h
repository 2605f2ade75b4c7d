/*
 * servers/connection_private.h - functions of a connection that only the loop
 * and command.c call.
 */
#ifndef SERVERS_CONNECTION_PRIVATE_H
#define SERVERS_CONNECTION_PRIVATE_H

#include "connection.h"

/* Takes over `fd`, a connected socket, and adds it to the epoll set. */
struct connection *connection_open(struct loop *loop, int fd);

void connection_close(struct connection *connection);

/* Receives once, and calls the handler for each whole reply. */
void connection_receive(struct connection *connection);

/* Adds a request to those that wait for a reply. */
void connection_expect(struct connection *connection,
                       const struct request *request);

/* The words of a command, without arguments. */
const char *verb_text(enum verb verb);

/* Returns random text that bodies are cut from; the caller frees it. */
char *connection_filler(void);

#endif
