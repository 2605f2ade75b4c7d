/*
 * words.h - numbers and times for people.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdint.h>
#include <stdio.h>

/* Text of a number, small enough to be returned by value. */
struct words {
    char text[40];
};

struct words words_count(uint64_t count); /* 1,234,567 */
struct words words_short(double number);  /* 1.23M; 5 letters from 0.1 on */
struct words words_duration(double ms);   /* 65.5 s */
struct words words_clock(uint64_t ms);    /* 0:30:01.234 */

/* A terminal has 80 columns, and the last one is for its cursor. */
enum { WORDS_COLUMNS = 79 };

/*
 * Write what `format` makes, and a newline.  Where that is wider than a
 * terminal it goes on in the next line, behind so many blanks; only a single
 * word may stick out.
 */
void words_write(FILE *out, unsigned indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
