/*
 * words.h - numbers and times for people.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdint.h>

/* Text of a number, small enough to be returned by value. */
struct words {
    char text[40];
};

struct words words_count(uint64_t count); /* 1,234,567 */
struct words words_short(double number);  /* 1.23M */
struct words words_duration(double ms);   /* 65.5 s */
struct words words_clock(uint64_t ms);    /* 0:30:01.234 */

#endif
