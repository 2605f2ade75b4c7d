/*
 * text.h - a piece of text that somebody else owns, and what is read from it.
 */
#ifndef SIM_TEXT_H
#define SIM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    const char *at;
    size_t length;
};

static inline bool text_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Without the blanks around it. */
static inline struct text text_trim(struct text text)
{
    while (text.length > 0 && text_is_blank(text.at[0])) {
        text.at++;
        text.length--;
    }
    while (text.length > 0 && text_is_blank(text.at[text.length - 1]))
        text.length--;
    return text;
}

/* Without its first `count` bytes. */
static inline struct text text_after(struct text text, size_t count)
{
    return (struct text){text.at + count, text.length - count};
}

static inline bool text_begins(struct text text, const char *word)
{
    size_t length = strlen(word);
    return text.length >= length && memcmp(text.at, word, length) == 0;
}

static inline bool text_is(struct text text, const char *word)
{
    return text.length == strlen(word) && text_begins(text, word);
}

enum text_answer { TEXT_NUMBER, TEXT_NO_NUMBER, TEXT_TOO_LARGE };

/* A whole number, digits only, and nothing else. */
static inline enum text_answer text_number(struct text text, uint64_t *number)
{
    uint64_t sum = 0;
    bool is_large = false;

    if (text.length == 0)
        return TEXT_NO_NUMBER;
    for (size_t i = 0; i < text.length; i++) {
        if (!text_is_digit(text.at[i]))
            return TEXT_NO_NUMBER;
        unsigned digit = (unsigned)(text.at[i] - '0');
        is_large |= sum > (UINT64_MAX - digit) / 10;
        sum = sum * 10 + digit;
    }
    *number = sum;
    return is_large ? TEXT_TOO_LARGE : TEXT_NUMBER;
}

#endif
