/*
 * tests/escape/launch_driver.c - plays the supervisor to bailiff-launch: sends
 * a view of this host's /usr, starts runs, prints what it sees.
 *
 *   launch_driver LAUNCH [option...] PROGRAM [ARGUMENT...]
 *     -c FILE   code, copied to /sandbox/main (default: empty)
 *     -n N      runs, one after another (default 1)
 *     -C N      runs at once
 *     -m -p -o -f -s -i -w -u NUMBER   memory, pids, open files, file size,
 *               scratch bytes, inodes, wall ms, cpu ms
 *     -X        no code from the scratch
 *     -A        alternate: every second run as with -X, the others not
 *     -L        no loopback, no network rights of Landlock
 *     -F FILE   take this as the program's filter
 *     -I NAME   an input of that name
 *     -E PATH   a further entry of the view, a directory of that path
 *     -W PATH   a whiteout of that path
 *     -S        print the posture of the stopped program and of pid 1
 *     -B        wait for one byte on standard input before each run
 *     -H        hold: never open the gate, wait for a signal
 *     -R        send requests that must be refused, print the replies
 *     -h KIND   start a helper (1 opener, 2 collect), print its status
 *     -Q        read faults from standard input, a line "ROLE CALL OCCURRENCE
 *               ERRNO WHEN" for each run (fault.h; role "-": list the calls
 *               made), print what became of it after a line "watched" up to a
 *               line "case-end".  WHEN: r as it is asked for, p as a sandbox is
 *               made ahead for it, a as p and again in the run itself
 *     -P        with -Q: sandboxes are made ahead (without -Q always)
 *     -U ID     the launcher has this uid and gid, and no groups
 *     -K "CALL OCCURRENCE ERRNO"   a fault while the launcher starts; 0 0 0:
 *               list the calls made until it is ready
 *     -x NAME   abuse: kill-launch, close-gate, drop-channel
 *
 * Prints one "key value" line for each thing seen.  Exit 0 if the conversation
 * went as the protocol says, whatever became of the program.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

static void refuse(struct driver *d)
{
	struct launch_release no_run = { 99 };
	struct launch_run *r = &d->run;
	struct fd_list fds;

	driver_tell(d, LAUNCH_RELEASE, &no_run, NULL);
	(void)run_started(d);
	*r = d->o.limits;
	r->run = 7;
	driver_tell(d, LAUNCH_RUN, r, NULL);
	(void)run_started(d);
	fds.n = LAUNCH_FD_INPUTS;
	for (size_t i = 0; i < fds.n; i++)
		fds.fd[i] = d->stdin_fd;
	r->open_files = 5000;
	driver_tell(d, LAUNCH_RUN, r, &fds);
	(void)run_started(d);
	r->open_files = 64;
	r->run = 0;
	driver_tell(d, LAUNCH_RUN, r, &fds);
	(void)run_started(d);
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end != '\0')
		driver_die("a number", NULL);
	return n;
}

static void parse(int argc, char **argv, struct options *o)
{
	int c;

	o->runs = 1;
	o->at_once = 1;
	o->loopback = true;
	o->limits = (struct launch_run){ .wall_ms = 20000,
		.cpu_ms = 20000,
		.memory = 256u << 20,
		.pids = 32,
		.open_files = 64,
		.file_size = 8u << 20,
		.scratch_bytes = 16u << 20,
		.scratch_inodes = 256 };
	while ((c = getopt(argc, argv,
	            "+c:n:C:m:p:o:f:s:i:w:u:LXAF:I:E:W:BSHRQPK:U:h:x:")) != -1)
		/* clang-format off */
		switch (c) {
		case 'c': o->code = optarg; break;
		case 'n': o->runs = number(optarg); break;
		case 'C': o->at_once = number(optarg); break;
		case 'm': o->limits.memory = number(optarg); break;
		case 'p': o->limits.pids = number(optarg); break;
		case 'o': o->limits.open_files = number(optarg); break;
		case 'f': o->limits.file_size = number(optarg); break;
		case 's': o->limits.scratch_bytes = number(optarg); break;
		case 'i': o->limits.scratch_inodes = number(optarg); break;
		case 'w': o->limits.wall_ms = number(optarg); break;
		case 'u': o->limits.cpu_ms = number(optarg); break;
		case 'L': o->loopback = false; break;
		case 'X': o->no_exec = true; break;
		case 'A': o->alternate = true; break;
		case 'F': o->filter = optarg; break;
		case 'I': o->input = optarg; break;
		case 'E': o->entry = optarg; break;
		case 'W': o->whiteout = optarg; break;
		case 'S': o->show = true; break;
		case 'B': o->wait = true; break;
		case 'H': o->hold = true; break;
		case 'R': o->refuse = true; break;
		case 'Q': o->faults = true; break;
		case 'P': o->ahead = true; break;
		case 'U': o->uid = (uid_t)number(optarg); break;
		case 'K': faults_parse_start(optarg, o); break;
		case 'h': o->helper = number(optarg); break;
		case 'x': o->abuse = optarg; break;
		default: exit(2);
		}
	/* clang-format on */
	if (argc - optind < 2 || o->at_once >= RUNS_MAX)
		exit(2);
	o->launch = argv[optind];
	o->program = &argv[optind + 1];
}

int main(int argc, char **argv)
{
	struct driver *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return 1;
	parse(argc, argv, &d->o);
	if (d->o.faults)
		(void)signal(SIGPIPE, SIG_IGN);
	driver_start(d);
	view_prepare(d);
	view_build(d);
	if (d->o.refuse)
		refuse(d);
	if (d->o.helper != 0)
		helper_show(d);
	if (d->o.faults) {
		(void)fflush(stdout);
		faults_run(d);
		faults_await_end(d);
		return 0;
	}
	for (unsigned long i = 0; i < d->o.runs; i++) {
		if (d->o.alternate)
			d->o.no_exec = i % 2 == 1;
		batch_run(d, d->o.at_once);
	}
	printf("done\n");
	(void)fflush(stdout);
	(void)close(d->channel.fd);
	(void)waitpid(d->launch, NULL, 0);
	return 0;
}
