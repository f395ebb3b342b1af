/*
 * cli/mcp_config.h - what an MCP client has to be told to start `bailiff mcp`.
 */
#ifndef CLI_MCP_CONFIG_H
#define CLI_MCP_CONFIG_H

#include "cli/front.h"

/* Print it with absolute paths; the exit code. */
int mcp_config_print(const char *client, const struct front_place *place);

#endif
