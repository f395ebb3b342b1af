/*
 * executor/supervisor_start.c - from exec to "ready".  Runs as root until
 * privileges are dropped; no peer exists before that but our own children.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memfd.h"
#include "base/own.h"
#include "executor/account.h"
#include "executor/environment.h"
#include "executor/launch_flags.h"
#include "executor/packages.h"
#include "executor/peers.h"
#include "executor/recover.h"
#include "executor/run_compile.h"
#include "executor/supervisor.h"
#include "policy/filter.h"

static int draw_instance(struct supervisor *s, struct error *e)
{
	if (getrandom(s->instance, sizeof(s->instance), 0) !=
	    sizeof(s->instance))
		return FAIL_SYS(e, "draw an instance id");
	for (size_t i = 0; i < sizeof(s->instance); i++)
		(void)snprintf(
		    s->instance_hex + 2 * i, 3, "%02x", s->instance[i]);
	return 0;
}

/* The winner keeps it for life; losers say so and end. */
static int take_lock(
    struct supervisor *s, enum supervisor_started *ret, struct error *e)
{
	char name[SERVICE_NAME_MAX];
	char *dot;

	service_socket_name(&s->service, name);
	dot = strrchr(name, '.');
	memcpy(dot, ".lock", sizeof(".lock"));
	s->lock_fd = openat(s->service.run_fd, name,
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->lock_fd < 0)
		return FAIL_SYS(e, "open the lock of this service");
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0)
		*ret = SUPERVISOR_READY;
	else if (errno == EWOULDBLOCK)
		*ret = SUPERVISOR_TAKEN;
	else
		return FAIL_SYS(e, "lock this service");
	return 0;
}

/* What this account lacks is accepted by the policy, or nothing runs. */
static int judge_degraded(struct supervisor *s, struct error *e)
{
	char words[256] = "";
	size_t len = 0;

	for (size_t i = 0; s->owner.rootless && i < DEGRADED_N; i++) {
		const struct degraded *d = &degraded_without_root[i];

		if ((d->when == DEGRADED_WITH_GROUPS &&
		        getgroups(0, NULL) == 0) ||
		    (d->when == DEGRADED_LONE && !s->owner.lone))
			continue;
		s->owner.degraded[s->owner.n_degraded++] = d->word;
		len += (size_t)snprintf(words + len, sizeof(words) - len,
		    "%s%s", len > 0 ? ", " : "", d->word);
	}
	if (s->owner.n_degraded == 0 || s->policy->accept_degraded)
		return 0;
	return FAIL(e, ERROR_UNAVAILABLE,
	    "policy '%s' refuses to run without %s; run as root, use the "
	    "system service, or accept it by \"degraded\": \"accept\"",
	    s->policy->name, words);
}

static int load_policy(struct supervisor *s, struct error *e)
{
	char languages[SERVICE_PATH_MAX];
	struct policy_places places = { s->service.policy, languages };
	struct policy_faults *faults = calloc(1, sizeof(*faults));
	int failed;

	if (faults == NULL)
		return FAIL_SYS(e, "read the policy");
	failed = service_data_path("languages", languages, e);
	if (failed == 0)
		failed = policy_load(&places, &s->loaded, faults, e);
	free(faults);
	if (failed < 0)
		return FAIL_IN(e, "policy");
	s->policy = s->loaded.policy;
	return 0;
}

static int filter_file(
    const struct filter *filter, int *ret_fd, struct error *e)
{
	return memfd_of("filter", filter->code,
	    filter->len * sizeof(filter->code[0]), ret_fd, e);
}

static int filter_language(
    struct supervisor *s, size_t i, struct filter *filter, struct error *e)
{
	const struct policy_language *l = &s->policy->languages[i];
	struct toolchain *t = &s->toolchains[i];

	if (filter_compile(&l->capabilities, filter, e) < 0 ||
	    filter_file(filter, &t->filter_fd, e) < 0)
		return -1;
	if (l->language.n_compile == 0 && l->n_libraries == 0)
		return 0;
	if (filter_compile(&filter_compiler, filter, e) < 0)
		return -1;
	return filter_file(filter, &t->compile_filter_fd, e);
}

static int compile_filters(struct supervisor *s, struct error *e)
{
	AUTO_FREE struct filter *filter = calloc(1, sizeof(*filter));

	if (filter == NULL)
		return FAIL_SYS(e, "compile filters");
	if (filter_compile_init(filter, e) < 0 ||
	    filter_file(filter, &s->init_filter_fd, e) < 0)
		return -1;
	for (size_t i = 0; i < s->policy->n_languages; i++)
		if (filter_language(s, i, filter, e) < 0)
			return FAIL_IN(e, "filter of %s",
			    s->policy->languages[i].language.name);
	return 0;
}

/* A language that this host lacks is refused by name when it is asked for. */
static void find_toolchains(struct supervisor *s)
{
	for (size_t i = 0; i < s->policy->n_languages; i++) {
		struct toolchain *t = &s->toolchains[i];
		struct error missing;

		t->missing = template_program(&s->view,
		                 s->policy->languages[i].language.program,
		                 t->program, &missing) < 0;
	}
}

/*
 * A root is the directory that the policy names, not one that a link leads to:
 * links are not the policy's to see, and what they say can change.
 */
static int open_root(const char *path, int *ret_fd, struct error *e)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	AUTO_FREE char *real = NULL;

	if (fd >= 0) {
		*ret_fd = fd;
		return 0;
	}
	if (errno != ELOOP)
		return FAIL_SYS(
		    e, "policy: paths.read: %s; make it or take it out", path);
	real = realpath(path, NULL);
	return FAIL(e, ERROR_DENIED,
	    "policy: paths.read: %s: a symbolic link on the way; write %s",
	    path, real != NULL ? real : "a path without links");
}

static int open_roots(struct supervisor *s, struct error *e)
{
	for (size_t i = 0; i < s->policy->n_read_roots; i++)
		if (open_root(
		        s->policy->read_roots[i].path, &s->root_fds[i], e) < 0)
			return -1;
	return 0;
}

/* What the launcher needs to know, and what it says of this host. */
static int start_launcher(struct supervisor *s, struct error *e)
{
	const struct policy *p = s->policy;
	const struct launcher_start what = { .view = &s->view,
		.instance = s->instance,
		.landlock_min_abi = p->landlock_min_abi,
		.flags = p->n_languages > 0
		             ? launch_shape(&p->languages[0].capabilities)
		             : 0,
		.init_filter_fd = s->init_filter_fd,
		.channel = &s->io };
	struct launch_ready ready;

	s->view.rootless = s->owner.rootless;
	s->view.parts = s->loaded.parts;
	s->view.n_parts = s->loaded.n_parts;
	if (template_make(s->policy, &s->view, e) < 0)
		return -1;
	find_toolchains(s);
	s->io.fd = -1;
	if (launcher_start(&what, &ready, &s->launch_pid_fd, e) < 0)
		return -1;
	s->launch_fd = s->io.fd;
	s->io.fd = -1;
	s->landlock_abi = ready.landlock_abi;
	s->split_cgroups = strcmp(ready.cgroup_mode, "v2") != 0;
	s->owner.lone = strcmp(ready.cgroup_mode, "none") == 0;
	return judge_degraded(s, e);
}

static int start_signer(struct supervisor *s, int secret_fd, struct error *e)
{
	const struct signer_place place = { .service = &s->service,
		.audit_fd = s->state.audit_fd,
		.keys_fd = s->state.keys_fd,
		.state_fd = s->state.signer_fd,
		.secret_fd = secret_fd };
	static const uint32_t promise_of[] = {
		[DURABILITY_FULL] = PROMISE_FULL,
		[DURABILITY_RELAXED] = PROMISE_RELAXED,
		[DURABILITY_NONE] = PROMISE_NONE,
	};
	AUTO_FREE struct event_hello *hello = calloc(1, sizeof(*hello));

	if (hello == NULL)
		return FAIL_SYS(e, "connect to the signer");
	hello->version = EVENT_VERSION;
	hello->tick_s = s->policy->audit.tick_s;
	memcpy(hello->instance, s->instance, sizeof(hello->instance));
	hello->durability = promise_of[s->policy->durability];
	if (peers_builds(hello, e) < 0)
		return -1;
	for (uint64_t i = 0; i < hello->builds.n; i++)
		if (strcmp(hello->builds.items[i].program, "launch") == 0)
			memcpy(s->launch_sha256, hello->builds.items[i].sha256,
			    sizeof(s->launch_sha256));
	return signer_connect(&place, hello, &s->audit, e);
}

/* What a service manager or a test hands over by mistake is said now. */
static int check_inherited(int fd, struct error *e)
{
	int type = 0;
	int listens = 0;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0)
		return FAIL_SYS(e, "--listen-fd: no socket");
	if (type != SOCK_SEQPACKET || listens == 0)
		return FAIL(e, ERROR_USAGE,
		    "--listen-fd: no listening SOCK_SEQPACKET socket "
		    "(systemd: ListenSequentialPacket=)");
	return 0;
}

static int open_socket(struct supervisor *s, int inherited_fd, struct error *e)
{
	char name[SERVICE_NAME_MAX];

	if (inherited_fd >= 0) {
		if (check_inherited(inherited_fd, e) < 0)
			return -1;
		s->listen_fd = inherited_fd;
		s->any_user = true;
	} else {
		service_socket_name(&s->service, name);
		if (service_listen(s->service.run_fd, name, &s->listen_fd, e) <
		    0)
			return -1;
	}
	if (fcntl(s->listen_fd, F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(s->listen_fd, F_SETFD, FD_CLOEXEC) < 0)
		return FAIL_SYS(e, "set up the socket");
	return 0;
}

static int open_signals(struct supervisor *s, struct error *e)
{
	sigset_t set;

	if (sigemptyset(&set) < 0 || sigaddset(&set, SIGTERM) < 0 ||
	    sigaddset(&set, SIGINT) < 0 ||
	    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	    sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return FAIL_SYS(e, "block signals");
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signal_fd < 0)
		return FAIL_SYS(e, "make a signal descriptor");
	return 0;
}

static size_t slots_of(const struct policy *p)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = p->runs_at_once != 0 ? p->runs_at_once
	                                : 2 * (size_t)(cpus > 0 ? cpus : 1);

	return n < LAUNCH_RUNS_MAX ? n : LAUNCH_RUNS_MAX;
}

static int allocate(struct supervisor *s, struct error *e)
{
	s->in = calloc(1, sizeof(*s->in));
	s->out = calloc(1, sizeof(*s->out));
	s->block = malloc(SUPERVISOR_BLOCK);
	if (s->in == NULL || s->out == NULL || s->block == NULL)
		return FAIL_SYS(e, "allocate message buffers");
	s->slots_max = slots_of(s->policy);
	s->launch_fd = -1;
	s->launch_pid_fd = -1;
	s->syncing.fd = -1;
	s->tracing.fd = -1;
	s->tracing.pid_fd = -1;
	s->screen =
	    (struct screen_link){ .fd = -1, .pid_fd = -1, .rules_fd = -1 };
	s->listen_fd = -1;
	s->signal_fd = -1;
	s->packages = packages_open();
	return loop_open(&s->loop, e);
}

static int find_service(
    struct supervisor *s, const struct supervisor_options *o, struct error *e)
{
	s->service.state_fd = -1;
	s->service.run_fd = -1;
	s->lock_fd = -1;
	s->owner.uid = geteuid();
	s->owner.rootless = !account_is_root();
	if (service_locate(o->state, o->policy, &s->service, e) < 0)
		return -1;
	if (o->home != NULL && strlen(o->home) < sizeof(s->service.home))
		memcpy(s->service.home, o->home, strlen(o->home) + 1);
	return 0;
}

int supervisor_start(struct supervisor *s, const struct supervisor_options *o,
    enum supervisor_started *ret, struct error *e)
{
	if (environment_check(o->allow_nested, &s->nested, e) < 0 ||
	    find_service(s, o, e) < 0 || take_lock(s, ret, e) < 0)
		return -1;
	if (*ret == SUPERVISOR_TAKEN)
		return 0;
	if (load_policy(s, e) < 0 || allocate(s, e) < 0 ||
	    draw_instance(s, e) < 0 || open_roots(s, e) < 0 ||
	    compile_filters(s, e) < 0 || posture_self(&s->self, e) < 0)
		return -1;
	if (s->owner.rootless && environment_no_zombies(e) < 0)
		return -1;
	/* The launcher first: it moves us out of our starter's cgroups, the
	 * others are to be born outside of them, and what it finds decides
	 * whether the policy lets us begin at all. */
	if (start_launcher(s, e) < 0 ||
	    state_open(&s->service, s->instance_hex, &s->state, e) < 0 ||
	    state_keep_policy(&s->state, s->policy, e) < 0 ||
	    supervisor_layers_start(s, e) < 0)
		return -1;
	if (supervisor_trace_start(s, e) < 0 ||
	    supervisor_screen_start(s, e) < 0 ||
	    supervisor_sync_start(s, e) < 0 ||
	    start_signer(s, o->secret_fd, e) < 0 ||
	    recover_runs(&s->state, s->audit, e) < 0 || keep_start(s, e) < 0 ||
	    open_signals(s, e) < 0 || open_socket(s, o->listen_fd, e) < 0)
		return -1;
	/* It loads its programs while the others start. */
	if (supervisor_trace_await(s, e) < 0)
		return -1;
	return s->owner.rootless ? environment_drop_own(e)
	                         : environment_drop(e);
}
