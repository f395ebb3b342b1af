/*
 * mcp/advice.h - what a denial means for whoever asked: what is allowed
 * instead, and whether trying again can help.
 */
#ifndef MCP_ADVICE_H
#define MCP_ADVICE_H

#include "base/text.h"
#include "executor/protocol.h"
#include "mcp/about.h"

/* One line for the first reasons of 'd', with a NUL behind; cut at out->cap. */
void advice_for(const struct protocol_decided *d, const struct about *about,
    struct text_out *out);

#endif
