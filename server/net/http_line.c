#include "http_line.h"

#include <stdbool.h>

/* The 8 bytes before the LF of a request line, with zeroes for the digits of
 * the version: "TTP/0.0\r". */
static const uint64_t ending = UINT64_C(0x5454502f302e300d);

/* "TTP/" is digit - '0' < 10 in these two bytes. */
enum { MAJOR_SHIFT = 24, MINOR_SHIFT = 8 };

static bool is_digit(uint64_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool ends_with_version(uint64_t tail)
{
    uint64_t major = tail >> MAJOR_SHIFT & 0xff;
    uint64_t minor = tail >> MINOR_SHIFT & 0xff;
    if (!is_digit(major) || !is_digit(minor))
        return false;
    uint64_t digits = (major - '0') << MAJOR_SHIFT | (minor - '0')
                                                         << MINOR_SHIFT;
    return tail - digits == ending;
}

static uint8_t next_state(const struct tkd_http_line *line, char byte)
{
    bool is_capital = byte >= 'A' && byte <= 'Z';
    switch (line->state) {
    case TKD_HTTP_START:
        return is_capital ? TKD_HTTP_METHOD : TKD_HTTP_NO;
    case TKD_HTTP_METHOD:
        if (byte == ' ')
            return TKD_HTTP_TARGET;
        return is_capital ? TKD_HTTP_METHOD : TKD_HTTP_NO;
    default:
        if (byte != '\n')
            return TKD_HTTP_TARGET;
        return ends_with_version(line->tail) ? TKD_HTTP_YES : TKD_HTTP_NO;
    }
}

void tkd_http_line_feed(struct tkd_http_line *line, const char *bytes,
                        size_t size)
{
    for (size_t i = 0; i < size && line->state < TKD_HTTP_NO; i++) {
        line->state = next_state(line, bytes[i]);
        line->tail = line->tail << 8 | (unsigned char)bytes[i];
    }
}
