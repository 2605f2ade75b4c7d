/*
 * draft.c - a file that replaces its target only when it is complete.
 */
#define _DEFAULT_SOURCE

#include "draft.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether `path` must be written directly.  Names of open descriptors
 * are never replaced, even if they lead to a regular file. */
static bool is_special(const char *path)
{
    static const char *const open_ones[] = {"/dev/std", "/dev/fd/", "/proc/"};
    struct stat status;
    for (size_t i = 0; i < sizeof open_ones / sizeof open_ones[0]; i++) {
        if (strncmp(path, open_ones[i], strlen(open_ones[i])) == 0)
            return true;
    }
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Returns the absolute name of `path`, whether the file exists or not. */
static char *name_of(const char *path)
{
    char *name = realpath(path, NULL);
    const char *slash = strrchr(path, '/');
    if (name != NULL || errno != ENOENT)
        return name;
    const char *base = slash != NULL ? slash + 1 : path;
    char *parent = slash != NULL ? strndup(path, (size_t)(base - path)) : NULL;
    char *place = realpath(parent != NULL ? parent : ".", NULL);
    free(parent);
    if (place == NULL)
        return NULL;
    size_t room = strlen(place) + strlen(base) + 2;
    name = malloc(room);
    if (name != NULL)
        snprintf(name, room, "%s/%s", place, base);
    free(place);
    return name;
}

/* Returns the name of the draft: "chart.svg.1234.part" for "chart.svg". */
static char *beside(const char *target)
{
    size_t room = strlen(target) + 40;
    char *path = malloc(room);
    if (path != NULL)
        snprintf(path, room, "%s.%ld.part", target, (long)getpid());
    return path;
}

static int open_file(struct draft *draft)
{
    if (draft->is_special) {
        draft->file = fopen(draft->target, "w");
        return draft->file != NULL ? 0 : -errno;
    }
    draft->path = beside(draft->target);
    if (draft->path == NULL)
        return -ENOMEM;
    draft->file = fopen(draft->path, "w");
    return draft->file != NULL ? 0 : -errno;
}

int draft_open(struct draft *draft, const char *path)
{
    *draft = (struct draft){0};
    if (path == NULL)
        return 0;
    /* A symbolic link stays: draft_finish() replaces the file it leads to. */
    draft->is_special = is_special(path);
    draft->target = draft->is_special ? strdup(path) : name_of(path);
    if (draft->target == NULL)
        return errno != 0 ? -errno : -ENOMEM;
    int error = open_file(draft);
    if (error != 0)
        draft_drop(draft);
    return error;
}

static int close_file(struct draft *draft)
{
    errno = 0;
    bool has_failed = ferror(draft->file) != 0;
    has_failed |= fclose(draft->file) != 0;
    draft->file = NULL;
    if (!has_failed)
        return 0;
    return errno != 0 ? -errno : -EIO;
}

int draft_finish(struct draft *draft)
{
    if (draft->file == NULL)
        return 0;
    int error = close_file(draft);
    if (error == 0 && draft->path != NULL) {
        if (rename(draft->path, draft->target) != 0)
            error = -errno;
        else
            draft->path[0] = '\0';
    }
    draft_drop(draft);
    return error;
}

void draft_drop(struct draft *draft)
{
    if (draft->file != NULL)
        fclose(draft->file);
    draft_unlink(draft);

    /* A signal handler that calls draft_unlink() must not see freed memory. */
    char *path = draft->path, *target = draft->target;
    *draft = (struct draft){0};
    atomic_signal_fence(memory_order_seq_cst);
    free(path);
    free(target);
}

void draft_unlink(const struct draft *draft)
{
    if (draft->path != NULL && draft->path[0] != '\0')
        unlink(draft->path);
}
