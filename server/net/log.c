#define _POSIX_C_SOURCE 200809L

#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Bytes of a line, with its newline.  Sixteen addresses fit. */
enum { LINE_MAX_BYTES = 4096 };

void tkd_log_write(const struct tkd_log *log, enum tkd_log_level level,
                   const char *format, ...)
{
    if (level > log->level)
        return;
    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    size_t size =
        (size_t)length < sizeof line - 1 ? (size_t)length : sizeof line - 1;
    line[size] = '\n';
    /* One call, so that lines of several processes do not mix.  If the
     * log has no reader, the server goes on. */
    (void)!write(STDERR_FILENO, line, size + 1);
}
