/*
 * net/listener.h - sockets that accept connections.
 *
 * A listener is on an address of TCP, on a path, or was opened by systemd.
 */
#ifndef TKD_NET_LISTENER_H
#define TKD_NET_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "address.h"

enum {
    TKD_LISTENERS_MAX = 16,
    TKD_LISTENER_FAULT_MAX = 512, /* bytes of a message, with its 0 */
};

struct tkd_listener {
    /* read-only */
    int fd;
    char name[TKD_ADDRESS_MAX]; /* with the port that was chosen for port 0 */
    /* private */
    const char *path; /* of a socket that this listener made, or NULL */
    dev_t device;     /* that path is still the socket if these are equal */
    ino_t inode;
};

/*
 * Listen at `where`, an address, a name, or "unix:" and a path.  The path must
 * outlive the listener.  Port 0 means any free port.
 *
 * A socket at the path on which no server answers is removed first.
 *
 * Returns whether the listener is open.  If not, writes a message for the user,
 * with a remedy, to `fault`.
 */
bool tkd_listener_open(struct tkd_listener *listener, const char *where,
                       uint16_t port, char fault[TKD_LISTENER_FAULT_MAX]);

/* Like tkd_listener_open(), but use a socket that another process has opened
 * and that listens.  Closing the listener keeps the socket's path. */
bool tkd_listener_adopt(struct tkd_listener *listener, int fd,
                        char fault[TKD_LISTENER_FAULT_MAX]);

/* Return the number of sockets that systemd passes to this process.  The first
 * one is TKD_LISTENER_FIRST. */
size_t tkd_listener_passed_count(void);

enum { TKD_LISTENER_FIRST = 3 };

/* Close the socket, and remove its path.  A closed listener stays closed. */
void tkd_listener_close(struct tkd_listener *listener);

#endif
