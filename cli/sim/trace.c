/*
 * trace.c - the operations of a trace, from lines of text and back.
 *
 * Traces have millions of lines.  So a line is cut into its four fields where
 * it lies in the buffer, and each is judged by hand.  To look up a key among a
 * million is to wait for memory; so keys wait in a ring until some more lines
 * were read, and what the table has of them is fetched meanwhile.
 */
#include "trace.h"

#include "keys.h"
#include "lines.h"
#include "reproducer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { OPS_LEAST = 1024, FIELDS = 4, RING = 16 };

static const char columns[] = "time,operation,key,deadline";

/* Of each operation: its word, and what it wants. */
static const struct operation {
    const char *word;
    bool has_key;
    bool has_deadline;
} operations[] = {
    [TRACE_ARM] = {"arm", true, true},
    [TRACE_POSTPONE] = {"postpone", true, true},
    [TRACE_CANCEL] = {"cancel", true, false},
    [TRACE_ADVANCE] = {"advance", false, false},
};

enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* An operation whose key has no number yet. */
struct waiting {
    size_t op;
    uint64_t line;
    struct keys_name name;
    char text[KEYS_LENGTH_MAX]; /* of the name: lines do not wait */
};

/* A trace while it is read. */
struct reader {
    struct lines lines;
    struct trace *trace;
    struct keys keys;
    struct waiting ring[RING];
    uint64_t ring_begin, ring_end; /* counted on and on */
    uint64_t time; /* of the line before, in units of the file */
    bool is_unit_given;
    uint64_t file_unit; /* from the file; 0: none yet */
};

bool trace_append(struct trace *trace, struct trace_op op)
{
    if (trace->op_count == trace->op_room) {
        size_t room = trace->op_room > 0 ? trace->op_room * 2 : OPS_LEAST;
        if (room > SIZE_MAX / sizeof op)
            return false;
        struct trace_op *ops = realloc(trace->ops, room * sizeof op);
        if (ops == NULL)
            return false;
        trace->ops = ops;
        trace->op_room = room;
    }
    if (op.kind != TRACE_ADVANCE && op.key >= trace->key_count)
        trace->key_count = op.key + 1;
    trace->ops[trace->op_count++] = op;
    return true;
}

void trace_close(struct trace *trace)
{
    free(trace->ops);
    *trace = (struct trace){0};
}

/* Cut a line at its commas.  Returns how many fields there are, if more than
 * FIELDS, too; those are not stored. */
static unsigned split(struct text line, struct text *fields)
{
    unsigned count = 0;
    const char *begin = line.at, *end = line.at + line.length;
    for (const char *c = begin;; c++) {
        if (c < end && *c != ',')
            continue;
        if (count < FIELDS)
            fields[count] =
                text_trim((struct text){begin, (size_t)(c - begin)});
        count++;
        begin = c + 1;
        if (c == end)
            return count;
    }
}

static int refuse_number(const struct lines *lines, const char *what,
                         struct text text, enum text_answer answer)
{
    if (text.length == 0)
        return lines_refuse(lines, -EINVAL,
                            "the %s is missing; give a whole number", what);
    if (answer == TEXT_TOO_LARGE)
        return lines_refuse(lines, -EINVAL, "the %s %s is more than %" PRIu64,
                            what, lines_quote(text).text, UINT64_MAX);
    return lines_refuse(lines, -EINVAL, "the %s %s is not a whole number", what,
                        lines_quote(text).text);
}

static int read_time(struct reader *reader, struct text text,
                     struct trace_op *op)
{
    uint64_t time;
    enum text_answer answer = text_number(text, &time);
    if (answer != TEXT_NUMBER)
        return refuse_number(&reader->lines, "time", text, answer);
    if (time < reader->time)
        return lines_refuse(&reader->lines, -EINVAL,
                            "the time goes back from %" PRIu64 " to %" PRIu64,
                            reader->time, time);
    reader->time = time;
    op->time = tkw_tick_now(time, reader->trace->unit);
    return 0;
}

static int read_kind(const struct lines *lines, struct text text,
                     struct trace_op *op)
{
    for (unsigned i = 0; i < OPERATIONS; i++) {
        if (text_is(text, operations[i].word)) {
            op->kind = (enum trace_kind)i;
            return 0;
        }
    }
    return lines_refuse(lines, -EINVAL,
                        "the operation is %s; give arm, postpone, cancel or "
                        "advance",
                        lines_quote(text).text);
}

/* Give the key that waits longest its number. */
static int number_key(struct reader *reader)
{
    struct waiting *key = &reader->ring[reader->ring_begin++ % RING];
    struct trace_op *op = &reader->trace->ops[key->op];
    uint32_t known = reader->keys.count;
    int error = keys_number(&reader->keys, &key->name, &op->key);

    /* The first that is heard of a timer: it was armed before that. */
    if (reader->keys.count > known && op->kind == TRACE_POSTPONE)
        op->kind = TRACE_ARM;
    if (error == 0)
        return 0;
    reader->lines.number = key->line;
    if (error == -EOVERFLOW)
        return lines_refuse(&reader->lines, -EINVAL,
                            "the trace has more than %" PRIu32 " keys",
                            KEYS_COUNT_MAX);
    return lines_refuse(&reader->lines, error, "not enough memory");
}

/* Let the key wait that belongs to the operation to be appended next. */
static int queue_key(struct reader *reader, struct text text)
{
    int error = 0;
    if (reader->ring_end - reader->ring_begin == RING)
        error = number_key(reader);

    struct waiting *key = &reader->ring[reader->ring_end++ % RING];
    key->op = reader->trace->op_count;
    key->line = reader->lines.number;
    key->name = keys_name(text.at, text.length);
    key->name.at = memcpy(key->text, text.at, text.length);
    keys_prefetch(&reader->keys, &key->name);
    return error;
}

static int number_keys(struct reader *reader)
{
    int error = 0;
    while (error == 0 && reader->ring_begin < reader->ring_end)
        error = number_key(reader);
    reader->trace->key_count = reader->keys.count;
    return error;
}

static int read_key(struct reader *reader, struct text text,
                    const struct trace_op *op)
{
    const struct lines *lines = &reader->lines;
    const struct operation *operation = &operations[op->kind];

    if (operation->has_key && text.length == 0)
        return lines_refuse(lines, -EINVAL, "%s needs a key", operation->word);
    if (!operation->has_key && text.length > 0)
        return lines_refuse(lines, -EINVAL, "%s takes no key; remove %s",
                            operation->word, lines_quote(text).text);
    if (text.length > KEYS_LENGTH_MAX)
        return lines_refuse(
            lines, -EINVAL, "the key %s has %zu bytes; give at most %d",
            lines_quote(text).text, text.length, KEYS_LENGTH_MAX);
    return operation->has_key ? queue_key(reader, text) : 0;
}

static int read_deadline(struct reader *reader, struct text text,
                         struct trace_op *op)
{
    const struct operation *operation = &operations[op->kind];
    uint64_t deadline;

    if (!operation->has_deadline)
        return text.length == 0
                   ? 0
                   : lines_refuse(&reader->lines, -EINVAL,
                                  "%s takes no deadline; remove %s",
                                  operation->word, lines_quote(text).text);
    if (text.length == 0)
        return lines_refuse(&reader->lines, -EINVAL, "%s needs a deadline",
                            operation->word);
    enum text_answer answer = text_number(text, &deadline);
    if (answer != TEXT_NUMBER)
        return refuse_number(&reader->lines, "deadline", text, answer);
    op->deadline = tkw_tick_deadline(deadline, reader->trace->unit);
    return 0;
}

static int read_op(struct reader *reader, const struct text *fields)
{
    struct trace_op op = {0};
    int error = read_time(reader, fields[0], &op);
    if (error == 0)
        error = read_kind(&reader->lines, fields[1], &op);
    if (error == 0)
        error = read_deadline(reader, fields[3], &op);
    if (error == 0)
        error = read_key(reader, fields[2], &op);
    if (error == 0 && !trace_append(reader->trace, op))
        error = lines_refuse(&reader->lines, -ENOMEM, "not enough memory");
    return error;
}

/* Names of columns are words, and the first of them is "time". */
static bool is_header(const struct text *fields)
{
    return text_is(fields[0], "time") && text_is(fields[1], "operation") &&
           text_is(fields[2], "key") && text_is(fields[3], "deadline");
}

static int read_fields(struct reader *reader, struct text line)
{
    struct text fields[FIELDS] = {{"", 0}};
    unsigned count = split(line, fields);

    if (count != FIELDS)
        return lines_refuse(&reader->lines, -EINVAL,
                            "the line has %u field%s; give 4: %s", count,
                            count == 1 ? "" : "s", columns);
    if (is_header(fields))
        return 0; /* again where a recording was begun anew */
    return read_op(reader, fields);
}

/* "# tick 1000" may be said again, as long as it is the same. */
static int read_tick(struct reader *reader, struct text text)
{
    const struct lines *lines = &reader->lines;
    uint64_t unit = 0;

    if (text_number(text, &unit) != TEXT_NUMBER || unit == 0)
        return lines_refuse(
            lines, -EINVAL,
            "# tick is %s; give a whole number from 1 to %" PRIu64,
            lines_quote(text).text, UINT64_MAX);
    if (reader->file_unit != 0 && unit != reader->file_unit)
        return lines_refuse(lines, -EINVAL,
                            "# tick is %" PRIu64 " here and %" PRIu64
                            " before; give one number",
                            unit, reader->file_unit);
    if (reader->file_unit == 0 && reader->trace->op_count > 0)
        return lines_refuse(
            lines, -EINVAL,
            "# tick follows an operation; put it before the first");
    reader->file_unit = unit;
    if (!reader->is_unit_given)
        reader->trace->unit = unit;
    return 0;
}

/* Two comments are more than that: "# tick 1000", and "# 12 operations left
 * out", which a service writes that records. */
static int read_comment(struct reader *reader, struct text line)
{
    struct text text = text_trim(text_after(line, 1));
    size_t digits = 0;
    uint64_t count;

    if (text_begins(text, "tick") &&
        (text.length == 4 || text_is_blank(text.at[4])))
        return read_tick(reader, text_trim(text_after(text, 4)));
    while (digits < text.length && text_is_digit(text.at[digits]))
        digits++;
    if (text_is(text_after(text, digits), " operations left out") &&
        text_number((struct text){text.at, digits}, &count) == TEXT_NUMBER)
        reader->trace->left_out += count;
    return 0;
}

static int read_line(struct reader *reader, struct text line)
{
    /* Some programs put a mark before the first letter. */
    if (reader->lines.number == 1 && text_begins(line, "\xef\xbb\xbf"))
        line = text_after(line, 3);
    line = text_trim(line);
    if (line.length == 0)
        return 0;
    return line.at[0] == '#' ? read_comment(reader, line)
                             : read_fields(reader, line);
}

static int read_lines(struct reader *reader)
{
    int answer;
    for (struct text line; (answer = lines_next(&reader->lines, &line)) > 0;) {
        int error = read_line(reader, line);
        if (error != 0)
            return error;
    }
    if (answer == 0 && reader->trace->op_count > 0)
        reader->trace->start = reader->trace->ops[0].time;
    return answer == 0 ? number_keys(reader) : answer;
}

static int read_any(struct reader *reader)
{
    int answer = lines_begin_with(&reader->lines, "/*");
    if (answer < 0)
        return answer;
    answer = answer == 1 ? reproducer_read(reader->trace, &reader->lines)
                         : read_lines(reader);
    if (answer == 0 && reader->trace->op_count == 0)
        return lines_refuse(&reader->lines, -EINVAL,
                            "the file has no operation");
    return answer;
}

int trace_read(struct trace *trace, FILE *in, const char *name, uint64_t unit,
               trace_progress *progress, void *context,
               struct trace_fault *fault)
{
    struct reader reader = {
        .lines = {.in = in,
                  .name = name,
                  .fault = fault,
                  .progress = progress,
                  .context = context},
        .trace = trace,
        .is_unit_given = unit != 0,
    };
    *trace = (struct trace){.unit = unit != 0 ? unit : 1};
    fault->text[0] = '\0';

    int error = lines_open(&reader.lines);
    if (error == 0)
        error = read_any(&reader);
    lines_close(&reader.lines);
    keys_close(&reader.keys);
    if (error != 0)
        trace_close(trace);
    return error;
}

/* Times are in ticks already: to say "# tick" would divide them once more. */
bool trace_write(const struct trace *trace, FILE *out)
{
    if (trace->unit > 1)
        fprintf(out, "# in ticks of %" PRIu64 " units\n", trace->unit);
    fprintf(out, "%s\n", columns);
    for (size_t i = 0; i < trace->op_count && !ferror(out); i++) {
        const struct trace_op *op = &trace->ops[i];
        const struct operation *operation = &operations[op->kind];

        fprintf(out, "%" PRIu64 ",%s,", op->time, operation->word);
        if (operation->has_key)
            fprintf(out, "%" PRIu32, op->key);
        fputc(',', out);
        if (operation->has_deadline)
            fprintf(out, "%" PRIu64, op->deadline);
        fputc('\n', out);
    }
    return fflush(out) == 0 && !ferror(out);
}
