// The official TypeScript SDK, 1.x: the era of the handshake.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { runChecks, serverFor } from './checks.mjs';

const [cloche, workspace] = process.argv.slice(2);
const sdk = new Client({ name: 'sdk1', version: '1.0.0' }, { capabilities: { elicitation: {} } });
await sdk.connect(new StdioClientTransport(serverFor(cloche, workspace)));
assert.equal(sdk.getServerVersion().name, 'cloche');
await sdk.ping();
await sdk.setLoggingLevel('debug');
await runChecks({
  name: 'SDK 1.x',
  sdk,
  workspace,
  call: (name, args, options) => sdk.callTool({ name, arguments: args }, undefined, options),
  onElicit: (handler) => sdk.setRequestHandler(ElicitRequestSchema, async (request) => handler(request.params)),
});
await sdk.close();
