/* version.c - the snippets of version.h. */
#include <stdio.h>

#include <tickwheel/version.h>

int main(void)
{
#include "version.1.1"
    return 0;
}
