/*
 * policy/diff_calls.c - two filters compared by what they answer.  Linked by
 * bailiff-policy.
 */
#include "policy/diff_parts.h"

#include <string.h>

#include "policy/syscalls.h"

/*
 * Both filters look at the arguments of this call: rows that only one of them
 * has in force decide.  Bits: 1 the first has more, 2 the second has.
 */
static unsigned int compare_rows(
    const char *call, const struct capabilities *of[2])
{
	unsigned int found = 0;

	for (size_t i = 0; i < syscall_n_rows; i++) {
		const struct syscall_row *row = &syscall_rows[i];
		bool was;
		bool is;

		if (strcmp(row->call, call) != 0)
			continue;
		was = filter_row_in_force(of[0], row);
		is = filter_row_in_force(of[1], row);
		found |= (was && !is ? 1u : 0u) | (is && !was ? 2u : 0u);
	}
	return found;
}

static const char *word_of(const struct answer *a)
{
	return a->by_arguments ? "by its arguments" : answer_word(a->word);
}

/* From nothing over something to everything. */
static int rank(const struct answer *a)
{
	const char *word = answer_word(a->word);

	if (a->by_arguments)
		return 1;
	return strcmp(word, "allow") == 0 ? 2 : 0;
}

static void tell_call(struct diff *d, int number, const char *language,
    const struct capabilities *of[2])
{
	const struct answer *was = &d->answers[0].of[number];
	const struct answer *is = &d->answers[1].of[number];
	char call[NUMBER_NAME_MAX];
	unsigned int rows;

	number_name(FILTER_ARCH, number, call);
	diff_name(d, "%s.calls.%s", language, call);
	if (was->by_arguments && is->by_arguments) {
		rows = compare_rows(call, of);
		if (rows != 0)
			diff_tell(d,
			    rows == 2   ? DIFF_ALLOWED
			    : rows == 1 ? DIFF_DENIED
			                : DIFF_CHANGED,
			    "other arguments than before");
	} else if (rank(was) != rank(is)) {
		diff_tell(d, rank(is) > rank(was) ? DIFF_ALLOWED : DIFF_DENIED,
		    "%s, was %s", word_of(is), word_of(was));
	} else if (was->word != is->word) {
		diff_tell(
		    d, DIFF_CHANGED, "%s, was %s", word_of(is), word_of(was));
	}
}

int diff_calls(
    struct diff *d, const char *language, const struct capabilities *of[2])
{
	for (size_t i = 0; i < 2; i++)
		if (filter_compile(of[i], &d->filter, d->e) < 0 ||
		    answers_find(&d->filter, &d->answers[i], d->e) < 0)
			return FAIL_IN(d->e, "%s", language);
	for (int i = 0; i <= NUMBER_LAST; i++)
		tell_call(d, i, language, of);
	return 0;
}
