// Independent check of a log that bailiff-signer wrote, with Debian's golang-golang-x-mod-dev only (no network, no
// modules): framing, profile c1, chain, every signature, epochs, intents and outcomes, the Merkle root.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go run check.go AUDITDIR VKEYFILE [PROOF LINE]
//
// Exit 0 good, 1 tampered, 2 cannot run, 5 incomplete (torn tail, open intents), 6 unknown.  With PROOF and LINE also
// the receipt of one record.  The lock of a running signer is not looked at.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const (
	payloadType   = "application/vnd.in-toto+json"
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "urn:bailiff:record:v1"
)

// report keeps the gravest verdict. 2 stops everything; then 1, 4, 6, 5, 3, 0.
type report struct {
	code  int
	notes []string
}

var weight = map[int]int{0: 0, 3: 1, 5: 2, 6: 3, 4: 4, 1: 5, 2: 6}

func (r *report) add(code int, format string, a ...interface{}) {
	r.notes = append(r.notes, fmt.Sprintf("[%d] ", code)+fmt.Sprintf(format, a...))
	if weight[code] > weight[r.code] {
		r.code = code
	}
}

// --- profile c1 ---------------------------------------------------------------------------------------------------------------

type object map[string]interface{}

type scanner struct {
	b []byte
	i int
}

var errText = errors.New("not profile c1")

func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}
func (s *scanner) str() (string, bool) {
	if s.peek() != '"' {
		return "", false
	}
	for at, j := s.i+1, s.i+1; j < len(s.b); j++ {
		switch c := s.b[j]; {
		case c == '"':
			s.i = j + 1
			return string(s.b[at:j]), true
		case c < 0x20 || c > 0x7e || c == '\\':
			return "", false
		}
	}
	return "", false
}

var keyForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
var numForm = regexp.MustCompile(`^(0|[1-9][0-9]*)`)

func (s *scanner) value(depth int) (interface{}, bool) {
	switch c := s.peek(); {
	case c == '{' && depth <= 8:
		o, last := object{}, ""
		for s.i++; ; s.i++ {
			if s.peek() == '}' && len(o) == 0 {
				break
			}
			k, ok := s.str()
			if !ok || !keyForm.MatchString(k) || (len(o) > 0 && k <= last) || s.peek() != ':' {
				return nil, false
			}
			s.i++
			v, ok := s.value(depth + 1)
			if !ok {
				return nil, false
			}
			o[k], last = v, k
			if s.peek() == '}' {
				break
			}
			if s.peek() != ',' {
				return nil, false
			}
		}
		s.i++
		return o, true
	case c == '[' && depth <= 8:
		a := []interface{}{}
		for s.i++; ; s.i++ {
			if s.peek() == ']' && len(a) == 0 {
				break
			}
			v, ok := s.value(depth + 1)
			if !ok {
				return nil, false
			}
			a = append(a, v)
			if s.peek() == ']' {
				break
			}
			if s.peek() != ',' {
				return nil, false
			}
		}
		s.i++
		return a, true
	case c == '"':
		return s.str()
	case c >= '0' && c <= '9':
		m := numForm.Find(s.b[s.i:])
		n, e := strconv.ParseInt(string(m), 10, 64)
		s.i += len(m)
		return n, e == nil && n < 1<<53
	}
	for word, v := range map[string]bool{"true": true, "false": false} {
		if bytes.HasPrefix(s.b[s.i:], []byte(word)) {
			s.i += len(word)
			return v, true
		}
	}
	return nil, false
}

// record splits a line by its fixed offsets and scans all of it.
func record(l []byte) (stmt, sig []byte, o object, err error) {
	if len(l) < 107 || len(l) > 65535 || string(l[:8]) != `{"sig":"` || string(l[96:105]) != `","stmt":` {
		return nil, nil, nil, errText
	}
	s := scanner{b: l}
	v, ok := s.value(1)
	if !ok || s.i != len(l) {
		return nil, nil, nil, errText
	}
	sig, err = base64.StdEncoding.Strict().DecodeString(string(l[8:96]))
	if err != nil || len(sig) != 64 {
		return nil, nil, nil, errText
	}
	o, _ = v.(object)["stmt"].(object)
	if o == nil || len(v.(object)) != 2 {
		return nil, nil, nil, errText
	}
	return l[105 : len(l)-1], sig, o, nil
}

func (o object) str(path ...string) string {
	v, _ := o.get(path...).(string)
	return v
}
func (o object) num(path ...string) int64 {
	if n, ok := o.get(path...).(int64); ok {
		return n
	}
	return -1
}
func (o object) get(path ...string) interface{} {
	var v interface{} = o
	for _, p := range path {
		m, _ := v.(object)
		v = m[p]
	}
	return v
}

// --- signatures, notes, trees ---------------------------------------------------------------------------------------------------

func pae(typ string, body []byte) []byte {
	return append([]byte(fmt.Sprintf("DSSEv1 %d %s %d ", len(typ), typ, len(body))), body...)
}
func hexsum(b []byte) string { h := sha256.Sum256(b); return hex.EncodeToString(h[:]) }
func unhex(s string) []byte  { b, _ := hex.DecodeString(s); return b }
func verifies(pub string, msg, sig []byte) bool {
	k := unhex(pub)
	return len(k) == ed25519.PublicKeySize && ed25519.Verify(k, msg, sig)
}

type head struct {
	size int64
	root tlog.Hash
}

var sizeForm = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

func parseHead(text []byte, v note.Verifier) (h head, err error) {
	n, err := note.Open(text, note.VerifierList(v))
	if err != nil {
		return h, err
	}
	f := strings.Split(n.Text, "\n")
	if len(f) != 4 || f[3] != "" || f[0] != v.Name() || !sizeForm.MatchString(f[1]) {
		return h, errors.New("note text is not the three lines of the pinned origin")
	}
	if h.size, err = strconv.ParseInt(f[1], 10, 64); err != nil {
		return h, err
	}
	if h.root, err = tlog.ParseHash(f[2]); err == nil && h.root.String() != f[2] {
		err = errors.New("root is not canonical base64")
	}
	return h, err
}

type tree struct {
	stored []tlog.Hash
	leaves []tlog.Hash
}

func (t *tree) ReadHashes(ix []int64) (o []tlog.Hash, _ error) {
	for _, x := range ix {
		if x >= int64(len(t.stored)) {
			return nil, errors.New("no such hash")
		}
		o = append(o, t.stored[x])
	}
	return o, nil
}
func (t *tree) add(line []byte) {
	h := tlog.RecordHash(line)
	hs, e := tlog.StoredHashesForRecordHash(int64(len(t.leaves)), h, t)
	if e != nil {
		panic(e)
	}
	t.stored, t.leaves = append(t.stored, hs...), append(t.leaves, h)
}
func (t *tree) root(n int64) tlog.Hash {
	if n == 0 { // RFC 6962: the hash of nothing; x/mod 0.7 says zeros
		return sha256.Sum256(nil)
	}
	h, e := tlog.TreeHash(n, t)
	if e != nil {
		panic(e)
	}
	return h
}

type receipt struct {
	index  int64
	hashes tlog.RecordProof
	head   head
}

func parseReceipt(b []byte, v note.Verifier) (r receipt, err error) {
	p := strings.SplitN(string(b), "\n\n", 2)
	l := strings.Split(p[0], "\n")
	if len(p) != 2 || len(l) < 2 || len(l) > 65 || l[0] != "c2sp.org/tlog-proof@v1" || !strings.HasPrefix(l[1], "index ") || !sizeForm.MatchString(l[1][6:]) {
		return r, errors.New("not a tlog-proof")
	}
	r.index, _ = strconv.ParseInt(l[1][6:], 10, 64)
	for _, x := range l[2:] {
		h, e := tlog.ParseHash(x)
		if e != nil || h.String() != x {
			return r, errors.New("bad hash in tlog-proof")
		}
		r.hashes = append(r.hashes, h)
	}
	r.head, err = parseHead([]byte(p[1]), v)
	return r, err
}

// --- the log ------------------------------------------------------------------------------------------------------------------

var known = map[string]bool{}
var statusWord, killWord, phaseWord = words("ok error timeout memory killed cancelled aborted"),
	words("wall cpu memory pids output disk syscall client tracer supervisor"), words("setup compile run collect")
var reqForm = regexp.MustCompile(`^r_[0-9a-f]{32}$`)
var hexForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
var timeForm = regexp.MustCompile(`^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{6}Z$`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
func init() {
	known = words(`log.open epoch.open epoch.close intent denial outcome recover gap tick clock config access anchor
		segment redact prune results.prune compromise log.close`)
}

type done struct {
	seq  int64
	line []byte
	key  string
	pred object
}
type state struct {
	r              *report
	v              note.Verifier
	logPub         string
	t              tree
	log, key, next string
	epoch, first   int64
	closed, final  bool
	used           map[string]bool
	open, intents  map[string]int64
	gone           map[string]bool // results, or what opened commitments
	outcomes       map[string]done
	bootEnd        map[string]string
	prunedBefore   int64
}

// take judges one record; false means that nothing after it can be judged.
func (s *state) take(l []byte) bool {
	i := int64(len(s.t.leaves))
	fail := func(code int, f string, a ...interface{}) bool {
		s.r.add(code, "record %d: "+f, append([]interface{}{i}, a...)...)
		return false
	}
	stmt, sig, o, e := record(l)
	if e != nil {
		return fail(1, "%v", e)
	}
	p, _ := o["predicate"].(object)
	if p == nil || o.str("_type") != statementType {
		return fail(1, "not an in-toto statement with a predicate")
	}
	typ, prev, key := p.str("type"), strings.Repeat("0", 64), s.key
	if i > 0 {
		prev = hex.EncodeToString(s.t.leaves[i-1][:])
	}
	opens := typ == "log.open" && i == 0 || typ == "epoch.open" && i > 0
	if opens {
		key = p.str("reckey")
	}
	if p.num("seq") != i || p.str("prev") != prev {
		return fail(1, "seq or prev")
	}
	if i == 0 {
		s.log = p.str("log")
	}
	if !verifies(key, pae(payloadType, stmt), sig) {
		return fail(1, "signature")
	}
	if p.str("log") != s.log || !timeForm.MatchString(p.str("time")) {
		return fail(1, "log id or time")
	}
	if s.final || s.closed && !opens {
		return fail(1, "nothing may follow a close here")
	}
	s.t.add(l)
	s.bootEnd[p.str("boot")] = typ
	if o.str("predicateType") != predicateType || p.num("v") != 1 || !known[typ] {
		fail(6, "predicateType, v or type unknown: %s %d %s", o.str("predicateType"), p.num("v"), typ)
		return true
	}
	if i == 0 && !opens {
		return fail(1, "the first record is not log.open")
	}
	if opens && i > 0 {
		if p.num("epoch") != s.epoch+1 || hexsum(unhex(key)) != s.next {
			return fail(1, "epoch number or key is not the announced one")
		}
		pop, e := base64.StdEncoding.Strict().DecodeString(p.str("pop"))
		if e != nil || !verifies(key, s.t.leaves[i-1][:], pop) {
			return fail(1, "pop")
		}
		if !s.closed {
			s.r.add(0, "WARN record %d: epoch %d has no epoch.close", i, s.epoch)
			s.r.notes = append(s.r.notes, "strict")
		}
	} else if p.num("epoch") != s.epoch {
		return fail(1, "epoch")
	}
	if opens {
		s.key, s.next, s.epoch, s.first, s.closed = key, p.str("next"), p.num("epoch"), i, false
	}
	subjects, _ := o["subject"].([]interface{})
	for _, x := range subjects {
		if m, _ := x.(object); m == nil || m.str("name") == "" || !hexForm.MatchString(m.str("digest", "sha256")) {
			return fail(1, "subject")
		}
	}
	if len(subjects) == 0 {
		return fail(1, "no subject")
	}
	req := p.str("req")
	switch typ {
	case "intent", "denial":
		if !reqForm.MatchString(req) || s.used[req] || p.str("decision") != map[string]string{"intent": "allow", "denial": "deny"}[typ] {
			return fail(1, "run id or decision")
		}
		s.used[req] = true
		if rs, _ := p["reasons"].([]interface{}); typ == "denial" && len(rs) == 0 {
			return fail(1, "denial without reasons")
		}
		if typ == "intent" {
			s.open[req], s.intents[req] = i, i
		}
	case "outcome":
		at, ok := s.open[req]
		if !ok || p.num("intent", "seq") != at || p.str("intent", "leaf") != hex.EncodeToString(s.t.leaves[at][:]) {
			return fail(1, "outcome does not match an open intent")
		}
		if !statusWord[p.str("status")] || p["killed_by"] != nil && !killWord[p.str("killed_by")] || p["phase"] != nil && !phaseWord[p.str("phase")] {
			return fail(1, "status, phase or killed_by is not a word of the list")
		}
		delete(s.open, req)
		s.outcomes[req] = done{i, l, s.key, p}
	case "results.prune", "redact":
		if p["before"] != nil {
			s.prunedBefore = p.num("before")
			break
		}
		runs, _ := p["runs"].([]interface{})
		for _, x := range runs {
			run, _ := x.(string)
			if m, isObject := x.(object); typ == "redact" && isObject {
				at, e := m.num("seq"), m.num("epoch")
				run = m.str("req")
				if at < 0 || at >= i || e < 0 || e > s.epoch || s.intents[run] != at {
					return fail(1, "redact names an intent that is not there")
				}
			}
			if _, open := s.open[run]; !reqForm.MatchString(run) || open {
				return fail(1, "names no run that is over")
			}
			s.gone[run] = true
		}
		if len(runs) == 0 || typ == "results.prune" && (p.num("count") != int64(len(runs)) || !words("keep_days max_bytes")[p.str("reason")]) {
			return fail(1, "count, reason or runs")
		}
	case "gap":
		if p.num("refused") < 1 || !words("space busy flood")[p.str("reason")] || !timeForm.MatchString(p.str("from")) || !timeForm.MatchString(p.str("to")) || p.str("from") > p.str("to") {
			return fail(1, "gap")
		}
	case "clock":
		if p.num("step", "us") < 1 || !words("back forward")[p.str("step", "way")] {
			return fail(1, "clock")
		}
	case "config":
		b, _ := p["builds"].(object)
		if len(b) == 0 && (!hexForm.MatchString(p.str("was")) || !hexForm.MatchString(p.str("policy", "sha256")) || p.str("was") == p.str("policy", "sha256")) {
			return fail(1, "config")
		}
	case "access":
		if !reqForm.MatchString(req) || p.num("principal", "uid") < 0 || p.str("what") != map[bool]string{true: "list", false: "file"}[p["name"] == nil] {
			return fail(1, "access")
		}
	case "epoch.close":
		if p.num("records") != i-s.first {
			return fail(1, "records")
		}
		s.closed = true
	case "log.open":
		if i > 0 {
			return fail(1, "second log.open")
		}
		if p.str("alg") != "ed25519+sha256+rfc6962" || p.str("profile") != "c1" {
			return fail(6, "alg or profile")
		}
		if p.str("origin") != s.v.Name() || p.str("logkey") != s.logPub || p.num("epoch") != 0 {
			return fail(1, "origin or log key is not the pinned one")
		}
	case "log.close":
		if p.num("records") != i {
			return fail(1, "records")
		}
		s.final = true
	}
	return true
}

func verify(dir, pinFile string) (*report, *state, error) {
	r := &report{}
	pin, e := os.ReadFile(pinFile)
	if e != nil {
		return nil, nil, e
	}
	text := strings.TrimSpace(string(pin))
	v, e := note.NewVerifier(text)
	if e != nil {
		return nil, nil, e
	}
	kb, _ := base64.StdEncoding.DecodeString(strings.SplitN(text, "+", 3)[2])
	s := &state{r: r, v: v, logPub: hex.EncodeToString(kb[1:]), used: map[string]bool{}, open: map[string]int64{}, intents: map[string]int64{}, gone: map[string]bool{}, outcomes: map[string]done{}, bootEnd: map[string]string{}}
	signed, e := os.ReadFile(filepath.Join(dir, "checkpoint")) // first the checkpoint, then the log
	if e != nil {
		return nil, nil, e
	}
	raw, e := os.ReadFile(filepath.Join(dir, "log/000000.jsonl"))
	if e != nil {
		return nil, nil, e
	}
	cp, e := parseHead(signed, v)
	if e != nil {
		r.add(1, "checkpoint: %v", e)
		return r, s, nil
	}
	end := bytes.LastIndexByte(raw, '\n') + 1
	for at := 0; at < end; {
		n := bytes.IndexByte(raw[at:], '\n')
		if !s.take(raw[at : at+n]) {
			return r, s, nil
		}
		at += n + 1
	}
	n := int64(len(s.t.leaves))
	if n < cp.size {
		r.add(1, "%d records, the checkpoint covers %d", n, cp.size)
		return r, s, nil
	}
	if s.t.root(cp.size) != cp.root {
		r.add(1, "root at %d is not the signed one", cp.size)
	}
	if n > cp.size {
		r.add(0, "WARN %d records in flight", n-cp.size)
	}
	if end < len(raw) {
		r.add(5, "%d bytes after the last complete record", len(raw)-end)
	}
	for req, at := range s.open {
		r.add(5, "intent %d of %s is open", at, req)
	}
	return r, s, nil
}

func (s *state) receipt(proofFile, lineFile string) error {
	b, e := os.ReadFile(proofFile)
	if e != nil {
		return e
	}
	line, e := os.ReadFile(lineFile)
	if e != nil {
		return e
	}
	rc, e := parseReceipt(b, s.v)
	if e != nil {
		return e
	}
	if rc.head.size > int64(len(s.t.leaves)) || s.t.root(rc.head.size) != rc.head.root {
		return errors.New("the receipt's checkpoint contradicts the log")
	}
	return tlog.CheckRecord(rc.hashes, rc.head.size, rc.head.root, rc.index, tlog.RecordHash(line))
}

func main() {
	if len(os.Args) != 3 && len(os.Args) != 5 {
		fmt.Println("usage: check AUDITDIR VKEYFILE [PROOF LINE]")
		os.Exit(2)
	}
	r, s, e := verify(os.Args[1], os.Args[2])
	if e != nil {
		fmt.Println(e)
		os.Exit(2)
	}
	if len(os.Args) == 5 {
		if e := s.receipt(os.Args[3], os.Args[4]); e != nil {
			r.add(1, "receipt: %v", e)
		}
	}
	for _, n := range r.notes {
		fmt.Println(n)
	}
	fmt.Println(len(s.t.leaves), "records")
	os.Exit(r.code)
}
