// The official TypeScript SDK, version 1: handshake, list, call, progress,
// cancellation, ping, resources.  Usage: sdk_v1.mjs COMMAND [ARGS...]
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const from = createRequire(process.env.MCP_CLIENTS + '/');
const load = async name => import(pathToFileURL(from.resolve(name)));
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'sdk-v1', version: '1.0.0' }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));
assert.equal(client.getServerVersion().name, 'bailiff');
const { tools } = await client.listTools();
assert.equal(tools.length, 8);
const run = async (code, more = {}, options = undefined) =>
  client.callTool({ name: 'execute_code', arguments: { code, ...more } }, undefined, options);
const text = r => JSON.parse(r.content.filter(c => c.type === 'text').at(-1).text);
assert.equal(text(await run('print(6 * 7)')).stdout, '42\n');
const seen = [];
assert.equal(text(await run('import time; time.sleep(2.5); print(1)', {},
  { onprogress: p => seen.push(p.progress), timeout: 30000, resetTimeoutOnProgress: true })).stdout, '1\n');
assert.ok(seen.length >= 2, `progress ${seen}`);
const stop = new AbortController();
setTimeout(() => stop.abort('enough'), 300);
await assert.rejects(run('while True: pass', {}, { signal: stop.signal }));
await client.ping();
const denied = await run('1', { language: 'cobol' });
assert.ok(denied.isError && text(denied).policy.rule === 'language.not_allowed');
const { resources } = await client.listResources();
assert.ok(resources.some(r => r.uri === 'sandbox://languages'));
const read = await client.readResource({ uri: 'sandbox://languages' });
assert.ok('python' in JSON.parse(read.contents[0].text));
assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 5);
await assert.rejects(client.readResource({ uri: 'sandbox://nope' }));
await client.close();
console.log('ok');
