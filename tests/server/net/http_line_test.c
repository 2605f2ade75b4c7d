/*
 * server/net/http_line_test.c - which connections begin with HTTP.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <net/http_line.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The first lines end by their LF, which decides them. */
static const struct {
    const char *bytes;
    int state;
} rows[] = {
    {"GET / HTTP/1.1\r\n", TKD_HTTP_YES},
    {"POST /a/b?c=d HTTP/1.0\r\n", TKD_HTTP_YES},
    {"PRI * HTTP/2.0\r\n", TKD_HTTP_YES},
    {"OPTIONS * HTTP/9.9\r\nput", TKD_HTTP_YES},
    {"G HTTP/1.1 HTTP/1.1\r\n", TKD_HTTP_YES},
    {"GET / HTTP/1.1\n", TKD_HTTP_NO},
    {"GET / HTTP/1.\r\n", TKD_HTTP_NO},
    {"GET / HTTP/x.1\r\n", TKD_HTTP_NO},
    {"GET / HTTP/1.x\r\n", TKD_HTTP_NO},
    {"GET / HTTP/1:1\r\n", TKD_HTTP_NO},
    {"GET / HTTP/1.1 \r\n", TKD_HTTP_NO},
    {"GET / HTTP/1.1\r\r\n", TKD_HTTP_NO},
    {"GET\r\nGET / HTTP/1.1\r\n", TKD_HTTP_NO},
    {"get / HTTP/1.1\r\n", TKD_HTTP_NO},
    {"GEt / HTTP/1.1\r\n", TKD_HTTP_NO},
    {" GET / HTTP/1.1\r\n", TKD_HTTP_NO},
    {"\r\n", TKD_HTTP_NO},
    {"reserve\r\n", TKD_HTTP_NO},
    {"STATS\r\n", TKD_HTTP_NO},
    {"GET / HTTP/1.1\r", TKD_HTTP_TARGET},
    {"GET", TKD_HTTP_METHOD},
    {"", TKD_HTTP_START},
};

/* Feed the bytes in two pieces, and assert the state. */
static void assert_state(const char *bytes, size_t at, int state)
{
    struct tkd_http_line line = {0};
    tkd_http_line_feed(&line, bytes, at);
    tkd_http_line_feed(&line, bytes + at, strlen(bytes) - at);
    if (line.state != state)
        fail_msg("\"%s\" is %d", bytes, line.state);
}

static void first_lines_are_recognised_however_they_are_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t at = 0; at <= strlen(rows[i].bytes); at++)
            assert_state(rows[i].bytes, at, rows[i].state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_lines_are_recognised_however_they_are_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
