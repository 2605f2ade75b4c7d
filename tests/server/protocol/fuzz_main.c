/*
 * server/protocol/fuzz_main.c - any bytes, in any pieces, held against the
 * promises of the parser.
 *
 * A libFuzzer target: built with -fsanitize=fuzzer and FUZZ_WITH_LIBFUZZER
 * defined, coverage leads it to new inputs.  Built without, it is a program
 * that runs the files it is given, so that any compiler can replay a corpus.
 *
 * The first byte of an input chooses the largest body, the second one the sizes
 * of the pieces; the rest is the stream.  The events must not depend on the
 * pieces, and each command must keep the limits of the protocol.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording.h"

enum { INPUT_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "the parser breaks a promise: %s\n", what);
    abort();
}

/* Pieces of 1 to 8 bytes, as a number says. */
static size_t cut_by_number(void *context, size_t left)
{
    uint32_t *number = context;
    *number = *number * UINT32_C(1103515245) + 12345;
    size_t piece = 1 + (*number >> 16) % 8;
    return piece < left ? piece : left;
}

static bool is_in_tube_name(char c)
{
    return c != '\0' && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz"
                               "0123456789-+/;.$_()",
                               c) != NULL;
}

static void check_tube(const struct tkd_command *command)
{
    if (command->tube_length > TKD_TUBE_MAX)
        fail("a tube's name is too long");
    for (size_t i = 0; i < command->tube_length; i++)
        if (!is_in_tube_name(command->tube[i]))
            fail("a tube's name has a byte that is not allowed");
    if (command->tube_length > 0 && command->tube[0] == '-')
        fail("a tube's name begins with a dash");
}

static void check_command(const struct tkd_command *command, uint32_t body_max)
{
    if (command->verb >= TKD_VERBS)
        fail("there is no such verb");
    if (command->bytes > body_max)
        fail("a body is larger than the largest");
    if (command->bytes > 0 && command->verb != TKD_PUT)
        fail("a command without a body has one");
    check_tube(command);
}

/* Each put that is accepted is followed by its body and the body's end. */
static void check_events(const struct recording *recording, uint32_t body_max)
{
    bool is_in_body = false;
    for (size_t i = 0; i < recording->count; i++) {
        const struct recorded *event = &recording->events[i];
        bool is_body =
            event->kind == TKD_EVENT_BODY || event->kind == TKD_EVENT_BODY_END;
        if (is_body != is_in_body)
            fail("a body is at the wrong place");
        if (event->kind == TKD_EVENT_BODY && event->body_size > body_max)
            fail("more bytes of a body than announced");
        if (event->kind == TKD_EVENT_COMMAND) {
            check_command(&event->command, body_max);
            is_in_body = event->command.verb == TKD_PUT;
        } else if (event->kind == TKD_EVENT_BODY_END) {
            is_in_body = false;
        }
    }
}

static void check_stream(const char *stream, size_t size, uint32_t body_max,
                         uint32_t number)
{
    struct recording whole = record_whole(stream, size, body_max);
    struct recording bytes = record_bytes(stream, size, body_max);
    struct recording cut =
        record_cut(stream, size, body_max, cut_by_number, &number);
    if (whole.fault != NULL)
        fail(whole.fault);
    if (!recordings_are_equal(&whole, &bytes))
        fail("bytes one by one make other events");
    if (!recordings_are_equal(&whole, &cut))
        fail("pieces make other events");
    check_events(&whole, body_max);
    recording_close(&whole);
    recording_close(&bytes);
    recording_close(&cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > INPUT_MAX)
        return 0;
    uint32_t body_max = data[0] < 200 ? data[0] % 16U : data[0] * 300U;
    check_stream((const char *)data + 2, size - 2, body_max, data[1]);
    return 0;
}

#ifndef FUZZ_WITH_LIBFUZZER
static bool run_file(const char *path)
{
    static uint8_t input[INPUT_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return false;
    }
    size_t size = fread(input, 1, sizeof input, file);
    bool is_read = !ferror(file);
    fclose(file);
    LLVMFuzzerTestOneInput(input, size);
    return is_read;
}

int main(int count, char **paths)
{
    for (int i = 1; i < count; i++)
        if (!run_file(paths[i]))
            return 1;
    printf("%d inputs\n", count - 1);
    return count < 2;
}
#endif
