#define _GNU_SOURCE

#include "directory.h"

#include <dirent.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void demand(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    abort();
}

void directory_make(char *path)
{
    const char *parent = getenv("TMPDIR");
    snprintf(path, DIRECTORY_MAX, "%s/tickwheel-store-XXXXXX",
             parent == NULL ? "/tmp" : parent);
    demand(mkdtemp(path) != NULL, path);
}

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void directory_remove(const char *path)
{
    chmod(path, 0700);
    demand(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, path);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[65536];
    size_t size;
    FILE *in = fopen(from, "rb");
    demand(in != NULL, from);
    FILE *out = fopen(to, "wb");
    demand(out != NULL, to);
    while ((size = fread(bytes, 1, sizeof bytes, in)) > 0)
        demand(fwrite(bytes, 1, size, out) == size, to);
    fclose(in);
    demand(fclose(out) == 0, to);
}

void directory_copy(const char *from, const char *to)
{
    char source[512], target[512];
    demand(mkdir(to, 0700) == 0, to);
    DIR *directory = opendir(from);
    demand(directory != NULL, from);
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(source, sizeof source, "%s/%s", from, entry->d_name);
        snprintf(target, sizeof target, "%s/%s", to, entry->d_name);
        copy_file(source, target);
    }
    closedir(directory);
}

void directory_newest(const char *path, const char *suffix, char *newest,
                      size_t size)
{
    char best[256] = "";
    DIR *directory = opendir(path);
    demand(directory != NULL, path);
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        size_t length = strlen(entry->d_name), end = strlen(suffix);
        if (length < end || strcmp(entry->d_name + length - end, suffix) != 0 ||
            strcmp(entry->d_name, best) <= 0)
            continue;
        snprintf(best, sizeof best, "%s", entry->d_name);
    }
    closedir(directory);
    snprintf(newest, size, "%s/%s", path, best);
}
