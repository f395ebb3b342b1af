"""Each language: argument, standard input, both streams, a file, a child, a thread, the exit code; no network; in a
run that the default policy allows."""
from lib import Place, Skip, case, check, equal, main, need_programs, need_root
import json
import os
import subprocess

from lib import BAILIFF, PATIENCE_S

# Writes "<argument> <standard input>" to out.txt and standard output, "child" by another program, "thread" from a
# thread where the language has them, the word of a refused connection to standard error, and exits with 3.
C = r"""
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
static void *thread(void *p) { puts("thread"); return p; }
int main(int argc, char **argv) {
  char line[80], text[160];
  struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(80) };
  pthread_t t;
  int status;
  if (argc != 2 || !fgets(line, sizeof line, stdin)) return 1;
  snprintf(text, sizeof text, "%s %s", argv[1], line);
  FILE *f = fopen("out.txt", "w");
  fputs(text, f); fclose(f); fputs(text, stdout); fflush(stdout);
  if (fork() == 0) { execl("/bin/echo", "echo", "child", (char *)0); _exit(1); }
  wait(&status);
  pthread_create(&t, 0, thread, 0); pthread_join(t, 0);
  inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
  if (connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to) < 0) fputs("refused\n", stderr);
  return 3;
}
"""
PROGRAMS = {
    "c": C,
    "cpp": C.replace(".sin_family = AF_INET, .sin_port = htons(80)", "AF_INET, htons(80)"),
    "go": r"""
package main
import ("bufio"; "fmt"; "net"; "os"; "os/exec")
func main() {
  line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
  text := os.Args[1] + " " + line
  os.WriteFile("out.txt", []byte(text), 0o644)
  fmt.Print(text)
  c := exec.Command("/bin/echo", "child")
  c.Stdout = os.Stdout
  c.Run()
  done := make(chan bool)
  go func() { fmt.Println("thread"); done <- true }()
  <-done
  if _, err := net.Dial("tcp", "192.0.2.1:80"); err != nil { fmt.Fprintln(os.Stderr, "refused") }
  os.Exit(3)
}
""",
    "bash": """
read line; echo "$1 $line" | tee out.txt; /bin/echo child; (echo thread)
exec 3<>/dev/tcp/192.0.2.1/80 || echo refused >&2
exit 3
""",
    "python": """
import socket, subprocess, sys, threading
text = sys.argv[1] + " " + sys.stdin.readline()
open("out.txt", "w").write(text); print(text, end="", flush=True)
subprocess.run(["/bin/echo", "child"])
t = threading.Thread(target=print, args=("thread",)); t.start(); t.join()
try:
    socket.create_connection(("192.0.2.1", 80), 5)
except OSError:
    print("refused", file=sys.stderr)
sys.exit(3)
""",
    "javascript": """
const fs = require("fs"), { Worker } = require("worker_threads");
const text = process.argv[2] + " " + fs.readFileSync(0, "utf8");
fs.writeFileSync("out.txt", text); fs.writeSync(1, text);
require("child_process").spawnSync("/bin/echo", ["child"], { stdio: "inherit" });
new Worker("require('fs').writeSync(1, 'thread' + require('os').EOL)", { eval: true }).on("exit", () => {
  require("net").connect(80, "192.0.2.1").on("error", () => { fs.writeSync(2, "refused\\n"); process.exit(3); });
});
""",
    "ruby": """
require "socket"
text = ARGV[0] + " " + STDIN.gets
File.write("out.txt", text); print text; $stdout.flush
system("/bin/echo", "child")
Thread.new { puts "thread" }.join
begin
  TCPSocket.new("192.0.2.1", 80)
rescue SystemCallError
  warn "refused"
end
exit 3
""",
    "r": """
text <- paste(commandArgs(TRUE)[1], readLines(file("stdin"), 1))
writeLines(text, "out.txt"); cat(text, "\\n", sep = "")
cat(system2("/bin/echo", "child", stdout = TRUE), "\\n", sep = "")
cat("thread\\n")
x <- suppressWarnings(try(socketConnection("192.0.2.1", 80, timeout = 5), silent = TRUE))
if (inherits(x, "try-error")) message("refused")
quit(status = 3)
""",
    "java": """
import java.io.*;
import java.net.*;
import java.nio.file.*;
public class Main {
  public static void main(String[] args) throws Exception {
    String text = args[0] + " " + new BufferedReader(new InputStreamReader(System.in)).readLine() + "\\n";
    Files.writeString(Path.of("out.txt"), text);
    System.out.print(text);
    System.out.flush();
    new ProcessBuilder("/bin/echo", "child").inheritIO().start().waitFor();
    Thread t = new Thread(() -> System.out.println("thread"));
    t.start();
    t.join();
    try {
      new Socket("192.0.2.1", 80);
    } catch (IOException e) {
      System.err.println("refused");
    }
    System.exit(3);
  }
}
""",
}

need_root()
need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
known = json.loads(subprocess.run([BAILIFF, "languages", "--json"], capture_output=True, timeout=PATIENCE_S,
                                  check=True).stdout)["languages"]


def add(language):
    @case(language["name"])
    def _():
        if not language["available"]:
            raise Skip("apt-get install " + language["package"])
        p = Place()
        r = p.json("--lang", language["name"], "-c", PROGRAMS[language["name"]], "--", "word",
                   stdin=b"line\n").json
        equal((r["status"], r["exit_code"]), ("error", 3), r["stderr"][-500:])
        equal(r["stdout"], "word line\nchild\nthread\n", "standard output")
        equal(r["stderr"].split()[-1:], ["refused"], "standard error")
        equal(p.result(r["run_id"], "files/out.txt").out, b"word line\n", "its file")
        for word in [language["name"], *language["aliases"]]:
            # Denied for its limit, so nothing runs, and for nothing else.
            reasons = p.json("--lang", word, "--timeout", "999999", "-c", "x").json["decision"]["reasons"]
            equal(reasons, ["limit.wall.above_max"], "the name " + word)
        end = [x for x in p.records() if x["type"] == "outcome"][0]
        equal((end["status"], end["exit"]), ("error", {"code": 3}), "record")
        # A machine that gives the tracer no time may cost events, which are counted; nothing else may be missing.
        with open(os.path.join(p.state, "results", r["run_id"], "trace.jsonl"), encoding="utf-8") as f:
            books = json.loads(f.read().splitlines()[-1])
        equal((end["trace"]["complete"], books["complete"]), (books["books"]["lost"] == 0,) * 2, "trace: %r" % books.get("note"))


for one in known:
    add(one)
main()
