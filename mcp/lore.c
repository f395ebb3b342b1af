/*
 * mcp/lore.c - the table behind get_language_details.  Linked by bailiff-mcp.
 * What is not in it is listed all the same, without examples.
 */
#include "mcp/lore.h"

#include <string.h>

/* clang-format off */
static const struct lore lores[] = {
	{
		.name = "python", .package_manager = "pip",
		.use_cases = { "Data analysis", "Numerical computing", "Text processing", "Automation", "Algorithms" },
		.plots = true,
		.examples = {
			{ "Hello World", "Print a line",
			  "print(\"Hello, World!\")" },
			{ "Statistics", "Summarize numbers with the standard library",
			  "import statistics\n\ndata = [2, 3, 5, 7, 11]\nprint(statistics.mean(data), statistics.stdev(data))" },
			{ "File", "Write a file; it is kept as an artifact of the run",
			  "import json\n\nwith open(\"result.json\", \"w\") as f:\n    json.dump({\"squares\": [n * n for n in range(5)]}, f)\nprint(\"saved\")" },
		},
	},
	{
		.name = "bash", .package_manager = "none",
		.use_cases = { "Text processing", "File handling", "Gluing programs together" },
		.examples = {
			{ "Hello World", "Print a line",
			  "echo \"Hello, World!\"" },
			{ "Pipeline", "Count words",
			  "printf '%s\\n' b a b | sort | uniq -c | sort -rn" },
		},
	},
	{
		.name = "javascript", .package_manager = "npm",
		.use_cases = { "Text and JSON processing", "Algorithms", "Asynchronous programs" },
		.examples = {
			{ "Hello World", "Print a line",
			  "console.log(\"Hello, World!\");" },
			{ "JSON", "Transform data",
			  "const items = [{n: 1}, {n: 2}];\nconsole.log(JSON.stringify(items.map(i => i.n * 2)));" },
		},
	},
	{
		.name = "java", .package_manager = "maven",
		.use_cases = { "Object-oriented programs", "Algorithms" },
		.examples = {
			{ "Hello World", "Print a line",
			  "public class Main {\n    public static void main(String[] args) {\n        System.out.println(\"Hello, World!\");\n    }\n}" },
		},
	},
	{
		.name = "cpp", .package_manager = "none",
		.use_cases = { "Fast numerical code", "Algorithms", "Systems programming" },
		.examples = {
			{ "Hello World", "Print a line",
			  "#include <iostream>\n\nint main()\n{\n    std::cout << \"Hello, World!\\n\";\n}" },
		},
	},
	{
		.name = "c", .package_manager = "none",
		.use_cases = { "Systems programming", "Algorithms" },
		.examples = {
			{ "Hello World", "Print a line",
			  "#include <stdio.h>\n\nint main(void)\n{\n    puts(\"Hello, World!\");\n}" },
		},
	},
	{
		.name = "go", .package_manager = "go modules",
		.use_cases = { "Concurrent programs", "Command line tools", "Algorithms" },
		.examples = {
			{ "Hello World", "Print a line",
			  "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"Hello, World!\")\n}" },
		},
	},
	{
		.name = "ruby", .package_manager = "gem",
		.use_cases = { "Text processing", "Scripting", "Automation" },
		.examples = {
			{ "Hello World", "Print a line",
			  "puts \"Hello, World!\"" },
		},
	},
	{
		.name = "r", .package_manager = "CRAN",
		.use_cases = { "Statistics", "Data analysis", "Data visualization" },
		.plots = true,
		.examples = {
			{ "Hello World", "Print a line",
			  "cat(\"Hello, World!\\n\")" },
			{ "Summary", "Summarize numbers",
			  "x <- c(2, 3, 5, 7, 11)\nprint(summary(x))" },
		},
	},
};
/* clang-format on */

const struct lore *lore_of(const char *language)
{
	for (size_t i = 0; i < sizeof(lores) / sizeof(lores[0]); i++)
		if (strcmp(lores[i].name, language) == 0)
			return &lores[i];
	return NULL;
}
