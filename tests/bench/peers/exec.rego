package exec

default allow = false

langs := {"python", "node", "ruby", "r", "go", "java", "cpp"}
readable := ["/usr/", "/job/in/", "/job/out/", "/tmp/"]
writable := ["/job/out/", "/tmp/"]

under(path, prefixes) {
	startswith(path, prefixes[_])
	not contains(path, "/../")
}

allow {
	langs[input.lang]
	under(input.read, readable)
	under(input.write, writable)
	input.mem <= 536870912
	input.cpu_ms <= 10000
	input.pids <= 64
	input.net == false
	not startswith(input.read, "/job/in/secret/")
}
