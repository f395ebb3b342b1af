/*
 * audit/verify_pin.c - which key is trusted: the one given, else the local one
 * with the log id of the first record.  Linked by the audit reader.
 */
#include "audit/pin.h"
#include "audit/verify_parts.h"

static int find_pin(
    struct verify *v, const struct entry *first, struct error *e)
{
	if (pin_find(v->options->pin_fds, first, &v->summary->pin, e) < 0)
		return -1;
	v->summary->pinned = true;
	v->summary->pin_is_local = true;
	return 0;
}

int verify_pin(struct verify *v, const struct lines_line *line, bool *ret_go_on,
    struct error *e)
{
	struct entry first;
	struct error why;

	*ret_go_on = true;
	if (v->options->key != NULL) {
		v->summary->pin = *v->options->key;
		v->summary->pinned = true;
		return 0;
	}
	if (line->kind == LINES_END)
		return FAIL(e, ERROR_STATE,
		    "no key to trust: the log is empty and names no log id; "
		    "give --key with the log's verifier key");
	if (line->kind == LINES_ONE &&
	    entry_read(line->text, line->len, &first, &why) == 0)
		return find_pin(v, &first, e);
	*ret_go_on = VERIFY_BAD(v, NULL, "record.form", "a first record", "%s",
	    line->kind == LINES_ONE ? why.text : "no whole line");
	return 0;
}
