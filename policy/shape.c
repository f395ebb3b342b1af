/*
 * policy/shape.c - the shapes of all keys of a policy.  Linked by
 * bailiff-policy and the supervisor; data only.
 */
#include "policy/shape.h"

#include "policy/parse.h"
#include "policy/parse_layers.h"

#define SECONDS_A_DAY    86400
#define QUEUE_MAX        4096
#define KEEP_DAYS_MAX    36500
#define MAX_BYTES_MIN    1048576
#define MAX_BYTES_MAX    ((UINT64_C(1) << 53) - 1)
#define RUNS_MAX         64
#define LANDLOCK_ABI_MAX 64

/* In Python $ matches before a newline at the end as well. */
#define END         "$(?!\\n)"
#define MODULE_WORD "[A-Za-z_][A-Za-z0-9_]*"
/* What base/text.c would escape; characters beyond U+FFFF cannot be said. */
#define INVISIBLE                                                      \
	"\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-" \
	"\\u202e\\u2060-\\u206f\\ufeff"

/* Of a pattern: stars stand alone; "/[]{}" and backslash are not in it. */
#define GLOB_BYTE "[ -)+-.0-Z^-z|~]"
#define GLOB_COMPONENT \
	"(?!\\.\\.?(/|$))(?=[^/])(\\*\\*(?=/|$)|\\*?(" GLOB_BYTE "\\*?)*)"

/* clang-format off */
const struct shape shape_version = {
	SHAPE_NUMBER, .about = "Of this language.",
	.range = { PARSE_VERSION, PARSE_VERSION },
};
const struct shape shape_name = {
	SHAPE_TEXT, .about = "Of the policy, in records and replies.",
	.pattern = "^[a-z0-9][a-z0-9._-]*" END,
	.range = { 1, POLICY_NAME_MAX - 1 },
};
const struct shape shape_limits = {
	SHAPE_LIMITS, .about = "What a request gets and what it may ask for.",
	.group = "limits",
};
const struct shape shape_capabilities = {
	SHAPE_OBJECT, .about = "What programs may do beyond computing.",
	.group = "capabilities", .keys = &parse_capability_keys,
};

const struct shape shape_language = {
	SHAPE_OBJECT, .about = "Replaces what it names, for this language.",
	.group = "language", .keys = &parse_entry_keys,
};
const struct shape shape_languages = {
	SHAPE_MAP, .about = "Only these may run.",
	.pattern = "^[a-z0-9][a-z0-9._-]*" END, .item = &shape_language,
	.range = { 0, POLICY_LANGUAGES_MAX },
};

const struct shape shape_modules = {
	SHAPE_OBJECT, .about = "Modules of this language.",
	.keys = &parse_module_keys,
};
static const struct shape module = {
	SHAPE_TEXT, .pattern = "^" MODULE_WORD "(\\." MODULE_WORD ")*" END,
	.range = { 1, POLICY_NAME_MAX - 1 },
};
const struct shape shape_denied = {
	SHAPE_LIST, .about = "They are absent, by the names of an import.",
	.item = &module, .range = { 0, POLICY_DENIED_MAX },
};
static const struct shape top_module = {
	SHAPE_TEXT, .pattern = "^" MODULE_WORD END,
	.range = { 1, POLICY_NAME_MAX - 1 },
};
const struct shape shape_only_modules = {
	SHAPE_LIST, .about = "Of modules in files these alone are there.",
	.item = &top_module, .range = { 0, POLICY_ONLY_MAX },
};

/* As policy/libraries.c reads it. */
#define LIBRARY_NAME "[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
#define LIBRARY_VERSION "[A-Za-z0-9][A-Za-z0-9.+!_-]{0,62}"
static const struct shape library = {
	SHAPE_TEXT, .pattern = "^" LIBRARY_NAME "(==" LIBRARY_VERSION ")?" END,
	.range = { 1, UINT64_C(2) * POLICY_NAME_MAX },
};
const struct shape shape_library_names = {
	SHAPE_LIST, .about = "NAME, or NAME==VERSION; what they need as well.",
	.item = &library, .range = { 0, POLICY_LIBRARIES_MAX },
};
static const struct shape no_libraries = {
	SHAPE_LIST, .about = "None.", .range = { 0, 0 },
};
const struct shape shape_libraries = {
	SHAPE_OBJECT, .about = "What requests may have installed.",
	.keys = &parse_library_keys, .instead = &no_libraries,
};
static const struct shape rule = {
	SHAPE_OBJECT, .keys = &parse_rule_keys,
};
const struct shape shape_rules = {
	SHAPE_LIST, .about = "What is looked for in the code of a request.",
	.item = &rule, .range = { 0, POLICY_RULES_MAX },
};
const struct shape shape_rule_id = {
	SHAPE_TEXT, .about = "A decision names it: code.rule.ID.",
	.pattern = "^[a-z0-9][a-z0-9._]*" END,
	.range = { 1, POLICY_NAME_MAX - 1 },
};
const struct shape shape_pattern = {
	SHAPE_TEXT, .about = "A regular expression as vectorscan takes it.",
	.pattern = "^[ -~]+" END, .range = { 1, POLICY_PATTERN_MAX - 1 },
};
const struct shape shape_imported = {
	SHAPE_TEXT, .about = "A module: every way of importing it.",
	.pattern = "^[A-Za-z0-9_./:@+-]+" END, .range = { 1, POLICY_NAME_MAX - 1 },
};
static const struct reader_names places = { 4,
	{ "code", "strings", "comments", "any" } };
const struct shape shape_place = {
	SHAPE_WORD, .words = &places, .n_built = 4,
};
static const struct shape place_list = {
	SHAPE_LIST, .item = &shape_place, .range = { 1, 3 },
};
const struct shape shape_places = {
	SHAPE_WORD, .about = "Where a pattern looks; code if it is not said.",
	.words = &places, .n_built = 4, .instead = &place_list,
};
/* In the order of enum code_action. */
static const struct reader_names actions = { 2, { "deny", "flag" } };
const struct shape shape_action = {
	SHAPE_WORD, .about = "flag: allowed, and said in the decision.",
	.words = &actions, .n_built = 2,
};
const struct shape shape_compile_limits = {
	SHAPE_AMOUNTS, .about = "What the compiler gets; else the most of limits.",
};

const struct shape shape_subprocess = {
	SHAPE_BOOL, .about = "Start processes and programs.",
};
const struct shape shape_threads = {
	SHAPE_BOOL, .about = "Start threads.",
};
const struct shape shape_loopback = {
	SHAPE_BOOL, .about = "Make sockets, inside a network of the run's own.",
};
const struct shape shape_network_capability = {
	SHAPE_FALSE, .about = "Not built yet: only false.",
};
const struct shape shape_exec_memory = {
	SHAPE_BOOL, .about = "Execute memory that the program has filled.",
};
const struct shape shape_ipc = {
	SHAPE_BOOL, .about = "System V and POSIX queues, inside the run.",
};
const struct shape shape_syscalls = {
	SHAPE_OBJECT, .about = "System calls by name.",
	.keys = &parse_syscall_keys,
};
static const struct shape call = {
	SHAPE_CALL, .about = NULL,
};
const struct shape shape_only = {
	SHAPE_LIST, .about = "Of what the capabilities allow, these alone.",
	.item = &call, .range = { 0, CALLSET_MAX },
};
const struct shape shape_syscalls_list = {
	SHAPE_LIST, .about = "Not built yet: only [].",
};

static const struct shape glob = {
	SHAPE_TEXT,
	.pattern = "^" GLOB_COMPONENT "(/" GLOB_COMPONENT ")*" END,
	.range = { 1, GLOB_MAX - 1 },
};
const struct shape shape_artifacts = {
	SHAPE_LIST, .about = "Which files of /sandbox are kept, by patterns.",
	.item = &glob, .range = { 0, POLICY_ARTIFACTS_MAX },
};

const struct shape shape_paths = {
	SHAPE_OBJECT, .about = "Host paths.", .keys = &parse_path_keys,
};
static const struct shape root = {
	SHAPE_TEXT,
	.pattern = "^(/(?!\\.\\.?(/|$))[^/" INVISIBLE "]{1,255})+" END,
	.range = { 1, POLICY_PATH_MAX - 1 },
};
const struct shape shape_library_from = {
	SHAPE_TEXT, .about = "The directory with their files.",
	.pattern = "^(/(?!\\.\\.?(/|$))[^/" INVISIBLE "]{1,255})+" END,
	.range = { 1, POLICY_PATH_MAX - 1 },
};
const struct shape shape_read_roots = {
	SHAPE_LIST, .about = "Directories beneath which requests may read.",
	.item = &root, .range = { 0, POLICY_ROOTS_MAX },
};
const struct shape shape_export_roots = {
	SHAPE_LIST, .about = "Not built yet: only [].",
};

static const struct shape network_object = {
	SHAPE_OBJECT, .about = "Not built yet: only an empty allow.",
	.keys = &parse_network_keys,
};
static const struct reader_names network_words = { 1, { "none" } };
const struct shape shape_network = {
	SHAPE_WORD, .about = "What can be reached from a run.",
	.words = &network_words, .n_built = 1, .instead = &network_object,
};
const struct shape shape_network_allow = { SHAPE_LIST, .about = NULL };

/* In the order of enum trace_mode. */
static const struct reader_names trace_words = { 3,
	{ "off", "best-effort", "required" } };
const struct shape shape_trace = {
	SHAPE_WORD, .about = "Every system call of a run: required (nothing "
	    "runs unseen; takes root, whose default it is), best-effort (the "
	    "record says so), off (the default without root).",
	.words = &trace_words, .n_built = 3,
};

static const struct reader_names trace_file_words = { 2,
	{ "plain", "gzip" } };
const struct shape shape_trace_file = {
	SHAPE_WORD, .about = "What a trace is kept as; its digest in the record "
	    "is over the plain text.",
	.words = &trace_file_words, .n_built = 2,
};

const struct shape shape_audit = {
	SHAPE_OBJECT, .about = "The log.", .keys = &parse_audit_keys,
};
/* In the order of enum durability. */
static const struct reader_names durability_words = { 3,
	{ "full", "relaxed", "none" } };
const struct shape shape_durability = {
	SHAPE_WORD, .about = "When a record is on disk: before it takes effect, "
	    "within a second, or whenever (none: to develop with).",
	.words = &durability_words, .n_built = 3,
};
static const struct reader_names unlimited_word = { 1, { "unlimited" } };
static const struct shape unlimited = {
	SHAPE_WORD, .words = &unlimited_word, .n_built = 1,
};
const struct shape shape_results = {
	SHAPE_OBJECT, .about = "How long results are kept.",
	.keys = &parse_results_keys,
};
const struct shape shape_keep_days = {
	SHAPE_NUMBER, .about = "Results that are older are removed.",
	.range = { 1, KEEP_DAYS_MAX }, .instead = &unlimited,
};
const struct shape shape_max_bytes = {
	SHAPE_NUMBER, .about = "Beyond it the oldest results are removed.",
	.range = { MAX_BYTES_MIN, MAX_BYTES_MAX }, .instead = &unlimited,
};
static const struct reader_names none_word = { 1, { "none" } };
static const struct shape tick_none = {
	SHAPE_WORD, .words = &none_word, .n_built = 1,
};
const struct shape shape_tick = {
	SHAPE_NUMBER, .about = "Seconds after which an idle service says so.",
	.range = { 1, SECONDS_A_DAY }, .instead = &tick_none,
};
static const struct reader_names access_words = { 2, { "none", "record" } };
const struct shape shape_access = {
	SHAPE_WORD, .about = "Whether it is recorded who reads results.",
	.words = &access_words, .n_built = 2,
};
/* In the order of enum policy_content. */
static const struct reader_names content_words = { 3,
	{ "commit", "omit", "store" } };
const struct shape shape_args = {
	SHAPE_WORD, .about = "Of the arguments of a run.",
	.words = &content_words, .n_built = 3,
};
const struct shape shape_env = {
	SHAPE_WORD, .about = "Of the environment of a run.",
	.words = &content_words, .n_built = 3,
};
const struct shape shape_stdin = {
	SHAPE_WORD, .about = "Of the standard input of a run.",
	.words = &content_words, .n_built = 3,
};
static const struct reader_names retention_words = { 1, { "unlimited" } };
const struct shape shape_retention = {
	SHAPE_WORD, .about = "A number: not built yet.",
	.words = &retention_words, .n_built = 1,
};

const struct shape shape_concurrency = {
	SHAPE_OBJECT, .about = "How many at once.",
	.keys = &parse_concurrency_keys,
};
static const struct reader_names auto_word = { 1, { "auto" } };
static const struct shape runs_auto = {
	SHAPE_WORD, .words = &auto_word, .n_built = 1,
};
const struct shape shape_runs = {
	SHAPE_NUMBER, .about = "Runs at once; auto: twice the processors.",
	.range = { 1, RUNS_MAX }, .instead = &runs_auto,
};
const struct shape shape_queue = {
	SHAPE_NUMBER, .about = "Requests that wait for their turn.",
	.range = { 0, QUEUE_MAX },
};
static const struct reader_names principal_words = { 2,
	{ "auto", "unlimited" } };
static const struct shape principal_word = {
	SHAPE_WORD, .words = &principal_words, .n_built = 2,
};
const struct shape shape_per_principal = {
	SHAPE_NUMBER, .about = "Requests of one account; auto: half of all.",
	.range = { 1, RUNS_MAX + QUEUE_MAX }, .instead = &principal_word,
};

const struct shape shape_landlock = {
	SHAPE_OBJECT, .about = "What the kernel must have.",
	.keys = &parse_landlock_keys,
};
const struct shape shape_min_abi = {
	SHAPE_NUMBER, .about = "The least version of Landlock.",
	.range = { 1, LANDLOCK_ABI_MAX },
};
const struct shape shape_service = {
	SHAPE_OBJECT, .about = "The service of this policy.",
	.keys = &parse_service_keys,
};
const struct shape shape_linger = {
	SHAPE_NUMBER, .about = "Seconds that it stays after its last client.",
	.range = { 0, SECONDS_A_DAY },
};
static const struct reader_names degraded_words = { 2,
	{ "refuse", "accept" } };
const struct shape shape_degraded = {
	SHAPE_WORD, .about = "What happens where a protection is missing.",
	.words = &degraded_words, .n_built = 2,
};
const struct shape shape_extends = {
	SHAPE_NEVER, .about = "Not built yet.",
};
const struct shape shape_rootfs = {
	SHAPE_NEVER, .about = "Not built yet.",
};
/* clang-format on */
