/*
 * net/http_line.h - connections that begin with HTTP.
 *
 * Browsers, health checks and scanners send a request like "GET / HTTP/1.1" to
 * any open port, and keep the connection until an answer of HTTP comes.  The
 * first line of a connection is HTTP if it is a word of capital letters, a
 * space, any bytes, and "HTTP/" with a version.  No command of beanstalkd
 * begins with a capital letter.
 *
 *     struct tkd_http_line line = {0};
 *     while (line.state < TKD_HTTP_NO)
 *         tkd_http_line_feed(&line, bytes, size);
 */
#ifndef TKD_NET_HTTP_LINE_H
#define TKD_NET_HTTP_LINE_H

#include <stddef.h>
#include <stdint.h>

enum {
    TKD_HTTP_START, /* nothing was read */
    TKD_HTTP_METHOD,
    TKD_HTTP_TARGET,
    TKD_HTTP_NO, /* decided: the line is not HTTP */
    TKD_HTTP_YES /* decided: the line is HTTP */
};

struct tkd_http_line {
    uint64_t tail; /* private: the last 8 bytes, the last one lowest */
    uint8_t state; /* read-only */
};

/* Read the next bytes of a connection, up to the end of its first line.  Does
 * nothing if the line is decided. */
void tkd_http_line_feed(struct tkd_http_line *line, const char *bytes,
                        size_t size);

#endif
