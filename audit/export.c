/*
 * audit/export.c - records for other tools.  Linked by the audit reader.
 *
 * A string that entry_read accepted is printable ASCII without quote and
 * backslash: inside the quotes of JSON or CSV it needs no escape.
 */
#include "audit/export.h"

#include <inttypes.h>
#include <string.h>

#include "base/sha256.h"

#define OCSF_VERSION "1.3.0"

const char *const export_words[EXPORT_FORMATS] = {
	[EXPORT_DSSE] = "dsse",
	[EXPORT_CSV] = "csv",
	[EXPORT_OCSF] = "ocsf",
};

/* A column of the table: a member of the predicate, and of that, and of that.
 * No first member: the hash of the record itself. */
struct column {
	const char *name;
	const char *path[3];
};

static const struct column columns[] = {
	{ "seq", { "seq" } },
	{ "time", { "time" } },
	{ "type", { "type" } },
	{ "run", { "req" } },
	{ "decision", { "decision" } },
	{ "reasons", { "reasons" } },
	{ "status", { "status" } },
	{ "phase", { "phase" } },
	{ "killed_by", { "killed_by" } },
	{ "exit_code", { "exit", "code" } },
	{ "exit_signal", { "exit", "signal" } },
	{ "lang", { "code", "lang" } },
	{ "code_sha256", { "code", "sha256" } },
	{ "stdout_sha256", { "stdout", "sha256" } },
	{ "manifest", { "manifest" } },
	{ "policy", { "policy", "name" } },
	{ "policy_sha256", { "policy", "sha256" } },
	{ "uid", { "principal", "uid" } },
	{ "client", { "claims", "client" } },
	{ "label", { "claims", "label" } },
	{ "wall_us", { "use", "wall_us" } },
	{ "cpu_us", { "use", "cpu_us" } },
	{ "leaf", { NULL } },
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static struct c1_value member(
    const struct entry *entry, const char *const path[3])
{
	struct c1_value v = entry->predicate;

	for (size_t i = 0; i < 3 && path[i] != NULL; i++)
		v = c1_member(&v, path[i]);
	return v;
}

static void leaf_hex(const struct entry *entry, char ret[SHA256_HEX])
{
	uint8_t leaf[TREE_HASH];

	tree_leaf(entry->line, entry->len, leaf);
	sha256_hex(leaf, ret);
}

/* The words of a list with a space between them. */
static int put_list(
    const struct c1_value *v, struct text_out *out, struct error *e)
{
	const char *space = "";
	struct c1_member m;
	struct c1_walk w;

	c1_walk(v, &w);
	while (c1_next(&w, &m)) {
		if (text_printf(out, e, "%s%.*s", space, (int)m.value.len,
		        m.value.at) < 0)
			return -1;
		space = " ";
	}
	return 0;
}

static int put_cell(
    const struct c1_value *v, struct text_out *out, struct error *e)
{
	bool formula = v->len > 0 && v->kind == C1_STRING &&
	               strchr("=+-@", v->at[0]) != NULL;

	if (v->kind == C1_ARRAY)
		return put_list(v, out, e);
	return text_printf(
	    out, e, "%s%.*s", formula ? "'" : "", (int)v->len, v->at);
}

static int put_row(
    const struct entry *entry, struct text_out *out, struct error *e)
{
	char hex[SHA256_HEX];

	leaf_hex(entry, hex);
	for (size_t i = 0; i < N_COLUMNS; i++) {
		struct c1_value v = { C1_STRING, hex, strlen(hex) };

		if (columns[i].path[0] != NULL)
			v = member(entry, columns[i].path);
		if (v.kind == C1_ABSENT)
			v.len = 0;
		if (text_printf(out, e, "%s\"", i > 0 ? "," : "") < 0 ||
		    put_cell(&v, out, e) < 0 || text_printf(out, e, "\"") < 0)
			return -1;
	}
	return text_printf(out, e, "\r\n");
}

/* Days from 1970-01-01 to a day of the Gregorian calendar, years from March on
 * so that the odd day is the last. */
static uint64_t days_since_1970(uint64_t year, uint64_t month, uint64_t day)
{
	uint64_t y = month > 2 ? year : year - 1;
	uint64_t m = month > 2 ? month - 3 : month + 9;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day -
	       719469;
}

static uint64_t digits(const char *from, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		value = 10 * value + (uint64_t)(from[i] - '0');
	return value;
}

/* entry_read has checked the form yyyy-mm-ddThh:mm:ss.uuuuuuZ. */
static uint64_t milliseconds(const struct entry *entry)
{
	const char *t = entry->fields[ENTRY_TIME].at;
	uint64_t days =
	    days_since_1970(digits(t, 4), digits(t + 5, 2), digits(t + 8, 2));
	uint64_t seconds = 3600 * digits(t + 11, 2) + 60 * digits(t + 14, 2) +
	                   digits(t + 17, 2);

	return 1000 * (86400 * days + seconds) + digits(t + 20, 3);
}

/* What a record is in the words of OCSF. */
struct ocsf {
	const char *type;
	unsigned class_uid, activity_id;
	unsigned action_id; /* 1 allowed, 2 denied; 0: not said */
};

static const struct ocsf ocsf_types[] = {
	{ "intent", 1007, 1, 1 },
	{ "denial", 1007, 1, 2 },
	{ "outcome", 1007, 2, 0 },
};
static const struct ocsf ocsf_other = { NULL, 0, 99, 0 };

static const struct ocsf *ocsf_of(const struct entry *entry)
{
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];

	for (size_t i = 0; i < sizeof(ocsf_types) / sizeof(ocsf_types[0]); i++)
		if (c1_is(type, ocsf_types[i].type))
			return &ocsf_types[i];
	return &ocsf_other;
}

static int put_text(const char *key, const struct c1_value *v,
    struct text_out *out, struct error *e)
{
	if (v->kind != C1_STRING)
		return 0;
	return text_printf(out, e, ",\"%s\":\"%.*s\"", key, (int)v->len, v->at);
}

static int put_process(
    const struct entry *entry, struct text_out *out, struct error *e)
{
	struct c1_value digest =
	    c1_member(&entry->fields[ENTRY_CODE], "sha256");
	struct c1_value lang = c1_member(&entry->fields[ENTRY_CODE], "lang");
	const struct c1_value *run = &entry->fields[ENTRY_REQ];

	if (text_printf(out, e, ",\"process\":{\"uid\":\"%.*s\"", (int)run->len,
	        run->at) < 0 ||
	    put_text("name", &lang, out, e) < 0)
		return -1;
	if (digest.kind == C1_STRING &&
	    text_printf(out, e,
	        ",\"file\":{\"name\":\"code\",\"type_id\":1,\"hashes\":[{"
	        "\"algorithm_id\":3,\"algorithm\":\"SHA-256\",\"value\":"
	        "\"%.*s\"}]}",
	        (int)digest.len, digest.at) < 0)
		return -1;
	return text_printf(out, e, "}");
}

/* Who asked, what came of it. */
static int put_activity(const struct entry *entry, const struct ocsf *o,
    struct text_out *out, struct error *e)
{
	static const char *const code_path[3] = { "exit", "code" };
	struct c1_value uid = c1_member(&entry->fields[ENTRY_PRINCIPAL], "uid");
	struct c1_value code = member(entry, code_path);
	const struct c1_value *status = &entry->fields[ENTRY_STATUS];

	if (put_process(entry, out, e) < 0)
		return -1;
	if (text_printf(out, e, ",\"actor\":{\"user\":{") < 0 ||
	    (uid.kind == C1_NUMBER && text_printf(out, e, "\"uid\":\"%.*s\"",
	                                  (int)uid.len, uid.at) < 0) ||
	    text_printf(out, e, "}}") < 0)
		return -1;
	if (o->action_id != 0 &&
	    text_printf(out, e, ",\"action_id\":%u,\"disposition_id\":%u",
	        o->action_id, o->action_id) < 0)
		return -1;
	if (code.kind == C1_NUMBER && text_printf(out, e, ",\"exit_code\":%.*s",
	                                  (int)code.len, code.at) < 0)
		return -1;
	if (status->kind == C1_STRING &&
	    text_printf(
	        out, e, ",\"status_id\":%d", c1_is(status, "ok") ? 1 : 2) < 0)
		return -1;
	return put_text("status_detail", status, out, e);
}

static int put_ocsf(
    const struct entry *entry, struct text_out *out, struct error *e)
{
	const struct ocsf *o = ocsf_of(entry);
	const struct c1_value *log = &entry->fields[ENTRY_LOG];
	const struct c1_value *boot = &entry->fields[ENTRY_BOOT];
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];
	const struct c1_value *reasons = &entry->fields[ENTRY_REASONS];
	bool denied = o->action_id == 2;
	char hex[SHA256_HEX];

	leaf_hex(entry, hex);
	if (text_printf(out, e,
	        "{\"class_uid\":%u,\"category_uid\":%u,\"activity_id\":%u,"
	        "\"type_uid\":%u,\"severity_id\":%d,\"time\":%" PRIu64
	        ",\"metadata\":{\"version\":\"" OCSF_VERSION
	        "\",\"profiles\":[\"security_control\"],\"product\":{\"name\":"
	        "\"bailiff\",\"vendor_name\":\"Bailiff\"},\"uid\":\"%s\","
	        "\"log_name\":\"%.*s\",\"sequence\":%" PRIu64
	        "},\"device\":{\"type_id\":0,\"uid\":\"%.*s\"}",
	        o->class_uid, o->class_uid / 1000, o->activity_id,
	        100 * o->class_uid + o->activity_id, denied ? 3 : 1,
	        milliseconds(entry), hex, (int)log->len, log->at, entry->seq,
	        (int)boot->len, boot->at) < 0)
		return -1;
	if (o->class_uid != 0 && put_activity(entry, o, out, e) < 0)
		return -1;
	if (text_printf(out, e, ",\"message\":\"%.*s%s", (int)type->len,
	        type->at, reasons->kind == C1_ARRAY ? ": " : "") < 0 ||
	    put_list(reasons, out, e) < 0)
		return -1;
	return text_printf(out, e, "\"}\n");
}

int export_begin(const struct export *x, struct text_out *out, struct error *e)
{
	if (x->format != EXPORT_CSV)
		return 0;
	for (size_t i = 0; i < N_COLUMNS; i++)
		if (text_printf(
		        out, e, "%s%s", i > 0 ? "," : "", columns[i].name) < 0)
			return -1;
	return text_printf(out, e, "\r\n");
}

int export_see(struct export *x, const struct entry *entry, struct error *e)
{
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];

	if (!c1_is(type, "log.open") && !c1_is(type, "epoch.open"))
		return 0;
	if (!c1_hex(&entry->fields[ENTRY_RECKEY], x->record_key,
	        sizeof(x->record_key)))
		return FAIL(e, ERROR_MALFORMED, "it announces no record key");
	return 0;
}

int export_record(const struct export *x, const struct entry *entry,
    struct text_out *out, struct error *e)
{
	switch (x->format) {
	case EXPORT_DSSE:
		return dsse_envelope(
		    entry->line, entry->len, x->record_key, out, e);
	case EXPORT_CSV:
		return put_row(entry, out, e);
	case EXPORT_OCSF:
		return put_ocsf(entry, out, e);
	case EXPORT_FORMATS:
		break;
	}
	return FAIL(e, ERROR_STATE, "no such format");
}
