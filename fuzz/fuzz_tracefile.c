/* fuzz/fuzz_tracefile.c - a trace.jsonl from nobody knows where: it is shown
 * without a control character, or refused. */
#include "audit/trace_show.h"
#include "fuzz/fuzz.h"

#define ROOM (4u << 20)

static void check_shown(const struct text_out *out)
{
	for (size_t i = 0; i < out->len; i++)
		MUST((unsigned char)out->data[i] >= 0x20 ||
		     out->data[i] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_file f;
	struct text_out out = { malloc(ROOM), ROOM, 0 };
	struct error e = { 0 };

	MUST(out.data != NULL);
	if (trace_file_open((const char *)data, size, &f, &e) == 0) {
		(void)!trace_show_head(&f, &out, &e);
		(void)!trace_show_counts(&f, &out, &e);
		for (size_t i = 0; i < f.n && i < 16; i++)
			for (int want = TRACE_WANT_ALL; want <= TRACE_WANT_EXEC;
			     want++)
				(void)!trace_show_event(
				    &f, i, (enum trace_want)want, &out, &e);
		check_shown(&out);
		trace_file_close(&f);
	}
	free(out.data);
	return 0;
}
