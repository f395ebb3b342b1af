/*
 * executor/posture_text.c - facts of /proc as normal text.  Linked by the
 * supervisor.  /proc is the kernel's word, but the mount table holds path
 * names: what does not parse is an error, never skipped.
 */
#include "executor/posture_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The facts of /proc/<pid>/status, in the order of that file. */
static const char *const status_facts[] = { "Uid", "Gid", "Groups", "SigBlk",
	"SigIgn", "SigCgt", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
	"NoNewPrivs", "Seccomp", "Seccomp_filters" };
#define N_STATUS (sizeof(status_facts) / sizeof(status_facts[0]))

/* Those of pid 1, which waits for signals and thus blocks some. */
static const char *const init_facts[] = { "Uid", "CapPrm", "CapEff", "CapBnd",
	"NoNewPrivs", "Seccomp" };
#define N_INIT (sizeof(init_facts) / sizeof(init_facts[0]))

struct fact_table {
	const char *what;
	const char *const *facts;
	size_t n;
};

/* The facts of /proc/<pid>/limits; its columns are 26 and twice 21 wide. */
enum {
	NAME_WIDTH = 26,
	VALUE_WIDTH = 21
};
static const struct {
	const char *row;
	const char *name;
} limit_facts[] = {
	{ "Max cpu time", "cpu" },
	{ "Max file size", "file_size" },
	{ "Max core file size", "core" },
	{ "Max open files", "open_files" },
};
#define N_LIMITS (sizeof(limit_facts) / sizeof(limit_facts[0]))

/* Copy one line into 'line' and step behind it; false at the end. */
static bool next_line(const char **at, char line[POSTURE_LINE_MAX])
{
	size_t n = strcspn(*at, "\n");

	if (**at == '\0')
		return false;
	if (n >= POSTURE_LINE_MAX)
		return false;
	memcpy(line, *at, n);
	line[n] = '\0';
	*at += n + ((*at)[n] == '\n');
	return true;
}

/* The facts that tell gids; without root they are other numbers than uids. */
static bool tells_gids(const char *fact)
{
	return strcmp(fact, "Gid") == 0 || strcmp(fact, "gid_map") == 0;
}

static const char *name_of(
    const char *fact, const char *token, const struct posture_names *names)
{
	const struct posture_own *own = names->expected->own;
	char digits[16];

	if (strcmp(fact, "Groups") == 0)
		return token;
	(void)snprintf(digits, sizeof(digits), "%u",
	    own != NULL && tells_gids(fact) ? own->gid : names->program_uid);
	if (strcmp(token, digits) == 0)
		return "program";
	if (own != NULL)
		return token; /* pid 1 has the same */
	(void)snprintf(digits, sizeof(digits), "%u", names->init_uid);
	return strcmp(token, digits) == 0 ? "init" : token;
}

/* Append the words of 'line', one space between, ids by their name. */
static int put_tokens(const char *fact, char *line,
    const struct posture_names *names, struct text_out *out, struct error *e)
{
	char *rest = NULL;

	for (char *t = strtok_r(line, " \t", &rest); t != NULL;
	     t = strtok_r(NULL, " \t", &rest))
		if (text_printf(out, e, " %s", name_of(fact, t, names)) < 0)
			return -1;
	return text_printf(out, e, "\n");
}

static int put_facts(const char *text, const struct fact_table *t,
    const struct posture_names *names, struct text_out *out, struct error *e)
{
	char line[POSTURE_LINE_MAX];
	size_t at = 0;

	while (at < t->n && next_line(&text, line)) {
		const char *key = t->facts[at];
		size_t n = strlen(key);

		if (strncmp(line, key, n) != 0 || line[n] != ':')
			continue;
		at++;
		if (text_printf(out, e, "%s %s", t->what, key) < 0 ||
		    put_tokens(key, line + n + 1, names, out, e) < 0)
			return -1;
	}
	return 0;
}

int posture_text_status(const char *text, const struct posture_names *names,
    struct text_out *out, struct error *e)
{
	const struct fact_table t = { "status", status_facts, N_STATUS };

	return put_facts(text, &t, names, out, e);
}

int posture_text_init(const char *text, const struct posture_names *names,
    struct text_out *out, struct error *e)
{
	const struct fact_table t = { "init", init_facts, N_INIT };

	return put_facts(text, &t, names, out, e);
}

int posture_text_map(const char *what, const char *text,
    const struct posture_names *names, struct text_out *out, struct error *e)
{
	char line[POSTURE_LINE_MAX];

	while (next_line(&text, line))
		if (text_printf(out, e, "%s", what) < 0 ||
		    put_tokens(what, line, names, out, e) < 0)
			return -1;
	return 0;
}

/* The words of a fixed column, without the spaces behind. */
static void column(const char *line, size_t from, char ret[VALUE_WIDTH + 1])
{
	size_t n = strlen(line) > from ? strcspn(line + from, " ") : 0;

	n = n < VALUE_WIDTH ? n : VALUE_WIDTH;
	memcpy(ret, line + (n > 0 ? from : 0), n);
	ret[n] = '\0';
}

/*
 * Both 0 and 1 mean that no core is dumped; which of the two stands there, the
 * host's own hard limit decides (limits.c).
 */
static void settle_core(const char *name, char value[VALUE_WIDTH + 1])
{
	if (strcmp(name, "core") == 0 &&
	    (strcmp(value, "0") == 0 || strcmp(value, "1") == 0))
		memcpy(value, "none", sizeof("none"));
}

int posture_text_limits(const char *text, struct text_out *out, struct error *e)
{
	char line[POSTURE_LINE_MAX];
	char soft[VALUE_WIDTH + 1];
	char hard[VALUE_WIDTH + 1];
	size_t at = 0;

	while (at < N_LIMITS && next_line(&text, line)) {
		const char *row = limit_facts[at].row;

		if (strncmp(line, row, strlen(row)) != 0)
			continue;
		column(line, NAME_WIDTH, soft);
		column(line, NAME_WIDTH + VALUE_WIDTH, hard);
		settle_core(limit_facts[at].name, soft);
		settle_core(limit_facts[at].name, hard);
		if (text_printf(out, e, "limit %s %s %s\n",
		        limit_facts[at].name, soft, hard) < 0)
			return -1;
		at++;
	}
	return 0;
}

int posture_text_memory(const char *text, struct text_out *out, struct error *e)
{
	static const char row[] = "Max data size";
	char line[POSTURE_LINE_MAX];
	char soft[VALUE_WIDTH + 1];
	char hard[VALUE_WIDTH + 1];

	while (next_line(&text, line)) {
		if (strncmp(line, row, sizeof(row) - 1) != 0)
			continue;
		column(line, NAME_WIDTH, soft);
		column(line, NAME_WIDTH + VALUE_WIDTH, hard);
		return text_printf(out, e, "limit memory %s %s\n", soft, hard);
	}
	return 0;
}

/* "4:memory:/a/b" is at home if the path ends in the run's own leaf. */
static const char *home_of(const char *line, const char *cgroup)
{
	size_t n = strlen(line);
	size_t m = strlen(cgroup);

	if (m == 0 || n <= m || strcmp(line + n - m, cgroup) != 0 ||
	    line[n - m - 1] != '/')
		return "elsewhere";
	return "run";
}

int posture_text_cgroup(const char *text, const struct posture_names *names,
    struct text_out *out, struct error *e)
{
	static const char *const controllers[] = { "memory", "pids" };
	char line[POSTURE_LINE_MAX];
	const char *v2 = "absent";
	const char *v1[2] = { "absent", "absent" };

	while (next_line(&text, line)) {
		if (strncmp(line, "0::", 3) == 0)
			v2 = home_of(line, names->cgroup);
		for (size_t i = 0; i < 2; i++) {
			char field[16];

			(void)snprintf(
			    field, sizeof(field), ":%s:", controllers[i]);
			if (strstr(line, field) != NULL)
				v1[i] = home_of(line, names->cgroup);
		}
	}
	return text_printf(out, e,
	    "cgroup v2 %s\ncgroup memory %s\ncgroup pids %s\n", v2, v1[0],
	    v1[1]);
}

/* Whether the comma-separated list has this word. */
static bool has_option(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (;;) {
		size_t m = strcspn(list, ",");

		if (m == n && strncmp(list, word, n) == 0)
			return true;
		if (list[m] == '\0')
			return false;
		list += m + 1;
	}
}

/* The words of a line of mountinfo (proc(5)) that count. */
struct mount_line {
	const char *point, *options, *type, *super;
};

/* A proc of which a run sees its own processes, and one of which it sees more. */
static const char *proc_type(const char *super)
{
	return has_option(super, "subset=pid") &&
	               has_option(super, "hidepid=invisible")
	           ? "proc"
	           : "proc-whole";
}

/* Inside a tree of the host the type is the host's affair. */
static const char *type_of(
    const struct mount_line *m, const struct posture_expected *x)
{
	const char *point = m->point;

	for (size_t i = 0; i < x->n_mounts; i++)
		if (strcmp(x->mounts[i].point, point) == 0 &&
		    strcmp(x->mounts[i].type, "tree") == 0)
			return "tree";
	return strcmp(m->type, "proc") == 0 ? proc_type(m->super) : m->type;
}

static bool parse_mount(char *line, struct mount_line *ret)
{
	char *rest = NULL;
	const char *word = strtok_r(line, " ", &rest);

	for (size_t i = 1; i < 6 && word != NULL; i++) {
		word = strtok_r(NULL, " ", &rest);
		if (i == 4)
			ret->point = word;
	}
	ret->options = word;
	/* Optional fields end with a dash; the source behind the type is of
	 * no interest. */
	while (word != NULL && strcmp(word, "-") != 0)
		word = strtok_r(NULL, " ", &rest);
	ret->type = strtok_r(NULL, " ", &rest);
	word = strtok_r(NULL, " ", &rest);
	ret->super = strtok_r(NULL, " ", &rest);
	return word != NULL && ret->super != NULL;
}

/* As "mount POINT TYPE ro nosuid nodev". */
static int put_mount(char *line, const struct posture_names *names,
    char ret[POSTURE_LINE_MAX], struct error *e)
{
	struct mount_line m = { NULL, NULL, NULL, NULL };
	bool read_only;
	int n;

	if (!parse_mount(line, &m))
		return FAIL(e, ERROR_MALFORMED, "a line of mountinfo");
	read_only = has_option(m.options, "ro") || has_option(m.super, "ro");
	n = snprintf(ret, POSTURE_LINE_MAX, "mount %s %s %s %s %s\n", m.point,
	    type_of(&m, names->expected), read_only ? "ro" : "rw",
	    has_option(m.options, "nosuid") ? "nosuid" : "suid",
	    has_option(m.options, "nodev") ? "nodev" : "dev");
	if (n < 0 || n >= POSTURE_LINE_MAX)
		return FAIL(e, ERROR_LIMIT, "a mount point is too long");
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(a, b);
}

int posture_text_mounts(const char *text, const struct posture_names *names,
    struct text_out *out, struct error *e)
{
	char line[POSTURE_LINE_MAX];
	char(*lines)[POSTURE_LINE_MAX] =
	    malloc(sizeof(*lines) * POSTURE_MOUNTS_MAX);
	size_t n = 0;
	int failed = 0;

	if (lines == NULL)
		return FAIL_SYS(e, "allocate a mount table");
	while (failed == 0 && next_line(&text, line)) {
		if (n == POSTURE_MOUNTS_MAX)
			failed = FAIL(e, ERROR_LIMIT, "more than %d mounts",
			    POSTURE_MOUNTS_MAX);
		else
			failed = put_mount(line, names, lines[n++], e);
	}
	if (failed == 0 && *text != '\0')
		failed = FAIL(e, ERROR_MALFORMED, "a line of mountinfo");
	if (failed == 0 && n > 0)
		qsort(lines, n, sizeof(lines[0]), compare_lines);
	for (size_t i = 0; failed == 0 && i < n; i++)
		failed = text_printf(out, e, "%s", lines[i]);
	free(lines);
	return failed;
}
