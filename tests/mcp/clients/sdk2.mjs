// The official TypeScript SDK, 2.x, in one of its modes: legacy, auto, or pinned to 2026-07-28.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { runChecks, serverFor } from './checks.mjs';

const [cloche, workspace, mode] = process.argv.slice(2);
const modes = { legacy: 'legacy', auto: 'auto', pinned: { pin: '2026-07-28' } };
const sdk = new Client(
  { name: 'sdk2', version: '1.0.0' },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: modes[mode] } },
);
await sdk.connect(new StdioClientTransport(serverFor(cloche, workspace)));
console.log(`ok SDK 2.x ${mode} speaks ${sdk.getNegotiatedProtocolVersion?.() ?? 'what it was told'}`);
await runChecks({
  name: `SDK 2.x ${mode}`,
  sdk,
  workspace,
  call: (name, args, options) => sdk.callTool({ name, arguments: args }, options),
  onElicit: (handler) => sdk.setRequestHandler('elicitation/create', async (request) => handler(request.params)),
});
await sdk.close();
