/*
 * net/notify.h - telling the service manager about the state of the server.
 */
#ifndef TKD_NET_NOTIFY_H
#define TKD_NET_NOTIFY_H

/* Send `state`, such as "READY=1", to the socket that the variable
 * NOTIFY_SOCKET names.  Does nothing without the variable, and ignores errors:
 * see sd_notify(3). */
void tkd_notify(const char *state);

#endif
