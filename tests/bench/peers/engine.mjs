// Decisions a second of one engine, in a process of its own:
//   node engine.mjs FOLDER_OF_NODE_MODULES ENGINE SECONDS [POLICY_WASM]
// Prints decisions, nanoseconds, and of batches of eight the median and the
// 99th percentile in nanoseconds a decision, as policy_bench does.  The eight
// requests and their answers are policy_bench's, but for what only one can say.
import fs from 'fs';
import { createRequire } from 'module';

const [modules, engine, seconds, wasm] = process.argv.slice(2);
const here = new URL('.', import.meta.url).pathname;
const load = createRequire(modules + '/x.js');
const ok = { lang: 'python', read: '/job/in/a.csv', write: '/job/out/r.png',
  mem: 268435456, cpu_ms: 2000, pids: 32, net: false };
const cases = [[ok, true], [{ ...ok, lang: 'perl' }, false],
  [{ ...ok, read: '/etc/shadow' }, false], [{ ...ok, write: '/usr/bin/x' }, false],
  [{ ...ok, mem: 1 << 30 }, false], [{ ...ok, pids: 65 }, false],
  [{ ...ok, read: '/job/in/secret/k' }, false],
  [{ ...ok, read: '/job/in/../../etc/x' }, false]];
const texts = cases.map(([input]) => JSON.stringify(input));

function cedar(prepared) {
  const c = load('@cedar-policy/cedar-wasm/nodejs');
  const text = fs.readFileSync(here + 'exec.cedar', 'utf8');
  const policies = { staticPolicies: text };
  if (prepared) {
    const r = c.preparsePolicySet('p', policies);
    if (r.type !== 'success') throw new Error(JSON.stringify(r));
  }
  return input => {
    const call = { principal: { type: 'Agent', id: 'a' },
      action: { type: 'Action', id: 'exec' }, resource: { type: 'Job', id: 'j' },
      context: input, entities: [] };
    const r = prepared
      ? c.statefulIsAuthorized({ ...call, preparsedPolicySetId: 'p' })
      : c.isAuthorized({ ...call, policies });
    if (r.type !== 'success') throw new Error(JSON.stringify(r));
    return r.response.decision === 'allow';
  };
}

function opa() {
  const { loadPolicySync } = load('@open-policy-agent/opa-wasm');
  const policy = loadPolicySync(fs.readFileSync(wasm));
  return input => policy.evaluate(input)[0].result;
}

// The same rules by hand, without any engine: what is left is JavaScript.
function plain() {
  const langs = new Set(['python', 'node', 'ruby', 'r', 'go', 'java', 'cpp']);
  const read = ['/usr/', '/job/in/', '/job/out/', '/tmp/'];
  const write = ['/job/out/', '/tmp/'];
  return i => langs.has(i.lang) && read.some(p => i.read.startsWith(p)) &&
    write.some(p => i.write.startsWith(p)) && !i.read.includes('/../') &&
    !i.write.includes('/../') && i.mem <= 536870912 && i.cpu_ms <= 10000 &&
    i.pids <= 64 && i.net === false && !i.read.startsWith('/job/in/secret/');
}

const engines = {
  'cedar': () => cedar(true), 'cedar-text': () => cedar(false),
  'opa': opa, 'plain': plain,
};
const json = engine.endsWith('-json');
const decide = engines[engine.replace(/-json$/, '')]();
for (const [input, answer] of cases)
  if (decide(input) !== answer)
    throw new Error(engine + ' is wrong about ' + JSON.stringify(input));

function batch() {
  for (let i = 0; i < 8; i++)
    decide(json ? JSON.parse(texts[i]) : cases[i][0]);
}
const limit = BigInt(Math.round(seconds * 1e9));
const now = process.hrtime.bigint;
let start = now();
while (now() - start < limit) batch();
const samples = [];
start = now();
let before = start;
while (before - start < limit) {
  batch();
  const after = now();
  samples.push(Number(after - before) / 8);
  before = after;
}
samples.sort((a, b) => a - b);
console.log(samples.length * 8, String(before - start),
  samples[samples.length >> 1].toFixed(1),
  samples[Math.floor(samples.length * 0.99)].toFixed(1));
