/*
 * lines.c - a file, line by line.
 *
 * The file is read in blocks.  What is left of a line at the end of a block
 * moves to the front, and the next block is read behind it:
 *
 *     |....told....|begin..a li|       |a li|ne\nanother\n.......|
 */
#define _POSIX_C_SOURCE 200809L

#include "lines.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    BUFFER_BYTES = 1 << 16, /* and so the longest line */
    NAME_BYTES = 60,        /* of the file's name, in a complaint */
    QUOTE_BYTES = 40,
    REPORTS = 100,          /* of progress, in all */
    REPORT_BYTES = 1 << 20, /* where the size is not known */
};

/* Bytes that a file has, or 0 where that cannot be known. */
static uint64_t size_of(FILE *in)
{
    struct stat status;
    int file = fileno(in);
    if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    return status.st_size > 0 ? (uint64_t)status.st_size : 0;
}

int lines_open(struct lines *lines)
{
    lines->number = 0;
    lines->begin = lines->end = 0;
    lines->done = lines->report = 0;
    lines->size = size_of(lines->in);
    lines->buffer = malloc(BUFFER_BYTES);
    if (lines->buffer == NULL)
        return lines_refuse(lines, -ENOMEM, "not enough memory");
    return 0;
}

void lines_close(struct lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

static bool is_control(char c)
{
    unsigned char byte = (unsigned char)c;
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

/* The end of a name says more than its beginning. */
static void write_name(char *text, const char *name)
{
    size_t length = strlen(name);
    bool is_long = length > NAME_BYTES;
    const char *from = is_long ? name + length - (NAME_BYTES - 3) : name;

    while (is_long && ((unsigned char)*from & 0xc0) == 0x80)
        from++; /* not in the middle of a letter */
    snprintf(text, NAME_BYTES + 1, "%s%s", is_long ? "..." : "", from);
    for (char *c = text; *c != '\0'; c++) {
        if (is_control(*c))
            *c = '?';
    }
}

int lines_refuse(const struct lines *lines, int error, const char *format, ...)
{
    char *text = lines->fault->text;
    size_t room = sizeof lines->fault->text;
    char name[NAME_BYTES + 1];
    va_list arguments;

    write_name(name, lines->name);
    int length = lines->number == 0
                     ? snprintf(text, room, "%s: ", name)
                     : snprintf(text, room, "%s, line %llu: ", name,
                                (unsigned long long)lines->number);
    va_start(arguments, format);
    /* clang-tidy 14 forgets va_start() where it is given several files. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(text + length, room - (size_t)length, format, arguments);
    va_end(arguments);
    return error;
}

struct lines_quote lines_quote(struct text text)
{
    struct lines_quote quote;
    bool is_long = text.length > QUOTE_BYTES;
    size_t length = is_long ? QUOTE_BYTES - 3 : text.length;

    snprintf(quote.text, sizeof quote.text, "'%.*s%s'", (int)length, text.at,
             is_long ? "..." : "");
    for (char *c = quote.text; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~')
            *c = '?';
    }
    return quote;
}

/* Say how far it is, now and then.  Returns whether to go on. */
static bool report_progress(struct lines *lines)
{
    if (lines->progress == NULL || lines->done < lines->report)
        return true;
    double part = 0;
    if (lines->size > 0) {
        part = (double)lines->done / (double)lines->size;
        lines->report = lines->done + lines->size / REPORTS;
    } else {
        lines->report = lines->done + REPORT_BYTES;
    }
    return lines->progress(lines->context, part < 1 ? part : 1);
}

/* Nothing came.  Returns 0 at the end of the file, 1 to try once more. */
static int stop_or_retry(struct lines *lines, int reason)
{
    if (!ferror(lines->in))
        return 0;
    if (reason != EINTR)
        return lines_refuse(lines, -EIO, "cannot be read: %s",
                            strerror(reason));
    clearerr(lines->in);
    lines->report = lines->done; /* whoever interrupted us may want to stop */
    return 1;
}

/* Read a block behind what is left.  Returns 1, 0 at the end, or an error. */
static int read_block(struct lines *lines)
{
    size_t left = lines->end - lines->begin;
    memmove(lines->buffer, lines->buffer + lines->begin, left);
    lines->begin = 0;
    lines->end = left;

    errno = 0;
    size_t count =
        fread(lines->buffer + left, 1, BUFFER_BYTES - left, lines->in);
    int answer = count > 0 ? 1 : stop_or_retry(lines, errno);
    lines->end += count;
    lines->done += count;
    if (answer == 1 && !report_progress(lines))
        return lines_refuse(lines, -EINTR, "interrupted");
    return answer;
}

static int check_text(const struct lines *lines, struct text line)
{
    unsigned is_wrong = 0;
    for (size_t i = 0; i < line.length; i++)
        is_wrong |= is_control(line.at[i]);
    return is_wrong == 0 ? 1
                         : lines_refuse(lines, -EINVAL,
                                        "the line has control characters: "
                                        "this is not a text file");
}

/* What is in the buffer is no whole line, and will not become one. */
static int refuse_rest(struct lines *lines, const char *why)
{
    struct text rest = {lines->buffer + lines->begin,
                        lines->end - lines->begin};
    lines->number++;
    int answer = check_text(lines, rest);
    return answer < 0 ? answer : lines_refuse(lines, -EINVAL, "%s", why);
}

/* Get a block, there being no whole line.  Returns as read_block() does. */
static int read_more(struct lines *lines)
{
    if (lines->end - lines->begin == BUFFER_BYTES)
        return refuse_rest(lines, "the line has more than 65536 bytes");
    int answer = read_block(lines);
    if (answer == 0 && lines->end > lines->begin)
        return refuse_rest(lines, "the file is cut off: its last line does "
                                  "not end in a newline");
    return answer;
}

int lines_next(struct lines *lines, struct text *line)
{
    char *begin, *end;
    for (;;) {
        begin = lines->buffer + lines->begin;
        end = memchr(begin, '\n', lines->end - lines->begin);
        if (end != NULL)
            break;
        int answer = read_more(lines);
        if (answer <= 0)
            return answer;
    }
    lines->begin += (size_t)(end - begin) + 1;
    lines->number++;
    if (end > begin && end[-1] == '\r')
        end--;
    *line = (struct text){begin, (size_t)(end - begin)};
    return check_text(lines, *line);
}

int lines_begin_with(struct lines *lines, const char *word)
{
    while (lines->end < strlen(word)) {
        int answer = read_block(lines);
        if (answer <= 0)
            return answer;
    }
    return text_begins((struct text){lines->buffer, lines->end}, word);
}
