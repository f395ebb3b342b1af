/*
 * executor/result_inputs.c - the inputs of a run as text.  Linked by the
 * supervisor.  Names are foreign bytes: they are percent-encoded.
 */
#include "executor/result_inputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Every byte of a name encoded, and a NUL. */
#define ENCODED_MAX ((size_t)3 * PROTOCOL_NAME_MAX)

static int encode(
    const struct result_input *input, char ret[ENCODED_MAX], struct error *e)
{
	return text_percent_encode(
	    input->name, strlen(input->name), ret, ENCODED_MAX, e);
}

static int compare(const void *a, const void *b)
{
	char first[ENCODED_MAX] = "";
	char second[ENCODED_MAX] = "";
	struct error cannot; /* a name always has room */

	(void)!encode(a, first, &cannot);
	(void)!encode(b, second, &cannot);
	return strcmp(first, second);
}

void result_inputs_sort(struct result_input *inputs, size_t n)
{
	if (n > 0)
		qsort(inputs, n, sizeof(inputs[0]), compare);
}

/* Inode numbers are strings: some have more than 53 bits. */
static int put_place(
    const struct result_input *input, struct text_out *out, struct error *e)
{
	if (input->kind == PROTOCOL_INPUT_INLINE)
		return 0;
	return text_printf(out, e, "\"dev\":\"%u:%u\",\"ino\":\"%" PRIu64 "\",",
	    major(input->dev), minor(input->dev), input->ino);
}

static const char *kind_word(uint32_t kind)
{
	if (kind == RESULT_INPUT_LIBRARY)
		return "library";
	return kind == PROTOCOL_INPUT_INLINE ? "inline" : "file";
}

/* An encoded name has no byte that JSON would escape. */
static int put_input(
    const struct result_input *input, struct text_out *out, struct error *e)
{
	char name[ENCODED_MAX];
	char hex[SHA256_HEX];

	sha256_hex(input->sha256, hex);
	if (encode(input, name, e) < 0 || put_place(input, out, e) < 0)
		return -1;
	if (input->kind == PROTOCOL_INPUT_DIRECTORY)
		return text_printf(
		    out, e, "\"kind\":\"directory\",\"name\":\"%s\"", name);
	return text_printf(out, e,
	    "\"kind\":\"%s\",\"name\":\"%s\",\"sha256\":\"%s\",\"size\":"
	    "%" PRIu64,
	    kind_word(input->kind), name, hex, input->size);
}

int result_inputs_json(const struct result_input *inputs, size_t n,
    struct text_out *out, struct error *e)
{
	if (text_printf(out, e, "\"inputs\":[") < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (text_printf(out, e, i > 0 ? ",{" : "{") < 0 ||
		    put_input(&inputs[i], out, e) < 0 ||
		    text_printf(out, e, "}") < 0)
			return -1;
	return text_printf(out, e, "],");
}

static int put_line(
    const struct result_input *input, struct text_out *out, struct error *e)
{
	char name[ENCODED_MAX];
	char hex[SHA256_HEX];

	if (encode(input, name, e) < 0)
		return -1;
	if (input->kind == PROTOCOL_INPUT_DIRECTORY)
		return text_printf(out, e, "directory %u:%u %" PRIu64 "  %s\n",
		    major(input->dev), minor(input->dev), input->ino, name);
	sha256_hex(input->sha256, hex);
	return text_printf(out, e, "%s  %s%s\n", hex,
	    input->kind == RESULT_INPUT_LIBRARY ? "libraries/" : "", name);
}

int result_inputs_list(const struct result_input *inputs, size_t n,
    struct text_out *out, struct error *e)
{
	for (size_t i = 0; i < n; i++)
		if (put_line(&inputs[i], out, e) < 0)
			return -1;
	return 0;
}
