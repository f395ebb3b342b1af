// The official TypeScript SDK, version 2: which era it finds, list, call,
// cancellation.  Usage: sdk_v2.mjs auto|pin|legacy COMMAND [ARGS...]
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const from = createRequire(process.env.MCP_CLIENTS + '/');
const load = async name => import(pathToFileURL(from.resolve(name)));
const { Client } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');

const [mode, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'sdk-v2', version: '2.0.0' },
  { versionNegotiation: { mode: mode === 'pin' ? { pin: '2026-07-28' } : mode, probe: { timeoutMs: 10000 } } });
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));
assert.equal(client.getProtocolEra(), mode === 'legacy' ? 'legacy' : 'modern');
assert.equal((await client.listTools()).tools.length, 8);
const run = async (code, options) => client.callTool({ name: 'execute_code', arguments: { code } }, options);
const text = r => JSON.parse(r.content.filter(c => c.type === 'text').at(-1).text);
assert.equal(text(await run('print(6 * 7)')).stdout, '42\n');
const stop = new AbortController();
setTimeout(() => stop.abort('enough'), 300);
await assert.rejects(run('while True: pass', { signal: stop.signal }));
assert.equal(text(await run('print(1)')).stdout, '1\n');
assert.ok('python' in JSON.parse((await client.readResource({ uri: 'sandbox://languages' })).contents[0].text));
await client.close();
console.log('ok');
