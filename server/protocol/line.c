/*
 * protocol/line.c - parsing a command line.
 *
 * The table `rows` describes the verbs.  tkd__line_parse() accepts the lines
 * that beanstalkd 1.12 accepts, and refuses others for beanstalkd's reason.
 * Experiments showed the reasons: see tests/server/protocol/near_misses.h.
 *
 * There are two kinds of numbers.  A strict number is spaces and digits.  A
 * loose number is a number of strtol(): white space, a sign, digits, and then
 * any bytes up to the end of the line.
 */
#include <string.h>

#include "private.h"

#define NS_PER_SECOND UINT64_C(1000000000)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum argument {
    END,     /* no more arguments */
    ID,      /* a job's id */
    PRI,     /* a priority */
    DELAY,   /* seconds, for `delay_ns` */
    TTR,     /* seconds, for `ttr_ns` */
    BYTES,   /* the length of a body */
    TUBE,    /* a tube's name */
    SPACES,  /* zero or more spaces */
    TIMEOUT, /* seconds, for `delay_ns`: a loose number, or 0 without digits */
    BOUND,   /* the most jobs to kick: a loose number */
    REST,    /* any bytes up to the end of the line */
};

/*
 * A verb.  A line has the verb if it begins with `name`.  Where one name begins
 * another, the longer name has the earlier row.
 *
 * The space at the end of a name decides how the parser refuses lines that
 * almost have the verb.  "peekx" does not begin with "peek ": it is unknown.
 * "statsx" begins with "stats": its format is bad.
 */
struct row {
    const char *name;
    uint8_t name_length;
    uint8_t verb;
    bool has_body;
    uint8_t arguments[5]; /* up to the first END */
};

#define NAME(literal) (literal), sizeof(literal) - 1

static const struct row rows[] = {
    {NAME("put "), TKD_PUT, true, {PRI, DELAY, TTR, BYTES}},
    {NAME("reserve-with-timeout "), TKD_RESERVE_WITH_TIMEOUT, false, {TIMEOUT}},
    {NAME("reserve-job "), TKD_RESERVE_JOB, false, {ID}},
    {NAME("reserve"), TKD_RESERVE, false, {END}},
    {NAME("delete "), TKD_DELETE, false, {ID}},
    {NAME("release "), TKD_RELEASE, false, {ID, PRI, DELAY}},
    {NAME("bury "), TKD_BURY, false, {ID, PRI}},
    {NAME("touch "), TKD_TOUCH, false, {ID}},
    {NAME("use "), TKD_USE, false, {TUBE}},
    {NAME("watch "), TKD_WATCH, false, {TUBE}},
    {NAME("ignore "), TKD_IGNORE, false, {TUBE}},
    {NAME("peek "), TKD_PEEK, false, {ID}},
    {NAME("peek-ready"), TKD_PEEK_READY, false, {END}},
    {NAME("peek-delayed"), TKD_PEEK_DELAYED, false, {END}},
    {NAME("peek-buried"), TKD_PEEK_BURIED, false, {END}},
    {NAME("kick "), TKD_KICK, false, {BOUND}},
    {NAME("kick-job "), TKD_KICK_JOB, false, {ID}},
    {NAME("stats-job "), TKD_STATS_JOB, false, {ID}},
    {NAME("stats-tube "), TKD_STATS_TUBE, false, {TUBE}},
    {NAME("stats"), TKD_STATS, false, {END}},
    {NAME("list-tubes-watched"), TKD_LIST_TUBES_WATCHED, false, {END}},
    {NAME("list-tubes"), TKD_LIST_TUBES, false, {END}},
    {NAME("list-tube-used"), TKD_LIST_TUBE_USED, false, {END}},
    {NAME("pause-tube"), TKD_PAUSE_TUBE, false, {SPACES, TUBE, DELAY}},
    {NAME("quit"), TKD_QUIT, false, {REST}},
};

_Static_assert(COUNT_OF(rows) == TKD_VERBS, "every verb has a row");
_Static_assert(UINT32_MAX <= UINT64_MAX / NS_PER_SECOND,
               "all seconds of 32 bits fit into nanoseconds of 64 bits");

/* The part of a line that is not parsed yet. */
struct cursor {
    const char *at;
    const char *end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_in_tube_name(char c)
{
    static const char others[] = "-+/;.$_()";

    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           memchr(others, c, sizeof others - 1) != NULL;
}

static bool has_digit(const struct cursor *cursor)
{
    return cursor->at < cursor->end && is_digit(*cursor->at);
}

static void skip_spaces(struct cursor *cursor)
{
    while (cursor->at < cursor->end && *cursor->at == ' ')
        cursor->at++;
}

/* Like skip_spaces(), but also skip the white space of the C locale. */
static void skip_white_space(struct cursor *cursor)
{
    while (cursor->at < cursor->end &&
           (*cursor->at == ' ' || (*cursor->at >= '\t' && *cursor->at <= '\r')))
        cursor->at++;
}

/* Read one or more digits.  Returns false if there is none, or if the number is
 * larger than `max`. */
static bool read_digits(struct cursor *cursor, uint64_t max, uint64_t *number)
{
    if (!has_digit(cursor))
        return false;
    *number = 0;
    for (; has_digit(cursor); cursor->at++) {
        uint64_t digit = (uint64_t)(*cursor->at - '0');
        if (*number > max / 10 || digit > max - *number * 10)
            return false;
        *number = *number * 10 + digit;
    }
    return true;
}

/* Read a strict number: spaces, and digits. */
static bool read_number(struct cursor *cursor, uint64_t max, uint64_t *number)
{
    skip_spaces(cursor);
    return read_digits(cursor, max, number);
}

static bool read_number_32(struct cursor *cursor, uint32_t *number)
{
    uint64_t wide;
    if (!read_number(cursor, UINT32_MAX, &wide))
        return false;
    *number = (uint32_t)wide;
    return true;
}

static bool read_seconds(struct cursor *cursor, uint64_t *ns)
{
    uint64_t seconds;
    if (!read_number(cursor, UINT32_MAX, &seconds))
        return false;
    *ns = seconds * NS_PER_SECOND;
    return true;
}

/* Skip white space and a sign.  Returns whether the sign is a minus. */
static bool read_sign(struct cursor *cursor)
{
    skip_white_space(cursor);
    char sign = cursor->at < cursor->end ? *cursor->at : '\0';
    if (sign == '-' || sign == '+')
        cursor->at++;
    return sign == '-';
}

/* Read the digits of a loose number, and skip the rest of the line.  Like
 * beanstalkd, store the number modulo 2^32: -1 is 2^32 - 1. */
static bool read_loose_digits(struct cursor *cursor, bool is_negative,
                              uint64_t max, uint64_t *number)
{
    if (!read_digits(cursor, max, number))
        return false;
    *number = (uint32_t)(is_negative ? 0 - *number : *number);
    cursor->at = cursor->end;
    return true;
}

static bool read_bound(struct cursor *cursor, uint64_t *bound)
{
    bool is_negative = read_sign(cursor);
    return read_loose_digits(cursor, is_negative, UINT64_MAX, bound);
}

/* In beanstalkd, a timeout of 2^31 or more seconds never ends.  Here the
 * timeout ends after 68 to 136 years. */
static bool read_timeout(struct cursor *cursor, uint64_t *ns)
{
    uint64_t seconds = 0;
    bool is_negative = read_sign(cursor);
    uint64_t max = (uint64_t)INT64_MAX + is_negative;
    if (!has_digit(cursor))
        cursor->at = cursor->end;
    else if (!read_loose_digits(cursor, is_negative, max, &seconds))
        return false;
    *ns = seconds * NS_PER_SECOND;
    return true;
}

/* Read bytes that a name may have.  A name that is not allowed for another
 * reason gets the length 0. */
static bool read_tube(struct cursor *cursor, struct tkd_command *command)
{
    const char *name = cursor->at;
    while (cursor->at < cursor->end && is_in_tube_name(*cursor->at))
        cursor->at++;
    size_t length = (size_t)(cursor->at - name);
    if (length == 0)
        return false;
    if (length > TKD_TUBE_MAX || *name == '-')
        return true;
    memcpy(command->tube, name, length);
    command->tube_length = (uint8_t)length;
    return true;
}

static bool read_argument(enum argument argument, struct cursor *cursor,
                          struct tkd_command *command)
{
    switch (argument) {
    case ID:
        return read_number(cursor, UINT64_MAX, &command->id);
    case PRI:
        return read_number_32(cursor, &command->pri);
    case DELAY:
        return read_seconds(cursor, &command->delay_ns);
    case TTR:
        return read_seconds(cursor, &command->ttr_ns);
    case BYTES:
        return read_number_32(cursor, &command->bytes);
    case TUBE:
        return read_tube(cursor, command);
    case SPACES:
        skip_spaces(cursor);
        return true;
    case TIMEOUT:
        return read_timeout(cursor, &command->delay_ns);
    case BOUND:
        return read_bound(cursor, &command->id);
    case REST:
        cursor->at = cursor->end;
        return true;
    case END:
        break;
    }
    return false;
}

static bool read_arguments(const struct row *row, struct cursor *cursor,
                           struct tkd_command *command)
{
    for (size_t i = 0; row->arguments[i] != END; i++)
        if (!read_argument((enum argument)row->arguments[i], cursor, command))
            return false;
    return true;
}

/* Set all fields but the bytes of `tube`. */
static void clear(struct tkd_command *command, uint8_t verb)
{
    command->verb = (enum tkd_verb)verb;
    command->pri = 0;
    command->id = 0;
    command->delay_ns = 0;
    command->ttr_ns = 0;
    command->bytes = 0;
    command->tube_length = 0;
}

/* Return the row of a line's verb, or NULL. */
static const struct row *find_row(const char *line, size_t length)
{
    for (const struct row *row = rows; row < rows + COUNT_OF(rows); row++)
        if (length >= row->name_length && *line == *row->name &&
            memcmp(line, row->name, row->name_length) == 0)
            return row;
    return NULL;
}

/* Return whether a command has a tube whose name is not allowed. */
static bool has_bad_tube(const struct row *row,
                         const struct tkd_command *command)
{
    for (size_t i = 0; row->arguments[i] != END; i++)
        if (row->arguments[i] == TUBE)
            return command->tube_length == 0;
    return false;
}

/* Parse the arguments of a command.  Like beanstalkd, check the size of the
 * body first, garbage after the last argument second, and the name of a tube
 * last.  beanstalkd counts a pause-tube before it checks the name. */
static bool parse_command(const struct row *row, struct cursor *cursor,
                          uint32_t body_max, struct tkd_event *event)
{
    struct tkd_command *command = &event->command;
    clear(command, row->verb);
    if (!read_arguments(row, cursor, command))
        return refuse(event, TKD_REFUSED_FORMAT, TKD_VERBS);
    if (row->has_body && command->bytes > body_max) {
        refuse(event, TKD_REFUSED_SIZE, TKD_PUT);
        return true;
    }
    if (cursor->at != cursor->end)
        return refuse(event, TKD_REFUSED_FORMAT,
                      row->has_body ? TKD_PUT : TKD_VERBS);
    if (has_bad_tube(row, command))
        return refuse(event, TKD_REFUSED_FORMAT,
                      row->verb == TKD_PAUSE_TUBE ? TKD_PAUSE_TUBE : TKD_VERBS);
    event->kind = TKD_EVENT_COMMAND;
    return row->has_body;
}

bool tkd__line_parse(const char *line, size_t length, uint32_t body_max,
                     struct tkd_event *event)
{
    if (memchr(line, '\0', length) != NULL)
        return refuse(event, TKD_REFUSED_FORMAT, TKD_VERBS);
    const struct row *row = find_row(line, length);
    if (row == NULL)
        return refuse(event, TKD_REFUSED_UNKNOWN, TKD_VERBS);
    struct cursor cursor = {line + row->name_length, line + length};
    return parse_command(row, &cursor, body_max, event);
}
