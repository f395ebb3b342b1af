/*
 * executor/trace/path.c - strings of events.  Linked by bailiff-tracer; every
 * byte here is hostile.
 */
#include "executor/trace/path.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define ADDRESS_TEXT 128

void path_join(
    const struct path_bytes *names, unsigned char *ret, size_t *ret_len)
{
	size_t end = names->len;
	size_t out = 0;

	/* The last NUL ends the last name. */
	while (end > 0) {
		size_t from = end - 1;

		while (from > 0 && names->data[from - 1] != '\0')
			from--;
		ret[out++] = '/';
		memcpy(ret + out, names->data + from, end - 1 - from);
		out += end - 1 - from;
		end = from;
	}
	if (out == 0)
		ret[out++] = '/';
	*ret_len = out;
}

bool path_differs(
    const struct path_bytes *claim, const struct path_bytes *truth)
{
	const unsigned char *from = claim->data;
	size_t len = claim->len;

	if (len > 0 && from[0] == '/')
		return len != truth->len || memcmp(from, truth->data, len) != 0;
	while (len >= 2 && from[0] == '.' && from[1] == '/') {
		from += 2;
		len -= 2;
	}
	if (len == 0 || (len == 1 && from[0] == '.'))
		return false;
	return len >= truth->len || truth->data[truth->len - len - 1] != '/' ||
	       memcmp(truth->data + truth->len - len, from, len) != 0;
}

/* U+0020 and up, no DEL, no C1 control. */
static bool is_plain(const struct path_bytes *b)
{
	for (size_t at = 0; at < b->len;) {
		size_t n = text_utf8_length(b->data + at, b->len - at);

		if (n == 0 || b->data[at] < 0x20 || b->data[at] == 0x7f ||
		    (n == 2 && b->data[at] == 0xc2 && b->data[at + 1] < 0xa0))
			return false;
		at += n;
	}
	return true;
}

static int put_hex(
    const struct path_bytes *b, struct text_out *out, struct error *e)
{
	if (out->cap - out->len < 2 * b->len)
		return FAIL(e, ERROR_LIMIT, "a line of the trace is too long");
	for (size_t i = 0; i < b->len; i++) {
		out->data[out->len++] = "0123456789abcdef"[b->data[i] >> 4];
		out->data[out->len++] = "0123456789abcdef"[b->data[i] & 15];
	}
	return 0;
}

int path_put(const char *key, const struct path_bytes *bytes,
    struct text_out *out, struct error *e)
{
	if (is_plain(bytes)) {
		if (text_printf(out, e, "\"%s\":", key) < 0)
			return -1;
		return text_json_string(bytes->data, bytes->len, out, e);
	}
	if (text_printf(out, e, "\"%s_hex\":\"", key) < 0 ||
	    put_hex(bytes, out, e) < 0)
		return -1;
	return text_printf(out, e, "\"");
}

static bool put_inet(const struct path_bytes *from, char ret[ADDRESS_TEXT])
{
	char host[INET6_ADDRSTRLEN] = "";
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	sa_family_t family;

	memcpy(&family, from->data, sizeof(family));
	if (family == AF_INET && from->len >= sizeof(four)) {
		memcpy(&four, from->data, sizeof(four));
		if (inet_ntop(AF_INET, &four.sin_addr, host, sizeof(host)) ==
		    NULL)
			return false;
		(void)snprintf(ret, ADDRESS_TEXT, "inet %s:%u", host,
		    (unsigned)ntohs(four.sin_port));
		return true;
	}
	/* RFC 2133's length, without the scope, is enough for the kernel. */
	if (family != AF_INET6 || from->len < 24)
		return false;
	memset(&six, 0, sizeof(six));
	memcpy(&six, from->data,
	    from->len < sizeof(six) ? from->len : sizeof(six));
	if (inet_ntop(AF_INET6, &six.sin6_addr, host, sizeof(host)) == NULL)
		return false;
	(void)snprintf(ret, ADDRESS_TEXT, "inet6 [%s]:%u", host,
	    (unsigned)ntohs(six.sin6_port));
	return true;
}

int path_put_address(const char *key, const struct path_bytes *address,
    struct text_out *out, struct error *e)
{
	char text[ADDRESS_TEXT];
	sa_family_t family = AF_UNSPEC;

	if (address->len >= sizeof(family))
		memcpy(&family, address->data, sizeof(family));
	if (address->len >= sizeof(family) && put_inet(address, text))
		return text_printf(out, e, "\"%s\":\"%s\"", key, text);
	if (family == AF_UNIX) {
		/* A name in the file system ends with NUL, or at its length. */
		struct path_bytes name = { address->len - sizeof(family),
			address->data + sizeof(family) };
		size_t n = name.len > 0
		               ? strnlen((const char *)name.data, name.len)
		               : 0;

		if (n > 0)
			name.len = n;
		if (text_printf(out, e, "\"%s_family\":\"unix\",", key) < 0)
			return -1;
		return path_put(key, &name, out, e);
	}
	if (text_printf(out, e, "\"%s_hex\":\"", key) < 0 ||
	    put_hex(address, out, e) < 0)
		return -1;
	return text_printf(out, e, "\"");
}
