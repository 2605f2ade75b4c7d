/*
 * server/store/directory.h - a directory for one test.
 */
#ifndef TESTS_SERVER_STORE_DIRECTORY_H
#define TESTS_SERVER_STORE_DIRECTORY_H

#include <stddef.h>

/* Make an empty directory and store its path in `path`, of DIRECTORY_MAX
 * bytes. */
enum { DIRECTORY_MAX = 128 };
void directory_make(char *path);

/* Remove a directory and all that is in it. */
void directory_remove(const char *path);

/* Copy the files of a directory into another one, which is made. */
void directory_copy(const char *from, const char *to);

/* Store the path of the newest file whose name ends in `suffix` in `path`, of
 * `size` bytes. */
void directory_newest(const char *directory, const char *suffix, char *path,
                      size_t size);

#endif
