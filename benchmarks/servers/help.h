/*
 * servers/help.h - the text of --help.
 */
#ifndef SERVERS_HELP_H
#define SERVERS_HELP_H

extern const char help_text[];

#endif
