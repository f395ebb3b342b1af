/*
 * audit/signer.c - bailiff-signer: the one process that holds the keys of a log
 * and writes it.  audit/signer.h says how it is started.
 *
 * Trusts its starter for the descriptors and nobody for what comes over a
 * channel.  It opens files only beneath the directories that it was handed.
 */
#include "audit/signer.h"

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/resume.h"
#include "audit/signer_confine.h"
#include "audit/signer_serve.h"
#include "base/file.h"
#include "base/number.h"
#include "base/own.h"
#include "base/sha256.h"

#define BOOT_ID    "/proc/sys/kernel/random/boot_id"
#define BOOT_TEXT  64
#define LINGER_MAX 86400000u
#define PIPE_TEXT  (ERROR_TEXT_MAX + 16)

struct options {
	const char *new_log;
	const char *origin;
	uint64_t linger_ms;
	bool seal;
};

static int parse(int argc, char **argv, struct options *ret, struct error *e)
{
	static const struct option known[] = {
		{ "new-log", required_argument, NULL, 'n' },
		{ "origin", required_argument, NULL, 'o' },
		{ "linger-ms", required_argument, NULL, 'l' },
		{ "seal", no_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	const struct number_range range = { 0, LINGER_MAX };
	int option;

	opterr = 0;
	/* One thread, before any other could be. */
	/* NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'n')
			ret->new_log = optarg;
		else if (option == 'o')
			ret->origin = optarg;
		else if (option == 's')
			ret->seal = true;
		else if (option != 'l')
			return FAIL(e, ERROR_USAGE, "unknown option");
		else if (number_parse(optarg, "--linger-ms", range,
		             &ret->linger_ms, e) < 0)
			return -1;
	}
	if (optind != argc ||
	    ((ret->origin != NULL || ret->seal) && ret->new_log == NULL))
		return FAIL(e, ERROR_USAGE,
		    "bailiff-signer [--new-log ID [--origin TEXT] [--seal]] "
		    "[--linger-ms N], started as audit/signer.h says");
	if (ret->origin != NULL && strlen(ret->origin) >= SIGNER_ORIGIN_MAX)
		return FAIL(e, ERROR_USAGE, "--origin is too long");
	return 0;
}

/* Everything our starter promised is there, and nothing blocks us. */
static int check_descriptors(const struct options *o, struct error *e)
{
	static const int promised[] = { SIGNER_LISTEN_FD, SIGNER_AUDIT_FD,
		SIGNER_KEYS_FD, SIGNER_STATE_FD, SIGNER_LOCK_FD };
	int flags;

	for (size_t i = 0; i < sizeof(promised) / sizeof(promised[0]); i++)
		if (fcntl(promised[i], F_GETFD) < 0)
			return FAIL_SYS(
			    e, "descriptor %d of the starter", promised[i]);
	if (o->new_log != NULL && fcntl(SIGNER_PIN_FD, F_GETFD) < 0)
		return FAIL_SYS(
		    e, "descriptor %d (where the pin goes)", SIGNER_PIN_FD);
	flags = fcntl(SIGNER_LISTEN_FD, F_GETFL);
	if (flags < 0 ||
	    fcntl(SIGNER_LISTEN_FD, F_SETFL, flags | O_NONBLOCK) < 0)
		return FAIL_SYS(e, "set up the listening socket");
	return 0;
}

static int read_boot(uint8_t ret[16], struct error *e)
{
	AUTO_FD fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	char text[BOOT_TEXT] = "";
	size_t len = 0;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return FAIL_SYS(e, "read %s", BOOT_ID);
	if (sodium_hex2bin(
	        ret, 16, text, strcspn(text, "\n"), "-", &len, NULL) != 0 ||
	    len != 16)
		return FAIL(e, ERROR_MALFORMED, "%s is not a uuid", BOOT_ID);
	return 0;
}

static int measure_self(uint8_t ret[32], struct error *e)
{
	AUTO_FD fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t size;

	if (fd < 0)
		return FAIL_SYS(e, "open our own program");
	return sha256_of_fd(fd, ret, &size, e);
}

static int catch_signals(int *ret_fd, struct error *e)
{
	/* At RLIMIT_FSIZE a write shall fail, not kill. */
	static const int ignored[] = { SIGPIPE, SIGXFSZ };
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		if (sigaction(ignored[i], &ignore, NULL) < 0)
			return FAIL_SYS(e, "ignore signals");
	if (pthread_sigmask(SIG_SETMASK, &set, NULL) != 0)
		return FAIL_SYS(e, "block signals");
	*ret_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (*ret_fd < 0)
		return FAIL_SYS(e, "make a signalfd");
	return 0;
}

/* Nothing of it is kept but what it opens. */
static int read_secret(bool is_there, struct keys_secret *ret, struct error *e)
{
	int failed;

	*ret = (struct keys_secret){ NULL, 0 };
	if (!is_there)
		return 0;
	failed = keys_secret_read(SIGNER_SECRET_FD, ret, e);
	(void)close(SIGNER_SECRET_FD);
	return failed;
}

static int open_log(struct signer *s, const struct options *o,
    const struct keys_secret *secret, bool *ret_busy, struct error *e)
{
	const struct keys_secret *given = secret->data != NULL ? secret : NULL;
	const struct keys_new new = { o->new_log, o->origin, SIGNER_PIN_FD,
		o->seal ? given : NULL };
	struct chain *c = &s->chain;
	enum store_new is_new = o->new_log != NULL ? STORE_NEW : STORE_EXISTING;

	if (store_check_dir(SIGNER_KEYS_FD, "keys/", e) < 0 ||
	    store_check_dir(SIGNER_STATE_FD, "state/", e) < 0)
		return -1;
	/* The lock comes first: it says that the rest is ours to touch. */
	if (store_open(SIGNER_AUDIT_FD, is_new, &c->store, ret_busy, e) < 0)
		return -1;
	if (is_new == STORE_NEW) {
		if (store_check_dir(SIGNER_PIN_FD, "the pin directory", e) <
		        0 ||
		    keys_create(SIGNER_KEYS_FD, &new, &c->keys, e) < 0)
			return -1;
		return resume_new(c, SIGNER_STATE_FD, e);
	}
	if (keys_open(SIGNER_KEYS_FD, given, &c->keys, e) < 0)
		return FAIL_IN(e, "keys/");
	return resume_log(c, SIGNER_STATE_FD, e);
}

static int start(
    struct signer *s, const struct options *o, bool *ret_busy, struct error *e)
{
	const int dirs[] = { SIGNER_AUDIT_FD, SIGNER_KEYS_FD, SIGNER_STATE_FD,
		SIGNER_PIN_FD };
	size_t n_dirs = o->new_log != NULL ? 4 : 3;
	/* Asked now: confined we cannot ask. */
	bool has_secret = fcntl(SIGNER_SECRET_FD, F_GETFD) >= 0;
	struct keys_secret secret = { NULL, 0 };
	int failed;

	(void)umask(S_IRWXG | S_IRWXO);
	if (check_descriptors(o, e) < 0 ||
	    catch_signals(&s->signal_fd, e) < 0 ||
	    read_boot(s->chain.boot, e) < 0 || measure_self(s->build, e) < 0)
		return -1;
	if (sodium_init() < 0)
		return FAIL(e, ERROR_UNAVAILABLE, "libsodium does not start");
	if (signer_confine(dirs, n_dirs, e) < 0)
		return -1;
	s->listen_fd = SIGNER_LISTEN_FD;
	s->state_fd = SIGNER_STATE_FD;
	s->linger_ms = o->linger_ms;
	s->chain.group = malloc(CHAIN_GROUP_BYTES);
	if (s->chain.group == NULL)
		return FAIL_SYS(e, "allocate");
	if (o->seal && !has_secret)
		return FAIL(e, ERROR_USAGE,
		    "--seal needs a passphrase on descriptor %d",
		    SIGNER_SECRET_FD);
	if (read_secret(has_secret, &secret, e) < 0)
		return -1;
	failed = open_log(s, o, &secret, ret_busy, e);
	keys_secret_done(&secret);
	return failed;
}

/* To the starter, while it listens, and to whoever reads our stderr. */
static void report(const struct error *e)
{
	char text[PIPE_TEXT];
	struct error ignored; /* nobody is left to be told */
	int len = snprintf(text, sizeof(text), "error: %s\n", e->text);

	if (file_write_all(SIGNER_READY_FD, text, (size_t)len, &ignored) == 0)
		(void)close(SIGNER_READY_FD);
	(void)fprintf(stderr, "bailiff-signer: %s\n", e->text);
}

static int serve(struct signer *s, struct error *e)
{
	if (file_write_all(
	        SIGNER_READY_FD, SIGNER_READY, strlen(SIGNER_READY), e) < 0)
		return FAIL_IN(e, "tell the starter");
	(void)close(SIGNER_READY_FD);
	return signer_serve(s, e);
}

int main(int argc, char **argv)
{
	struct options o = { .linger_ms = SIGNER_LINGER_MS };
	struct signer *s = calloc(1, sizeof(*s));
	bool busy = false;
	struct error e;
	int failed;

	if (s == NULL)
		return SIGNER_EXIT_FAIL;
	/* Executed by descriptor it would be called by a number (ps, logs). */
	(void)prctl(PR_SET_NAME, "bailiff-signer");
	if (parse(argc, argv, &o, &e) < 0) {
		free(s);
		report(&e);
		return SIGNER_EXIT_USAGE;
	}
	failed = start(s, &o, &busy, &e);
	if (failed == 0)
		failed = serve(s, &e);
	keys_close(&s->chain.keys);
	if (failed == 0)
		store_close(&s->chain.store);
	free(s->chain.group);
	free(s);
	if (failed == 0)
		return SIGNER_EXIT_OK;
	report(&e);
	return busy ? SIGNER_EXIT_BUSY : SIGNER_EXIT_FAIL;
}
