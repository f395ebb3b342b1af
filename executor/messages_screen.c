/*
 * executor/messages_screen.c - the rows of screen.h.  Linked by the supervisor
 * and bailiff-screen.
 */
#include "executor/screen.h"

static const struct wire_field rule_rows[] = {
	WIRE_ROW_TEXT(screen_rule, language),
	WIRE_ROW_U32(screen_rule, language_index),
	WIRE_ROW_U32(screen_rule, is_module),
	WIRE_ROW_U32(screen_rule, places),
	WIRE_ROW_TEXT(screen_rule, text),
};
static const struct wire_layout rule = WIRE_LAYOUT(screen_rule, rule_rows);

static const struct wire_message screen_rules[] = {
	{ SCREEN_RULE, "rule", &rule },
};

const struct wire_protocol screen_rule_protocol = { "code rule",
	sizeof(screen_rules) / sizeof(screen_rules[0]), screen_rules };

static const struct wire_field screen_build_rows[] = {
	WIRE_ROW_U64(screen_build, code_max),
};
static const struct wire_layout screen_build =
    WIRE_LAYOUT(screen_build, screen_build_rows);

static const struct wire_field code_rows[] = {
	WIRE_ROW_U64(screen_code, number),
	WIRE_ROW_U32(screen_code, language),
	WIRE_ROW_U64(screen_code, size),
	WIRE_ROW_U32(screen_code, budget_ms),
};
static const struct wire_layout code = WIRE_LAYOUT(screen_code, code_rows);

static const struct wire_message screen_requests[] = {
	{ SCREEN_BUILD, "build", &screen_build },
	{ SCREEN_CODE, "code", &code },
};

const struct wire_protocol screen_protocol = { "screen",
	sizeof(screen_requests) / sizeof(screen_requests[0]), screen_requests };

static const struct wire_field fault_rows[] = {
	WIRE_ROW_U32(screen_fault, language),
	WIRE_ROW_U32(screen_fault, rule),
	WIRE_ROW_TEXT(screen_fault, text),
};
static const struct wire_layout fault = WIRE_LAYOUT(screen_fault, fault_rows);

static const struct wire_field hit_rows[] = {
	WIRE_ROW_U32(screen_hit, rule),
	WIRE_ROW_U64(screen_hit, line),
	WIRE_ROW_U64(screen_hit, at),
};
static const struct wire_layout hit = WIRE_LAYOUT(screen_hit, hit_rows);

static const struct wire_field hits_rows[] = {
	WIRE_ROW_U64(screen_hits, number),
	WIRE_ROW_U32(screen_hits, encoded),
	WIRE_ROW_LIST(screen_hits, hits, &hit),
};
static const struct wire_layout hits = WIRE_LAYOUT(screen_hits, hits_rows);

static const struct wire_message screen_replies[] = {
	{ SCREEN_READY, "ready", NULL },
	{ SCREEN_FAULT, "fault", &fault },
	{ SCREEN_HITS, "hits", &hits },
};

const struct wire_protocol screen_reply_protocol = { "screen reply",
	sizeof(screen_replies) / sizeof(screen_replies[0]), screen_replies };
