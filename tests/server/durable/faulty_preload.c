/*
 * server/durable/faulty_preload.c - a disk that fails, by LD_PRELOAD.
 *
 * FAULT=CALL:NUMBER:ERROR makes call number NUMBER and all later ones fail, of
 * those that are about the log of RocksDB (files named *.log):
 *
 *     sync:20:5     fdatasync() fails with EIO from the 20th on
 *     write:50:28   write() fails with ENOSPC from the 50th on
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static bool is_log(int fd)
{
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof path - 1);
    return length > 4 && memcmp(path + length - 4, ".log", 4) == 0;
}

/* Return the error that a call gets, or 0. */
static int fault_of(const char *call, int fd)
{
    const char *fault = getenv("FAULT");
    size_t length = strlen(call);
    if (fault == NULL || strncmp(fault, call, length) != 0 ||
        fault[length] != ':' || !is_log(fd))
        return 0;
    char *end;
    long number = strtol(fault + length + 1, &end, 10);
    int error = (int)strtol(end + 1, NULL, 10);
    return atomic_fetch_add(&calls, 1) + 1 >= number ? error : 0;
}

/* dlsym() returns an object pointer; a copy makes it one to a function. */
static void find_next(const char *name, void *function, size_t size)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, size);
}

int fdatasync(int fd)
{
    int (*next)(int);
    int error = fault_of("sync", fd);
    if (error != 0) {
        errno = error;
        return -1;
    }
    find_next("fdatasync", &next, sizeof next);
    return next(fd);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    ssize_t (*next)(int, const void *, size_t);
    int error = fault_of("write", fd);
    if (error != 0) {
        errno = error;
        return -1;
    }
    find_next("write", &next, sizeof next);
    return next(fd, bytes, size);
}
