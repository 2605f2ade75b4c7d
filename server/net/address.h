/*
 * net/address.h - addresses of sockets, as text.
 */
#ifndef TKD_NET_ADDRESS_H
#define TKD_NET_ADDRESS_H

#include <sys/socket.h>

/* Bytes of the longest text, with its 0. */
enum { TKD_ADDRESS_MAX = 128 };

/* Write "127.0.0.1:11300", "[::1]:11300" or "unix:/path". */
void tkd_address_format(const struct sockaddr_storage *address,
                        socklen_t length, char text[TKD_ADDRESS_MAX]);

#endif
