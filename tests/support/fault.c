/*
 * support/fault.c - see fault.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "fault.h"

void assert_fault_at(const char *file, int line, const struct tkw_fault *fault,
                     const char *format, ...)
{
    char expected[TKW_FAULT_TEXT_MAX];
    char found[TKW_FAULT_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(expected, sizeof expected, format, arguments);
    va_end(arguments);
    size_t length = tkw_fault_describe(fault, found, sizeof found);
    _assert_true(length < sizeof found, "the description is complete", file,
                 line);
    _assert_string_equal(found, expected, file, line);
}
