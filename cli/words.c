/*
 * words.c - numbers and times for people.
 */
#include "words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

struct words words_count(uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    struct words words = {""};
    char *end = words.text;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *end++ = ',';
        *end++ = digits[i];
    }
    return words;
}

struct words words_short(double number)
{
    static const char units[] = {'\0', 'k', 'M', 'G', 'T', 'P', 'E'};
    struct words words;
    unsigned unit = 0;

    for (; number >= 999.5 && unit + 1 < sizeof units; unit++)
        number /= 1000;
    snprintf(words.text, sizeof words.text, "%.3g%.1s", number, &units[unit]);
    return words;
}

struct words words_duration(double ms)
{
    static const struct {
        double ms, until_ms;
        const char *name;
    } units[] = {
        {1, 1e3, "ms"},        {1e3, 120e3, "s"},   {60e3, 7200e3, "min"},
        {3.6e6, 172.8e6, "h"}, {86.4e6, 63e9, "d"}, {31.5576e9, 1e300, "y"},
    };
    struct words words;
    unsigned i = 0;

    while (ms >= units[i].until_ms)
        i++;
    snprintf(words.text, sizeof words.text, "%.3g %s", ms / units[i].ms,
             units[i].name);
    return words;
}

struct words words_clock(uint64_t ms)
{
    struct words words;
    snprintf(words.text, sizeof words.text, "%" PRIu64 ":%02u:%02u.%03u",
             ms / 3600000, (unsigned)(ms / 60000 % 60),
             (unsigned)(ms / 1000 % 60), (unsigned)(ms % 1000));
    return words;
}

/* How much of a text goes into a line: up to the last blank that fits, or if
 * there is none, to the first one; blanks before `from` do not count. */
static size_t line_length(const char *text, size_t from, size_t room)
{
    size_t end = strlen(text), length = 0;
    if (end <= room)
        return end;
    for (size_t i = from; i < end && (i <= room || length == 0); i++) {
        if (text[i] == ' ')
            length = i;
    }
    return length > 0 ? length : end;
}

void words_write(FILE *out, unsigned indent, const char *format, ...)
{
    char text[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    size_t length = line_length(text, indent, WORDS_COLUMNS);
    fprintf(out, "%.*s\n", (int)length, text);
    for (const char *rest = text + length; *rest != '\0'; rest += length) {
        rest += strspn(rest, " ");
        length = line_length(rest, 0, WORDS_COLUMNS - indent);
        fprintf(out, "%*s%.*s\n", (int)indent, "", (int)length, rest);
    }
}
